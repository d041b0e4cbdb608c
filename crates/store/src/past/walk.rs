//! What was below a collection, in path order: names are compared as bytes, and a collection comes before what was in it.
//!
//! Invariant: whatever changes while a walk is in progress, all its pages are of the one moment. No snapshot is held between them:
//! each page adds the changes since the last one to those undone.

use std::vec::IntoIter;

use super::collection::PastEntry;
use super::entry::Entry;
use super::reader::PastReader;
use super::resource::Found;
use super::since::Since;
use super::wanted::PastSearch;
use super::{AsOf, Moment};
use crate::access::Operation;
use crate::feed::Position;
use crate::metadata::Wanted;
use crate::model::{Kind, Name, Resource, ResourceId, Rights, StorePath};
use crate::resources::{WalkCursor, require_collection};
use crate::{Caller, Error, Result, Store};

/// How many children are read at a time.
const STEP: usize = 1_000;
/// The maximum number of entries examined for a page.
const EFFORT: usize = 8_192;

/// A walk of what was below a collection, in progress.
#[derive(Debug)]
pub struct PastWalk {
    reader: PastReader,
    top: StorePath,
    /// What is to be found, also below collections that the caller may not list; everything that they may list, if there is nothing.
    wanted: Option<Wanted>,
    /// Where the next page begins; none at the end.
    next: Option<Option<WalkCursor>>,
}

impl PastWalk {
    /// The moment, as a position: that of a walk by time that continues in another request.
    pub fn position(&self) -> Position {
        self.reader.position()
    }

    /// Whether everything was returned.
    pub fn is_over(&self) -> bool {
        self.next.is_none()
    }

    fn operation(&self) -> Operation {
        match self.wanted {
            Some(_) => Operation::Stat,
            None => Operation::List,
        }
    }
}

impl Store {
    /// Walks what was below a collection (not itself) at a moment, from after a path on. Needs `Rights::LIST`, where the collection is
    /// now and where it was; enters those collections that the caller could list.
    ///
    /// # Errors
    /// Those of [`Store::list_as_of`], here or in [`Store::walk_further`]; [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if `after` is
    /// not below the collection.
    pub fn walk_as_of(
        &self,
        caller: &Caller,
        path: &StorePath,
        moment: Moment,
        after: Option<&StorePath>,
    ) -> Result<PastWalk> {
        self.begin_past_walk((caller, path, moment), after, None)
    }

    /// Finds what was below a collection at a moment, in path order. Resources that were not kept, and may have matched, are returned as lost.
    ///
    /// # Errors
    /// Those of [`Store::walk_as_of`].
    pub fn search_as_of(&self, caller: &Caller, search: &PastSearch) -> Result<PastWalk> {
        let about = (caller, &search.under, search.moment);
        self.begin_past_walk(about, search.after.as_ref(), Some(search.wanted()?))
    }

    fn begin_past_walk(
        &self,
        (caller, path, moment): (&Caller, &StorePath, Moment),
        after: Option<&StorePath>,
        wanted: Option<Wanted>,
    ) -> Result<PastWalk> {
        let cursor = |after: &StorePath| {
            let foreign = || Error::invalid(format!("`after` is not below {path}"));
            WalkCursor::after(path, after).ok_or_else(foreign)
        };
        let next = Some(after.map(cursor).transpose()?);
        Ok(PastWalk { reader: self.at_moment(caller, moment)?, top: path.clone(), wanted, next })
    }

    /// The next entries of a walk, at most `limit`. They can be fewer, or none, before it [is over](PastWalk::is_over).
    pub fn walk_further(&self, walk: &mut PastWalk, limit: usize) -> Result<Vec<PastEntry>> {
        Ok(self.walk_given(walk, limit)?.into_iter().map(|given| given.entry).collect())
    }

