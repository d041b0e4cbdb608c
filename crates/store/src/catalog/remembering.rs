//! A view that reads no key twice: for an answer about many resources, which have the collections above them in common.

use std::cell::RefCell;
use std::collections::HashMap;

use bytes::Bytes;
use cenote_kv::{KeyRange, Row};

use super::{Edges, Reads, View};
use crate::Result;

/// A view, and what was read through it.
#[derive(Debug)]
pub(crate) struct Remembering {
    view: View,
    known: RefCell<HashMap<Bytes, Option<Bytes>>>,
}

impl Remembering {
    pub(crate) fn new(view: View) -> Self {
        Self { view, known: RefCell::default() }
    }
}

impl Reads for Remembering {
    fn value(&self, key: &Bytes) -> Result<Option<Bytes>> {
        Ok(self.values(std::slice::from_ref(key))?.pop().flatten())
    }

    fn values(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        let mut known = self.known.borrow_mut();
        let unknown: Vec<Bytes> =
            keys.iter().filter(|key| !known.contains_key(*key)).cloned().collect();
        if !unknown.is_empty() {
            let values = self.view.values(&unknown)?;
            known.extend(unknown.into_iter().zip(values));
        }
        Ok(keys.iter().map(|key| known.get(key).cloned().flatten()).collect())
    }

    fn edges(&self) -> &Edges {
        self.view.edges()
    }

    fn glance(&self, counters: &[Bytes]) -> Result<Vec<i64>> {
        self.view.glance(counters)
    }

    fn rows(&self, range: &KeyRange, limit: usize) -> Result<Vec<Row>> {
        self.view.rows(range, limit)
    }
}
