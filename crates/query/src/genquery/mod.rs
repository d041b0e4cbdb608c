//! GenQuery, the query languages of iRODS: rows of text about data objects, collections, users, storage
//! resources, tickets, zones, delayed rules, and their attributes.
//!
//! `first` and `second` implement the two languages on the tokens of `text`: each translates a statement into
//! a plan. `plan` runs it: `rows` finds candidate rows in the cheapest way that the conditions allow;
//! `answer` compares, groups, sorts and limits them. The result does not depend on how rows were found: it
//! covers everything that the caller may see.

mod answer;
mod column;
mod first;
mod plan;
mod rows;
mod second;
mod text;
mod trash;

pub use answer::{Limits, Stop};
pub use first::genquery1;
pub use rows::{DelayedRule, RemoteZone, Resource, Zone};
pub use second::{canonical, check_stored, genquery2, stored};
pub use trash::{Trash, is_in_trash};

/// Options of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How many rows are skipped first.
    pub offset: usize,
    /// At most this many rows are returned.
    pub count: usize,
    /// Whether conditions are case-sensitive.
    pub case_sensitive: bool,
    /// Whether duplicate rows are removed; the rows are then also sorted.
    pub distinct: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { offset: 0, count: 256, case_sensitive: true, distinct: true }
    }
}

/// Checks that a text is a GenQuery 1 statement; the error describes the fault.
pub fn check(text: &str) -> crate::Result<()> {
    first::parse(text).map(drop)
}
