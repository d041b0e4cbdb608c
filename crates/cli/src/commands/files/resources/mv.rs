//! `cenote mv`: move or rename in the store.

use cenote_client::{At, Relocation};

use super::relocate::{Target, done, moved};
use crate::error::Result;
use crate::glob;
use crate::place::StorePath;
use crate::session::Session;

/// Move or rename resources, with everything below them; each move is atomic.
///
/// If the target is a collection, or ends with `/`, the resources are moved into it. Where the trash keeps what --force replaces, the
/// output says how to restore it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Paths in the store, or patterns, followed by the target
    #[arg(required = true, num_args = 2.., value_name = "PATH")]
    paths: Vec<StorePath>,
    /// Replace existing resources; those with versions only with --versions
    #[arg(long, short)]
    force: bool,
    /// Let --force replace resources with versions; all their versions, even labelled ones, are lost
    #[arg(long, requires = "force")]
    versions: bool,
    /// Create missing collections above the target
    #[arg(long, short)]
    parents: bool,
    /// Print what would be moved, without moving anything
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
            let to = target.path_for(source.name.as_deref().unwrap_or_default());
            let relocation = Relocation {
                from: At::Id(source.id),
                to: to.as_str().into(),
                replace: self.force,
                parents: self.parents,
                versions: self.versions,
            };
            if self.dry_run {
                done(session, "move", &source.path, &to, true)?;
                continue;
            }
            let (_, replaced) = client.relocate_kept(&relocation).await?;
            moved(session, &source.path, &to, replaced)?;
        }
        Ok(())
    }
}
