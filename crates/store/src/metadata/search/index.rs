//! The walk over the index for one condition.

use std::collections::BTreeSet;

use cenote_kv::KeyRange;

use super::{Comparison, Condition, TURN};
use crate::Result;
use crate::catalog::{Reads, View, keys};
use crate::metadata::graph::hash;
use crate::metadata::predicate_of;
use crate::model::ResourceId;

/// A scan of the index.
pub(super) struct IndexScan<'a> {
    view: &'a View,
    range: KeyRange,
    in_order: bool,
    /// What was read and not yet taken.
    pub(super) ids: BTreeSet<ResourceId>,
}

impl<'a> IndexScan<'a> {
    pub(super) fn new(view: &'a View, condition: &Condition, after: Option<ResourceId>) -> Self {
        let predicate = hash(&predicate_of(&condition.attribute));
        let in_order = condition.comparison == Comparison::Equal;
        let object = in_order.then(|| hash(&condition.value));
        let mut range = keys::statements(predicate, object);
        if let (Some(object), Some(after)) = (object, after) {
            range = range.after(&keys::statement(predicate, object, after.0));
        }
        Self { view, range, in_order, ids: BTreeSet::new() }
    }

    /// Whether ids come in order, as they do for one value of one attribute: then a page is
    /// complete as soon as it is full.
    pub(super) fn is_in_order(&self) -> bool {
        self.in_order
    }

    /// Reads on; true at the end.
    pub(super) fn read(&mut self) -> Result<bool> {
        let rows = self.view.rows(&self.range, TURN)?;
        self.ids.extend(rows.iter().filter_map(|(key, _)| keys::last_id(key)).map(ResourceId));
        if let Some((last, _)) = rows.last() {
            self.range = self.range.clone().after(last);
        }
        Ok(rows.len() < TURN)
    }
}
