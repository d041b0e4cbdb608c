//! The triples of one resource: those of its description, and those that follow from the state of the store.

use std::collections::HashSet;
use std::rc::Rc;

use cenote_store::{Fact, Pattern, ResourceId};

use super::Graph;
use super::lakesuperior::part::Part;
use super::node::Node;
use super::text::Sought;
use crate::Result;
use crate::sparql::meter;

/// A triple, with the part of the resource's graphs that it is in.
#[derive(Debug, Clone)]
pub(crate) struct Triple {
    pub(super) subject: Node,
    pub(super) predicate: Node,
    pub(super) object: Node,
    pub(super) part: Part,
}

/// A pattern of triples; `None` matches anything.
#[derive(Debug, Clone, Default)]
pub(crate) struct Like {
    pub(super) subject: Option<Node>,
    pub(super) predicate: Option<Node>,
    pub(super) object: Option<Node>,
    /// What is sought, if it asks for words.
    pub(super) text: Option<Rc<Sought>>,
}

impl Like {
    pub(super) fn matches(&self, triple: &Triple) -> bool {
        let is = |wanted: &Option<Node>, node: &Node| wanted.as_ref().is_none_or(|it| it == node);
        is(&self.predicate, &triple.predicate)
            && is(&self.subject, &triple.subject)
            && is(&self.object, &triple.object)
    }

    /// Whether the subject may be a resource, not one of its graphs.
    pub(super) fn is_of_resource(&self) -> bool {
        self.subject.as_ref().is_none_or(|subject| subject.id().is_some())
    }
}

impl Triple {
    /// The same triple, in whatever part.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.object == other.object
            && self.predicate == other.predicate
            && self.subject == other.subject
    }

    /// Whether it is about the resource in whose graph it is, a part of it, or a blank node.
    pub(super) fn is_own(&self, of: ResourceId) -> bool {
        use super::node::What;
        match self.subject.what() {
            What::Resource(id, _) | What::Blank(id, _) | What::Graph(_, id) => id == of,
            What::Term(_) => false,
        }
    }
}

/// So many triples are remembered; then all are forgotten.
const REMEMBERED: usize = 65_536;

/// So often a part of a description is read, before all of it is. Reading a predicate of 200 statements takes a tenth of reading all.
const IN_PART: u8 = 8;

impl Graph<'_> {
    /// The triples of the graphs of a resource, each once; none if the caller may not see it.
    pub(super) fn triples(&self, id: ResourceId, like: &Like) -> Result<Vec<Triple>> {
        let mut triples = self.stated(id, like)?;
        if like.text.is_none() && self.may_manage(id, like)? {
            let properties = self.properties_for(like.predicate.as_ref());
            for triple in self.managed(id, properties, like)? {
                if !triples.iter().any(|stated| stated.is(&triple)) {
                    triples.push(triple);
                }
            }
        }
        Ok(triples)
    }

    /// What the description of a resource states, each triple once.
    pub(super) fn stated(&self, id: ResourceId, like: &Like) -> Result<Vec<Triple>> {
        meter::row()?;
        if let Some(sought) = &like.text {
            return self.worded(id, sought, like);
        }
        let predicate = match &like.predicate {
            Some(predicate) => match self.sought(predicate)? {
                Some(iri) if self.is_stated(&iri)? => Some(iri),
                _ => return Ok(Vec::new()),
            },
            None => None,
        };
        let triples = self.description(id, predicate.as_deref(), like.object.as_ref())?;
        Ok(triples.iter().filter(|triple| like.matches(triple)).cloned().collect())
    }

    /// Whether a description was read as a whole, and is remembered.
    pub(super) fn is_described(&self, id: ResourceId) -> bool {
        self.described.borrow().contains_key(&id)
    }

    /// Whether anything is stated with a predicate anywhere.
    pub(super) fn is_stated(&self, predicate: &str) -> Result<bool> {
        if let Some(known) = self.stated.borrow().get(predicate) {
            return Ok(*known);
        }
        let pattern = Pattern { predicate: Some(predicate.to_owned()), ..Pattern::default() };
        let found = self.data.stating(&pattern)?.next().transpose()?.is_some();
        self.stated.borrow_mut().insert(predicate.to_owned(), found);
        Ok(found)
    }

    /// The triples of a description: at least those with a predicate and an object. A description that is read often is cached
    /// completely; most are read for a few patterns.
    fn description(
        &self,
        id: ResourceId,
        predicate: Option<&str>,
        object: Option<&Node>,
    ) -> Result<Rc<[Triple]>> {
        if let Some(known) = self.described.borrow().get(&id) {
            return Ok(known.clone());
        }
        if (predicate.is_some() || object.is_some()) && self.is_seldom_read(id) {
            let object = object.map(|object| self.stated_object(object)).transpose()?;
            let facts = match object.flatten() {
                Some(object) => self.data.facts_to(id, predicate, &object)?,
                None => self.data.facts(id, predicate)?,
            };
            return self.distinct(id, facts);
        }
        let triples = self.distinct(id, self.data.facts(id, None)?)?;
        let mut described = self.described.borrow_mut();
        if described.values().map(|it| it.len()).sum::<usize>() + triples.len() > REMEMBERED {
            described.clear();
        }
        described.insert(id, triples.clone());
        Ok(triples)
    }

    /// Counts one more time that a part of a description is read.
    fn is_seldom_read(&self, id: ResourceId) -> bool {
        let mut looked_at = self.looked_at.borrow_mut();
        let times = looked_at.entry(id).or_default();
        *times = times.saturating_add(1);
        *times <= IN_PART
    }

    /// Statements that differ in their units, or in how they name their resource, are the same triple.
    fn distinct(&self, id: ResourceId, facts: Vec<Fact>) -> Result<Rc<[Triple]>> {
        let mut known = HashSet::with_capacity(facts.len());
        let is_new: Vec<bool> = facts.iter().map(|fact| known.insert(fact)).collect();
        let new = facts.iter().zip(is_new).filter(|(_, is_new)| *is_new);
        new.map(|(fact, _)| self.triple(id, fact.clone())).collect()
    }

    fn triple(&self, id: ResourceId, fact: Fact) -> Result<Triple> {
        Ok(Triple {
            subject: self.stored(id, fact.subject),
            predicate: self.iri_of_predicate(fact.predicate)?,
            object: self.stored(id, fact.object),
            part: Part::Main,
        })
    }

    /// The node of a predicate: the same for each of its triples.
    pub(super) fn iri_of_predicate(&self, iri: String) -> Result<Node> {
        if let Some(known) = self.iris.borrow().get(&iri) {
            return Ok(known.clone());
        }
        let node = self.iri(&iri)?;
        self.iris.borrow_mut().insert(iri, node.clone());
        Ok(node)
    }
}
