//! `cenote mv`: move or rename in the store.

use cenote_client::{At, Relocation};

use super::relocate::{Target, done};
use crate::error::Result;
use crate::glob;
use crate::place::StorePath;
use crate::session::Session;

/// Move or rename resources, with all that lies below, in one step each.
///
/// A target that is a collection, or is written with a `/` at its end, is moved into.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Paths in the store, or patterns of them, and at last where to
    #[arg(required = true, num_args = 2.., value_name = "PATH")]
    paths: Vec<StorePath>,
    /// Take the place of what is there; of what has versions only with --versions
    #[arg(long, short)]
    force: bool,
    /// Let --force drop the versions of what is replaced, labelled ones, too: they are lost
    #[arg(long, requires = "force")]
    versions: bool,
    /// Create the collections above the target that are missing
    #[arg(long, short)]
    parents: bool,
    /// Print what would be moved, and move nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        let (to, from) = self.paths.split_last().expect("there are at least two");
        let sources = glob::expand(client, from).await?;
        let target = Target::find(client, to, sources.len()).await?;
        for source in &sources {
            let relocation = Relocation {
                from: At::Id(source.id),
                to: target.path_for(source.name.as_deref().unwrap_or_default()),
                replace: self.force,
                parents: self.parents,
                versions: self.versions,
            };
            if !self.dry_run {
                client.relocate(&relocation).await?;
            }
            done(session, "move", &source.path, &relocation.to, self.dry_run)?;
        }
        Ok(())
    }
}
