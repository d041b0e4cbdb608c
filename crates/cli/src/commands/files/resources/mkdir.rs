//! `cenote mkdir`: new collections.

use cenote_client::{NewResource, ResourceKind};

use crate::error::{CliError, Result};
use crate::place::StorePath;
use crate::session::Session;

/// Create collections.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Paths in the store
    #[arg(required = true)]
    paths: Vec<StorePath>,
    /// Create missing parent collections; do not fail if the collection already exists
    #[arg(long, short)]
    parents: bool,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        for path in &self.paths {
            let made = client.create(&collection(path, self.parents)).await.map_err(explain)?;
            session.output.done(&made, |made| format!("made {}", made.path))?;
        }
        Ok(())
    }
}

fn explain(error: cenote_client::Error) -> CliError {
    let no_parent = error.kind() == cenote_client::Kind::NotFound;
    let error = CliError::from(error);
    if no_parent { error.hinted("use -p to create missing parent collections") } else { error }
}

/// A collection to be created.
pub(crate) fn collection(path: &StorePath, parents: bool) -> NewResource {
    NewResource {
        to: path.as_str().into(),
        kind: ResourceKind::Collection,
        target: None,
        parents,
        exist_ok: parents,
        mode: None,
        mtime: None,
    }
}
