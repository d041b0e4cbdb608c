//! The plan that scans the index for one condition.

use std::collections::VecDeque;

use bytes::Bytes;
use cenote_kv::KeyRange;

use super::cursor::{Position, foreign};
use super::matching::Matcher;
use super::page::{Look, Plan};
use super::{Comparison, Condition};
use crate::Result;
use crate::catalog::{Reads, View, keys};
use crate::metadata::index::hash;
use crate::metadata::vocabulary::predicates_of;
use crate::model::{Graph, ResourceId};

/// How many entries are read at a time.
const STEP: usize = 256;

/// A scan of the index: a range for each predicate that is shown as the attribute.
pub(super) struct IndexScan<'a> {
    view: &'a View,
    predicates: Vec<String>,
    /// The hash of the only value, if there is but one.
    object: Option<u64>,
    /// Which predicate's range is read, and what is left of it.
    number: u8,
    range: KeyRange,
    /// What was read and not yet looked at.
    ready: VecDeque<Bytes>,
    /// What was looked at last.
    last: Option<Position>,
}

impl<'a> IndexScan<'a> {
    pub(super) fn new(view: &'a View, condition: &Condition) -> Self {
        let predicates: Vec<String> = predicates_of(&condition.attribute).into_iter().collect();
        let object = (condition.comparison == Comparison::Equal).then(|| hash(&condition.value));
        let range = keys::statements(hash(&predicates[0]), object);
        Self { view, predicates, object, number: 0, range, ready: VecDeque::new(), last: None }
    }

    /// The same from after a key on.
    pub(super) fn after(
        view: &'a View,
        condition: &Condition,
        number: u8,
        key: &[u8],
    ) -> Result<Self> {
        let mut scan = Self::new(view, condition);
        scan.number = number;
        scan.range = scan.range_of(number).ok_or_else(foreign)?;
        if !scan.range.contains(key) {
            return Err(foreign());
        }
        scan.range = scan.range.after(key);
        scan.last = Some(Position::Index(number, key.to_vec()));
        Ok(scan)
    }

    fn range_of(&self, number: u8) -> Option<KeyRange> {
        let predicate = self.predicates.get(usize::from(number))?;
        Some(keys::statements(hash(predicate), self.object))
    }

    /// The next key; none at the end of the last range.
    fn next(&mut self) -> Result<Option<Bytes>> {
        while self.ready.is_empty() {
            let rows = self.view.rows(&self.range, STEP)?;
            self.ready.extend(rows.into_iter().map(|(key, _)| key));
            match self.ready.back() {
                Some(last) => self.range = self.range.clone().after(last),
                None => match self.range_of(self.number + 1) {
                    Some(range) => (self.number, self.range) = (self.number + 1, range),
                    None => return Ok(None),
                },
            }
        }
        Ok(self.ready.pop_front())
    }

    /// Whether this is the first of a description's entries in the scan, so that each is taken once.
    fn is_first(&self, object: u64, graph: &Graph) -> bool {
        let number = |predicate: &String| self.predicates.iter().position(|p| p == predicate);
        let entries = graph.iter().filter(|statement| statement.subject.is_none());
        let entries = entries
            .filter_map(|s| Some((number(&s.predicate)?, hash(s.object.text()))))
            .filter(|(_, hash)| self.object.is_none_or(|object| object == *hash));
        entries.min() == Some((usize::from(self.number), object))
    }
}

impl Plan for IndexScan<'_> {
    fn look(&mut self, matcher: &mut Matcher<'_>) -> Result<Option<Look>> {
        let Some(key) = self.next()? else { return Ok(None) };
        self.last = Some(Position::Index(self.number, key.to_vec()));
        let (Some(object), Some(id)) = (keys::id_at(&key, 9), keys::last_id(&key)) else {
            return Ok(Some(None));
        };
        matcher.stated(ResourceId(id), |graph| self.is_first(object, graph)).map(Some)
    }

    fn position(&self) -> Option<Position> {
        self.last.clone()
    }
}
