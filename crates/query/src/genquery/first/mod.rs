//! GenQuery 1: `select COLL_NAME where DATA_NAME like 'a%'`.
//!
//! `parse` parses text into a [`Statement`](statement::Statement), `plan` translates that into a plan.

mod alias;
mod parse;
mod plan;
mod statement;

pub(super) use parse::parse;
pub use plan::genquery1;
