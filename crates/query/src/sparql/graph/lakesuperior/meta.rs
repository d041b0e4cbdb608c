//! LAKEsuperior's graph of graphs, `info:fcsystem/meta`: of which resource each graph of a resource is, what is in it, and since when.
//!
//! Invariant: it names exactly the graphs that have triples, of the resources that the caller sees. What it says of a graph is found with the
//! other triples of the resource, so it is in the default graph, too.

use cenote_store::{Kind, ResourceId, VisibleResource};

use super::part::Part;
use crate::Result;
use crate::sparql::graph::Graph;
use crate::sparql::graph::described::{Like, Triple};
use crate::sparql::graph::found::{Found, Which, none, one};
use crate::sparql::graph::managed::{date_time, node};
use crate::sparql::graph::managing::Ids;
use crate::sparql::graph::node::{Node, What};
use crate::sparql::graph::property::Property;
use crate::sparql::{Graphs, meter};

const TOPIC: &str = "http://xmlns.com/foaf/0.1/primaryTopic";

/// Its terms.
pub(crate) struct MetaVocabulary {
    pub(crate) graph: Node,
    pub(super) history: Node,
    pub(super) topic: Node,
    /// The type of a version.
    pub(super) version: Node,
    /// The predicate of the label of a version.
    pub(super) label: Node,
    classes: [Node; Part::OF_RESOURCE.len()],
}

impl MetaVocabulary {
    pub(crate) fn new(fedora: &str) -> Self {
        Self {
            graph: node(Part::Meta.prefix()),
            history: node(Part::History.prefix()),
            topic: node(TOPIC),
            version: node(format!("{fedora}Version")),
            label: node(format!("{fedora}hasVersionLabel")),
            classes: Part::OF_RESOURCE.map(|part| node(part.class())),
        }
    }

    pub(crate) fn is_topic(&self, predicate: &Node) -> bool {
        *predicate == self.topic
    }

    /// Whether it is the type of any graph.
    pub(crate) fn is_class(&self, class: &Node) -> bool {
        self.classes.contains(class)
    }
}

impl<'a> Graph<'a> {
    /// Whether there is such a graph.
    pub(crate) fn has_meta(&self) -> bool {
        self.words.graphs() == Graphs::Parts
    }

    pub(crate) fn is_meta(&self, name: &Node) -> bool {
        self.has_meta() && *name == self.meta.graph
    }

    /// The resources of whose graphs it may say this.
    pub(crate) fn graphs_like(&'a self, like: &Like) -> Found<'a> {
        let properties = self.properties_for(like.predicate.as_ref());
        let subject = like.subject.as_ref().map(Node::what);
        match (subject, like.object.as_ref().map(Node::what)) {
            (Some(What::Graph(_, id)), _) => one(id, Which::Managed(properties)),
            (Some(_), _) => none(),
            (None, Some(What::Resource(id, ""))) => one(id, Which::Managed(properties)),
            (None, _) => self.all(Which::Managed(properties)),
        }
    }

    /// The resources of which a graph may be, as a pattern without a subject asks; none if it asks for something else.
    pub(crate) fn topics(&'a self, like: &Like) -> Option<Ids<'a>> {
        let is_topic = like.predicate.as_ref().is_none_or(|it| self.meta.is_topic(it));
        let object = like.object.as_ref().map(Node::what);
        let is_resource = matches!(object, None | Some(What::Resource(_, "")));
        let ids = || self.graphs_like(like).map(|found| Ok(found?.0));
        (self.has_meta() && is_topic && is_resource).then(|| Box::new(ids()) as Ids<'a>)
    }

    /// The names of the graphs of a resource that have triples.
    pub(crate) fn parts_of(&self, id: ResourceId) -> Result<Vec<Node>> {
        let Some(seen) = self.data.resource(id)? else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        for part in Part::OF_RESOURCE {
            if self.has_part(&seen, part)? {
                names.push(Node::graph(part, id));
            }
        }
        Ok(names)
    }

    /// What it says of the graphs of a resource.
    pub(crate) fn graphs_of(&self, id: ResourceId, like: &Like) -> Result<Vec<Triple>> {
        let mut triples = Vec::new();
        if !self.has_meta() || !self.may_be_of_graph(like) {
            return Ok(triples);
        }
        let Some(seen) = self.data.resource(id)? else { return Ok(triples) };
        for (part, class) in Part::OF_RESOURCE.into_iter().zip(&self.meta.classes) {
            let graph = Node::graph(part, id);
            let is_wanted = like.subject.as_ref().is_none_or(|wanted| *wanted == graph);
            if is_wanted && self.has_part(&seen, part)? {
                triples.extend(self.of_graph(&seen, &graph, class)?);
            }
        }
        triples.retain(|triple| like.matches(triple));
        Ok(triples)
    }

    /// Whether a pattern may match what it says of any graph.
    fn may_be_of_graph(&self, like: &Like) -> bool {
        let is_graph = |node: &Node| matches!(node.what(), What::Graph(..));
        if !like.subject.as_ref().is_none_or(is_graph) {
            return false;
        }
        let Some(predicate) = &like.predicate else { return true };
        let object = like.object.as_ref();
        match self.vocabulary.property(predicate) {
            Some(Property::Type) => object.is_none_or(|class| self.meta.is_class(class)),
            Some(Property::Created) => true,
            Some(_) => false,
            None => self.meta.is_topic(predicate),
        }
    }

    /// Whether a resource has triples in one of its graphs.
    fn has_part(&self, seen: &VisibleResource, part: Part) -> Result<bool> {
        Ok(match part {
            Part::Admin => true,
            Part::Structure => self.contains_any(seen)? || self.has_members(seen.id)?,
            Part::Main => self.data.is_described(seen.id)?,
            Part::Meta | Part::History => false,
        })
    }

    fn contains_any(&self, seen: &VisibleResource) -> Result<bool> {
        if seen.kind != Kind::Collection {
            return Ok(false);
        }
        for child in self.data.children(seen.id)? {
            meter::row()?;
            if child?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_members(&self, id: ResourceId) -> Result<bool> {
        Ok(!self.members(id, &Like::default())?.is_empty())
    }

    /// Like there, the time of a graph is that of the last change, whatever the predicate is called.
    fn of_graph(&self, seen: &VisibleResource, graph: &Node, class: &Node) -> Result<[Triple; 3]> {
        let triple = |predicate: &Node, object| Triple {
            subject: graph.clone(),
            predicate: predicate.clone(),
            object,
            part: Part::Meta,
        };
        Ok([
            triple(self.vocabulary.predicate(Property::Type), class.clone()),
            triple(&self.meta.topic, Node::resource(seen.id, "")),
            triple(self.vocabulary.predicate(Property::Created), date_time(self.modified(seen)?)),
        ])
    }
}
