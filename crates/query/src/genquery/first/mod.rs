//! GenQuery 1: `select COLL_NAME where DATA_NAME like 'a%'`.
//!
//! `parse` makes a [`Statement`](statement::Statement) of a text, `plan` translates it.

mod alias;
mod parse;
mod plan;
mod statement;

pub(super) use parse::parse;
pub use plan::genquery1;
