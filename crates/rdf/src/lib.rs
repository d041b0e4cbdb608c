//! RDF graphs as text, independent of any store.
//!
//! * `syntax` names the syntaxes, and chooses one for an answer (`Accept`, RFC 9110 section 12.5.1);
//! * `read` and `write` convert between text and triples, within limits;
//! * `update` applies SPARQL 1.1 Update to one graph that is held in memory.
//!
//! The grammars and the evaluation of patterns are those of the oxigraph crates. What is decided here is which
//! of them a server accepts from a stranger: no named graphs, no remote contexts, no operation that reads or writes
//! anything beside the one graph.

#![forbid(unsafe_code)]

mod accept;
mod read;
mod syntax;
mod update;
mod write;

pub use accept::{Choice, negotiate};
pub use oxrdf::{BlankNode, Graph, Literal, NamedNode, NamedOrBlankNode, Term, Triple};
pub use read::{Limits, ReadError, read};
pub use spareval::CancellationToken as Cancel;
pub use syntax::Syntax;
pub use update::{Update, UpdateError};
pub use write::Writer;
