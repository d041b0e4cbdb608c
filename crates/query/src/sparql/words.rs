//! How resources and the terms that the server manages are spelled at one address of the server.

use std::borrow::Cow;
use std::fmt::Debug;

use cenote_store::Version;

/// Which named graphs there are; the default graph is the union of all of the present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Graphs {
    /// One for each resource, named by its IRI.
    Resources,
    /// Three for each resource, as LAKEsuperior has them: what the server manages, what it contains, and what was stated; two for each version; and
    /// two about all of these.
    Parts,
}

/// The spelling of one address.
pub trait Words: Debug {
    /// An IRI of a resource (`cenote:/path#part`), as answers have it; any other as it is.
    fn outward<'a>(&self, iri: &'a str) -> Cow<'a, str>;

    /// An IRI of a query, as the store has it.
    fn inward<'a>(&self, iri: &'a str) -> Cow<'a, str>;

    /// The namespace of Fedora's terms.
    fn fedora(&self) -> &str;

    /// Whether a basic container states its type.
    fn states_basic_container(&self) -> bool;

    /// The named graphs.
    fn graphs(&self) -> Graphs;

    /// The name of a version: the last segment of its address.
    fn version(&self, version: &Version) -> String;
}
