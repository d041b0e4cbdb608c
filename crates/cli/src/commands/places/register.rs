//! `cenote register`: registers files in place as contents.

use std::path::PathBuf;

use cenote_client::Registration;

use crate::error::{CliError, Kind, Result};
use crate::place::StorePath;
use crate::session::Session;

/// Register a file in place as the content of an object, without copying it (administrators only).
///
/// The file must be on the store's machine, below one of the directories listed under `register` in its `store.toml`. It
/// is never changed or removed, not even with the object.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file
    file: PathBuf,
    /// The object, as a path in the store
    path: StorePath,
    /// The place that the replica is assigned to
    #[arg(long, value_name = "PLACE", default_value = "main")]
    place: String,
    /// Its length in bytes; the file then need not exist yet
    #[arg(long, value_name = "BYTES")]
    size: Option<u64>,
    /// Its SHA-256 in hexadecimal, if known
    #[arg(long, value_name = "DIGEST")]
    sha256: Option<String>,
    /// Add it as another replica of an existing object
    #[arg(long, conflicts_with = "replace")]
    additional: bool,
    /// Replace the content of an existing object
    #[arg(long)]
    replace: bool,
    /// Print what would be registered, without registering anything
    #[arg(long, short = 'n')]
    dry_run: bool,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let file = std::path::absolute(&self.file)?;
        let file = file.to_str().ok_or_else(|| {
            CliError::new(Kind::Usage, format!("not a name in UTF-8: {}", file.display()))
        })?;
        let registration = Registration {
            path: self.path.to_string(),
            file: file.to_owned(),
            place: self.place,
            size: self.size,
            sha256: self.sha256,
            additional: self.additional,
            replace: self.replace,
        };
        if self.dry_run {
            return session
                .output
                .done(&registration, |r| format!("would register {} as {}", r.file, r.path));
        }
        let resource = session.client()?.register(&registration).await?;
        session.output.done(&resource, |resource| format!("registered {file} as {}", resource.path))
    }
}
