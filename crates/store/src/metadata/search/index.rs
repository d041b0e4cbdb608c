//! The plan that scans the index for one condition.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::Condition;
use super::cursor::{Position, foreign};
use super::matching::Matcher;
use super::page::{Look, Plan};
use crate::Result;
use crate::catalog::{View, keys};
use crate::metadata::index::{Scan, entries_of};
use crate::metadata::vocabulary::predicates_of;
use crate::model::{Graph, ResourceId};

/// A scan of those ranges of the index in which all is for which a condition holds.
pub(super) struct IndexScan<'a> {
    scan: Scan<'a>,
    predicates: BTreeSet<String>,
    /// The last entry examined.
    last: Option<Position>,
}

impl<'a> IndexScan<'a> {
    pub(super) fn new(
        view: &'a View,
        condition: &Condition,
        matcher: &Matcher<'_>,
    ) -> Result<Self> {
        let scan = Scan::new(view, condition.ranges(matcher.links())?);
        Ok(Self { scan, predicates: predicates_of(&condition.attribute), last: None })
    }

    /// The same from after a key on.
    pub(super) fn after(self, number: u8, key: &[u8]) -> Result<Self> {
        let last = Some(Position::Index(number, key.to_vec()));
        Ok(Self { scan: self.scan.after(number, key).ok_or_else(foreign)?, last, ..self })
    }

    /// Whether this is the first of a description's entries in the scan, so that each is taken once.
    fn is_first(&self, entry: (u8, Bytes), id: ResourceId, graph: &Graph) -> bool {
        let of = graph.iter().filter(|statement| self.predicates.contains(&statement.predicate));
        self.scan.first(of.flat_map(|statement| entries_of(id.0, statement))) == Some(entry)
    }
}

impl Plan for IndexScan<'_> {
    fn look(&mut self, matcher: &mut Matcher<'_>) -> Result<Option<Look>> {
        let Some((number, key)) = self.scan.next()? else { return Ok(None) };
        self.last = Some(Position::Index(number, key.to_vec()));
        let Some(id) = keys::last_id(&key).map(ResourceId) else { return Ok(Some(None)) };
        matcher.stated(id, |graph| self.is_first((number, key), id, graph)).map(Some)
    }

    fn position(&self) -> Option<Position> {
        self.last.clone()
    }
}
