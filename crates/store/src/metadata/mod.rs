//! Descriptions: one graph of statements a resource, its views, and the search over them.
//!
//! Invariant: the index has exactly the entries that [`entries`] gives for a graph; `stored::replace` is the only writer of both.

mod avu;
mod classes;
mod dataset;
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
pub use classes::is_class;
pub(crate) use classes::{classes, classes_in, classified};
pub use dataset::{Dataset, Fact, Node, VisibleResource};
pub(crate) use graph::{check, describe_new, graph, graph_part, kept, needed};
pub(crate) use index::{entries, stating};
pub use links::{Linking, LinksPage, LinksQuery};
pub(crate) use links::{Links, has_links, integrity, relinked};
pub use links::{iri_of, path_of};
pub use quads::{Pattern, Quad};
pub(crate) use quads::{quads, wanted_naming};
pub(crate) use search::{Ancestors, Wanted};
pub use search::{Comparison, Condition, Query, SearchCursor, SearchPage, like};
pub(crate) use stored::{Redescribed, Stored, erase, read, replace, row_of, whole, with_predicate};
pub(crate) use tag::tags;
pub use tag::{description_tag, links_tag};
pub use vocabulary::{attribute_of, predicate_of};
pub use xattr::Xattr;