    /// The same, with what the caller may do with each.
    pub(super) fn walk_given(&self, walk: &mut PastWalk, limit: usize) -> Result<Vec<Given>> {
        let Some(after) = walk.next.clone() else { return Ok(Vec::new()) };
        let (view, operation) = (self.view()?, walk.operation());
        let (past, since) = walk.reader.on(&view)?;
        let top = past.find_by(&since.names, &walk.top, operation)?;
        if walk.wanted.is_none() {
            require_collection(&top.chain)?;
        }
        let hidden = walk.wanted.is_some();
        let mut steps = Steps { past: &past, since, hidden, stack: Vec::new() };
        steps.resume(top, after.as_ref())?;
        let (mut all, mut last) = (Vec::new(), after);
        for _ in 0..EFFORT {
            let Some(entry) = steps.next()? else {
                walk.next = None;
                return Ok(all);
            };
            last = WalkCursor::after(&walk.top, entry.path());
            all.extend(past.wanted(entry, walk.wanted.as_ref(), since)?);
            if all.len() >= limit.max(1) {
                break;
            }
        }
        walk.next = Some(last);
        Ok(all)
    }
}

/// An entry that a walk gave.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) entry: PastEntry,
    /// What it is, if it is still in the catalog.
    pub(super) kind: Option<Kind>,
    /// What the caller may do with it where it is now, and could do where it was.
    pub(super) rights: Rights,
}

/// The collections that are entered, the innermost last.
struct Steps<'a> {
    past: &'a AsOf<'a>,
    since: &'a Since,
    /// Whether what the caller may not list is entered, too.
    hidden: bool,
    stack: Vec<Entered>,
}

struct Entered {
    collection: Found,
    ready: IntoIter<((String, ResourceId), Option<Resource>)>,
    /// After which name to read on, if there is more.
    more: Option<String>,
}

impl Steps<'_> {
    /// Enters the parent collections of `after`, each at the next name.
    fn resume(&mut self, top: Found, after: Option<&WalkCursor>) -> Result<()> {
        let mut next = Some(top);
        for name in after.into_iter().flat_map(|after| &after.0) {
            let Some(collection) = next.take() else { return Ok(()) };
            next = self.child(&collection, name)?.filter(|child| self.may_enter(child));
            self.enter(collection, name.to_string());
        }
        if let Some(collection) = next {
            self.enter(collection, String::new());
        }
        Ok(())
    }

    fn child(&self, collection: &Found, name: &Name) -> Result<Option<Found>> {
        let (past, names) = (self.past, &self.since.names);
        let Some(id) = past.id_of(collection.chain.id(), name, names)? else { return Ok(None) };
        let resource = past.view.resources(&[id])?.pop().flatten();
        Ok(match past.entry(collection, (name.to_string(), id), resource, names)? {
            Entry::Found(found) => Some(found),
            Entry::Gone { .. } => None,
        })
    }

    fn may_enter(&self, found: &Found) -> bool {
        found.chain.resource().kind == Kind::Collection
            && (self.hidden || found.rights(self.past.caller).allow(Operation::Enter))
    }

    fn enter(&mut self, collection: Found, after: String) {
        let ready = Vec::new().into_iter();
        self.stack.push(Entered { collection, ready, more: Some(after) });
    }

    /// The next that was there, whether the caller may see it or not.
    fn next(&mut self) -> Result<Option<Entry>> {
        while let Some(top) = self.stack.last_mut() {
            let Some((held, resource)) = top.ready.next() else {
                if !top.refill(self.past, self.since)? {
                    self.stack.pop();
                }
                continue;
            };
            let entry = self.past.entry(&top.collection, held, resource, &self.since.names)?;
            if let Entry::Found(found) = &entry
                && self.may_enter(found)
            {
                self.enter(found.clone(), String::new());
            }
            return Ok(Some(entry));
        }
        Ok(None)
    }
}

impl Entered {
    /// Reads the next names; false if there are none left.
    fn refill(&mut self, past: &AsOf<'_>, since: &Since) -> Result<bool> {
        let Some(after) = self.more.take() else { return Ok(false) };
        let held = past.held(self.collection.chain.id(), &since.names, &after, STEP)?;
        let more = held.keys().next_back().filter(|_| held.len() == STEP).cloned();
        let ids: Vec<_> = held.values().copied().collect();
        let entries: Vec<_> = held.into_iter().zip(past.view.resources(&ids)?).collect();
        (self.more, self.ready) = (more, entries.into_iter());
        Ok(true)
    }
}
