//! Statements by pattern, over all descriptions that a caller may read: the elements of joins.

use std::collections::HashSet;

use cenote_kv::{KeyRange, Wanted};

use super::index::{
    Scan, Sought, WithAnyPredicate, of_predicate, of_statement, text_key, with_predicate,
};
use super::links::{Links, canonical, iri_of, names_resource, path_of};
use crate::catalog::{Reads, View, keys};
use crate::model::{ResourceId, Statement, StorePath, Term};
use crate::{Caller, Result};

/// A pattern of statements; `None` matches anything.
///
/// An IRI is absolute: `cenote:/lab/x` is the resource at that path, also where its own description states something of it
/// without naming it, and `cenote:id/7` the one of that id. A blank node (`_:label`) is one of the description that it is in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pattern {
    /// In whose description.
    pub of: Option<ResourceId>,
    /// About what: an IRI or `_:label`.
    pub subject: Option<String>,
    /// The predicate.
    pub predicate: Option<String>,
    /// The object.
    pub object: Option<Term>,
}

/// A statement with the resource in whose description it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quad {
    /// The resource.
    pub of: ResourceId,
    /// The statement, as the caller sees it.
    pub statement: Statement,
}

/// What [`quads`] reads of the index to find where a resource, which is likely at a path, is the object of a predicate.
pub(crate) fn wanted_naming(predicate: &str, path: &StorePath, likely: ResourceId) -> Wanted {
    let ranges = Sought::likely(&iri_of(path), likely).of_predicate(predicate).into_iter();
    let few = (with_predicate(predicate), FEW + 1);
    Wanted {
        keys: of_statement(predicate, "", likely.0).into(),
        ranges: ranges.map(|range| (range, Scan::STEP)).chain([few]).collect(),
    }
}

/// If a predicate has no more entries than this, they are read at once, and not those of each form of an object by themselves.
const FEW: usize = 16;

/// What matches, and none for each description that was looked at in vain.
pub(crate) fn quads<'a>(
    view: &'a View,
    caller: &'a Caller,
    pattern: &Pattern,
) -> Result<impl Iterator<Item = Result<Option<Quad>>> + use<'a>> {
    let links = Links::new(view, caller);
    let pattern = pattern.canonical(&links)?;
    let few = Candidates::few(view, &links, &pattern)?;
    let candidates = few.map_or_else(|| Candidates::new(view, &links, &pattern), Ok)?;
    let looks = candidates.map(move |id| matching(&links, &pattern, id?));
    Ok(looks.flat_map(|look| match look {
        Ok(found) if found.is_empty() => vec![Ok(None)],
        Ok(found) => found.into_iter().map(|quad| Ok(Some(quad))).collect(),
        Err(error) => vec![Err(error)],
    }))
}

/// What matches in one description; nothing if the caller may not read it.
fn matching(links: &Links<'_, View>, pattern: &Pattern, id: ResourceId) -> Result<Vec<Quad>> {
    let Some((chain, mut graph)) = links.readable(id)? else { return Ok(Vec::new()) };
    graph
        .retain(|it| pattern.predicate.as_ref().is_none_or(|predicate| *predicate == it.predicate));
    let (own, shown) = (iri_of(&chain.path()), links.shown(&graph)?);
    let wanted = shown.graph.iter().filter(|statement| pattern.matches(&own, statement));
    Ok(wanted.map(|statement| Quad { of: id, statement: statement.clone() }).collect())
}

impl Pattern {
    /// The same with each IRI of a resource as the caller sees it.
    pub(super) fn canonical(&self, links: &Links<'_, View>) -> Result<Self> {
        let subject = self.subject.as_deref().map(|iri| links.spelled(iri)).transpose()?;
        let object = match &self.object {
            Some(Term::Iri(iri)) => Some(Term::Iri(links.spelled(iri)?)),
            other => other.clone(),
        };
        Ok(Self { subject, object, ..self.clone() })
    }

    /// The text of the object, if nothing else says where to look and it is no IRI.
    pub(super) fn bare_literal(&self) -> Option<&str> {
        match self {
            Self { object: Some(Term::Iri(_)), .. } => None,
            Self { of: None, predicate: None, object: Some(object), subject } => {
                subject.as_ref().is_none_or(|it| it.starts_with('_')).then(|| object.text())
            }
            _ => None,
        }
    }

    /// Whether a statement of the description of the resource with the IRI `own` is meant, whatever its predicate.
    fn matches(&self, own: &str, statement: &Statement) -> bool {
        let about = absolute(own, statement.subject.as_deref().unwrap_or_default());
        self.subject.as_ref().is_none_or(|subject| *subject == about)
            && match (&self.object, &statement.object) {
                (None, _) => true,
                (Some(Term::Iri(wanted)), Term::Iri(iri)) => *wanted == absolute(own, iri),
                (Some(wanted), object) => wanted == object,
            }
    }
}

/// An IRI that may be relative to the resource in whose description it is.
fn absolute(own: &str, iri: &str) -> String {
    match iri.is_empty() || iri.starts_with('#') {
        true => format!("{own}{iri}"),
        false => canonical(iri),
    }
}

