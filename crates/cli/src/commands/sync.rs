//! `cenote sync`: make one tree like the other.

use crate::error::{CliError, Kind, Result};
use crate::place::Place;
use crate::session::Session;
use crate::tree::{self, FilterArgs, ReadArgs, Rules, TransferArgs};

/// Make a collection like a directory, or a directory like a collection.
///
/// Only what differs is transferred: by size and modification time, or by the bytes with
/// --checksum. What only the target has stays, unless --delete is given.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For example:
  cenote sync data :/lab/data             the store gets what is new here
  cenote sync --delete :/lab/data data    the directory becomes the same as the collection")]
pub(crate) struct Args {
    /// The tree as it should be: a directory here, or a collection as in `:/lab/run7`
    #[arg(value_name = "SOURCE")]
    from: String,
    /// The tree to change, on the other side
    #[arg(value_name = "TARGET")]
    to: String,
    /// Remove what only the target has
    #[arg(long)]
    delete: bool,
    /// Compare the bytes, not only size and modification time
    #[arg(long)]
    checksum: bool,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    reads: ReadArgs,
    #[command(flatten)]
    transfer: TransferArgs,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let rules = Rules { checksum: self.checksum, delete: self.delete };
        let filter = self.filter.filter()?;
        match (Place::parse(&self.from)?, Place::parse(&self.to)?) {
            (Place::Local(from), Place::Store(to)) => {
                tree::upload(session, &from, to.as_str(), filter, rules, &self.transfer).await
            }
            (Place::Store(from), Place::Local(to)) => {
                let args = (&self.transfer, &self.reads);
                tree::download(session, from.as_str(), &to, filter, rules, args).await
            }
            (Place::Store(_), Place::Store(_)) => {
                Err(CliError::new(Kind::Usage, "both sides are in the store")
                    .hint("`cenote cp -r` copies in the store, at no cost"))
            }
            (Place::Standard, _) | (_, Place::Standard) => {
                Err(CliError::new(Kind::Usage, "`-` is no tree of files"))
            }
            (Place::Local(_), Place::Local(_)) => {
                Err(CliError::new(Kind::Usage, "neither side is in the store")
                    .hint("a path in the store is written with a colon before it: `:/lab/run7`"))
            }
        }
    }
}
