//! One state of the store as a graph to be queried: the resources that a caller may see, their statements, and where the index
//! has a statement.
//!
//! Invariants: nothing is returned of a resource whose description the caller may not read. A resource has one node ([`Node::Resource`]),
//! however an IRI spells it; an IRI that names nothing that the caller sees is an [`Node::Iri`] as they are shown it.

mod clocks;
mod estimate;
mod node;
mod visible;

use std::rc::Rc;

use cenote_kv::Row;

use self::clocks::Clocks;
pub use self::node::{Fact, Node};
use self::visible::VisibilityCache;
pub use self::visible::VisibleResource;
use super::index::{self, Scan, order};
use super::links::names_resource;
use super::quads::{Candidates, Pattern};
use super::stored::{statements, with_predicate};
use super::{Links, iri_of};
use crate::catalog::{Reads, View, keys};
use crate::model::{Kind, Name, ResourceId, Statement, StorePath, Term, Time};
use crate::text::{TextCandidates, TextLead, TextQuery};
use crate::{Caller, Result, resources};

/// All that one caller may read of one state of the store.
pub struct Dataset<'a> {
    view: &'a View,
    links: Links<'a, View>,
    visibility: VisibilityCache<'a>,
    clocks: Clocks<'a>,
}

impl std::fmt::Debug for Dataset<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dataset").finish_non_exhaustive()
    }
}

/// How many rows are read at a time.
const STEP: usize = 1_000;

impl<'a> Dataset<'a> {
    pub(crate) fn new(view: &'a View, caller: &'a Caller) -> Self {
        let (links, visibility) = (Links::new(view, caller), VisibilityCache::new(view, caller));
        Self { view, links, visibility, clocks: Clocks::new(view) }
    }

