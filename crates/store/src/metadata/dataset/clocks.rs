//! When the memberships of collections changed, for queries that ask this of many: nearly all of them in the order of their ids, and most
//! collections of a large store contain nothing, and have no row for it.

use std::cell::RefCell;

use cenote_kv::KeyRange;

use crate::Result;
use crate::catalog::{Reads, Record, View, keys};
use crate::model::{ResourceId, Time};

/// How many rows are read by a look that follows the last one.
const AHEAD: usize = 256;
/// So many ids may be passed over by one that does.
const NEAR: u64 = 64;

pub(super) struct Clocks<'a> {
    view: &'a View,
    known: RefCell<Option<Window>>,
}

/// All rows between two ids, both among them.
struct Window {
    from: u64,
    through: u64,
    rows: Vec<(u64, Time)>,
}

impl<'a> Clocks<'a> {
    pub(super) fn new(view: &'a View) -> Self {
        Self { view, known: RefCell::new(None) }
    }

    /// When the membership of a collection changed, if it ever did.
    pub(super) fn changed(&self, id: ResourceId) -> Result<Option<Time>> {
        if let Some(known) = self.known.borrow().as_ref().filter(|it| it.has(id)) {
            return Ok(known.of(id));
        }
        let window = self.read(id)?;
        let changed = window.of(id);
        self.known.replace(Some(window));
        Ok(changed)
    }

    fn read(&self, id: ResourceId) -> Result<Window> {
        let is_next = |it: &Window| id.0 > it.through && id.0 - it.through <= NEAR;
        let limit = if self.known.borrow().as_ref().is_some_and(is_next) { AHEAD } else { 1 };
        let [_, table] = keys::membership_clocks();
        let range = KeyRange { start: keys::members_changed(id), ..table };
        let rows = self.view.rows(&range, limit)?.into_iter().filter_map(|(key, value)| {
            let id = keys::first_id(&key)?;
            Some(Time::from_value(&value).map(|time| (id, time)))
        });
        let rows = rows.collect::<Result<Vec<_>>>()?;
        let last = rows.last().filter(|_| rows.len() == limit);
        Ok(Window { from: id.0, through: last.map_or(u64::MAX, |(id, _)| *id), rows })
    }
}

impl Window {
    fn has(&self, id: ResourceId) -> bool {
        (self.from..=self.through).contains(&id.0)
    }

    fn of(&self, id: ResourceId) -> Option<Time> {
        let at = self.rows.binary_search_by_key(&id.0, |(id, _)| *id).ok()?;
        Some(self.rows[at].1)
    }
}
