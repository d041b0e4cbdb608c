//! The plan that walks the tree, including hidden resources, since something below them may be shared.

use super::cursor::Position;
use super::matching::Matcher;
use super::page::{Look, Plan};
use crate::access::Chain;
use crate::catalog::View;
use crate::model::Name;
use crate::resources::{Walk, WalkCursor};
use crate::{Caller, Result};

/// A walk of all below the collection searched.
pub(super) struct TreeWalk<'a> {
    walk: Walk<'a>,
    /// How many names lead to the collection searched.
    depth: usize,
    /// The last entry examined, below the collection searched.
    last: Option<Vec<Name>>,
}

impl<'a> TreeWalk<'a> {
    /// A walk that continues after the entry with these names below `top`.
    pub(super) fn new(
        view: &'a View,
        caller: &'a Caller,
        top: Chain,
        after: Option<&Vec<Name>>,
    ) -> Result<Self> {
        let depth = top.depth();
        let cursor = after.cloned().map(WalkCursor);
        let walk = Walk::all_below(view, caller, top, cursor.as_ref())?;
        Ok(Self { walk, depth, last: after.cloned() })
    }
}

impl Plan for TreeWalk<'_> {
    fn look(&mut self, matcher: &mut Matcher<'_>) -> Result<Option<Look>> {
        let Some((stat, rights)) = self.walk.step_with_rights()? else { return Ok(None) };
        self.last = Some(stat.path.names()[self.depth..].to_vec());
        matcher.entry(stat, rights).map(Some)
    }

    fn position(&self) -> Option<Position> {
        self.last.clone().map(Position::Tree)
    }
}