    pub(crate) fn view(&self) -> &'a View {
        self.view
    }

    /// A resource, if the caller may see it.
    pub fn resource(&self, id: ResourceId) -> Result<Option<Rc<VisibleResource>>> {
        self.visibility.resource(id)
    }

    /// Where a resource is, if the caller may see it.
    pub fn path(&self, id: ResourceId) -> Result<Option<StorePath>> {
        self.visibility.path(id)
    }

    /// When what a graph shows of a resource last changed: its description, or what it contains.
    pub fn changed(&self, seen: &VisibleResource) -> Result<Time> {
        let record = seen.record()?;
        let described = record.described().time;
        match seen.kind {
            Kind::Collection => {
                let members = self.clocks.changed(seen.id)?.unwrap_or(record.created);
                Ok(described.max(members))
            }
            _ => Ok(described),
        }
    }

    /// All resources that the caller may see, by id. None stands for some that were skipped, so that steps can be counted.
    pub fn resources(
        &self,
    ) -> impl Iterator<Item = Result<Option<Rc<VisibleResource>>>> + use<'_, 'a> {
        let mut range = keys::resources();
        let mut page = Vec::<Row>::new().into_iter();
        std::iter::from_fn(move || {
            loop {
                if let Some((key, value)) = page.next() {
                    return Some(self.of_row(&key, value));
                }
                let rows = match self.view.rows(&range, STEP) {
                    Ok(rows) => rows,
                    Err(error) => return Some(Err(error)),
                };
                range = range.clone().after(&rows.last()?.0);
                page = rows.into_iter();
            }
        })
    }

    fn of_row(&self, key: &[u8], value: bytes::Bytes) -> Result<Option<Rc<VisibleResource>>> {
        let Some(id) = keys::last_id(key).map(ResourceId) else { return Ok(None) };
        self.visibility.of_value(id, value)
    }

    /// The children of a collection that the caller may list, as far as they may see them, in the order of their names.
    pub fn children(
        &self,
        id: ResourceId,
    ) -> Result<impl Iterator<Item = Result<Option<Rc<VisibleResource>>>> + use<'_, 'a>> {
        let may_list = self.resource(id)?.is_some_and(|seen| seen.may_list);
        let mut next = may_list.then_some(None::<Name>);
        let mut page = Vec::new().into_iter();
        Ok(std::iter::from_fn(move || {
            loop {
                if let Some(id) = page.next() {
                    return Some(self.resource(id));
                }
                let after = next.take()?;
                match resources::children(self.view, id, after.as_ref(), STEP) {
                    Ok((children, more)) => {
                        next = more.map(Some);
                        let ids: Vec<_> = children.iter().map(|(_, child)| child.id).collect();
                        if let Err(error) = self.visibility.read_ahead(&ids) {
                            return Some(Err(error));
                        }
                        page = ids.into_iter();
                    }
                    Err(error) => return Some(Err(error)),
                }
            }
        }))
    }

    /// The statements in the description of a resource, or those with one predicate; none if the caller may not see it.
    pub fn facts(&self, id: ResourceId, predicate: Option<&str>) -> Result<Vec<Fact>> {
        self.facts_that(id, predicate, |_| true)
    }

    /// The same of those that may have an object: all that have it, and few others. A description has many statements, of which each costs more to
    /// translate than to read.
    pub fn facts_to(
        &self,
        id: ResourceId,
        predicate: Option<&str>,
        object: &Term,
    ) -> Result<Vec<Fact>> {
        let wanted = match object {
            Term::Iri(iri) => self.node(iri)?,
            _ => return self.facts_that(id, predicate, |it| it.object.text() == object.text()),
        };
        self.facts_that(id, predicate, |it| match (&it.object, &wanted) {
            (Term::Iri(iri), Node::Resource { id: to, .. }) => node::may_lead(id, iri, *to),
            (Term::Iri(iri), _) => iri == object.text() || names_resource(iri),
            _ => false,
        })
    }

    /// The same of those whose objects are literals.
    pub fn literals(&self, id: ResourceId, predicate: Option<&str>) -> Result<Vec<Fact>> {
        self.facts_that(id, predicate, |it| matches!(it.object, Term::Literal { .. }))
    }

    /// Whether anything is stated in the description of a resource; not, if the caller may not see it.
    pub fn is_described(&self, id: ResourceId) -> Result<bool> {
        Ok(self.resource(id)?.is_some() && self.view.has(&keys::graph(id.0))?)
    }

    fn facts_that(
        &self,
        id: ResourceId,
        predicate: Option<&str>,
        is_wanted: impl Fn(&Statement) -> bool,
    ) -> Result<Vec<Fact>> {
        if self.resource(id)?.is_none() {
            return Ok(Vec::new());
        }
        let statements = match predicate {
            Some(predicate) => with_predicate(self.view, id.0, predicate)?,
            None => statements(self.view, id.0)?,
        };
        let wanted = statements.into_iter().filter(|it| is_wanted(it));
        wanted.map(|statement| self.fact(id, statement)).collect()
    }

    /// The descriptions in which the index has what may match a pattern, each once: some of them have no match, and some the caller
    /// may not read.
    ///
    /// Cost: that of the order of the first term that is bound: see [`Reading::statements`](crate::Reading::statements).
    pub fn stating(
        &self,
        pattern: &Pattern,
    ) -> Result<impl Iterator<Item = Result<ResourceId>> + use<'a>> {
        Candidates::new(self.view, &self.links, &pattern.canonical(&self.links)?)
    }

    /// The descriptions in which the index has a statement with a predicate whose object is between two numbers or moments, and those with one whose
    /// object is none, or not of their kind. Moments without an offset are in UTC.
    pub fn stating_between(
        &self,
        predicate: &str,
        (least, most): (Option<&str>, Option<&str>),
    ) -> impl Iterator<Item = Result<ResourceId>> + use<'a> {
        let objects = order::between(least, most);
        Candidates::among(self.view, index::of_predicate_between(predicate, &objects))
    }

    /// The resources that may have the words of a query, by id: some of them have not, and some the caller may not read. None if the index
    /// cannot lead in this state.
    pub fn holding<'t>(
        &self,
        lead: &'t dyn TextLead,
        text: &TextQuery,
    ) -> Result<Option<impl Iterator<Item = Result<ResourceId>> + use<'t>>> {
        let candidates = TextCandidates::new(self.view, (lead, text), None)?;
        Ok(candidates.map(|mut all| std::iter::from_fn(move || all.next().transpose())))
    }

    /// Whether the index leaves open that the description of a resource states this with a predicate.
    ///
    /// The index answers for literals and for IRIs that cannot name a resource, with one read; for all other objects the result is true.
    pub fn may_state(&self, id: ResourceId, predicate: &str, object: &Term) -> Result<bool> {
        let text = match object {
            Term::Literal { value, .. } => value,
            Term::Iri(iri) if !iri.is_empty() && !names_resource(iri) => iri,
            Term::Iri(_) | Term::Blank(_) => return Ok(true),
        };
        let entries = self.view.values(&index::of_statement(predicate, text, id.0))?;
        Ok(entries.iter().any(Option::is_some))
    }

    /// Whether any description states something of anything but its resource, other than a blank node: [`stating_of`](Self::stating_of) finds
    /// nothing otherwise.
    pub fn states_of_others(&self) -> Result<bool> {
        self.visibility.states_of_others()
    }

    /// The descriptions in which something is stated of an IRI, or of a resource or a part of it, other than in the description of
    /// that resource.
    pub fn stating_of(
        &self,
        subject: &str,
    ) -> Result<impl Iterator<Item = Result<ResourceId>> + use<'a>> {
        let ranges = match self.visibility.states_of_others()? {
            true => index::Sought::new(&self.links, &self.links.spelled(subject)?)?.subjects(),
            false => Vec::new(),
        };
        let mut scan = Scan::new(self.view, ranges);
        let mut seen = std::collections::HashSet::new();
        Ok(std::iter::from_fn(move || {
            loop {
                match scan.next().transpose()? {
                    Err(error) => return Some(Err(error)),
                    Ok((_, key)) => match keys::last_id(&key).map(ResourceId) {
                        Some(id) if seen.insert(id) => return Some(Ok(id)),
                        _ => {}
                    },
                }
            }
        }))
    }
}
