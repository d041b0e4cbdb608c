//! One state of the store as an RDF dataset.
//!
//! * `bounded` is what a query leaves of the values of a predicate; `node` and `terms` are the terms, `managed`, `content` and `members` the triples that follow from the state of the store, by
//!   the properties in `property`, and `lakesuperior` those about the graphs of resources, and of versions,
//! * `described` the triples of one resource, `text` what asks for words, `found` and `managing` the resources in which a pattern may match, and
//!   `patterns` both together.
//!
//! Invariants: a triple is in the graph of the resource in whose description it is, or that it is about. The default graph is the
//! union of all graphs of the present, in which each triple is once. What the caller may not see is in no graph, and is not counted.

mod bounded;
mod content;
mod described;
mod found;
mod lakesuperior;
mod managed;
mod managing;
mod members;
mod node;
mod patterns;
mod property;
mod terms;
mod text;

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use cenote_rdf::{Query, Wanted};
use cenote_store::{Dataset, Pattern, PersonId, Reading, ResourceId, TextLead};
use spareval::{InternalQuad, QueryableDataset};

use self::bounded::Between;
use self::described::Triple;
use self::lakesuperior::Past;
use self::lakesuperior::meta::MetaVocabulary;
use self::managed::Vocabulary;
use self::members::Membership;
use self::node::Node;
use self::property::PropertySet;
use self::text::is_text_query;
use super::Graphs;
use super::Source;
use super::words::Words;
use crate::{Error, Result};

/// One state of the store, as a caller sees it, in the words of one address.
pub(super) struct Graph<'a> {
    reading: &'a Reading,
    lead: Option<&'a dyn TextLead>,
    data: Dataset<'a>,
    words: &'a dyn Words,
    vocabulary: Vocabulary,
    meta: MetaVocabulary,
    iris: RefCell<HashMap<String, Node>>,
    described: RefCell<HashMap<ResourceId, Rc<[Triple]>>>,
    looked_at: RefCell<HashMap<ResourceId, u8>>,
    stated: RefCell<HashMap<String, bool>>,
    persons: RefCell<HashMap<PersonId, Node>>,
    memberships: OnceCell<Vec<Membership>>,
    past: Past,
    /// What the query leaves of the objects of a predicate.
    bounds: HashMap<Node, Between>,
}

impl std::fmt::Debug for Graph<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph").field("words", &self.words).finish_non_exhaustive()
    }
}

impl<'a> Graph<'a> {
    /// The state as one query needs it.
    pub(super) fn new(source: Source<'a>, words: &'a dyn Words, query: &Query) -> Result<Self> {
        let Source { reading, lead } = source;
        let properties = match words.graphs() {
            Graphs::Parts => PropertySet::ALL,
            Graphs::Resources => PropertySet::WITHOUT_VERSIONS,
        };
        let mut graph = Self {
            reading,
            lead,
            data: reading.dataset(),
            words,
            vocabulary: Vocabulary::new(words.fedora(), words.states_basic_container(), properties),
            meta: MetaVocabulary::new(words.fedora()),
            iris: RefCell::default(),
            described: RefCell::default(),
            looked_at: RefCell::default(),
            stated: RefCell::default(),
            persons: RefCell::default(),
            memberships: OnceCell::new(),
            past: Past::default(),
            bounds: HashMap::new(),
        };
        graph.bound(query.bounds())?;
        Ok(graph)
    }

    /// Roughly how many triples are like this.
    pub(super) fn estimate(&self, wanted: &Wanted) -> Result<u64> {
        let object = wanted.object.clone().map(|term| self.inward(term)).transpose()?;
        let predicate =
            wanted.predicate.clone().map(|node| self.inward(node.into())).transpose()?;
        if predicate.as_ref().is_some_and(is_text_query) {
            return self.text_estimate(predicate.as_ref(), object.as_ref());
        }
        let pattern = Pattern {
            predicate: predicate.as_ref().map(|node| self.sought(node)).transpose()?.flatten(),
            object: object.as_ref().map(|node| self.stated_object(node)).transpose()?.flatten(),
            ..Pattern::default()
        };
        let between = predicate.as_ref().and_then(|predicate| self.between(predicate));
        let stated = match (&pattern, between) {
            (Pattern { predicate: Some(predicate), object: None, .. }, Some(between)) => {
                self.data.estimate_between(predicate, between.texts())?
            }
            _ => self.data.estimate(&pattern)?,
        };
        let managed = self.managed_estimate(predicate.as_ref(), object.as_ref())?;
        Ok(stated.saturating_add(managed))
    }
}

/// The form in which an error passes through the evaluator.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Failed(pub(super) Error);

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl<'a> QueryableDataset<'a> for &'a Graph<'a> {
    type InternalTerm = Node;
    type Error = Failed;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&Node>,
        predicate: Option<&Node>,
        object: Option<&Node>,
        graph_name: Option<Option<&Node>>,
    ) -> impl Iterator<Item = Result<InternalQuad<Node>, Failed>> + use<'a> {
        let graph: &'a Graph<'a> = self;
        let quads = graph.quads(subject, predicate, object, graph_name);
        quads.map(|quad| quad.map_err(Failed))
    }

    fn internal_named_graphs(&self) -> impl Iterator<Item = Result<Node, Failed>> + use<'a> {
        let graph: &'a Graph<'a> = self;
        graph.names().map(|name| name.map_err(Failed))
    }

    fn contains_internal_graph_name(&self, graph_name: &Node) -> Result<bool, Failed> {
        Ok(self.has_graph(graph_name)?)
    }

    fn internalize_term(&self, term: cenote_rdf::Term) -> Result<Node, Failed> {
        Ok(self.inward(term)?)
    }

    fn externalize_term(&self, term: Node) -> Result<cenote_rdf::Term, Failed> {
        Ok(self.outward(&term)?)
    }
}