/// The descriptions in which a match may be, each once.
pub(super) struct Candidates<'a> {
    /// Those that are examined first, from the last.
    first: Vec<ResourceId>,
    scan: Scan<'a>,
    /// A literal or blank node that is sought without a predicate.
    literal: Option<WithAnyPredicate<'a, View>>,
    seen: HashSet<ResourceId>,
}

impl<'a> Candidates<'a> {
    pub(super) fn new(view: &'a View, links: &Links<'_, View>, pattern: &Pattern) -> Result<Self> {
        let literal = pattern.bare_literal().map(|text| WithAnyPredicate::new(view, text));
        let scan = |ranges| Scan::new(view, ranges);
        let (first, scan) = match pattern {
            Pattern { of: Some(id), .. } => (vec![*id], scan(Vec::new())),
            Pattern { subject: Some(iri), .. } if !iri.starts_with('_') => {
                (named(links, iri)?, scan(Sought::new(links, iri)?.subjects()))
            }
            _ if literal.is_some() => (Vec::new(), scan(Vec::new())),
            Pattern { object: Some(object), predicate, .. } => {
                let first = match object {
                    Term::Iri(iri) => {
                        with_relative(view, named(links, iri)?, predicate.as_deref(), iri)?
                    }
                    _ => Vec::new(),
                };
                let sought = Sought::new(links, object.text())?;
                let ranges = predicate.as_ref().map(|predicate| sought.of_predicate(predicate));
                (first, scan(ranges.unwrap_or_else(|| sought.objects())))
            }
            Pattern { predicate: Some(predicate), .. } => {
                (Vec::new(), scan(of_predicate(predicate)))
            }
            _ => (Vec::new(), scan(vec![keys::graphs()])),
        };
        Ok(Self { first, scan, literal, seen: HashSet::new() })
    }

    /// Those for an IRI with a predicate that few statements have; none if it is another pattern, or there are many. Most predicates that
    /// an opening looks for have a meaning to it and are rare: one look at the index ends the search.
    fn few(view: &'a View, links: &Links<'_, View>, pattern: &Pattern) -> Result<Option<Self>> {
        let Pattern { of: None, subject: None, predicate: Some(predicate), object } = pattern
        else {
            return Ok(None);
        };
        let Some(Term::Iri(iri)) = object else { return Ok(None) };
        let rows = view.rows(&with_predicate(predicate), FEW + 1)?;
        if rows.len() > FEW {
            return Ok(None);
        }
        let (sought, named) = (Sought::new(links, iri)?, named(links, iri)?);
        let relative = text_key(relative(iri));
        let entries = rows.iter().filter_map(|(key, _)| {
            Some((keys::object_of_statement(key)?, ResourceId(keys::last_id(key)?)))
        });
        let likely = entries.filter(|(object, id)| {
            sought.may_be(*object) || *object == relative && named.contains(id)
        });
        let first = likely.map(|(_, id)| id).collect();
        Ok(Some(Self { first, ..Self::among(view, Vec::new()) }))
    }

    /// Those of which the index has entries in these ranges.
    pub(super) fn among(view: &'a View, ranges: Vec<KeyRange>) -> Self {
        let scan = Scan::new(view, ranges);
        Self { first: Vec::new(), scan, literal: None, seen: HashSet::new() }
    }

    fn step(&mut self) -> Result<Option<ResourceId>> {
        if let Some(id) = self.first.pop() {
            return Ok(Some(id));
        }
        let entry = match self.scan.next()? {
            Some((_, key)) => Some(key),
            None => self.literal.as_mut().and_then(Iterator::next).transpose()?,
        };
        Ok(entry.and_then(|key| keys::last_id(&key)).map(ResourceId))
    }
}

/// The resource that an IRI names, if any: its own description may name it by a relative one.
fn named(links: &Links<'_, View>, iri: &str) -> Result<Vec<ResourceId>> {
    match names_resource(iri) {
        true => Ok(links.named(iri)?.into_iter().collect()),
        false => Ok(Vec::new()),
    }
}

/// How the description of the resource that an IRI names may write it.
fn relative(iri: &str) -> &str {
    path_of(iri).map_or("", |(_, fragment)| fragment)
}

/// Those resources whose descriptions, as the index has them, name themselves by the relative form of an IRI: with a predicate, if one is
/// given; all of them if none is.
fn with_relative(
    view: &View,
    named: Vec<ResourceId>,
    predicate: Option<&str>,
    iri: &str,
) -> Result<Vec<ResourceId>> {
    let Some(predicate) = predicate else { return Ok(named) };
    let mut kept = Vec::new();
    for id in named {
        let entries = view.values(&of_statement(predicate, relative(iri), id.0))?;
        kept.extend(entries.iter().any(Option::is_some).then_some(id));
    }
    Ok(kept)
}

impl Iterator for Candidates<'_> {
    type Item = Result<ResourceId>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.step().transpose()? {
                Ok(id) if !self.seen.insert(id) => {}
                other => return Some(other),
            }
        }
    }
}
