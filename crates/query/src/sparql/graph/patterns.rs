//! Triples by pattern, in one graph, in any named graph, or in the union of all.

use std::collections::HashSet;
use std::rc::Rc;

use cenote_store::ResourceId;
use spareval::InternalQuad;

use super::Graph;
use super::described::{Like, Triple};
use super::found::Which;
use super::lakesuperior::PastTriple;
use super::lakesuperior::part::Part;
use super::node::{Node, What};
use super::text::Sought;
use crate::Result;
use crate::sparql::{Graphs, meter};

type Quads<'a> = Box<dyn Iterator<Item = Result<InternalQuad<Node>>> + 'a>;

impl<'a> Graph<'a> {
    /// What matches: in the union of all graphs (`Some(None)`), in one of them, or in each with its name (`None`).
    pub(super) fn quads(
        &'a self,
        subject: Option<&Node>,
        predicate: Option<&Node>,
        object: Option<&Node>,
        graph: Option<Option<&Node>>,
    ) -> Quads<'a> {
        let text = match self.sought_text(predicate, object) {
            Ok(text) => text.map(Rc::new),
            Err(error) => return Box::new(std::iter::once(Err(error))),
        };
        let like = Like {
            subject: subject.cloned(),
            predicate: predicate.cloned(),
            object: object.cloned(),
            text,
        };
        match graph {
            Some(None) => self.union(like),
            Some(Some(name)) => self.in_graph(name, &like),
            None => self.in_graphs(like),
        }
    }

    /// The union of all graphs, each triple once.
    fn union(&'a self, like: Like) -> Quads<'a> {
        match self.alone(&like) {
            Ok(Some(triples)) => {
                return Box::new(triples.into_iter().map(|triple| Ok(quad(triple, None))));
            }
            Ok(None) => {}
            Err(error) => return Box::new(std::iter::once(Err(error))),
        }
        let mut once = Once::default();
        let found = self.found(&like);
        flat(found.map(move |found| {
            let (id, which) = found?;
            let mut triples = self.of_resource(id, which, &like)?;
            let mut error = None;
            triples.retain(|triple| {
                once.takes(self, (id, triple), like.text.as_ref()).unwrap_or_else(|failed| {
                    error = Some(failed);
                    false
                })
            });
            match error {
                Some(error) => Err(error),
                None => Ok(triples.into_iter().map(|triple| quad(triple, None)).collect()),
            }
        }))
    }

    /// What matches of one resource, if nothing but its own graph has triples about it: none of them is there twice, and nowhere else is to
    /// be looked. Joins ask for this once for each solution.
    fn alone(&self, like: &Like) -> Result<Option<Vec<Triple>>> {
        let Some(id) = like.subject.as_ref().and_then(Node::id) else { return Ok(None) };
        if like.text.is_some() || self.data.states_of_others()? {
            return Ok(None);
        }
        // If all is known, it is one triple: what the server states need not be looked for in the description.
        let is_bound = like.predicate.is_some() && like.object.is_some();
        let mut triples = Vec::new();
        if is_bound {
            let properties = self.properties_for(like.predicate.as_ref());
            triples = self.of_resource(id, Which::Managed(properties), like)?;
        }
        if triples.is_empty() {
            triples = self.of_resource(id, self.which(id, like)?, like)?;
        }
        triples.iter().try_for_each(|_| meter::row())?;
        Ok(Some(triples))
    }

    /// All named graphs, with their names.
    fn in_graphs(&'a self, like: Like) -> Quads<'a> {
        let past = self.in_past(&like).map(|triples| Ok(past_quads(triples?)));
        let present = self.found(&like).map(move |found| {
            let (id, which) = found?;
            let triples = self.of_resource(id, which, &like)?;
            let named = triples.into_iter().map(|triple| {
                let name = self.name(id, triple.part);
                quad(triple, Some(name))
            });
            Ok(named.collect())
        });
        flat(present.chain(past))
    }

    fn in_graph(&'a self, name: &Node, like: &Like) -> Quads<'a> {
        if self.is_meta(name) {
            return self.in_meta(like.clone());
        }
        if self.is_history(name) {
            return self.in_history(like);
        }
        let Some((id, part)) = self.named(name) else {
            return flat(std::iter::once(self.in_version(name, like).map(past_quads)));
        };
        let named = |triple| quad(triple, Some(name.clone()));
        let triples = self.triples(id, like).map(|triples| {
            let within = |triple: &Triple| part.is_none_or(|part| part == triple.part);
            triples.into_iter().filter(within).map(named).collect()
        });
        flat(std::iter::once(triples))
    }

    fn in_meta(&'a self, like: Like) -> Quads<'a> {
        let graphs = self.graphs_like(&like).map(move |found| {
            meter::row()?;
            let triples = self.graphs_of(found?.0, &like)?;
            let name = |triple| quad(triple, Some(self.meta.graph.clone()));
            Ok(triples.into_iter().map(name).collect())
        });
        flat(graphs)
    }

    fn in_history(&'a self, like: &Like) -> Quads<'a> {
        flat(self.in_past(like).map(|triples| {
            let mut triples = triples?;
            triples.retain(|it| self.is_history(&it.graph));
            Ok(past_quads(triples))
        }))
    }

    fn of_resource(&self, id: ResourceId, which: Which, like: &Like) -> Result<Vec<Triple>> {
        match which {
            Which::All => self.triples(id, like),
            Which::Stated => self.stated(id, like),
            Which::Managed(_) if !self.may_manage(id, like)? => Ok(Vec::new()),
            Which::Managed(properties) => {
                meter::row()?;
                self.managed(id, properties, like)
            }
        }
    }

    /// The resource, and the part of it, of a graph's name.
    pub(super) fn named(&self, name: &Node) -> Option<(ResourceId, Option<Part>)> {
        match (self.words.graphs(), name.what()) {
            (Graphs::Resources, What::Resource(id, "")) => Some((id, None)),
            (Graphs::Parts, What::Graph(part, id)) => Some((id, Some(part))),
            _ => None,
        }
    }

    fn name(&self, id: ResourceId, part: Part) -> Node {
        match self.words.graphs() {
            Graphs::Resources => Node::resource(id, ""),
            Graphs::Parts if part == Part::Meta => self.meta.graph.clone(),
            Graphs::Parts => Node::graph(part, id),
        }
    }

    /// Whether there is a graph of this name.
    pub(super) fn has_graph(&self, name: &Node) -> Result<bool> {
        let is_present = self.is_meta(name) || self.named(name).is_some();
        if is_present || self.is_history(name) {
            return Ok(true);
        }
        Ok(!self.in_version(name, &Like::default())?.is_empty())
    }

    /// The names of all graphs that are not empty.
    pub(super) fn names(&'a self) -> Box<dyn Iterator<Item = Result<Node>> + 'a> {
        // What is known of graphs is one more graph as soon as there is any.
        let mut meta = self.has_meta().then(|| Ok(self.meta.graph.clone()));
        let names = self.all(Which::All).flat_map(move |found| {
            let names = found.and_then(|(id, _)| self.names_of(id));
            let (names, error) = match names {
                Ok(names) => (names, None),
                Err(error) => (Vec::new(), Some(Err(error))),
            };
            names.into_iter().map(Ok).chain(error).chain(meta.take())
        });
        let past = self.past_names().flat_map(|names| match names {
            Ok(names) => names.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        });
        Box::new(names.chain(past))
    }

    fn names_of(&self, id: ResourceId) -> Result<Vec<Node>> {
        match self.words.graphs() {
            Graphs::Resources => Ok(vec![Node::resource(id, "")]),
            Graphs::Parts => self.parts_of(id),
        }
    }
}

/// Triples that were returned for resources other than those in whose graphs they are.
#[derive(Default)]
struct Once {
    foreign: HashSet<[Node; 3]>,
}

impl Once {
    /// Whether a triple of the graph of a resource is returned: not if it already was, or if it is in the graph of its subject.
    fn takes(
        &mut self,
        graph: &Graph<'_>,
        (of, triple): (ResourceId, &Triple),
        text: Option<&Rc<Sought>>,
    ) -> Result<bool> {
        meter::row()?;
        if triple.is_own(of) {
            return Ok(true);
        }
        let terms = [&triple.subject, &triple.predicate, &triple.object];
        if let What::Resource(home, _) = triple.subject.what() {
            let [subject, predicate, object] = terms.map(|node| Some(node.clone()));
            let same = Like { subject, predicate, object, text: text.cloned() };
            if !graph.triples(home, &same)?.is_empty() {
                return Ok(false);
            }
        }
        Ok(self.foreign.insert(terms.map(Node::clone)))
    }
}

fn quad(triple: Triple, graph_name: Option<Node>) -> InternalQuad<Node> {
    let Triple { subject, predicate, object, .. } = triple;
    InternalQuad { subject, predicate, object, graph_name }
}

fn past_quads(triples: Vec<PastTriple>) -> Vec<InternalQuad<Node>> {
    triples.into_iter().map(|it| quad(it.triple, Some(it.graph))).collect()
}

fn flat<'a>(found: impl Iterator<Item = Result<Vec<InternalQuad<Node>>>> + 'a) -> Quads<'a> {
    Box::new(found.flat_map(|quads| {
        let (quads, error) = match quads {
            Ok(quads) => (quads, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        quads.into_iter().map(Ok).chain(error.map(Err))
    }))
}
