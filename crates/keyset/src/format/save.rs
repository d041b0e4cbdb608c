//! Passes a key set to a writer.
//!
//! Invariant: a metakey shared by several keys is written with the first of them and copied by the others. Each
//! metakey is visited once, so the cost is linear (for the real writers it is quadratic).

use std::collections::BTreeSet;
use std::collections::hash_map::{Entry, HashMap};

use super::error::WriteError;
use super::layout::Layout;
use super::sink::{Field, NameForm, Sink, StoredValue};
use super::{Fault, Names};
use crate::block::Block;
use crate::key::{KeyRef, Place};
use crate::keyset::{KeySet, Stretch};
use crate::meta::MetaId;
use crate::name::{KeyName, NameRef};
use crate::value::ValueRef;

/// A sink that also accepts whole records.
pub(crate) trait RecordSink: Sink {
    /// The layout of the records that it writes.
    const LAYOUT: Layout;

    /// Writes records of this layout.
    fn records(&mut self, records: &[u8]) -> Result<(), Box<Fault>>;
}

/// Passes all keys of a set to a writer; those that are in a file of the same format exactly as they would be written
/// are copied from there.
pub(crate) fn save(
    keys: &KeySet,
    parent: &KeyName,
    names: Names,
    sink: &mut impl RecordSink,
) -> Result<(), WriteError> {
    let names = StoredNames::new(parent, names);
    names.check(keys)?;
    let form = if names.names == Names::Full { NameForm::Full } else { NameForm::Relative };
    sink.begin(form)?;
    let mut sharing = Sharing::new(keys);
    for stretch in keys.stretches() {
        save_stretch(stretch, &names, &mut sharing, sink)?;
    }
    Ok(sink.end()?)
}

fn save_stretch<S: RecordSink>(
    stretch: Stretch<'_>,
    names: &StoredNames<'_>,
    sharing: &mut Sharing,
    sink: &mut S,
) -> Result<(), WriteError> {
    if let Some((block, from, to)) = stretch.run()
        && names.are_those_of(block)
        && let Some(records) = block.records(S::LAYOUT, from, to)
        && !sharing.may_concern(block, from, to)
    {
        return Ok(sink.records(records)?);
    }
    let mut scratch = Vec::new();
    for key in stretch {
        let name = names.of(key.name(), &mut scratch)?;
        save_key(key, name, sharing, sink)?;
    }
    Ok(())
}

#[inline]
fn save_key(
    key: KeyRef<'_>,
    name: &[u8],
    sharing: &mut Sharing,
    sink: &mut impl Sink,
) -> Result<(), WriteError> {
    let value = match key.value() {
        ValueRef::String(text) => StoredValue::String(text.into()),
        ValueRef::Binary(bytes) => StoredValue::Binary(bytes.into(), 0),
        ValueRef::Null => StoredValue::Binary(Field::from(&[][..]), 0),
    };
    sink.key(name.into(), value)?;
    for meta in key.meta() {
        match sharing.first_owner(key, meta.id, name) {
            None => sink.meta(meta.name.into(), meta.value.into())?,
            Some(owner) => sink.copy_meta(owner.into(), meta.name.into())?,
        }
    }
    Ok(sink.end_key()?)
}

/// Names in the form in which a file stores them.
struct StoredNames<'a> {
    names: Names,
    parent: &'a KeyName,
    /// The parent, with a trailing slash.
    head: Vec<u8>,
}

impl<'a> StoredNames<'a> {
    fn new(parent: &'a KeyName, names: Names) -> Self {
        let mut head = parent.without_root_slash().to_vec();
        head.push(b'/');
        Self { names, parent, head }
    }

    /// Whether a block stores names in the same form.
    fn are_those_of(&self, block: &Block) -> bool {
        self.names == Names::Relative && block.head() == self.head
    }

    /// Rejects keys that have no name of this form.
    fn check(&self, keys: &KeySet) -> Result<(), WriteError> {
        let mut scratch = Vec::new();
        for stretch in keys.stretches() {
            let known = stretch
                .run()
                .is_some_and(|(block, ..)| self.are_those_of(block) && block.verbatim.is_some());
            if !known {
                stretch
                    .into_iter()
                    .try_for_each(|key| self.of(key.name(), &mut scratch).map(drop))?;
            }
        }
        Ok(())
    }

    /// The stored form of a name, possibly built in `scratch`.
    #[inline]
    fn of<'n>(&self, name: NameRef<'n>, scratch: &'n mut Vec<u8>) -> Result<&'n [u8], WriteError> {
        if self.names == Names::Relative
            && let Some(tail) = name.tail_below(&self.head)
        {
            return Ok(tail);
        }
        self.of_odd(name, scratch)
    }

    fn of_odd<'n>(
        &self,
        name: NameRef<'n>,
        scratch: &'n mut Vec<u8>,
    ) -> Result<&'n [u8], WriteError> {
        scratch.clear();
        name.pieces().iter().for_each(|piece| scratch.extend_from_slice(piece));
        let start = match self.names {
            Names::Full => 0,
            Names::Cascading if scratch[0] == b'/' => 1,
            Names::UpstreamRelative if self.covers(scratch) => {
                (self.parent.as_bytes().len() + 1).min(scratch.len())
            }
            Names::Relative if scratch == self.parent.as_bytes() => scratch.len(),
            Names::Relative if scratch.starts_with(&self.head) => self.head.len(),
            _ => return Err(WriteError::OutsideParent(name.to_string())),
        };
        Ok(&scratch[start..])
    }

    fn covers(&self, name: &[u8]) -> bool {
        name == self.parent.as_bytes() || name.starts_with(&self.head)
    }
}

/// Which metakeys may have several owners, and the first owner of each so far.
struct Sharing {
    candidates: BTreeSet<MetaId>,
    owners: HashMap<MetaId, Box<[u8]>>,
}

impl Sharing {
    fn new(keys: &KeySet) -> Self {
        let lists = keys.stretches().filter(|stretch| stretch.run().is_none());
        let candidates = lists.flatten().flat_map(KeyRef::shareable_meta).collect();
        Self { candidates, owners: HashMap::new() }
    }

    /// Whether other keys may share metakeys with these keys of a block whose records can be copied.
    fn may_concern(&self, block: &Block, from: u32, to: u32) -> bool {
        let of_keys = block.meta_ids(from, to);
        of_keys.into_iter().any(|ids| self.candidates.range(ids).next().is_some())
    }

    /// The key with which a metakey has already been written, if any.
    #[inline]
    fn first_owner(&mut self, key: KeyRef<'_>, id: MetaId, name: &[u8]) -> Option<&[u8]> {
        if !self.may_be_shared(key, id) {
            return None;
        }
        self.owner(id, name)
    }

    fn owner(&mut self, id: MetaId, name: &[u8]) -> Option<&[u8]> {
        match self.owners.entry(id) {
            Entry::Occupied(owner) => Some(owner.into_mut()),
            Entry::Vacant(vacant) => {
                vacant.insert(name.into());
                None
            }
        }
    }

    #[inline]
    fn may_be_shared(&self, key: KeyRef<'_>, id: MetaId) -> bool {
        let within_block = |block: &Block| block.sharing && block.is_origin(id.number);
        matches!(key.0, Place::Packed(block, _) if within_block(block))
            || (!self.candidates.is_empty() && self.candidates.contains(&id))
    }
}
