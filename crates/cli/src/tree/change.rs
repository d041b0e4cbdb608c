//! What a plan changes in a collection of the store besides the bytes.

use cenote_client::{Attributes, Client, NewResource, Removal, ResourceKind};
use jiff::Timestamp;

use super::plan::{Change, Plan};
use super::report::Report;
use crate::error::Result;
use crate::place::join;

/// The collection that is changed.
pub(super) struct Target<'a> {
    pub(super) client: &'a Client,
    pub(super) path: &'a str,
    /// Only say what would be done.
    pub(super) dry_run: bool,
}

impl Target<'_> {
    /// Reports unchanged and impossible items, and removes those to be removed.
    pub(super) async fn begin(&self, plan: &Plan, report: &mut Report<'_>) -> Result<()> {
        report.unchanged(plan.unchanged);
        for (path, error) in &plan.failures {
            report.failed(&join(self.path, path), error.again())?;
        }
        let removal =
            Removal { recursive: true, versions: plan.versions, permanent: false, if_match: None };
        for path in &plan.remove {
            let path = join(self.path, path);
            let removed = match self.dry_run {
                true => Ok(()),
                false => self.client.remove(&path, &removal).await.map(drop),
            };
            report.outcome(&path, removed, Report::removed)?;
        }
        Ok(())
    }

    /// Sets modes and times.
    pub(super) async fn set_attributes(
        &self,
        changes: &[Change],
        report: &mut Report<'_>,
    ) -> Result<()> {
        for Change { path, entry, .. } in changes {
            let path = join(self.path, path);
            let mtime = entry.mtime.filter(|_| !entry.is_directory());
            let attributes = Attributes { mode: entry.mode, mtime, ..Attributes::default() };
            let changed = match self.dry_run {
                true => Ok(()),
                false => self.client.set_attributes(&(&path).into(), &attributes).await.map(drop),
            };
            report.outcome(&path, changed, Report::updated)?;
        }
        Ok(())
    }
}

/// A collection to create unless it exists.
pub(super) fn collection(path: String, mode: Option<u32>, mtime: Option<Timestamp>) -> NewResource {
    let kind = ResourceKind::Collection;
    NewResource { to: path.into(), kind, target: None, parents: true, exist_ok: true, mode, mtime }
}
