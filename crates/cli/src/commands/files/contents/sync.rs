//! `cenote sync`: make one tree like another.

use std::sync::Arc;

use crate::error::{CliError, Kind, Result};
use crate::place::Place;
use crate::session::Session;
use crate::tree::{self, Filter, FilterArgs, ReadArgs, Rules, TransferArgs, WriteArgs};

/// Make a collection or a directory like another one.
///
/// Only differences are transferred; files are compared by size and modification time, or with
/// --checksum by content. Files that exist only in the target are kept unless --delete is given.
///
/// Between two collections no contents are transferred, because copies share their contents.
/// Metadata, modes, times and media types are made the same, including those of collections. If only
/// the metadata differ, only they are copied: the graph replaces that of the target. Owners, access
/// lists, versions and version policies of the target are kept. Anything that someone else changes in
/// the target during the sync is reported and not replaced; run it again to decide.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For example:
  cenote sync data :/lab/data             upload what is new in the directory
  cenote sync --delete :/lab/data data    make the directory the same as the collection
  cenote sync :/lab/data :/archive/data   update a copy in the store
  cenote sync -n :/lab/data :/archive/data
                                          show what that would change")]
pub(crate) struct Args {
    /// The source: a local directory, or a collection such as `:/lab/run7`
    #[arg(value_name = "SOURCE")]
    from: String,
    /// The target, which is made like the source
    #[arg(value_name = "TARGET")]
    to: String,
    /// Remove files that exist only in the target; those with versions only with --versions
    #[arg(long)]
    delete: bool,
    /// Let --delete remove resources with versions, even labelled ones
    #[arg(long, requires = "delete")]
    versions: bool,
    /// Compare contents, not only sizes and modification times
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
                Err(CliError::new(Kind::Usage, "--place applies only to local sources")
                    .hint("use `cenote replicate` to copy contents in the store to another place"))
            }
            (Place::Store(from), Place::Local(to)) => {
                let args = (&self.transfer, &self.reads);
                tree::download(session, (from.as_str(), None), &to, filter, rules, args).await
            }
            (Place::Store(from), Place::Store(to)) => {
                tree::copy(session, &from, &to, filter, rules, &self.transfer).await
            }
            (Place::Standard, _) | (_, Place::Standard) => {
                Err(CliError::new(Kind::Usage, "`-` is not a directory or a collection"))
            }
            (Place::Local(_), Place::Local(_)) => {
                Err(CliError::new(Kind::Usage, "neither side is in the store")
                    .hint("put a colon before a path in the store: `:/lab/run7`"))
            }
        }
    }
}
