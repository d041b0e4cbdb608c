//! Search: which resources below a path have these attributes, names and kinds.
//!
//! Cost: a query with an attribute takes the smaller of the matches and the subtree. Both
//! walks begin, in turn; the first that comes to its end gives the answer.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use globset::{GlobBuilder, GlobMatcher};

use super::graph::{hash, read};
use super::vocabulary::predicate_of;
use crate::access::Chain;
use crate::catalog::{Reads, View, keys};
use crate::model::{At, Graph, Kind, Level, Resource, ResourceId, Stat};
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

/// A condition on an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The attribute.
    pub attribute: String,
    /// How its value compares.
    pub comparison: Comparison,
    /// With what.
    pub value: String,
    /// Only values with this unit.
    pub unit: Option<String>,
}

/// How a value compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// It is there, whatever it is.
    Exists,
    /// It is the same text.
    Equal,
    /// It is another text.
    NotEqual,
    /// It is less: as a number where both are, else as text.
    Less,
    /// It is less or the same.
    LessOrEqual,
    /// It is greater.
    Greater,
    /// It is greater or the same.
    GreaterOrEqual,
    /// It matches a pattern of `%` (anything) and `_` (one character).
    Like,
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
        let search = Search { view: &view, caller, query, name, top };
        let ids = search.candidates()?;
        search.page(ids)
    }
}

struct Search<'a> {
    view: &'a View,
    caller: &'a Caller,
    query: &'a Query,
    name: Option<GlobMatcher>,
    top: Chain,
}

/// How many steps each of the two walks takes in its turn.
const TURN: usize = 1_024;

impl Search<'_> {
    /// Ids that may match, sorted: from the index or from the subtree, whichever ends first.
    fn candidates(&self) -> Result<BTreeSet<ResourceId>> {
        let mut walk = Walk::all_below(self.view, self.caller, self.top.clone());
        let mut below = BTreeSet::new();
        let mut index = self
            .query
            .conditions
            .iter()
            .min_by_key(|c| c.breadth())
            .map(|c| IndexScan::new(self.view, c));
        loop {
            if let Some(index) = &mut index
                && index.turn()?
            {
                return Ok(std::mem::take(&mut index.ids));
            }
            for _ in 0..TURN {
                match walk.step()? {
                    Some(entry) => drop(below.insert(entry.id)),
                    None => return Ok(below),
                }
            }
        }
    }

    fn page(&self, ids: BTreeSet<ResourceId>) -> Result<SearchPage> {
        let limit = self.query.limit.clamp(1, 10_000);
        let mut items = Vec::new();
        let mut ancestors = Ancestors { search: self, known: HashMap::new() };
        for id in ids.into_iter().filter(|id| self.query.after.is_none_or(|after| *id > after)) {
            if items.len() == limit {
                let next = items.last().map(|stat: &Stat| stat.id);
                return Ok(SearchPage { items, next });
            }
            items.extend(self.matching(id, &mut ancestors)?);
        }
        Ok(SearchPage { items, next: None })
    }

    fn matching(&self, id: ResourceId, ancestors: &mut Ancestors<'_>) -> Result<Option<Stat>> {
        let Some(resource) = self.view.get::<Resource>(&keys::resource(id))? else {
            return Ok(None);
        };
        if id == self.top.id() || !self.wanted(&resource) || !ancestors.reach(resource.parent)? {
            return Ok(None);
        }
        let graph = read(self.view, id.0)?;
        if !self.query.conditions.iter().all(|condition| condition.holds(&graph)) {
            return Ok(None);
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

/// Which collections lie below the one searched, as far as that was looked up.
struct Ancestors<'a> {
    search: &'a Search<'a>,
    known: HashMap<ResourceId, bool>,
}

impl Ancestors<'_> {
    /// Whether `id` is the collection searched, or lies below it.
    fn reach(&mut self, id: ResourceId) -> Result<bool> {
        let mut way = Vec::new();
        let mut next = id;
        let answer = loop {
            if next == self.search.top.id() {
                break true;
            }
            if let Some(known) = self.known.get(&next) {
                break *known;
            }
            way.push(next);
            match self.search.view.get::<Resource>(&keys::resource(next))? {
                Some(resource) if next != ResourceId::ROOT => next = resource.parent,
                _ => break false,
            }
        };
        self.known.extend(way.into_iter().map(|id| (id, answer)));
        Ok(answer)
    }
}

