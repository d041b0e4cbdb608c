//! What was in a collection.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::entry::Entry;
use super::resource::{Found, Past};
use super::since::{Names, revisions};
use super::{AsOf, Moment};
use crate::access::Operation;
use crate::catalog::{Child, Record, keys};
use crate::model::{Name, ResourceId, StorePath};
use crate::resources::{first_seen, require_collection};
use crate::waiting::go_on;
use crate::{Caller, Result, Store};

/// The longest page.
const MOST: usize = 1_000;

/// A part of what was in a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastPage {
    /// In the order of the names' bytes.
    pub entries: Vec<PastEntry>,
    /// After which name the next page begins, that of the last entry; none at the end.
    pub next: Option<String>,
}

/// Something that was in a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PastEntry {
    /// What it was like.
    Kept(Box<Past>),
    /// It was there, and what it was like is not kept.
    Lost {
        /// Its id.
        id: ResourceId,
        /// Its path at the time.
        path: StorePath,
    },
}

impl PastEntry {
    /// The path that it had.
    pub fn path(&self) -> &StorePath {
        match self {
            Self::Kept(past) => &past.path,
            Self::Lost { path, .. } => path,
        }
    }

    fn name(&self) -> Option<String> {
        self.path().names().last().map(Name::to_string)
    }
}

impl Store {
    /// What was in a collection at a moment, as far as the caller may see it: at most `limit` entries, and at most 1,000. Needs
    /// `Rights::LIST`, where the collection is now and where it was.
    ///
    /// # Errors
    /// Those of [`Store::stat_as_of`]; [`ErrorKind::WrongKind`](crate::ErrorKind::WrongKind) for a resource that is not a collection.
    pub fn list_as_of(
        &self,
        caller: &Caller,
        path: &StorePath,
        moment: Moment,
        (after, limit): (Option<&str>, usize),
    ) -> Result<PastPage> {
        let view = self.view_at(&path.into())?;
        let past = self.as_of(&view, caller, moment)?;
        let collection = past.find(path, Operation::List)?;
        require_collection(&collection.chain)?;
        past.page(&collection, after.unwrap_or_default(), limit.clamp(1, MOST))
    }
}

impl AsOf<'_> {
    fn page(&self, collection: &Found, after: &str, limit: usize) -> Result<PastPage> {
        let id = collection.chain.id();
        let names = Names::read(self.view, self.cut, |parent, _| parent == id)?;
        let read = |after: &String, most| self.seen(collection, &names, after, most);
        let (seen, more) = first_seen(after.to_owned(), limit, read)?;
        let entries = self.states(seen)?;
        let next = entries.last().filter(|_| more).and_then(PastEntry::name);
        Ok(PastPage { entries, next })
    }

    /// What the caller may see of so many names, and the last of these if there are more.
    fn seen(
        &self,
        collection: &Found,
        names: &Names,
        after: &str,
        most: usize,
    ) -> Result<(Vec<Entry>, Option<String>)> {
        let mut held = self.held(collection.chain.id(), names, after, most + 1)?;
        let next = (held.len() > most).then(|| held.keys().nth(most - 1).cloned()).flatten();
        if let Some(last) = &next {
            held.retain(|name, _| name <= last);
        }
        let ids: Vec<ResourceId> = held.values().copied().collect();
        let mut entries = Vec::with_capacity(held.len());
        for (held, resource) in held.into_iter().zip(self.view.resources(&ids)?) {
            let entry = self.entry(collection, held, resource, names)?;
            entries.extend(entry.is_seen(self.caller).then_some(entry));
        }
        Ok((entries, next))
    }

    /// What these were like.
    fn states(&self, seen: Vec<Entry>) -> Result<Vec<PastEntry>> {
        let ids: BTreeSet<ResourceId> = seen.iter().filter_map(Entry::existing).collect();
        let revisions = revisions(self.view, self.cut, |id| ids.contains(&id))?;
        let mut entries = Vec::with_capacity(seen.len());
        for entry in seen {
            match entry {
                Entry::Found(found) => entries.extend(self.shown(&found, &revisions)?),
                Entry::Gone { lost, .. } => entries.push(lost),
            }
        }
        Ok(entries)
    }

    /// The first names after `after` that a collection held, and what each was: those that have not changed since, and those that have.
    pub(super) fn held(
        &self,
        collection: ResourceId,
        names: &Names,
        after: &str,
        most: usize,
    ) -> Result<BTreeMap<String, ResourceId>> {
        let none = BTreeMap::new();
        let changed = names.within(collection).unwrap_or(&none);
        let mut held = BTreeMap::new();
        let range = keys::children(collection).after(&keys::child(collection, after));
        for row in self.view.snapshot.scan(&range, Default::default()) {
            go_on()?;
            let (key, value) = row?;
            let name = keys::child_name(&key);
            if !changed.contains_key(name) {
                held.insert(name.to_owned(), Child::from_value(&value)?.id);
                if held.len() == most {
                    break;
                }
            }
        }
        let from = (Bound::Excluded(after), Bound::Unbounded);
        let before = changed.range::<str, _>(from);
        let before = before.filter_map(|(name, id)| Some((name.as_ref().to_owned(), (*id)?)));
        held.extend(before.take(most));
        while held.len() > most {
            held.pop_last();
        }
        Ok(held)
    }
}
