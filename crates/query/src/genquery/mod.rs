//! GenQuery, the query languages of iRODS: rows of text about data objects, collections, users,
//! storage resources, tickets, zones, delayed rules, and what is said of them.
//!
//! `parse` makes a [`Statement`](statement::Statement) of a text of the first language, `source` and `others`
//! find the rows that may answer it by the cheapest way its conditions allow, `run` tests and projects them, `groups`
//! and `sorted` make the answer. The answer does not depend on the way: rows are those of everything that the
//! caller may see. The second language has its own folder, over the same rows.

mod access;
mod alias;
mod collection_path;
mod column;
mod compare;
mod cursor;
mod groups;
mod lexer;
mod limits;
mod others;
mod parents;
mod parse;
mod row;
mod run;
mod second;
mod sorted;
mod source;
mod statement;
mod ticket;
mod token;
mod zone;

pub use limits::{Limits, Stop};
pub use run::genquery1;
pub use second::{canonical, check_stored, genquery2, stored};
pub use zone::{DelayedRule, RemoteZone, Resource, Zone};

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
    parse::parse(text).map(drop)
}
