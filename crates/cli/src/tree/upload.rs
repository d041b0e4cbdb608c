//! A directory of this machine into a collection of the store.

use std::path::Path;
use std::sync::Arc;

use cenote_client::transfer::{Item, LocalFile, Source, Transfer};
use futures_util::StreamExt;

use super::change::{Target, collection};
use super::entry::{EntryKind, Tree, counted};
use super::filter::Filter;
use super::flags::{TransferArgs, Way, WriteArgs};
use super::plan::{Change, Plan, Rules, plan};
use super::report::Report;
use super::{local, remote};
use crate::error::{CliError, Kind, Result};
use crate::place::join;
use crate::session::Session;

/// Makes the collection at `to` like the directory `from`.
pub(crate) async fn upload(
    session: &Session,
    from: &Path,
    to: &str,
    filter: &Arc<Filter>,
    rules: Rules,
    (args, writes): (&TransferArgs, &WriteArgs),
) -> Result<()> {
    if !from.exists() {
        let message = format!("no such file or directory: {}", from.display());
        return Err(CliError::new(Kind::NotFound, message));
    }
    let client = session.client()?;
    let there = remote::scan(client, to, filter).await?;
    let is_new = there.is_none();
    let (plan, failures) =
        compare(from, Arc::clone(filter), there.unwrap_or_default(), rules).await?;
    filter.check()?;
    let bar = session.progress.bytes(bytes(&plan));
    let transfer = args.transfer(session, Way::In(writes), &bar)?;
    let mut report = Report::new(session, "put", args.dry_run);
    failures.iter().try_for_each(|(path, error)| report.failed(path, error.again()))?;
    if is_new && !args.dry_run {
        let mode = LocalFile::new(from)?.mode;
        client.create(&collection(to.to_owned(), Some(mode), None)).await?;
    }
    let outcome =
        Upload { transfer: &transfer, to, dry_run: args.dry_run }.run(plan, &mut report).await;
    bar.finish_and_clear();
    outcome?;
    report.finish()
}

type Failures = Vec<(String, CliError)>;

async fn compare(
    from: &Path,
    filter: Arc<Filter>,
    there: Tree,
    rules: Rules,
) -> Result<(Plan, Failures)> {
    let from = from.to_owned();
    let compared = tokio::task::spawn_blocking(move || {
        let here = local::scan(&from, &filter)?;
        Ok((plan(here.tree, there, rules), here.failures))
    });
    compared.await.map_err(|error| CliError::new(Kind::Failed, error.to_string()))?
}

fn bytes(plan: &Plan) -> u64 {
    plan.transfer.iter().map(|change| change.entry.size()).sum()
}

struct Upload<'a> {
    transfer: &'a Transfer,
    to: &'a str,
    dry_run: bool,
}

impl Upload<'_> {
    async fn run(&self, plan: Plan, report: &mut Report<'_>) -> Result<()> {
        let client = self.transfer.client();
        let target = Target { client, path: self.to, dry_run: self.dry_run };
        target.begin(&plan, report).await?;
        self.put(plan.transfer, report).await?;
        target.set_attributes(&plan.attributes, report).await
    }

    async fn put(&self, changes: Vec<Change>, report: &mut Report<'_>) -> Result<()> {
        if self.dry_run {
            for Change { path, entry, .. } in &changes {
                report.transferred(&join(self.to, path), counted(entry))?;
            }
            return Ok(());
        }
        let items = changes.into_iter().filter_map(item).collect();
        let mut outcomes = std::pin::pin!(self.transfer.put_items(self.to, items));
        while let Some(outcome) = outcomes.next().await {
            let path = join(self.to, &outcome.item.relative);
            match outcome.result {
                Ok(_) => report.transferred(&path, counted_item(&outcome.item))?,
                Err(error) => report.failed(&path, error)?,
            }
        }
        Ok(())
    }
}

fn item(Change { path: relative, entry, .. }: Change) -> Option<Item> {
    let source = match entry.kind {
        EntryKind::Directory => Source::Directory,
        EntryKind::Link(target) => Source::Link(target),
        EntryKind::File(file) => Source::File(file),
        EntryKind::Object(_) | EntryKind::Description => return None,
    };
    Some(Item { relative, source, mode: entry.mode, mtime: entry.mtime })
}

fn counted_item(item: &Item) -> Option<u64> {
    (!matches!(item.source, Source::Directory)).then(|| item.size())
}
