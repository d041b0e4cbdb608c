//! Between terms of RDF, as queries and answers have them, and nodes.

use cenote_rdf::{BlankNode, Literal, NamedNode, Term};
use cenote_store::{Node as Stored, ResourceId};

use super::Graph;
use super::lakesuperior::part::Part;
use super::node::{Node, What};
use crate::Result;
use crate::sparql::Graphs;

/// So many IRIs are remembered; then all are forgotten.
const REMEMBERED: usize = 65_536;

impl Graph<'_> {
    /// The node of a term that a query has, or computes.
    pub(super) fn inward(&self, term: Term) -> Result<Node> {
        match term {
            Term::NamedNode(node) => self.of_iri(node.as_str()),
            Term::BlankNode(node) => Ok(match blank_of(node.as_str()) {
                Some((id, label)) => Node::blank(id, &label),
                None => Node::term(node.into()),
            }),
            Term::Literal(literal) => Ok(Node::term(normal(literal).into())),
        }
    }

    /// The node of an IRI of a query, remembered.
    fn of_iri(&self, iri: &str) -> Result<Node> {
        if let Some(known) = self.iris.borrow().get(iri) {
            return Ok(known.clone());
        }
        let node = match self.words.graphs() == Graphs::Parts {
            true => self.graph_of(iri)?,
            false => None,
        };
        let node = match node {
            Some(node) => node,
            None => self.iri(&self.words.inward(iri))?,
        };
        let mut iris = self.iris.borrow_mut();
        if iris.len() >= REMEMBERED {
            iris.clear();
        }
        iris.insert(iri.to_owned(), node.clone());
        Ok(node)
    }

    /// The graph of a resource that an IRI names.
    fn graph_of(&self, iri: &str) -> Result<Option<Node>> {
        let Some((part, path)) = Part::of(iri) else { return Ok(None) };
        let named = self.data.node(&format!("cenote:{path}"))?;
        Ok(match named {
            Stored::Resource { id, part: fragment } if fragment.is_empty() => {
                Some(Node::graph(part, id))
            }
            _ => None,
        })
    }

    /// The node of an IRI as the store has it.
    pub(super) fn iri(&self, iri: &str) -> Result<Node> {
        // Other IRIs cannot refer to resources.
        match iri.starts_with("cenote:") {
            true => Ok(self.stored(ResourceId::ROOT, self.data.node(iri)?)),
            false => Ok(Node::term(NamedNode::new_unchecked(iri).into())),
        }
    }

    /// The node of a term of a description.
    pub(super) fn stored(&self, of: ResourceId, node: Stored) -> Node {
        match node {
            Stored::Resource { id, part } => Node::resource(id, &part),
            Stored::Blank(label) => Node::blank(of, &label),
            Stored::Iri(iri) => {
                Node::term(NamedNode::new_unchecked(self.words.outward(&iri)).into())
            }
            Stored::Literal { value, language: Some(language), .. } => {
                let literal = Literal::new_language_tagged_literal_unchecked(value, language);
                Node::term(normal(literal).into())
            }
            Stored::Literal { value, datatype: Some(datatype), .. } => {
                let datatype = NamedNode::new_unchecked(datatype);
                Node::term(Literal::new_typed_literal(value, datatype).into())
            }
            Stored::Literal { value, .. } => Node::term(Literal::new_simple_literal(value).into()),
        }
    }

    /// The term of a node.
    pub(super) fn outward(&self, node: &Node) -> Result<Term> {
        Ok(match node.what() {
            What::Term(term) => term.clone(),
            What::Resource(id, part) => {
                let iri = self.data.iri(id)? + part;
                NamedNode::new_unchecked(self.words.outward(&iri)).into()
            }
            What::Graph(part, id) => {
                let iri = self.data.iri(id)?;
                let path = iri.strip_prefix("cenote:").unwrap_or(&iri);
                NamedNode::new_unchecked(format!("{}{path}", part.prefix())).into()
            }
            What::Blank(id, label) => BlankNode::new_unchecked(blank(id, label)).into(),
        })
    }

    /// The IRI of a subject or an object, as the store looks it up; none for an invalid IRI.
    pub(super) fn sought(&self, node: &Node) -> Result<Option<String>> {
        Ok(match node.what() {
            What::Resource(id, part) => Some(self.data.iri(id)? + part),
            What::Term(Term::NamedNode(node)) => {
                Some(self.words.inward(node.as_str()).into_owned())
            }
            _ => None,
        })
    }
}

/// Language tags are the same in any case.
fn normal(literal: Literal) -> Literal {
    match literal.language() {
        Some(language) if language.bytes().any(|byte| byte.is_ascii_uppercase()) => {
            let language = language.to_ascii_lowercase();
            Literal::new_language_tagged_literal_unchecked(literal.value(), language)
        }
        _ => literal,
    }
}

/// The label of a blank node of a description, among those of all.
fn blank(of: ResourceId, label: &str) -> String {
    match !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        true => format!("r{of}x{label}"),
        false => format!("r{of}h{}", hex::encode(label)),
    }
}

/// What [`blank`] made a label of.
fn blank_of(label: &str) -> Option<(ResourceId, String)> {
    let rest = label.strip_prefix('r')?;
    let (id, rest) = rest.split_at(rest.find(['x', 'h'])?);
    let id = ResourceId(id.parse().ok()?);
    let label = match rest.split_at(1) {
        ("h", bytes) => String::from_utf8(hex::decode(bytes).ok()?).ok()?,
        (_, label) => label.to_owned(),
    };
    Some((id, label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_node_is_identified_by_its_label() {
        for label in ["b1", "x", "", "é", "a.b-c_d", "0"] {
            let made = blank(ResourceId(7), label);
            assert!(BlankNode::new(&made).is_ok(), "{made}");
            assert_eq!(blank_of(&made), Some((ResourceId(7), label.to_owned())));
        }
        for other in ["", "b7x", "rx", "r7", "r7hz", "riff7x"] {
            assert_eq!(blank_of(other), None, "{other}");
        }
    }
}
