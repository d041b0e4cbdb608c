//! The description of a resource: one graph of statements.
//!
//! An iRODS AVU, a DNAnexus property or tag, an extended attribute and an LDP
//! triple are one statement seen through different openings. The table of views
//! is in `metadata::vocabulary`.

use std::collections::BTreeSet;

use minicbor::{CborLen, Decode, Encode};

/// A set of statements, in their canonical order.
pub type Graph = BTreeSet<Statement>;

/// One statement of a resource's graph.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, CborLen)]
pub struct Statement {
    /// What it is about: an IRI or `_:label`; none means the resource itself.
    #[n(0)]
    pub subject: Option<String>,
    /// The predicate, an IRI.
    #[n(1)]
    pub predicate: String,
    /// The object.
    #[n(2)]
    pub object: Term,
    /// The unit of an AVU.
    #[n(3)]
    pub unit: Option<String>,
}

/// The object of a statement, as RDF 1.1 has them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, CborLen)]
pub enum Term {
    /// A literal.
    #[n(0)]
    Literal {
        /// Its lexical form.
        #[n(0)]
        value: String,
        /// The datatype's IRI; none means `xsd:string`, or `rdf:langString` with a language.
        #[n(1)]
        datatype: Option<String>,
        /// The language tag.
        #[n(2)]
        language: Option<String>,
    },
    /// An IRI.
    #[n(1)]
    Iri(#[n(0)] String),
    /// A blank node of this graph.
    #[n(2)]
    Blank(#[n(0)] String),
}

impl Term {
    /// A plain string.
    pub fn string(value: impl Into<String>) -> Self {
        Self::Literal { value: value.into(), datatype: None, language: None }
    }

    /// The text by which a single-valued view shows it.
    pub fn text(&self) -> &str {
        match self {
            Self::Literal { value, .. } => value,
            Self::Iri(text) | Self::Blank(text) => text,
        }
    }
}

/// A statement about the resource itself, as iRODS has it: attribute, value and unit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Avu {
    /// The attribute.
    pub attribute: String,
    /// The value.
    pub value: String,
    /// The unit; empty text counts as none.
    pub unit: Option<String>,
}