/// A scan of the index for one condition.
struct IndexScan<'a> {
    view: &'a View,
    range: cenote_kv::KeyRange,
    ids: BTreeSet<ResourceId>,
}

impl<'a> IndexScan<'a> {
    fn new(view: &'a View, condition: &Condition) -> Self {
        let predicate = hash(&predicate_of(&condition.attribute));
        let object = (condition.comparison == Comparison::Equal).then(|| hash(&condition.value));
        Self { view, range: keys::statements(predicate, object), ids: BTreeSet::new() }
    }

    /// Reads on; true at the end.
    fn turn(&mut self) -> Result<bool> {
        let rows = self.view.rows(&self.range, TURN)?;
        let ids = rows.iter().filter_map(|(key, _)| keys::last_id(key));
        self.ids.extend(ids.map(ResourceId));
        if let Some((last, _)) = rows.last() {
            self.range = self.range.clone().after(last);
        }
        Ok(rows.len() < TURN)
    }
}

impl Condition {
    /// How much of the index a scan for it reads, roughly.
    fn breadth(&self) -> u8 {
        if self.comparison == Comparison::Equal { 0 } else { 1 }
    }

    fn holds(&self, graph: &Graph) -> bool {
        let predicate = predicate_of(&self.attribute);
        graph.iter().any(|statement| {
            statement.subject.is_none()
                && statement.predicate == predicate
                && self.unit.as_ref().is_none_or(|unit| statement.unit.as_ref() == Some(unit))
                && self.comparison.holds(statement.object.text(), &self.value)
        })
    }
}

impl Comparison {
    fn holds(self, have: &str, want: &str) -> bool {
        match self {
            Self::Exists => true,
            Self::Equal => have == want,
            Self::NotEqual => have != want,
            Self::Less => order(have, want).is_lt(),
            Self::LessOrEqual => order(have, want).is_le(),
            Self::Greater => order(have, want).is_gt(),
            Self::GreaterOrEqual => order(have, want).is_ge(),
            Self::Like => like(have, want),
        }
    }
}

/// As numbers where both are, else as text.
fn order(have: &str, want: &str) -> Ordering {
    let numbers = have.parse::<f64>().ok().zip(want.parse::<f64>().ok());
    numbers.and_then(|(have, want)| have.partial_cmp(&want)).unwrap_or_else(|| have.cmp(want))
}

/// SQL's `LIKE`, in time proportional to the product of the lengths at worst.
fn like(text: &str, pattern: &str) -> bool {
    let (text, pattern): (Vec<char>, Vec<char>) =
        (text.chars().collect(), pattern.chars().collect());
    let (mut t, mut p, mut retry) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some('%') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(c) if *c == '_' || *c == text[t] => (t, p) = (t + 1, p + 1),
            _ => match retry {
                Some((after, from)) => {
                    (t, p) = (from + 1, after);
                    retry = Some((after, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '%')
}

fn pattern(pattern: &str) -> Result<GlobMatcher> {
    let glob = GlobBuilder::new(pattern).backslash_escape(true).build();
    let glob = glob.map_err(|fault| Error::invalid(format!("not a pattern for names: {fault}")))?;
    Ok(glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn like_knows_its_two_wildcards() {
        for (text, pattern, matches) in [
            ("abc", "a%", true),
            ("abc", "%c", true),
            ("abc", "a_c", true),
            ("abc", "a_", false),
            ("", "%", true),
            ("", "_", false),
            ("aab", "%ab", true),
        ] {
            assert_eq!(like(text, pattern), matches, "{text} like {pattern}");
        }
    }

    #[test]
    fn numbers_compare_as_numbers() {
        assert!(Comparison::Less.holds("9", "10"));
        assert!(Comparison::Greater.holds("9", "1e0"));
        assert!(Comparison::Greater.holds("b", "a"));
        assert!(!Comparison::Equal.holds("1", "1.0"));
    }

    proptest! {
        #[test]
        fn like_is_the_regular_expression(text in "[ab]{0,6}", pattern in "[ab%_]{0,6}") {
            let expression = pattern.replace('%', ".*").replace('_', ".");
            let expected = regex::Regex::new(&format!("^{expression}$")).unwrap().is_match(&text);
            prop_assert_eq!(like(&text, &pattern), expected);
        }
    }
}
