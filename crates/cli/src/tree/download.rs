//! A collection of the store into a directory of this machine.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use cenote_client::transfer::{Arrival, Transfer, Wanted};
use futures_util::StreamExt;

use super::beneath::Beneath;
use super::entry::{Entry, EntryKind, Tree, counted};
use super::filter::Filter;
use super::flags::{ReadArgs, TransferArgs, Way};
use super::plan::{Change, Plan, Rules, plan};
use super::report::Report;
use super::{local, remote};
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Makes the directory `to` like the collection at `from`, or like its state at a moment.
pub(crate) async fn download(
    session: &Session,
    (from, as_of): (&str, Option<&str>),
    to: &Path,
    filter: &Arc<Filter>,
    rules: Rules,
    (args, reads): (&TransferArgs, &ReadArgs),
) -> Result<()> {
    let client = session.client()?;
    let (source, lost) = match as_of {
        Some(moment) => remote::scan_past(client, (from, moment), filter).await?,
        None => (remote::scan_source(client, from, filter).await?, Vec::new()),
    };
    let (plan, failures) = compare(source, to, Arc::clone(filter), rules).await?;
    filter.check()?;
    let bar = session.progress.bytes(plan.transfer.iter().map(|change| change.entry.size()).sum());
    let transfer = args.transfer(session, Way::Out(reads, as_of), &bar)?;
    let mut report = Report::new(session, "get", args.dry_run);
    failures.iter().try_for_each(|(path, error)| report.failed(path, error.again()))?;
    lost.iter().try_for_each(|path| report.failed(path, not_kept()))?;
    let download = Download { transfer: &transfer, to };
    let outcome = match args.dry_run {
        true => rehearse(plan, to, &mut report),
        false => download.run(plan, &mut report).await,
    };
    bar.finish_and_clear();
    outcome?;
    report.finish()
}

fn not_kept() -> CliError {
    CliError::new(Kind::NotFound, "its state at that time was not kept")
        .hint("`cenote versions policy` sets which versions are kept")
}

type Failures = Vec<(String, CliError)>;

async fn compare(
    source: Tree,
    to: &Path,
    filter: Arc<Filter>,
    rules: Rules,
) -> Result<(Plan, Failures)> {
    let to = to.to_owned();
    let compared = tokio::task::spawn_blocking(move || {
        let here = local::scan(&to, &filter)?;
        Ok((plan(source, here.tree, rules), here.failures))
    });
    compared.await.map_err(|error| CliError::new(Kind::Failed, error.to_string()))?
}

fn rehearse(plan: Plan, to: &Path, report: &mut Report<'_>) -> Result<()> {
    let shown = |path: &str| to.join(path).display().to_string();
    report.unchanged(plan.unchanged);
    let mut failures = plan.failures.iter();
    failures.try_for_each(|(path, error)| report.failed(&shown(path), error.again()))?;
    plan.remove.iter().try_for_each(|path| report.removed(&shown(path)))?;
    for Change { path, entry, .. } in &plan.transfer {
        report.transferred(&shown(path), counted(entry))?;
    }
    plan.attributes.iter().try_for_each(|change| report.updated(&shown(&change.path)))
}

struct Download<'a> {
    transfer: &'a Transfer,
    to: &'a Path,
}

impl Download<'_> {
    async fn run(&self, plan: Plan, report: &mut Report<'_>) -> Result<()> {
        report.unchanged(plan.unchanged);
        for (path, error) in &plan.failures {
            report.failed(&self.shown(path), error.again())?;
        }
        fs::create_dir_all(self.to)?;
        for path in &plan.remove {
            self.note(path, remove(&self.to.join(path)), report, Report::removed)?;
        }
        let (directories, others): (Vec<_>, Vec<_>) =
            plan.transfer.into_iter().partition(|change| change.entry.is_directory());
        let mut beneath = Beneath::new(self.to);
        for Change { path, .. } in &directories {
            self.note(path, beneath.make(path), report, |report, path| {
                report.transferred(path, None)
            })?;
        }
        self.fetch(others, &mut beneath, report).await?;
        for Change { path, entry, .. } in &plan.attributes {
            self.note(path, attributes(&self.to.join(path), entry), report, Report::updated)?;
        }
        // At the end, and the deepest first: writing into a directory changes its time, and a
        // read-only one accepts no files.
        for Change { path, entry, .. } in
            directories.iter().rev().filter(|change| beneath.has(&change.path))
        {
            self.note(path, attributes(&self.to.join(path), entry), report, |_, _| Ok(()))?;
        }
        Ok(())
    }

    async fn fetch(
        &self,
        changes: Vec<Change>,
        beneath: &mut Beneath<'_>,
        report: &mut Report<'_>,
    ) -> Result<()> {
        let mut wanted = Vec::new();
        for Change { path, entry, .. } in changes {
            if let Err(error) = beneath.check(&path) {
                self.note(&path, Err(error), report, |_, _| Ok(()))?;
                continue;
            }
            let target = self.to.join(&path);
            match entry.kind {
                EntryKind::Object(resource) => wanted.push(Wanted { resource: *resource, target }),
                EntryKind::Link(to) => {
                    self.note(&path, symlink(to, target), report, |report, path| {
                        report.transferred(path, Some(0))
                    })?;
                }
                EntryKind::Directory | EntryKind::File(_) | EntryKind::Description => {}
            }
        }
        let mut arrivals = std::pin::pin!(self.transfer.get_files(wanted));
        while let Some(Arrival { wanted, result }) = arrivals.next().await {
            let shown = wanted.target.display().to_string();
            match result {
                Ok(()) => report.transferred(&shown, wanted.resource.size.or(Some(0)))?,
                Err(error) => report.failed(&shown, error)?,
            }
        }
        Ok(())
    }

    fn note<'r>(
        &self,
        path: &str,
        outcome: io::Result<()>,
        report: &mut Report<'r>,
        success: impl FnOnce(&mut Report<'r>, &str) -> Result<()>,
    ) -> Result<()> {
        report.outcome(&self.shown(path), outcome, success)
    }

    fn shown(&self, path: &str) -> String {
        self.to.join(path).display().to_string()
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    }
}

/// Sets the mode and the time that the store has.
fn attributes(path: &Path, entry: &Entry) -> io::Result<()> {
    if let Some(mode) = entry.mode {
        fs::set_permissions(path, PermissionsExt::from_mode(mode & 0o777))?;
    }
    match entry.mtime {
        Some(mtime) => fs::File::open(path)?.set_modified(SystemTime::from(mtime)),
        None => Ok(()),
    }
}
