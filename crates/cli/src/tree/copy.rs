//! One collection of the store into another: the server copies, and contents are shared.

use cenote_client::{Client, Relocation};
use futures_util::{StreamExt, stream};

use super::change::{Target, collection};
use super::entry::{Entry, counted};
use super::filter::Filter;
use super::flags::TransferArgs;
use super::plan::{Plan, Rules, plan};
use super::remote;
use super::report::Report;
use crate::error::{CliError, Kind, Result};
use crate::place::{StorePath, below, join};
use crate::session::Session;

/// Makes the collection at `to` like the one at `from`.
pub(crate) async fn copy(
    session: &Session,
    from: &StorePath,
    to: &StorePath,
    filter: Filter,
    rules: Rules,
    args: &TransferArgs,
) -> Result<()> {
    let (from, to) = (from.as_str(), to.as_str());
    apart(from, to)?;
    let client = session.client()?;
    let source = remote::scan_source(client, from, &filter).await?;
    let there = remote::scan(client, to, &filter).await?;
    if there.is_none() && !args.dry_run {
        let mode = client.stat(&from.into()).await?.mode;
        client.create(&collection(to.to_owned(), mode, None)).await?;
    }
    let plan = plan(source, there.unwrap_or_default(), rules);
    let mut report = Report::new(session, "copy", args.dry_run);
    Copy { client, from, to, args }.run(session, plan, &mut report).await?;
    report.finish()
}

/// What changes while it is read is never finished.
fn apart(from: &str, to: &str) -> Result<()> {
    if from != to && below(from, to).is_none() && below(to, from).is_none() {
        return Ok(());
    }
    let message = format!("one lies in the other: :{from}, :{to}");
    Err(CliError::new(Kind::Usage, message).hint("take two collections that lie side by side"))
}

struct Copy<'a> {
    client: &'a Client,
    from: &'a str,
    to: &'a str,
    args: &'a TransferArgs,
}

impl Copy<'_> {
    async fn run(&self, session: &Session, plan: Plan, report: &mut Report<'_>) -> Result<()> {
        let target = Target { client: self.client, path: self.to, dry_run: self.args.dry_run };
        target.begin(&plan, report).await?;
        let (directories, others): (Vec<_>, Vec<_>) =
            plan.transfer.into_iter().partition(|(_, entry)| entry.is_directory());
        let bar = session.progress.count(others.len() as u64, "files");
        // Before what is in them, and in their order.
        self.all(directories, 1, report, || {}).await?;
        self.all(others, self.args.jobs.get(), report, || bar.inc(1)).await?;
        bar.finish_and_clear();
        target.set_attributes(&plan.attributes, report).await
    }

    async fn all(
        &self,
        entries: Vec<(String, Entry)>,
        jobs: usize,
        report: &mut Report<'_>,
        done: impl Fn(),
    ) -> Result<()> {
        let copied = stream::iter(entries).map(|(path, entry)| async move {
            let copied = match self.args.dry_run {
                true => Ok(()),
                false => self.one(&path, &entry).await,
            };
            (join(self.to, &path), counted(&entry), copied)
        });
        let mut copied = std::pin::pin!(copied.buffer_unordered(jobs));
        while let Some((path, size, outcome)) = copied.next().await {
            done();
            report.outcome(&path, outcome, |report, path| report.transferred(path, size))?;
        }
        Ok(())
    }

    async fn one(&self, path: &str, entry: &Entry) -> cenote_client::Result<()> {
        let to = join(self.to, path);
        if entry.is_directory() {
            let made = self.client.create(&collection(to, entry.mode, entry.mtime)).await;
            return made.map(drop);
        }
        let from = join(self.from, path).as_str().into();
        let relocation = Relocation { from, to, replace: true, parents: true };
        self.client.copy(&relocation, false).await.map(drop)
    }
}
