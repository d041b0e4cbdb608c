//! What was in a collection.

use std::collections::{BTreeMap, BTreeSet};

use super::now::Now;
use super::resource::{Found, Past};
use super::since::{Names, revisions};
use super::{AsOf, Moment};
use crate::access::Operation;
use crate::catalog::{Child, Reads, Record, keys};
use crate::model::{Name, Resource, ResourceId, StorePath};
use crate::tree::require_collection;
use crate::waiting::go_on;
use crate::{Caller, Result, Store};

/// The longest page.
const MOST: usize = 1_000;

/// A part of what was in a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastPage {
    /// In the order of the names' bytes.
    pub entries: Vec<PastEntry>,
    /// After which name the next page begins; none at the end. A page can be empty before the last.
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

impl Store {
    /// What was in a collection at a moment, as far as the caller may see it: at most `limit` entries, and at most 1,000. Needs
    /// `Rights::LIST`, where the collection is now and where it was.
    ///
    /// # Errors
    /// Those of [`Store::stat_as_of`]; [`ErrorKind::WrongKind`](crate::ErrorKind::WrongKind) for what is no collection.
    pub fn list_as_of(
        &self,
        caller: &Caller,
        path: &StorePath,
        moment: Moment,
        (after, limit): (Option<&str>, usize),
    ) -> Result<PastPage> {
        let view = self.view()?;
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
        let mut held = self.held(id, &names, after, limit + 1)?;
        let next = (held.len() > limit).then(|| held.keys().nth(limit - 1).cloned()).flatten();
        if let Some(last) = &next {
            held.retain(|name, _| name <= last);
        }
        let wanted: BTreeSet<ResourceId> = held.values().copied().collect();
        let revisions = revisions(self.view, self.cut, |id| wanted.contains(&id))?;
        let mut entries = Vec::with_capacity(held.len());
        for (name, id) in held {
            let path = collection.path.child(Name::trusted(name));
            let resource = self.view.get::<Resource>(&keys::resource(id))?;
            let now = Now::of(self.view, id)?;
            let (Some(resource), false) = (resource, now.is_gone()) else {
                let seen = self.saw_removed(&collection.chain, id, &names);
                entries.extend(seen.then_some(PastEntry::Lost { id, path }));
                continue;
            };
            let chain = collection.chain.child(id, resource);
            let found = Found { chain, path: path.clone(), now };
            if found.rights(self.caller).allow(Operation::Stat) {
                let kept = self.state(&found, &revisions)?;
                let lost = PastEntry::Lost { id, path };
                entries.push(kept.map_or(lost, |past| PastEntry::Kept(Box::new(past))));
            }
        }
        Ok(PastPage { entries, next })
    }

    /// The first names after `after` that a collection held, and what each was: those that have not changed since, and those that have.
    fn held(
        &self,
        collection: ResourceId,
        names: &Names,
        after: &str,
        most: usize,
    ) -> Result<BTreeMap<String, ResourceId>> {
        let changed: BTreeMap<&str, Option<ResourceId>> = names.within(collection).collect();
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
        let before = changed.into_iter().filter(|(name, _)| *name > after);
        held.extend(before.filter_map(|(name, id)| Some((name.to_owned(), id?))));
        while held.len() > most {
            held.pop_last();
        }
        Ok(held)
    }
}
