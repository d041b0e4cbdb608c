//! What is stated of a resource, with the IRIs of the store or of an archive.

use cenote_rdf::{
    Graph, Limits, Literal, NamedNode, NamedOrBlankNode, Syntax, Term, Triple, canonical, read,
    write,
};

use super::names::{Names, Place};
use super::wrong;
use crate::error::Result;

/// What is read of one description, or of a crate.
const LIMITS: Limits = Limits { triples: 10_000_000, term: 2 << 20 };
const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
/// What the empty IRI of a description is read as.
const THIS: &str = "urn:x-cenote:this";

/// The statements of a description.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Stated(Vec<Triple>);

impl Stated {
    pub(super) fn triples(&self) -> &[Triple] {
        &self.0
    }

    pub(super) fn into_triples(self) -> Vec<Triple> {
        self.0
    }

    /// Says more.
    pub(super) fn extend(&mut self, triples: Vec<Triple>) {
        self.0.extend(triples);
    }

    pub(super) fn new(triples: Vec<Triple>) -> Self {
        Self(triples)
    }

    /// The statements of the store, with the IRIs of the archive.
    pub(super) fn of_store(text: &[u8], names: &Names, own: &Place) -> Result<Self> {
        let base = names.iri(own);
        let stated = Self::read(text, Syntax::Turtle, THIS)?;
        Ok(stated.with(|iri| match iri.strip_prefix(THIS) {
            Some(rest) if rest.is_empty() || rest.starts_with('#') => Some(format!("{base}{rest}")),
            _ => names.outward(iri),
        }))
    }

    /// The statements in a file of an archive.
    pub(super) fn of_archive(text: &[u8], base: &str) -> Result<Self> {
        Self::read(text, Syntax::Turtle, base)
    }

    /// The statements of a JSON-LD text, in its order.
    pub(super) fn of_json_ld(text: &[u8], base: &str) -> Result<Self> {
        Self::read(text, Syntax::JsonLd, base)
    }

    fn read(text: &[u8], syntax: Syntax, base: &str) -> Result<Self> {
        let triples = read(text, syntax, base, LIMITS);
        Ok(Self(triples.map_err(|error| wrong(format!("not a graph: {error}")))?))
    }

    /// The text that the store accepts as the description of the resource.
    pub(super) fn for_store(&self, names: &Names, own: &Place) -> Vec<u8> {
        self.clone().with(|iri| names.inward(iri, own)).text()
    }

    pub(super) fn with(self, iri: impl Fn(&str) -> Option<String>) -> Self {
        let node = |node: NamedNode| match iri(node.as_str()) {
            Some(iri) => NamedNode::new_unchecked(iri),
            None => node,
        };
        let moved = self.0.into_iter().map(|triple| Triple {
            subject: match triple.subject {
                NamedOrBlankNode::NamedNode(subject) => node(subject).into(),
                blank => blank,
            },
            predicate: triple.predicate,
            object: match triple.object {
                Term::NamedNode(object) => node(object).into(),
                other => other,
            },
        });
        Self(moved.collect())
    }

    /// The text in an archive: N-Triples, in an order that does not depend on anything else.
    pub(super) fn text(&self) -> Vec<u8> {
        let line = |triple: &Triple| {
            let line = write(std::slice::from_ref(triple), Syntax::NTriples);
            line.expect("N-Triples express every triple")
        };
        let mut lines: Vec<_> = self.0.iter().map(line).collect();
        lines.sort_unstable();
        lines.dedup();
        lines.concat()
    }

    /// Removes a type of the resource that a format represents otherwise; returns the first of these that
    /// it has.
    pub(super) fn take_type(&mut self, own: &str, types: &[&'static str]) -> Option<&'static str> {
        let is = |triple: &Triple, class: &str| {
            let is_class =
                matches!(&triple.object, Term::NamedNode(node) if node.as_str() == class);
            is_type_of(triple, own) && is_class
        };
        let found = types.iter().find(|class| self.0.iter().any(|triple| is(triple, class)))?;
        self.0.retain(|triple| !is(triple, found));
        Some(found)
    }

    /// Removes what is stated of the resource with a predicate; returns the first text that it was.
    pub(super) fn take_text(&mut self, own: &str, predicate: &str) -> Option<String> {
        let mut texts = Vec::new();
        self.0.retain(|triple| match (&triple.subject, &triple.object) {
            (NamedOrBlankNode::NamedNode(subject), Term::Literal(text))
                if subject.as_str() == own && triple.predicate.as_str() == predicate =>
            {
                texts.push(text.value().to_owned());
                false
            }
            _ => true,
        });
        texts.into_iter().min()
    }

    /// States a text of the resource.
    pub(super) fn add_text(&mut self, own: &str, predicate: &str, text: &str) {
        self.add(own, predicate, Literal::new_simple_literal(text));
    }

    /// Says of the resource that it has a type.
    pub(super) fn add_type(&mut self, own: &str, class: &str) {
        self.add(own, RDF_TYPE, NamedNode::new_unchecked(class));
    }

    fn add(&mut self, own: &str, predicate: &str, object: impl Into<Term>) {
        let [own, predicate] = [own, predicate].map(NamedNode::new_unchecked);
        self.0.push(Triple::new(own, predicate, object));
    }

    /// Whether another one contains all of its statements.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        let (one, other) = (plain_graph(self), plain_graph(other));
        one.iter().all(|triple| other.contains(triple))
    }

    /// Whether it has the same statements, whatever the labels of blank nodes.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let (one, other) = (plain_graph(self), plain_graph(other));
        one.len() == other.len() && one.iter().all(|triple| other.contains(triple))
    }
}

/// With labels of blank nodes determined by their statements.
fn plain_graph(stated: &Stated) -> Graph {
    canonical(&stated.0.iter().map(plain).collect::<Vec<_>>())
}

/// Two ways to write a text are one.
fn plain(triple: &Triple) -> Triple {
    let mut triple = triple.clone();
    if let Term::Literal(literal) = &triple.object
        && let Some(language) = literal.language()
    {
        let language = language.to_ascii_lowercase();
        triple.object =
            Literal::new_language_tagged_literal_unchecked(literal.value(), language).into();
    }
    triple
}

fn is_type_of(triple: &Triple, own: &str) -> bool {
    let is_own =
        matches!(&triple.subject, NamedOrBlankNode::NamedNode(node) if node.as_str() == own);
    is_own && triple.predicate.as_str() == RDF_TYPE
}
