//! One collection of the store into another: the server copies, and contents are shared.
//!
//! Invariant: resources of the target that have changed since they were scanned are left to the next run.

use cenote_client::{At, Client, NewResource, Relocation};
use futures_util::{StreamExt, stream};
use indicatif::ProgressBar;

use super::change::{Target, collection};
use super::entry::{Entry, counted};
use super::filter::Filter;
use super::flags::TransferArgs;
use super::plan::{Change, Plan, Rules, plan};
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
    filter: &Filter,
    rules: Rules,
    args: &TransferArgs,
) -> Result<()> {
    let (from, to) = (from.as_str(), to.as_str());
    apart(from, to)?;
    let client = session.client()?;
    let source = remote::scan_described(client, from, filter).await?;
    let source = source.ok_or_else(|| remote::nothing_at(from))?;
    let there = remote::scan_described(client, to, filter).await?;
    filter.check()?;
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
    let message = format!("one collection is inside the other: :{from}, :{to}");
    Err(CliError::new(Kind::Usage, message)
        .hint("choose two collections of which neither is inside the other"))
}

struct Copy<'a> {
    client: &'a Client,
    from: &'a str,
    to: &'a str,
    args: &'a TransferArgs,
}

/// What is done for a change.
#[derive(Clone, Copy)]
enum Work {
    /// It is copied completely.
    Copy,
    /// Mode, time and media type are copied.
    Update,
    /// The description is copied, and those.
    Describe,
}

impl Work {
    fn report(self, report: &mut Report<'_>, path: &str, entry: &Entry) -> Result<()> {
        match self {
            Self::Copy => report.transferred(path, counted(entry)),
            Self::Update => report.updated(path),
            Self::Describe => report.described(path),
        }
    }
}

impl Copy<'_> {
    async fn run(&self, session: &Session, plan: Plan, report: &mut Report<'_>) -> Result<()> {
        let target = Target { client: self.client, path: self.to, dry_run: self.args.dry_run };
        target.begin(&plan, report).await?;
        let (directories, others): (Vec<_>, Vec<_>) =
            plan.transfer.into_iter().partition(|change| change.entry.is_directory());
        let steps = [
            // Directories are copied before their contents, and in order.
            (Work::Copy, directories, 1),
            (Work::Copy, others, self.args.jobs.get()),
            (Work::Update, plan.attributes, self.args.jobs.get()),
            (Work::Describe, plan.descriptions, self.args.jobs.get()),
        ];
        let number = steps.iter().map(|(_, changes, _)| changes.len() as u64).sum();
        let bar = session.progress.count(number, "resources");
        for (work, changes, jobs) in steps {
            self.all(work, changes, jobs, report, &bar).await?;
        }
        bar.finish_and_clear();
        Ok(())
    }

    async fn all(
        &self,
        work: Work,
        changes: Vec<Change>,
        jobs: usize,
        report: &mut Report<'_>,
        bar: &ProgressBar,
    ) -> Result<()> {
        let done = stream::iter(changes).map(|change| async move {
            let outcome = match self.args.dry_run {
                true => Ok(()),
                false => self.one(work, &change).await,
            };
            (change, outcome)
        });
        let mut done = std::pin::pin!(done.buffer_unordered(jobs));
        while let Some((change, outcome)) = done.next().await {
            bar.inc(1);
            let path = join(self.to, &change.path);
            report
                .outcome(&path, outcome, |report, path| work.report(report, path, &change.entry))?;
        }
        Ok(())
    }

    /// Performs it, if the target is unchanged since it was read.
    async fn one(&self, work: Work, change: &Change) -> cenote_client::Result<()> {
        match work {
            Work::Copy if change.entry.is_directory() => self.make(change).await,
            Work::Copy => {
                let from = join(self.from, &change.path).as_str().into();
                let to = join(self.to, &change.path).into();
                let relocation =
                    Relocation { from, to, replace: true, parents: true, versions: false };
                self.client.copy_if(&relocation, change.expected_state.as_deref()).await.map(drop)
            }
            Work::Update | Work::Describe => {
                self.describe(&change.path, change.expected_state.as_deref()).await
            }
        }
    }

    /// Makes a collection. If this is interrupted before it is described, the next run sees that.
    async fn make(&self, Change { path, entry, .. }: &Change) -> cenote_client::Result<()> {
        let new = collection(join(self.to, path), entry.mode, entry.mtime);
        let made = self.client.create(&NewResource { exist_ok: false, ..new }).await?;
        match entry.description {
            Some(_) => self.describe(path, made.state.as_deref()).await,
            None => Ok(()),
        }
    }

    async fn describe(
        &self,
        path: &str,
        expected_state: Option<&str>,
    ) -> cenote_client::Result<()> {
        let [from, to] = [self.from, self.to].map(|top| At::Path(join(top, path)));
        self.client.copy_description(&from, &to, expected_state).await.map(drop)
    }
}
