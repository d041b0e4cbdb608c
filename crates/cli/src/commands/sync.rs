//! `cenote sync`: make one tree like another.

use std::sync::Arc;

use crate::error::{CliError, Kind, Result};
use crate::place::Place;
use crate::session::Session;
use crate::tree::{self, Filter, FilterArgs, ReadArgs, Rules, TransferArgs, WriteArgs};

/// Make a collection or a directory like another one.
///
/// Only what differs is transferred: by size and modification time, or by the bytes with
/// --checksum. What only the target has stays, unless --delete is given.
///
/// From one collection to another nothing is transferred at all: copies share their contents.
/// Descriptions, with mode, time and media type, are made the same, those of the collections, too,
/// and a description that changed alone comes alone: the graph replaces that of the target.
/// Who owns it, access lists, versions and what collections say about versions stay what they are
/// in the target. What somebody else changes in the target meanwhile is not replaced, but
/// told; run it again to decide.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For example:
  cenote sync data :/lab/data             the store gets what is new here
  cenote sync --delete :/lab/data data    the directory becomes the same as the collection
  cenote sync :/lab/data :/archive/data   a copy in the store, brought up to date
  cenote sync -n :/lab/data :/archive/data
                                          what that would copy, update and describe")]
pub(crate) struct Args {
    /// The tree as it should be: a directory here, or a collection as in `:/lab/run7`
    #[arg(value_name = "SOURCE")]
    from: String,
    /// The tree to change
    #[arg(value_name = "TARGET")]
    to: String,
    /// Remove what only the target has; what has versions only with --versions
    #[arg(long)]
    delete: bool,
    /// Let --delete drop the versions of what it removes, labelled ones, too
    #[arg(long, requires = "delete")]
    versions: bool,
    /// Compare the bytes, not only size and modification time
    #[arg(long)]
    checksum: bool,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    reads: ReadArgs,
    #[command(flatten)]
    writes: WriteArgs,
    #[command(flatten)]
    transfer: TransferArgs,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let &Self { checksum, delete, versions, .. } = &self;
        let rules = Rules { checksum, delete, versions };
        let filter = Arc::new(self.filter.filter()?);
        self.sync(session, rules, &filter).await?;
        filter.report_unused(session);
        Ok(())
    }

    async fn sync(&self, session: &Session, rules: Rules, filter: &Arc<Filter>) -> Result<()> {
        match (Place::parse(&self.from)?, Place::parse(&self.to)?) {
            (Place::Local(from), Place::Store(to)) => {
                let args = (&self.transfer, &self.writes);
                tree::upload(session, &from, to.as_str(), filter, rules, args).await
            }
            (Place::Store(_), _) if self.writes.place.is_some() => {
                Err(CliError::new(Kind::Usage, "--place is for what comes from this machine")
                    .hint("`cenote replicate` copies contents in the store to another place"))
            }
            (Place::Store(from), Place::Local(to)) => {
                let args = (&self.transfer, &self.reads);
                tree::download(session, from.as_str(), &to, filter, rules, args).await
            }
            (Place::Store(from), Place::Store(to)) => {
                tree::copy(session, &from, &to, filter, rules, &self.transfer).await
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
