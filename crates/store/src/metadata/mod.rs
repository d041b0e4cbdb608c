//! Descriptions: one graph of statements a resource, its views, and the search over them.
//!
//! Invariant: the index has exactly the entries that [`entries`] gives for a graph; `stored::replace` is the only writer of both.

mod avu;
mod copy;
mod graph;
mod index;
mod links;
mod quads;
mod search;
mod stored;
mod tag;
mod vocabulary;
mod xattr;

pub use avu::AvuChange;
pub use avu::view as avus_of;
pub(crate) use avu::{change_attributes, view as avus};
pub(crate) use graph::describe_new;
pub(crate) use index::{entries, stating};
pub use links::{Linking, LinksPage, LinksQuery};
pub(crate) use links::{Links, bind_late, note_late};
pub use links::{iri_of, path_of, shows_links};
pub(crate) use quads::quads;
pub use quads::{Pattern, Quad};
pub(crate) use search::{Ancestors, Wanted};
pub use search::{Comparison, Condition, Query, SearchCursor, SearchPage, like};
pub(crate) use stored::{Stored, erase, read, replace, row_of, whole};
pub use tag::description_tag;
pub(crate) use tag::tags;
pub use vocabulary::{attribute_of, predicate_of};
pub use xattr::Xattr;
