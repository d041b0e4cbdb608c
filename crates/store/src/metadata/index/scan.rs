//! A scan of several ranges of the index, one after the other.

use std::collections::VecDeque;

use bytes::Bytes;
use cenote_kv::KeyRange;

use crate::Result;
use crate::catalog::{Reads, View};

/// A scan, with its position in it.
pub(in crate::metadata) struct Scan<'a> {
    view: &'a View,
    ranges: Vec<KeyRange>,
    /// Which of the ranges is read, and what is left of it.
    number: u8,
    range: KeyRange,
    /// Data that was read and not yet returned.
    ready: VecDeque<Bytes>,
}

impl<'a> Scan<'a> {
    /// How many entries are read at a time.
    pub(in crate::metadata) const STEP: usize = 256;

    pub(in crate::metadata) fn new(view: &'a View, ranges: Vec<KeyRange>) -> Self {
        let nothing = KeyRange::new(Bytes::new(), Bytes::new());
        let range = ranges.first().cloned().unwrap_or(nothing);
        Self { view, ranges, number: 0, range, ready: VecDeque::new() }
    }

    /// The same from after a key of one of the ranges on; none if the key is not in it.
    pub(in crate::metadata) fn after(self, number: u8, key: &[u8]) -> Option<Self> {
        let range = self.ranges.get(usize::from(number)).filter(|range| range.contains(key))?;
        let range = range.clone().after(key);
        Some(Self { number, range, ..self })
    }

    /// The next key, with the number of its range; none at the end of the last one.
    pub(in crate::metadata) fn next(&mut self) -> Result<Option<(u8, Bytes)>> {
        if self.ranges.is_empty() {
            return Ok(None);
        }
        while self.ready.is_empty() {
            let rows = self.view.rows(&self.range, Self::STEP)?;
            self.ready.extend(rows.into_iter().map(|(key, _)| key));
            match self.ready.back() {
                Some(last) => self.range = self.range.clone().after(last),
                None => match self.ranges.get(usize::from(self.number) + 1) {
                    Some(range) => (self.number, self.range) = (self.number + 1, range.clone()),
                    None => return Ok(None),
                },
            }
        }
        Ok(self.ready.pop_front().map(|key| (self.number, key)))
    }

    /// The keys that were read and not returned yet, which come next.
    pub(in crate::metadata) fn ready(&self) -> impl Iterator<Item = &Bytes> {
        self.ready.iter()
    }

    /// The first of some keys in the order of the scan, with the number of its range.
    pub(in crate::metadata) fn first(
        &self,
        keys: impl Iterator<Item = Bytes>,
    ) -> Option<(u8, Bytes)> {
        let number = |key: &Bytes| self.ranges.iter().position(|range| range.contains(key));
        keys.filter_map(|key| Some((u8::try_from(number(&key)?).ok()?, key))).min()
    }
}
