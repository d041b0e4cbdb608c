//! The entries of a literal, whatever is stated with it: the order by predicate, read from predicate to predicate.

use std::cmp::Ordering;
use std::collections::VecDeque;

use bytes::Bytes;
use cenote_kv::KeyRange;

use super::order::text_key;
use crate::Result;
use crate::catalog::{Reads, keys};

/// How many entries are read where those of the literal may begin. It costs hardly more than one of them, and several predicates of few
/// statements are passed over at once.
const FEW: usize = 16;
/// How many are read at a time among them.
const MANY: usize = 256;

/// The entries by predicate and object that a text has, if it is no IRI, in the order of their keys.
///
/// Cost: at most two reads for each predicate that the store has, however many statements have it, and those of what is found.
pub(in crate::metadata) struct WithAnyPredicate<'a, R> {
    reads: &'a R,
    object: u64,
    /// What is left.
    range: KeyRange,
    /// How much of it is read next.
    step: usize,
    /// What was read and not yet returned.
    ready: VecDeque<Bytes>,
}

impl<'a, R: Reads> WithAnyPredicate<'a, R> {
    pub(in crate::metadata) fn new(reads: &'a R, text: &str) -> Self {
        let (object, range) = (text_key(text), keys::by_predicate());
        Self { reads, object, range, step: FEW, ready: VecDeque::new() }
    }

    /// Reads on; returns whether there was anything.
    fn read(&mut self) -> Result<bool> {
        let rows = self.reads.rows(&self.range, self.step)?;
        let Some((last, _)) = rows.last() else { return Ok(false) };
        self.pass(last);
        let is_sought = |key: &Bytes| keys::object_of_statement(key) == Some(self.object);
        self.ready.extend(rows.into_iter().map(|(key, _)| key).filter(is_sought));
        Ok(true)
    }

    /// Goes to the next entry that may be sought, after one that was read.
    fn pass(&mut self, last: &[u8]) {
        let predicate = keys::first_id(last).unwrap_or_default();
        let order = keys::object_of_statement(last).map(|object| object.cmp(&self.object));
        let here = keys::statements_between(predicate, self.object..=self.object);
        self.step = if order == Some(Ordering::Equal) { MANY } else { FEW };
        self.range = match order {
            Some(Ordering::Less) => KeyRange { start: here.start, ..keys::by_predicate() },
            Some(Ordering::Greater) => keys::after_predicate(predicate),
            Some(Ordering::Equal) | None => self.range.clone().after(last),
        };
    }
}

impl<R: Reads> Iterator for WithAnyPredicate<'_, R> {
    type Item = Result<Bytes>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() {
            match self.read() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
        self.ready.pop_front().map(Ok)
    }
}
