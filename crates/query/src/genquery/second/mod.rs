//! GenQuery 2: the subset of SQL that iRODS 4.3.2 and later accept in addition to GenQuery 1.
//!
//! `select [no distinct] EXPRESSION, … [where CONDITION] [group by …] [order by EXPRESSION [asc|desc], …] [offset N]
//! [limit N | fetch first N rows only]`. Values are texts, or integers as arguments of functions; a missing attribute
//! is NULL, and returned as an empty text. The functions, which in iRODS depend on the database, are those of
//! `Function`; aggregates are allowed only at the top level. Source: the documentation of GenQuery2 in iRODS 4.3.

mod display;
mod parse;
mod plan;
mod statement;

pub use plan::{canonical, check_stored, genquery2, stored};

#[cfg(test)]
mod tests;
