//! `cenote backup`: backups of a whole store in a directory.

mod create;
mod ls;
mod restore;
mod verify;

use clap::Subcommand;

use crate::error::Result;
use crate::session::Session;

/// Back up a whole store, verify backups, and restore one.
///
/// A backup has everything: contents, descriptions, versions, the trash, users and their tokens. It is of one moment, while the
/// store is used. Each further backup to the same directory copies new contents only. Keep the directory as safe as the store, and
/// on another disk or machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For example:
  cenote --store https://data.example backup create /backups/data
                              back up a store that is being served, as an administrator
  cenote --store /srv/store backup create /backups/data --keep 30
                              back up one that is not; keep the last 30 backups
  cenote backup verify /backups/data
                              read all of it
  cenote backup restore /backups/data /srv/new
                              make a store of the newest backup")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Back up the store to a directory
    ///
    /// A store that is being served is backed up through its server, by an administrator; otherwise name its directory with --store.
    /// What is damaged in the store is left out and reported (exit code 11).
    Create(create::Args),
    /// List the backups in a directory, the newest last
    Ls(ls::Args),
    /// Read all backups in a directory, and compare everything with its checksums
    Verify(verify::Args),
    /// Make a store of a backup, the newest one unless another is named
    ///
    /// The store has all its contents in its main place. Its other places are down, since the original may still use them; `cenote
    /// place set NAME --up` lets this store use one again. An interrupted restore is completed by the same command.
    Restore(restore::Args),
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        match self.what {
            What::Create(args) => args.run(session).await,
            What::Ls(args) => args.run(session),
            What::Verify(args) => args.run(session).await,
            What::Restore(args) => args.run(session).await,
        }
    }
}
