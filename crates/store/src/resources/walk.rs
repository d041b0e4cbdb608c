//! Walking everything below a collection, in pages.
//!
//! The order is that of the paths, names compared as bytes, a collection before
//! what is in it. A page continues after any path below the top, so a walk holds no snapshot between pages.
//!
//! Invariant: what is at one path from the first page to the last is returned once. Changes in the meantime are
//! returned where the walk has not passed yet; so something that moves from there to behind it is missed, and the other way
//! round returned twice. A move of the top, or of collections above it, does not affect a walk that names it by id.

use std::vec::IntoIter;

use super::children::children;
use crate::access::{Chain, Operation};
use crate::catalog::{Child, Record, View, keys};
use crate::model::{Kind, Name, Resource, Rights, Stat, StorePath};
use crate::{Bytes, Caller, Result};

/// The position at which a walk continues: after these names below its top, wherever the top is by then and whether or not they still exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkCursor(pub(crate) Vec<Name>);

impl WalkCursor {
    /// After a path below the top, which is at `top`; none if it is not below it.
    pub fn after(top: &StorePath, path: &StorePath) -> Option<Self> {
        path.starts_with(top).then(|| Self(path.names()[top.names().len()..].to_vec()))
    }
}

/// How many children are read at a time.
const STEP: usize = 1_000;

/// A walk in progress: the collections that are entered, the innermost last.
pub(crate) struct Walk<'a> {
    view: &'a View,
    caller: &'a Caller,
    /// Whether resources that the caller may not see are also returned and entered.
    hidden: bool,
    /// Whether collections are entered.
    deep: bool,
    stack: Vec<Entered>,
}

struct Entered {
    chain: Chain,
    path: StorePath,
    /// The next children, each with its record, which is decoded when it is its turn.
    ready: IntoIter<((Name, Child), Option<Bytes>)>,
    /// After which name to read on, if there is more.
    more: Option<Option<Name>>,
}

impl<'a> Walk<'a> {
    /// A walk of everything below `top`.
    pub(crate) fn below(view: &'a View, caller: &'a Caller, top: Chain) -> Self {
        let mut walk = Self::new(view, caller);
        walk.enter(top, None);
        walk
    }

    /// The same with what the caller may not see, for those who decide later, from after a path on.
    pub(crate) fn all_below(
        view: &'a View,
        caller: &'a Caller,
        top: Chain,
        after: Option<&WalkCursor>,
    ) -> Result<Self> {
        Self { hidden: true, ..Self::new(view, caller) }.resumed(top, after)
    }

    /// All children of `top`, with those that the caller may not see.
    pub(crate) fn all_in(view: &'a View, caller: &'a Caller, top: Chain) -> Self {
        let mut walk = Self { hidden: true, deep: false, ..Self::new(view, caller) };
        walk.enter(top, None);
        walk
    }

    /// A walk of what the caller may see below `top`, from after a path on.
    pub(crate) fn seen_below(
        view: &'a View,
        caller: &'a Caller,
        top: Chain,
        after: Option<&WalkCursor>,
    ) -> Result<Self> {
        Self::new(view, caller).resumed(top, after)
    }

    fn new(view: &'a View, caller: &'a Caller) -> Self {
        Self { view, caller, hidden: false, deep: true, stack: Vec::new() }
    }

    /// Enters the parent collections of `after`, each at the next name.
    fn resumed(mut self, top: Chain, after: Option<&WalkCursor>) -> Result<Self> {
        let mut next = Some(top);
        for name in after.into_iter().flat_map(|after| &after.0) {
            let Some(chain) = next.take() else { return Ok(self) };
            next = chain.named_child(self.view, name)?.filter(|chain| self.may_enter(chain));
            self.enter(chain, Some(name.clone()));
        }
        if let Some(chain) = next {
            self.enter(chain, None);
        }
        Ok(self)
    }

    fn may_enter(&self, chain: &Chain) -> bool {
        chain.resource().kind == Kind::Collection
            && (self.hidden || chain.rights(self.caller).allow(Operation::Enter))
    }

    fn enter(&mut self, chain: Chain, after: Option<Name>) {
        let path = chain.path();
        self.stack.push(Entered { chain, path, ready: Vec::new().into_iter(), more: Some(after) });
    }

    /// The next resource that the caller may see.
    pub(crate) fn step(&mut self) -> Result<Option<Stat>> {
        Ok(self.step_with_rights()?.map(|(stat, _)| stat))
    }

    /// The next resource, and what the caller may do with it.
    pub(crate) fn step_with_rights(&mut self) -> Result<Option<(Stat, Rights)>> {
        while let Some(top) = self.stack.last_mut() {
            let Some(((name, child), record)) = top.ready.next() else {
                if !top.refill(self.view)? {
                    self.stack.pop();
                }
                continue;
            };
            let Some(record) = record else { continue };
            let resource = Resource::from_value(&record)?;
            let rights = top.chain.rights_of_child(self.caller, child.id, &resource);
            if !rights.allow(Operation::Stat) && !self.hidden {
                continue;
            }
            let stat = Stat { id: child.id, path: top.path.child(name), resource };
            let may_enter = rights.allow(Operation::Enter) || self.hidden;
            if stat.resource.kind == Kind::Collection && may_enter && self.deep {
                let chain = top.chain.child(stat.id, stat.resource.clone());
                self.enter(chain, None);
            }
            return Ok(Some((stat, rights)));
        }
        Ok(None)
    }
}

impl Entered {
    /// Reads the next children; false if there are none left.
    fn refill(&mut self, view: &View) -> Result<bool> {
        let Some(after) = self.more.take() else { return Ok(false) };
        let (children, next) = children(view, self.chain.id(), after.as_ref(), STEP)?;
        let ids: Vec<_> = children.iter().map(|(_, child)| child.id).collect();
        let records = view.values_of(&ids, keys::resource)?;
        let rows: Vec<_> = children.into_iter().zip(records).collect();
        self.more = next.map(Some);
        self.ready = rows.into_iter();
        Ok(true)
    }
}
