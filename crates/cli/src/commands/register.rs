//! `cenote register`: files that become contents where they lie.

use std::path::PathBuf;

use cenote_client::Registration;

use crate::error::{CliError, Kind, Result};
use crate::place::StorePath;
use crate::session::Session;

/// Make a file the content of an object where it lies, without copying it; for administrators.
///
/// The file is on the machine of the store, below one of the directories that `register` in its `store.toml` names. It is
/// never written or removed, whatever becomes of the object.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file
    file: PathBuf,
    /// The object, as a path in the store
    path: StorePath,
    /// The place that the file counts to
    #[arg(long, value_name = "PLACE", default_value = "main")]
    place: String,
    /// Its length in bytes: it need not be there yet
    #[arg(long, value_name = "BYTES")]
    size: Option<u64>,
    /// Its SHA-256 in hexadecimal, if that is known
    #[arg(long, value_name = "DIGEST")]
    sha256: Option<String>,
    /// As a further replica of the object that is there
    #[arg(long, conflicts_with = "replace")]
    additional: bool,
    /// In place of the content of the object that is there
    #[arg(long)]
    replace: bool,
    /// Print what would be registered, and register nothing
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
