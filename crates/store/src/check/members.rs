//! The memberships of collections: nothing they could be computed from is kept, but they go with their collection.

use super::report::{Look, Report, delete_while_same, look, rows};
use super::{Finding, FindingKind as Kind};
use crate::Result;
use crate::catalog::{Record, View, keys};
use crate::model::{self, Resource, ResourceId, Time};

pub(super) fn check(view: &View, report: &mut Report<'_>) -> Result<()> {
    let [changes, times] = keys::membership_clocks();
    for row in rows(view, &changes).chain(rows(view, &times)) {
        let (key, value) = row?;
        let id = ResourceId(keys::first_id(&key).unwrap_or_default());
        let resource = keys::resource(id);
        let detail = match look::<Resource>(view, &resource)? {
            Look::Missing => "the membership of a missing collection",
            Look::Found(found) if found.kind != model::Kind::Collection => {
                "the membership of something that is not a collection"
            }
            _ if times.contains(&key) && Time::from_value(&value).is_err() => {
                "the time of the last change of a membership does not decode"
            }
            _ => continue,
        };
        let kind = if detail.ends_with("decode") { Kind::DamagedRecord } else { Kind::Leftover };
        report
            .derivable(Finding::new(kind, id, detail), delete_while_same(view, &key, resource)?)?;
    }
    report.flush()
}
