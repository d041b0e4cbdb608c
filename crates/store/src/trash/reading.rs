//! The trash, as a query reads it: each removed resource with everything below it, as one caller may see it.
//!
//! Invariant: a removed resource, and what is below it, is read here only by callers who could restore it, and of what is
//! below only what they could see before it was removed.

use crate::access::{Chain, Operation, permits_removed};
use crate::catalog::{Reads, TrashRecord, keys};
use crate::contents::{Opened, content_of};
use crate::model::{At, Name, ResourceId, Stat, StorePath};
use crate::resources::Walk;
use crate::trash::list::TrashReader;
use crate::trash::{TrashItem, find};
use crate::{Act, Caller, Error, Reading, Result, Rights, Store};

/// How many removed resources are read at a time.
const CHUNK: usize = 256;

/// A resource that was removed, by itself or with a collection above it, and that the caller could restore.
#[derive(Debug, Clone)]
pub struct Removed {
    item: TrashItem,
    chain: Chain,
    names: Vec<Name>,
}

impl Reading {
    /// All that was removed by itself and that the caller could restore, in the order of ids. None stands for what they could
    /// not restore, so that steps can be counted.
    pub fn removed(&self) -> impl Iterator<Item = Result<Option<TrashItem>>> + use<'_> {
        let mut seen = TrashReader::new(self.view(), self.caller());
        let mut rest = self.caller().may(Act::Trash).then(keys::all_trash);
        let pages = std::iter::from_fn(move || {
            let range = rest.take()?;
            let page = self.view().rows(&range, CHUNK).and_then(|rows| {
                rest = rows.last().map(|(key, _)| range.after(key));
                seen.items(&rows, None)
            });
            Some(page)
        });
        pages.flat_map(|page| match page {
            Ok(items) => items.into_iter().map(|(_, item)| Ok(item)).collect(),
            Err(error) => vec![Err(error)],
        })
    }

    /// The resource of this id, if it was removed; none if the caller may not see it.
    pub fn removed_with(&self, id: ResourceId) -> Result<Option<Removed>> {
        if !self.caller().may(Act::Trash) {
            return Ok(None);
        }
        let Some(chain) = Chain::read_removed(self.view(), id)? else { return Ok(None) };
        let Some(top) = chain.removed_top() else { return Ok(None) };
        let Some(record) = self.view().get::<TrashRecord>(&keys::trash(top.id()))? else {
            return Ok(None);
        };
        let seen = permits_removed(self.caller(), &top, record.removed_by, Operation::Stat)
            && chain.rights(self.caller()).allow(Operation::Stat);
        let names = chain.path().names()[top.depth()..].to_vec();
        let item = TrashItem::new(top.id(), top.resource().kind, record);
        Ok(seen.then_some(Removed { item, chain, names }))
    }
}

impl Removed {
    /// What was removed: the resource itself, or a collection above it.
    pub fn item(&self) -> &TrashItem {
        &self.item
    }

    /// Its names below what was removed; none for that itself.
    pub fn names(&self) -> &[Name] {
        &self.names
    }

    /// The resource, as if what was removed were at this path.
    pub fn stat(&self, top: &StorePath) -> Stat {
        Stat { path: self.shown(top), ..self.chain.clone().into() }
    }

    /// What has these names below it; none if the caller may not see that.
    pub fn find(&self, reading: &Reading, names: &[Name]) -> Result<Option<Self>> {
        let mut found = self.clone();
        for name in names {
            let Some(child) = found.chain.named_child(reading.view(), name)? else {
                return Ok(None);
            };
            found.chain = child;
            found.names.push(name.clone());
        }
        Ok(Some(found).filter(|it| it.chain.rights(reading.caller()).allow(Operation::Stat)))
    }

    /// All below it that the caller may see, or the children alone unless `deep`, as if what was removed were at this path. None
    /// stands for something hidden, so that steps can be counted.
    pub fn below<'a>(
        &self,
        reading: &'a Reading,
        top: &StorePath,
        deep: bool,
    ) -> Result<impl Iterator<Item = Result<Option<Stat>>> + use<'a>> {
        let (view, caller) = (reading.view(), reading.caller());
        let (depth, shown) = (self.chain.depth(), self.shown(top));
        let mut walk = match deep {
            true => Walk::all_below(view, caller, self.chain.clone(), None)?,
            false => Walk::all_in(view, caller, self.chain.clone()),
        };
        let moved = move |(stat, rights): (Stat, Rights)| {
            let path = below(&shown, &stat.path.names()[depth..]);
            rights.allow(Operation::Stat).then_some(Stat { path, ..stat })
        };
        Ok(std::iter::from_fn(move || Some(walk.step_with_rights().transpose()?.map(&moved))))
    }

    fn shown(&self, top: &StorePath) -> StorePath {
        below(top, &self.names)
    }
}

/// An existing path, however deep.
fn below(path: &StorePath, names: &[Name]) -> StorePath {
    StorePath::trusted(path.names().iter().chain(names).cloned().collect())
}

impl Store {
    /// Opens the content of an object that was removed, by itself or with a collection above it. The caller must be able to restore
    /// it, and needs `Rights::READ_CONTENT`.
    pub fn open_removed(&self, caller: &Caller, id: ResourceId) -> Result<Opened> {
        caller.require(Act::Trash)?;
        let at = At::Id(id);
        let missing = || Error::not_found(&at);
        loop {
            let view = self.view()?;
            let chain = Chain::read_removed(&view, id)?.ok_or_else(missing)?;
            let top = chain.removed_top().ok_or_else(missing)?;
            find(&view, caller, top.id(), Operation::Stat)?;
            chain.require(caller, Operation::Read, &at)?;
            let head = content_of(&chain, &at)?;
            // If the content was swept between lookup and pin, the next lookup finds another one.
            if let Some(opened) = self.open_head(&view, Stat::from(chain), head)? {
                return Ok(opened);
            }
        }
    }
}
