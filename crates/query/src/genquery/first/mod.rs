//! GenQuery 1: `select COLL_NAME where DATA_NAME like 'a%'`.
//!
//! `parse` makes a [`Statement`](statement::Statement) of a text, `run` answers it. The operators and comparisons
//! of its conditions are those of the second language, too.

mod alias;
pub(super) mod cursor;
pub(super) mod lexer;
mod parse;
mod run;
pub(super) mod statement;

pub(super) use parse::parse;
pub use run::genquery1;
