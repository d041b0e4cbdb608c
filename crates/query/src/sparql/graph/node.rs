//! Terms as the evaluator holds them: a resource is its id, so that it is compared and looked up without its path.
//!
//! Invariant: two nodes are equal if and only if they are the same RDF term.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use cenote_rdf::Term;
use cenote_store::ResourceId;

use super::lakesuperior::part::Part;
use crate::sparql::meter;

/// A term. Each copy is counted.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Node(Inner);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Inner {
    /// A resource that the caller sees, or a part of it, with its `#`.
    Resource(ResourceId, Option<Rc<str>>),
    /// A blank node of a description.
    Blank(ResourceId, Rc<str>),
    /// A graph of a resource.
    Graph(Part, ResourceId),
    Term(Rc<CountedTerm>),
}

/// A term whose text is counted once, whatever the copies.
#[derive(Debug)]
struct CountedTerm {
    term: Term,
    bytes: usize,
}

/// What a node is.
#[derive(Debug)]
pub(crate) enum What<'a> {
    Resource(ResourceId, &'a str),
    Blank(ResourceId, &'a str),
    Graph(Part, ResourceId),
    Term(&'a Term),
}

impl Node {
    fn new(inner: Inner) -> Self {
        meter::copy();
        Self(inner)
    }

    pub(crate) fn resource(id: ResourceId, part: &str) -> Self {
        Self::new(Inner::Resource(id, (!part.is_empty()).then(|| part.into())))
    }

    pub(crate) fn blank(of: ResourceId, label: &str) -> Self {
        Self::new(Inner::Blank(of, label.into()))
    }

    pub(crate) fn graph(part: Part, id: ResourceId) -> Self {
        Self::new(Inner::Graph(part, id))
    }

    /// A term that is no resource, blank node of a description, or graph.
    pub(crate) fn term(term: Term) -> Self {
        Self::new(Inner::Term(Rc::new(CountedTerm::new(term))))
    }

    pub(crate) fn what(&self) -> What<'_> {
        match &self.0 {
            Inner::Resource(id, part) => What::Resource(*id, part.as_deref().unwrap_or_default()),
            Inner::Blank(id, label) => What::Blank(*id, label),
            Inner::Graph(part, id) => What::Graph(*part, *id),
            Inner::Term(held) => What::Term(&held.term),
        }
    }

    /// The resource that it is, not a part of it.
    pub(crate) fn id(&self) -> Option<ResourceId> {
        match self.0 {
            Inner::Resource(id, None) => Some(id),
            _ => None,
        }
    }

    /// The resource that it is, or of which it is a graph.
    pub(crate) fn managed_id(&self) -> Option<ResourceId> {
        match self.0 {
            Inner::Graph(_, id) => Some(id),
            _ => self.id(),
        }
    }
}

impl Clone for Node {
    fn clone(&self) -> Self {
        Self::new(self.0.clone())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        meter::dropped();
    }
}

impl CountedTerm {
    fn new(term: Term) -> Self {
        let bytes = match &term {
            Term::NamedNode(node) => node.as_str().len(),
            Term::BlankNode(node) => node.as_str().len(),
            Term::Literal(literal) => literal.value().len(),
        };
        meter::hold(bytes);
        Self { term, bytes }
    }
}

impl Drop for CountedTerm {
    fn drop(&mut self) {
        meter::release(self.bytes);
    }
}

impl PartialEq for CountedTerm {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.term == other.term
    }
}

impl Eq for CountedTerm {}

impl Hash for CountedTerm {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.term.hash(state);
    }
}
