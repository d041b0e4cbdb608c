//! Walking everything below a collection, in pages: see [`Walk`] for the order.

use crate::access::Operation;
use crate::catalog::View;
use crate::model::{At, Stat};
use crate::resources::{Walk, WalkCursor, find};
use crate::{Caller, Result, Store, metadata};

/// Part of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkPage {
    /// What the caller may see, in path order.
    pub entries: Vec<Stat>,
    /// Where the next page begins. None at the end.
    pub next: Option<WalkCursor>,
}

impl Store {
    /// Walks what is below a collection (not itself), from a cursor. Needs
    /// `Rights::LIST` on it; enters those collections that the caller sees and can list.
    pub fn walk(
        &self,
        caller: &Caller,
        at: &At,
        after: Option<&WalkCursor>,
        limit: usize,
    ) -> Result<WalkPage> {
        page(&self.view()?, caller, at, after, limit)
    }

    /// The same with the tag of each entry's description, none where there is no description: see
    /// [`description_tag`](crate::description_tag).
    pub fn walk_described(
        &self,
        caller: &Caller,
        at: &At,
        after: Option<&WalkCursor>,
        limit: usize,
    ) -> Result<(WalkPage, Vec<Option<[u8; 32]>>)> {
        let view = self.view()?;
        let page = page(&view, caller, at, after, limit)?;
        let ids: Vec<_> = page.entries.iter().map(|entry| entry.id).collect();
        let tags = metadata::tags(&view, caller, &ids)?;
        Ok((page, tags))
    }
}

/// For how many entries of a page memory is reserved.
const RESERVED: usize = 1_024;

fn page(
    view: &View,
    caller: &Caller,
    at: &At,
    after: Option<&WalkCursor>,
    limit: usize,
) -> Result<WalkPage> {
    let top = find(view, caller, at, Operation::List)?;
    let above = top.path();
    let mut walk = Walk::seen_below(view, caller, top, after)?;
    let mut entries = Vec::with_capacity(limit.clamp(1, RESERVED));
    while entries.len() < limit.max(1) {
        match walk.step()? {
            Some(entry) => entries.push(entry),
            None => return Ok(WalkPage { entries, next: None }),
        }
    }
    let next = entries.last().and_then(|entry: &Stat| WalkCursor::after(&above, &entry.path));
    Ok(WalkPage { entries, next })
}
