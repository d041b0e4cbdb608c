//! GenQuery, the query languages of iRODS: rows of text about data objects, collections, users,
//! storage resources, tickets, zones, delayed rules, and what is said of them.
//!
//! `first` and `second` have the two languages, whose words `text` reads: each statement is translated into a plan. `plan` runs
//! it: `rows` finds the rows that may answer it, in the cheapest way that its conditions allow; `answer` compares, groups, sorts and
//! limits them. The answer does not depend on the way: rows are those of everything that the caller may see.

mod answer;
mod column;
mod first;
mod plan;
mod rows;
mod second;
mod text;

pub use answer::{Limits, Stop};
pub use first::genquery1;
pub use rows::{DelayedRule, RemoteZone, Resource, Zone};
pub use second::{canonical, check_stored, genquery2, stored};

/// How a query is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How many rows are left out first.
    pub offset: usize,
    /// At most this many rows are given.
    pub count: usize,
    /// Whether `A` and `a` differ in conditions.
    pub case_sensitive: bool,
    /// Whether equal rows are given once; then they are sorted, too.
    pub distinct: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { offset: 0, count: 256, case_sensitive: true, distinct: true }
    }
}

/// Whether a text is a GenQuery 1 statement; says what is wrong with one that is not.
pub fn check(text: &str) -> crate::Result<()> {
    first::parse(text).map(drop)
}
