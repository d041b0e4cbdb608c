//! Search: which resources below a path have these attributes, names and kinds.
//!
//! Cost: a query with an attribute takes the smaller of the matches and the subtree. Two
//! walks go on in turn, one over the index and one over the tree; the first that has the answer
//! gives it. Answers come by id, so a page continues after the last id of the one before.

mod ancestors;
mod condition;
mod index;

use std::collections::BTreeSet;

use globset::{GlobBuilder, GlobMatcher};

pub(crate) use self::ancestors::Ancestors;
pub use self::condition::{Comparison, Condition, like};
use self::index::IndexScan;
use super::graph::read;
use crate::access::Chain;
use crate::catalog::{Reads, View, keys};
use crate::model::{At, Kind, Level, Resource, ResourceId, Stat};
use crate::tree::{Walk, find};
use crate::{Caller, Error, Result, Store};

/// What to look for; all of it must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Only below this collection (not itself).
    pub under: At,
    /// Conditions on attributes.
    pub conditions: Vec<Condition>,
    /// A shell pattern for the name.
    pub name: Option<String>,
    /// Only this kind.
    pub kind: Option<Kind>,
    /// Only resources with an id greater than this: where a page continues.
    pub after: Option<ResourceId>,
    /// At most this many.
    pub limit: usize,
}

/// Part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPage {
    /// What was found, by id.
    pub items: Vec<Stat>,
    /// Where the next page begins. None at the end.
    pub next: Option<ResourceId>,
}

impl Store {
    /// Finds resources that the caller may see.
    pub fn search(&self, caller: &Caller, query: &Query) -> Result<SearchPage> {
        let view = self.view()?;
        let top = find(&view, caller, &query.under, Level::ReadMetadata)?;
        let name = query.name.as_deref().map(pattern).transpose()?;
        let ancestors = Ancestors::new(&view, top.id());
        let items = Vec::new();
        Search { view: &view, caller, query, name, ancestors, items }.run(top)
    }
}

/// A search under way.
struct Search<'a> {
    view: &'a View,
    caller: &'a Caller,
    query: &'a Query,
    name: Option<GlobMatcher>,
    ancestors: Ancestors<'a>,
    items: Vec<Stat>,
}

/// How many steps each of the two walks takes in its turn.
const TURN: usize = 1_024;

impl Search<'_> {
    fn run(mut self, top: Chain) -> Result<SearchPage> {
        let mut walk = Walk::all_below(self.view, self.caller, top);
        let narrowest = self.query.conditions.iter().min_by_key(|condition| condition.breadth());
        let mut index =
            narrowest.map(|condition| IndexScan::new(self.view, condition, self.query.after));
        let mut below = BTreeSet::new();
        loop {
            if let Some(index) = &mut index
                && self.index_turn(index)?
            {
                return Ok(self.page());
            }
            for _ in 0..TURN {
                match walk.step()? {
                    Some(entry) => drop(below.insert(entry.id)),
                    None => return self.page_of(below),
                }
            }
        }
    }

    /// Goes on in the index; true if that gave the whole page.
    fn index_turn(&mut self, index: &mut IndexScan<'_>) -> Result<bool> {
        let ended = index.read()?;
        if index.is_in_order() || ended {
            let ids = std::mem::take(&mut index.ids);
            return Ok(self.take(ids)? || ended);
        }
        Ok(false)
    }

    fn page_of(mut self, ids: BTreeSet<ResourceId>) -> Result<SearchPage> {
        self.items.clear();
        self.take(ids)?;
        Ok(self.page())
    }

    /// Takes what matches; true if there is more than a page.
    fn take(&mut self, ids: BTreeSet<ResourceId>) -> Result<bool> {
        for id in ids.into_iter().filter(|id| self.query.after.is_none_or(|after| *id > after)) {
            if let Some(stat) = self.matching(id)? {
                self.items.push(stat);
            }
            if self.items.len() > self.limit() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn page(mut self) -> SearchPage {
        let more = self.items.len() > self.limit();
        self.items.truncate(self.limit());
        let next = self.items.last().filter(|_| more).map(|stat| stat.id);
        SearchPage { items: self.items, next }
    }

    fn limit(&self) -> usize {
        self.query.limit.clamp(1, 10_000)
    }

    fn matching(&mut self, id: ResourceId) -> Result<Option<Stat>> {
        let Some(resource) = self.view.get::<Resource>(&keys::resource(id))? else {
            return Ok(None);
        };
        if id == self.ancestors.top()
            || !self.wanted(&resource)
            || !self.ancestors.reach(resource.parent)?
        {
            return Ok(None);
        }
        let conditions = &self.query.conditions;
        if !conditions.is_empty() {
            let graph = read(self.view, id.0)?;
            if !conditions.iter().all(|condition| condition.holds(&graph)) {
                return Ok(None);
            }
        }
        let chain = Chain::read(self.view, id)?;
        let chain = chain.filter(|chain| chain.level(self.caller) >= Level::ReadMetadata);
        Ok(chain.map(Stat::from))
    }

    fn wanted(&self, resource: &Resource) -> bool {
        self.query.kind.is_none_or(|kind| kind == resource.kind)
            && self.name.as_ref().is_none_or(|name| name.is_match(&resource.name))
    }
}

fn pattern(pattern: &str) -> Result<GlobMatcher> {
    let glob = GlobBuilder::new(pattern).backslash_escape(true).build();
    let glob = glob.map_err(|fault| Error::invalid(format!("not a pattern for names: {fault}")))?;
    Ok(glob.compile_matcher())
}
