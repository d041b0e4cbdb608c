//! Search: which resources below a path have these attributes, names and kinds.
//!
//! Two plans lead to the answer: an index (of statements, or of texts), and a walk of the tree. The first page
//! runs both in turn and keeps the one that is ahead; its cursor says which that was, and where it stopped.
//! The cost of a page is what it examines, which is bounded, so it can have fewer items than requested, or none,
//! and a cursor nevertheless.
//!
//! Invariant: whichever plan is chosen, the pages together give each match once.

mod ancestors;
mod condition;
mod cursor;
mod index;
mod matching;
mod page;
mod text;
mod tree;
mod wanted;

pub(crate) use self::ancestors::Ancestors;
pub use self::condition::{Comparison, Condition, like};
pub use self::cursor::SearchCursor;
pub(super) use self::cursor::{Position, foreign};
use self::index::IndexScan;
use self::matching::Matcher;
use self::page::{Found, Plan};
use self::text::TextScan;
use self::tree::TreeWalk;
pub(crate) use self::wanted::Wanted;
use crate::access::{Chain, Operation};
use crate::catalog::View;
use crate::model::{At, Kind, Stat};
use crate::resources::find;
use crate::text::{TextLead, TextQuery};
use crate::{Caller, Result, Store};

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
    /// Words in the name or the description.
    pub text: Option<TextQuery>,
    /// Where a page continues: [`SearchPage::next`] of the one before, of the same search.
    pub after: Option<SearchCursor>,
    /// At most this many items.
    pub limit: usize,
    /// At most about this many entries of the index and the tree are examined for a page.
    pub effort: usize,
}

impl Query {
    /// An effort that takes some tenths of a second at most.
    pub const EFFORT: usize = 8_192;
    /// The most items of a page.
    pub const MAX: usize = 10_000;
}

/// Part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPage {
    /// What was found, by path.
    pub items: Vec<Stat>,
    /// Where the next page begins. None at the end.
    pub next: Option<SearchCursor>,
}

impl Store {
    /// Finds resources that the caller may see.
    pub fn search(&self, caller: &Caller, query: &Query) -> Result<SearchPage> {
        self.search_with(caller, query, None)
    }

    /// The same with an index of texts, which finds words without a walk. It is to be taken before this call.
    pub fn search_with(
        &self,
        caller: &Caller,
        query: &Query,
        lead: Option<&dyn TextLead>,
    ) -> Result<SearchPage> {
        let view = self.view_at(&query.under)?;
        let top = find(&view, caller, &query.under, Operation::Stat)?;
        let mut matcher = Matcher::new(&view, caller, query, top.id())?;
        match query.after.as_ref().map(SearchCursor::position) {
            None => first_page((&view, caller), (query, lead), top, &mut matcher),
            Some(Position::Tree(after)) => {
                alone(TreeWalk::new(&view, caller, top, Some(after))?, query, &mut matcher)
            }
            Some(Position::Index(range, key)) => {
                let condition = narrowest(query).ok_or_else(foreign)?;
                let scan = IndexScan::new(&view, condition, &matcher)?.after(*range, key)?;
                alone(scan, query, &mut matcher)
            }
            Some(Position::Text(id)) => {
                let text = query.text.as_ref().zip(lead).ok_or_else(foreign)?;
                let scan = TextScan::new(&view, text, Some(*id))?.ok_or_else(foreign)?;
                alone(scan, query, &mut matcher)
            }
        }
    }
}

/// The condition with the fewest index entries, as far as that can be determined from the query.
fn narrowest(query: &Query) -> Option<&Condition> {
    query.conditions.iter().min_by_key(|condition| condition.breadth())
}

/// Both plans in turn, until one of them has a page or the effort is spent; then the one that found more.
fn first_page(
    (view, caller): (&View, &Caller),
    (query, lead): (&Query, Option<&dyn TextLead>),
    top: Chain,
    matcher: &mut Matcher<'_>,
) -> Result<SearchPage> {
    let tree = Found::by(TreeWalk::new(view, caller, top, None)?, query);
    if let Some(text) = query.text.as_ref().zip(lead)
        && let Some(scan) = TextScan::new(view, text, None)?
    {
        return first_of(Found::by(scan, query), tree, query, matcher);
    }
    let Some(condition) = narrowest(query) else { return finish(tree, query, matcher) };
    let scan = IndexScan::new(view, condition, matcher)?;
    first_of(Found::by(scan, query), tree, query, matcher)
}

fn first_of<I: Plan, T: Plan>(
    mut index: Found<I>,
    mut tree: Found<T>,
    query: &Query,
    matcher: &mut Matcher<'_>,
) -> Result<SearchPage> {
    while index.looked() + tree.looked() < query.effort.max(1) {
        if index.turn(matcher)? {
            return Ok(index.into_page());
        }
        if tree.turn(matcher)? {
            return Ok(tree.into_page());
        }
    }
    match tree.items() > index.items() {
        true => Ok(tree.into_page()),
        false => Ok(index.into_page()),
    }
}

fn alone(plan: impl Plan, query: &Query, matcher: &mut Matcher<'_>) -> Result<SearchPage> {
    finish(Found::by(plan, query), query, matcher)
}

fn finish<P: Plan>(
    mut found: Found<P>,
    query: &Query,
    matcher: &mut Matcher<'_>,
) -> Result<SearchPage> {
    while found.looked() < query.effort.max(1) && !found.turn(matcher)? {}
    Ok(found.into_page())
}
