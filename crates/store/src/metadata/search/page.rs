//! The state of a page, for one of the plans.

use super::cursor::{Position, SearchCursor};
use super::matching::Matcher;
use super::{Query, SearchPage};
use crate::Result;
use crate::model::Stat;

/// A way through everything that may match.
pub(super) trait Plan {
    /// Looks at the next entry; none at the end.
    fn look(&mut self, matcher: &mut Matcher<'_>) -> Result<Option<Look>>;

    /// The entry after which it continues; none if it has not examined any.
    fn position(&self) -> Option<Position>;
}

/// The result of examining an entry.
pub(super) type Look = Option<Stat>;

/// How many steps a plan takes in its turn.
const TURN: usize = 256;

/// What a plan has found.
pub(super) struct Found<P> {
    plan: P,
    items: Vec<Stat>,
    limit: usize,
    looked: usize,
    turn: usize,
    ended: bool,
}

impl<P: Plan> Found<P> {
    pub(super) fn by(plan: P, query: &Query) -> Self {
        let limit = query.limit.clamp(1, Query::MAX);
        let turn = query.effort.clamp(1, TURN);
        Self { plan, items: Vec::new(), limit, looked: 0, turn, ended: false }
    }

    /// The number of entries examined.
    pub(super) fn looked(&self) -> usize {
        self.looked
    }

    /// How many of them match.
    pub(super) fn items(&self) -> usize {
        self.items.len()
    }

    /// Continues for a bounded time; true if the page is full, or there is nothing more.
    pub(super) fn turn(&mut self, matcher: &mut Matcher<'_>) -> Result<bool> {
        for _ in 0..self.turn {
            let Some(look) = self.plan.look(matcher)? else {
                self.ended = true;
                return Ok(true);
            };
            self.looked += 1;
            self.items.extend(look);
            if self.items.len() == self.limit {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn into_page(mut self) -> SearchPage {
        self.items.sort_by(|a, b| a.path.cmp(&b.path));
        let next = self.plan.position().filter(|_| !self.ended);
        SearchPage { items: self.items, next: next.map(SearchCursor::at) }
    }
}
