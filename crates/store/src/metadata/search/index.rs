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

/// For so many entries the records are read together, where that saves round trips.
const AHEAD: usize = 64;

/// A scan of those ranges of the index in which all is for which a condition holds.
pub(super) struct IndexScan<'a> {
    view: &'a View,
    scan: Scan<'a>,
    /// For how many of the next entries the records were read.
    ahead: usize,
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
        let predicates = predicates_of(&condition.attribute);
        Ok(Self { view, scan, ahead: 0, predicates, last: None })
    }

    /// The same from after a key on.
    pub(super) fn after(self, number: u8, key: &[u8]) -> Result<Self> {
        let last = Some(Position::Index(number, key.to_vec()));
        Ok(Self { scan: self.scan.after(number, key).ok_or_else(foreign)?, last, ..self })
    }

    /// Reads the records and descriptions of what comes next, together.
    fn read_ahead(&mut self, key: &Bytes) -> Result<()> {
        if self.ahead == 0 {
            let next = std::iter::once(key).chain(self.scan.ready()).take(AHEAD);
            let ids: BTreeSet<u64> = next.filter_map(|key| keys::last_id(key)).collect();
            let of = |id| [keys::resource(ResourceId(id)), keys::graph(id)];
            self.view.read_ahead(|| ids.into_iter().flat_map(of).collect::<Vec<_>>().into())?;
            self.ahead = AHEAD;
        }
        self.ahead -= 1;
        Ok(())
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
        self.read_ahead(&key)?;
        let Some(id) = keys::last_id(&key).map(ResourceId) else { return Ok(Some(None)) };
        matcher.stated(id, |graph| self.is_first((number, key), id, graph)).map(Some)
    }

    fn position(&self) -> Option<Position> {
        self.last.clone()
    }
}
