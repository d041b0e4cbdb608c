//! SPARQL 1.1 queries over one state of a store, as one caller may see it.
//!
//! * `graph` shows the state as a dataset: descriptions, and the triples that follow from the state of the store;
//! * `words` says how that is spelled for one address of the server;
//! * `meter` ends a query that takes too much.
//!
//! The evaluator is oxigraph's (`spareval`). An answer is computed whole before any of it is sent: the state is held for as long as
//! the query takes, and never at a client's pace.

mod answer;
mod graph;
mod meter;
mod words;

pub use self::answer::{Answer, Source, query};
pub use self::meter::Limits;
pub use self::words::{Graphs, Words};
