//! RDF graphs as text, independent of any store.
//!
//! * `syntax` names the syntaxes, and chooses one for an answer (`Accept`, RFC 9110 section 12.5.1);
//! * `read` and `write` convert between text and triples, within limits; `json_ld` and `rdf_xml` have those of
//!   these syntaxes, `xml` what XML can say;
//! * `sparql` parses queries, orders their joins, and writes their results;
//! * `managed` has the terms that nobody but a server states;
//! * `update` applies SPARQL 1.1 Update to one graph that is held in memory, or to several.
//!
//! The grammars and the evaluation of patterns are those of the oxigraph crates. This module decides which
//! of them a server accepts from a stranger: no named graphs, no remote contexts, no operation that reads or writes
//! anything beside the one graph.

#![forbid(unsafe_code)]

mod accept;
mod graph;
mod json_ld;
mod managed;
mod rdf_xml;
mod read;
mod sparql;
mod syntax;
mod update;
mod write;
mod xml;

pub use accept::{Choice, negotiate};
pub use graph::canonical;
pub use managed::{is_managed_predicate, is_managed_type, managed_terms, may_be_membership};
pub use oxrdf::{
    BlankNode, Dataset, Graph, GraphNameRef, Literal, NamedNode, NamedOrBlankNode, QuadRef, Term,
    Triple,
};
pub use read::{Limits, ReadError, read, read_any_iris};
pub use spareval::CancellationToken as Cancel;
pub use sparql::{
    Answers, Bounds, Estimate, Format, Query, QueryError, RowError, Solutions, SoughtText,
    TEXT_QUERY, TooLong, Wanted, evaluator,
};
pub use syntax::Syntax;
pub use update::{DatasetUpdate, Owner, Update, UpdateError};
pub use write::{Inexpressible, Writer, write};
