//! Descriptions: one graph of statements a resource, its views, and the search over them.
//!
//! Invariant: the index has exactly one entry for each predicate and object that the graph
//! of a resource states about the resource itself; `stored::replace` is the only writer of both.

mod avu;
mod copy;
mod graph;
mod index;
mod search;
mod stored;
mod tag;
mod vocabulary;

pub use avu::AvuChange;
pub(crate) use avu::{change_attributes, view as avus};
pub(crate) use index::{entries, stating, stating_value};
pub(crate) use search::Ancestors;
pub use search::{Comparison, Condition, Query, SearchCursor, SearchPage, like};
pub(crate) use stored::{Stored, erase, read, replace, row_of, whole};
pub use tag::description_tag;
pub(crate) use tag::tags;
pub use vocabulary::{attribute_of, predicate_of};
