//! Statements of descriptions as RDF triples, and back: the terms are the same, only the IRIs that name resources of this store
//! are written in the way of each opening.
//!
//! Invariant: a triple of a statement, read back by the same [`Iris`], is that statement without its unit.

use std::borrow::Cow;

use cenote_rdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Triple};
use cenote_store::{Graph, Statement, Term};

const XSD_STRING: &str = "http://www.w3.org/2001/XMLSchema#string";
const RDF_LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";

/// How IRIs of a description are written in text. In a description the resource itself is the empty IRI, a part of it `#part`, and
/// another resource of the store `cenote:/path`.
pub(crate) trait Iris {
    /// An IRI of a description, as text has it.
    fn outward<'a>(&self, iri: &'a str) -> Cow<'a, str>;

    /// An IRI of text, as the description has it.
    fn inward<'a>(&self, iri: &'a str) -> Cow<'a, str>;
}

/// A statement as text has it; its unit is not shown.
pub(crate) fn triple(statement: Statement, iris: &impl Iris) -> Triple {
    let subject = match statement.subject.unwrap_or_default() {
        blank if blank.starts_with("_:") => BlankNode::new_unchecked(&blank[2..]).into(),
        iri => NamedOrBlankNode::from(outward(iri, iris)),
    };
    let predicate = NamedNode::new_unchecked(statement.predicate);
    Triple::new(subject, predicate, object(statement.object, iris))
}

/// An IRI of a description, as text has it; one that stays as it is, is not copied.
fn outward(iri: String, iris: &impl Iris) -> NamedNode {
    let changed = match iris.outward(&iri) {
        Cow::Borrowed(_) => None,
        Cow::Owned(changed) => Some(changed),
    };
    NamedNode::new_unchecked(changed.unwrap_or(iri))
}

fn object(term: Term, iris: &impl Iris) -> cenote_rdf::Term {
    match term {
        Term::Iri(iri) => outward(iri, iris).into(),
        Term::Blank(label) => BlankNode::new_unchecked(label.trim_start_matches("_:")).into(),
        Term::Literal { value, language: Some(language), .. } => {
            Literal::new_language_tagged_literal_unchecked(value, language).into()
        }
        Term::Literal { value, datatype: Some(datatype), .. } => {
            Literal::new_typed_literal(value, NamedNode::new_unchecked(datatype)).into()
        }
        Term::Literal { value, .. } => Literal::new_simple_literal(value).into(),
    }
}

/// A triple as the description has it.
pub(crate) fn statement(triple: Triple, iris: &impl Iris) -> Statement {
    let inward = |node: NamedNode| iris.inward(node.as_str()).into_owned();
    let subject = match triple.subject {
        NamedOrBlankNode::NamedNode(node) => Some(inward(node)).filter(|iri| !iri.is_empty()),
        NamedOrBlankNode::BlankNode(node) => Some(node.to_string()),
    };
    let object = match triple.object {
        cenote_rdf::Term::NamedNode(node) => Term::Iri(inward(node)),
        cenote_rdf::Term::BlankNode(node) => Term::Blank(node.into_string()),
        cenote_rdf::Term::Literal(literal) => own_literal(literal),
    };
    Statement { subject, predicate: triple.predicate.into_string(), object, unit: None }
}

fn own_literal(literal: Literal) -> Term {
    let (value, datatype, language) = literal.destruct();
    let datatype = datatype.map(NamedNode::into_string);
    let datatype = datatype.filter(|iri| iri != XSD_STRING && iri != RDF_LANG_STRING);
    Term::Literal { value, datatype, language }
}

/// The statements of a graph that was written without units, with the units of the previous ones: a graph that is put as it was read changes
/// nothing.
pub(crate) fn with_units(wanted: &Graph, old: &Graph) -> Graph {
    let kept = old.iter().filter(|statement| wanted.contains(&bare(statement)));
    let kept: Graph = kept.cloned().collect();
    let known: Graph = kept.iter().map(bare).collect();
    wanted.difference(&known).cloned().chain(kept).collect()
}

/// A statement without its unit.
pub(crate) fn bare(statement: &Statement) -> Statement {
    Statement { unit: None, ..statement.clone() }
}
