//! GenQuery 2: the part of SQL that iRODS 4.3.2 and later take besides GenQuery 1.
//!
//! `select [no distinct] EXPRESSION, … [where CONDITION] [group by …] [order by EXPRESSION [asc|desc], …]
//! [offset N] [limit N | fetch first N rows only]`. Values are texts, or whole numbers as arguments of functions; a
//! missing attribute is NULL, and given as an empty text. Functions that depend on a database are
//! those of `Function`; aggregates stand outermost. Source: the documentation of GenQuery2 in iRODS 4.3.

mod display;
mod parse;
mod plan;
mod statement;

pub use plan::{canonical, check_stored, genquery2, stored};

#[cfg(test)]
mod tests;
