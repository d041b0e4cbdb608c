//! Views and transactions for requests about one place, which read with their snapshot what such a request is likely to need: over a
//! network that saves round trips. An embedded engine reads nothing ahead.
//!
//! Invariant: what is likely decides nothing, as the hints that it comes from ([`Edges`](crate::catalog::Edges)).

use bytes::Bytes;
use cenote_kv::{KeyRange, Wanted};

use crate::catalog::{Transaction, View, keys};
use crate::model::{At, ResourceId};
use crate::notes::NOTES;
use crate::resources::{keys_ahead, likely, members};
use crate::{Caller, ListOptions, Result, Store, metadata, tree};

/// So many of those that were removed with one name are read ahead.
const REMOVED: usize = 16;

/// What an answer about one resource is likely to need of it, besides what every answer does.
#[derive(Debug, Clone, Copy, Default)]
pub struct Foreseen<'a> {
    /// Its first children.
    pub children: bool,
    /// Whether it has versions.
    pub versions: bool,
    /// The description of the collection that it is in.
    pub collection: bool,
    /// In which descriptions it is the object of this predicate.
    pub object_of: Option<&'a str>,
    /// What was removed from there, if there is nothing.
    pub removed: bool,
    /// The notes of this opening about it and the collections above it.
    pub notes: Option<&'a str>,
    /// The first of those whose names begin so, whatever they are about.
    pub named: Option<&'a str>,
}

impl Store {
    /// A view for an answer about what is at some place.
    pub(crate) fn view_at(&self, at: &At) -> Result<View> {
        self.view_ahead(|| self.keys_to(at).into())
    }

    /// The same with the content of that.
    pub(crate) fn view_of_content(&self, at: &At) -> Result<View> {
        let content = || self.likely_content(at);
        self.view_ahead(|| self.keys_to(at).into_iter().chain(content()).collect::<Vec<_>>().into())
    }

    /// The same with the description of that.
    pub(crate) fn view_of_described(&self, at: &At) -> Result<View> {
        self.view_ahead(|| self.keys_to_described(at).into())
    }

    /// The same with the membership of that, and a part of its children.
    pub(crate) fn view_of_members(&self, at: &At, options: &ListOptions) -> Result<View> {
        self.view_ahead(|| {
            let keys = [self.keys_to(at), self.keys_to_members(at)].concat();
            let part = likely(&self.inner.edges, at).map(|id| tree::part_of(id, options));
            Wanted { keys, ranges: part.into_iter().collect() }
        })
    }

    /// The same with all that is shown of that, which the caller is likely to own.
    pub(crate) fn view_of_whole(
        &self,
        caller: &Caller,
        at: &At,
        foreseen: &Foreseen<'_>,
    ) -> Result<View> {
        self.view_ahead(|| {
            let owner = vec![keys::person(caller.user())];
            let mut wanted = self.wanted_for(at, foreseen);
            wanted
                .keys
                .extend([self.keys_to_described(at), self.keys_to_members(at), owner].concat());
            wanted
        })
    }

    /// [`Store::transact`] for a change of what is at some place.
    pub(crate) fn transact_at<T>(
        &self,
        at: &At,
        change: impl FnMut(&mut Transaction) -> Result<T>,
    ) -> Result<T> {
        self.transact_ahead(|| self.keys_to(at).into(), change)
    }

    /// The same of its description.
    pub(crate) fn transact_described<T>(
        &self,
        at: &At,
        change: impl FnMut(&mut Transaction) -> Result<T>,
    ) -> Result<T> {
        self.transact_ahead(|| self.keys_to_described(at).into(), change)
    }

    fn wanted_for(&self, at: &At, foreseen: &Foreseen<'_>) -> Wanted {
        let edges = &self.inner.edges;
        let mut wanted = Wanted::default();
        if let At::Path(path) = at
            && foreseen.collection
        {
            let collection = path.split_last().and_then(|(above, _)| likely(edges, &above.into()));
            wanted.keys.extend(collection.map(|id| keys::graph(id.0)));
        }
        let Some(id) = likely(edges, at) else {
            let removed = foreseen.removed.then(|| self.removed_from(at)).flatten();
            return Wanted { ranges: removed.into_iter().collect(), ..wanted };
        };
        wanted.ranges.extend(foreseen.children.then(|| tree::first_names(id)));
        wanted.ranges.extend(self.notes_for(id, foreseen));
        wanted.ranges.extend(foreseen.versions.then(|| (keys::versions(id), 1)));
        if let At::Path(path) = at
            && let Some(predicate) = foreseen.object_of
        {
            let naming = metadata::wanted_naming(predicate, path, id);
            wanted.keys.extend(naming.keys);
            wanted.ranges.extend(naming.ranges);
        }
        wanted
    }

    fn notes_for(&self, id: ResourceId, foreseen: &Foreseen<'_>) -> Vec<(KeyRange, usize)> {
        let Some(opening) = foreseen.notes else { return Vec::new() };
        let about = self.inner.edges.up(id).into_iter().map(|id| keys::notes_about(id, opening));
        let named = foreseen.named.map(|prefix| keys::notes_named(opening, prefix));
        about.chain(named).map(|range| (range, NOTES)).collect()
    }

    fn removed_from(&self, at: &At) -> Option<(KeyRange, usize)> {
        let At::Path(path) = at else { return None };
        let (above, name) = path.split_last()?;
        let above = likely(&self.inner.edges, &above.into())?;
        Some((keys::removed_from(above, name.as_str()), REMOVED))
    }

    fn keys_to(&self, at: &At) -> Vec<Bytes> {
        keys_ahead(&self.inner.edges, std::iter::once(at))
    }

    fn keys_to_described(&self, at: &At) -> Vec<Bytes> {
        let described = likely(&self.inner.edges, at).map(|id| keys::graph(id.0));
        self.keys_to(at).into_iter().chain(described).collect()
    }

    fn keys_to_members(&self, at: &At) -> Vec<Bytes> {
        let members = likely(&self.inner.edges, at).into_iter().flat_map(members::keys_of);
        members.collect()
    }
}
