//! The names of everything below a collection, without other data.
//!
//! The order is that of directory listings: in each collection first its collections, each
//! followed by what is in it, then the rest; both in the order of their names' bytes.
//!
//! Cost: one scan of the entries where rights from above make the whole subtree visible;
//! elsewhere the record of each entry, too, since its own access list decides.

use std::vec::IntoIter;

use cenote_kv::KeyRange;

use crate::access::{Chain, Operation, covering};
use crate::catalog::{Child, View};
use crate::model::{At, Kind, Name, Resource, ResourceId, StorePath};
use crate::resources::{children, find, part, require_collection};
use crate::{Caller, Error, Result, Store};

/// A name below a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedEntry {
    /// The whole path.
    pub path: StorePath,
    /// Existing resources.
    pub kind: Kind,
}

/// Part of a listing of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamesPage {
    /// What the caller may see.
    pub entries: Vec<NamedEntry>,
    /// Where the next page begins: after this entry. None at the end.
    pub next: Option<NamedEntry>,
}

/// How many entries are read at a time.
const STEP: usize = 1_000;

/// Where a listing of names in a collection begins, and how many rows are read there.
pub(crate) fn first_names(collection: ResourceId) -> (KeyRange, usize) {
    part(collection, None, STEP)
}

impl Store {
    /// Names what is below a collection (not itself), starting after an entry; only its
    /// children unless `deep`. Needs `Rights::LIST` on it; enters those collections that the
    /// caller sees and can list.
    pub fn names(
        &self,
        caller: &Caller,
        at: &At,
        deep: bool,
        after: Option<&NamedEntry>,
        limit: usize,
    ) -> Result<NamesPage> {
        let view = self.view()?;
        let top = find(&view, caller, at, Operation::List)?;
        require_collection(&top)?;
        let mut names = Names { view: &view, caller, deep, stack: Vec::new() };
        names.resume(top, after)?;
        let mut entries = Vec::new();
        while entries.len() < limit.max(1) {
            match names.step()? {
                Some(entry) => entries.push(entry),
                None => return Ok(NamesPage { entries, next: None }),
            }
        }
        let next = entries.last().cloned();
        Ok(NamesPage { entries, next })
    }
}

/// A listing in progress: the collections that are entered, the innermost last.
struct Names<'a> {
    view: &'a View,
    caller: &'a Caller,
    deep: bool,
    stack: Vec<Entered>,
}

/// How the access of children is known.
#[derive(Clone)]
enum Access {
    /// Rights from above let the caller see and enter everything below.
    Covered(ResourceId),
    /// Their own lists decide, with those of the collections above.
    Each(Chain),
}

impl Access {
    fn of(caller: &Caller, chain: Chain) -> Self {
        match covering(caller, &chain).allow(Operation::Enter) {
            true => Self::Covered(chain.id()),
            false => Self::Each(chain),
        }
    }

    fn id(&self) -> ResourceId {
        match self {
            Self::Covered(id) => *id,
            Self::Each(chain) => chain.id(),
        }
    }
}

/// Which children of a collection are being named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Collections,
    Rest,
}

impl Turn {
    fn takes(self, kind: Kind) -> bool {
        (kind == Kind::Collection) == (self == Self::Collections)
    }
}

struct Entered {
    access: Access,
    path: StorePath,
    turn: Turn,
    ready: IntoIter<(Name, Child, Option<Resource>)>,
    /// After which name to read on in this turn, if there is more.
    more: Option<Option<Name>>,
}

impl Names<'_> {
    /// Enters the parent collections of `after`, each at the next name.
    fn resume(&mut self, top: Chain, after: Option<&NamedEntry>) -> Result<()> {
        let mut path = top.path();
        let depth = path.names().len();
        let mut next = Some(top);
        let after = after.filter(|after| after.path.starts_with(&path));
        let way = after.map_or(&[][..], |after| &after.path.names()[depth..]);
        for (step, name) in way.iter().enumerate() {
            let Some(chain) = next.take() else { return Ok(()) };
            let last = step + 1 == way.len();
            let collection = !last || after.is_some_and(|after| after.kind == Kind::Collection);
            let turn = if collection { Turn::Collections } else { Turn::Rest };
            if collection && self.deep {
                next = chain.named_child(self.view, name)?.filter(|chain| self.may_enter(chain));
            }
            let access = Access::of(self.caller, chain);
            self.enter(access, path.clone(), turn, Some(name.clone()));
            path = path.join(name.clone())?;
        }
        if let Some(chain) = next {
            self.enter(Access::of(self.caller, chain), path, Turn::Collections, None);
        }
        Ok(())
    }

    fn may_enter(&self, chain: &Chain) -> bool {
        chain.resource().kind == Kind::Collection
            && chain.rights(self.caller).allow(Operation::Enter)
    }

    fn enter(&mut self, access: Access, path: StorePath, turn: Turn, after: Option<Name>) {
        let ready = Vec::new().into_iter();
        self.stack.push(Entered { access, path, turn, ready, more: Some(after) });
    }

    /// The next entry that the caller may see.
    fn step(&mut self) -> Result<Option<NamedEntry>> {
        while let Some(top) = self.stack.last_mut() {
            let Some((name, child, record)) = top.ready.next() else {
                if !top.refill(self.view)? {
                    self.stack.pop();
                }
                continue;
            };
            let inside = match &top.access {
                Access::Covered(_) => Some(Access::Covered(child.id)),
                Access::Each(chain) => {
                    let resource = record.ok_or_else(|| {
                        Error::damaged(format!("no record for {name} in {}", top.path))
                    })?;
                    let rights = chain.rights_of_child(self.caller, child.id, &resource);
                    if !rights.allow(Operation::Stat) {
                        continue;
                    }
                    let is_deeper = self.deep && child.kind == Kind::Collection;
                    let entered = is_deeper && rights.allow(Operation::Enter);
                    let chain = entered.then(|| chain.child(child.id, resource));
                    chain.map(|chain| Access::of(self.caller, chain))
                }
            };
            let entry = NamedEntry { path: top.path.join(name)?, kind: child.kind };
            if let Some(access) = inside.filter(|_| self.deep && child.kind == Kind::Collection) {
                self.enter(access, entry.path.clone(), Turn::Collections, None);
            }
            return Ok(Some(entry));
        }
        Ok(None)
    }
}

impl Entered {
    /// Reads the next children of this turn; false if there are none left.
    fn refill(&mut self, view: &View) -> Result<bool> {
        let Some(after) = self.more.take() else {
            if self.turn == Turn::Rest {
                return Ok(false);
            }
            self.turn = Turn::Rest;
            self.more = Some(None);
            return Ok(true);
        };
        let (mut children, next) = children(view, self.access.id(), after.as_ref(), STEP)?;
        self.more = next.map(Some);
        children.retain(|(_, child)| self.turn.takes(child.kind));
        let records = match &self.access {
            Access::Covered(_) => vec![None; children.len()],
            Access::Each(_) => {
                view.resources(&children.iter().map(|(_, child)| child.id).collect::<Vec<_>>())?
            }
        };
        let rows = children.into_iter().zip(records);
        let rows: Vec<_> = rows.map(|((name, child), record)| (name, child, record)).collect();
        self.ready = rows.into_iter();
        Ok(true)
    }
}
