//! GenQuery, the query language of iRODS: rows of text about data objects, collections, users, the
//! storage resource, and what is said of them.
//!
//! `parse` makes a [`Statement`](statement::Statement) of the text, `source` finds the rows that may answer it by
//! the cheapest way its conditions allow, `run` filters, projects, sorts and pages them.

mod column;
mod compare;
mod lexer;
mod parse;
mod row;
mod run;
mod source;
mod statement;

pub use run::genquery1;

/// What iRODS calls things that a store has no name for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    /// The first name of every logical path.
    pub name: String,
    /// The storage resource that has the one replica of everything.
    pub resource: String,
}

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
