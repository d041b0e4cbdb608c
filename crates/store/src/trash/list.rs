//! Listing the trash, as far as the caller may restore it.

use std::collections::HashMap;

use bytes::Bytes;
use cenote_kv::KeyRange;

use crate::access::{Chain, Operation, permits_removed};
use crate::catalog::keys::{self, Counter};
use crate::catalog::{Reads, Record, TrashRecord, View};
use crate::model::{At, Resource, ResourceId};
use crate::resources::find;
use crate::trash::{TRASH, TrashItem};
use crate::{Act, Caller, Error, ErrorKind, Result, Store};

/// How many records are read at once.
const CHUNK: usize = 256;

/// Which page of the trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrashOptions {
    /// Only what was below this collection.
    pub below: Option<At>,
    /// Begin after this position.
    pub after: Option<TrashCursor>,
    /// At most this many items; at least 1 and at most [`TrashOptions::MAX`] are returned.
    pub limit: usize,
    /// How many items a page looks at.
    pub effort: usize,
}

impl TrashOptions {
    /// The longest page.
    pub const MAX: usize = 1_000;
    /// The usual effort.
    pub const EFFORT: usize = 10_000;
}

impl Default for TrashOptions {
    fn default() -> Self {
        Self { below: None, after: None, limit: Self::MAX, effort: Self::EFFORT }
    }
}

/// Where the next page begins. It is an id that its caller may not know: an opening seals it before it returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrashCursor(ResourceId);

impl TrashCursor {
    /// The cursor as bytes.
    pub fn to_bytes(self) -> Vec<u8> {
        self.0.0.to_be_bytes().to_vec()
    }

    /// The cursor in these bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if they are not those of a cursor.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let id =
            bytes.try_into().map_err(|_| Error::invalid("the cursor does not belong to the trash"));
        Ok(Self(ResourceId(u64::from_be_bytes(id?))))
    }
}

/// A page of the trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrashPage {
    /// Removed resources, in the order of their ids.
    pub items: Vec<TrashItem>,
    /// Where the next page begins; none at the end. A page can be empty before the last.
    pub next: Option<TrashCursor>,
}

/// How much is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrashTotal {
    /// Removed resources that can be restored, each with everything below it.
    pub items: u64,
    /// Bytes of their contents, as far as they have been counted.
    pub bytes: u64,
}

impl Store {
    /// What was removed and can be restored by the caller: what they removed, and what was in collections that they
    /// control.
    pub fn trash(&self, caller: &Caller, options: &TrashOptions) -> Result<TrashPage> {
        caller.require(Act::Trash)?;
        let view = self.view()?;
        let below = options.below.as_ref();
        let below = below.map(|at| find(&view, caller, at, Operation::Stat)).transpose()?;
        let below = below.map(|chain| chain.id());
        let limit = options.limit.clamp(1, TrashOptions::MAX);
        let mut page = TrashPage { items: Vec::new(), next: options.after };
        let mut seen = TrashReader::new(&view, caller);
        let mut left = options.effort.max(1);
        while left > 0 && page.items.len() < limit {
            let rows = view.rows(&after(page.next), left.min(CHUNK))?;
            if rows.is_empty() {
                return Ok(TrashPage { next: None, ..page });
            }
            left -= rows.len();
            for (id, found) in seen.items(&rows, below)? {
                page.next = Some(TrashCursor(id));
                page.items.extend(found);
                if page.items.len() == limit {
                    break;
                }
            }
        }
        Ok(page)
    }

    /// How much of what was below a collection the caller could restore.
    pub(crate) fn trash_below(
        &self,
        view: &View,
        caller: &Caller,
        below: ResourceId,
    ) -> Result<TrashTotal> {
        let mut total = TrashTotal::default();
        let mut seen = TrashReader::new(view, caller);
        let mut next = None;
        loop {
            crate::waiting::go_on()?;
            let rows = view.rows(&after(next), CHUNK)?;
            for (id, found) in seen.items(&rows, Some(below))? {
                next = Some(TrashCursor(id));
                let Some(item) = found else { continue };
                total.items += 1;
                total.bytes = total.bytes.saturating_add(item.bytes.unwrap_or_default());
            }
            if rows.len() < CHUNK {
                return Ok(total);
            }
        }
    }
}

impl TrashTotal {
    /// What the whole store keeps, from its counters.
    pub(crate) fn read(reads: &impl Reads) -> Result<Self> {
        let count = |what| Ok::<_, Error>(reads.counter(TRASH, what)?.max(0).unsigned_abs());
        Ok(Self { items: count(Counter::Resources)?, bytes: count(Counter::Bytes)? })
    }
}

/// What comes after a position.
fn after(position: Option<TrashCursor>) -> KeyRange {
    match position {
        Some(TrashCursor(id)) => keys::all_trash().after(&keys::trash(id)),
        None => keys::all_trash(),
    }
}

/// Looks at removed resources, and reads the collections that they were in once each.
pub(super) struct TrashReader<'a> {
    view: &'a View,
    caller: &'a Caller,
    above: HashMap<ResourceId, Option<Chain>>,
}

impl<'a> TrashReader<'a> {
    pub(super) fn new(view: &'a View, caller: &'a Caller) -> Self {
        Self { view, caller, above: HashMap::new() }
    }

    /// The resources of these records, each with its item if the caller sees it. Damage was logged, and is reported by
    /// a check: it keeps nothing else from being listed.
    pub(super) fn items(
        &mut self,
        rows: &[(Bytes, Bytes)],
        below: Option<ResourceId>,
    ) -> Result<Vec<(ResourceId, Option<TrashItem>)>> {
        let id = |key: &Bytes| ResourceId(keys::first_id(key).unwrap_or_default());
        let ids: Vec<_> = rows.iter().map(|(key, _)| id(key)).collect();
        let resources = self.view.values_of(&ids, keys::resource)?;
        let mut items = Vec::with_capacity(rows.len());
        for ((id, (_, record)), resource) in ids.into_iter().zip(rows).zip(resources) {
            match self.item(id, record, resource, below) {
                Err(error) if error.kind() == ErrorKind::Damaged => items.push((id, None)),
                item => items.push((id, item?)),
            }
        }
        Ok(items)
    }

    fn item(
        &mut self,
        id: ResourceId,
        record: &[u8],
        resource: Option<Bytes>,
        below: Option<ResourceId>,
    ) -> Result<Option<TrashItem>> {
        let Some(resource) = resource else { return Ok(None) };
        let record = TrashRecord::from_value(record)?;
        let resource = Resource::from_value(&resource)?;
        let kind = resource.kind;
        let chain = match self.above(record.parent)? {
            Some(above) => above.child(id, resource),
            None => Chain::alone(id, resource),
        };
        let is_below = below.is_none_or(|top| top != id && chain.contains(top));
        let seen =
            is_below && permits_removed(self.caller, &chain, record.removed_by, Operation::Stat);
        Ok(seen.then(|| TrashItem::new(id, kind, record)))
    }

    fn above(&mut self, parent: ResourceId) -> Result<Option<&Chain>> {
        if !self.above.contains_key(&parent) {
            self.above.insert(parent, Chain::read_removed(self.view, parent)?);
        }
        Ok(self.above.get(&parent).and_then(Option::as_ref))
    }
}
