//! Resources: their records, clocks and statements.

mod clocks;
mod dangling;
mod integrity;
mod record;
mod statement;

pub(crate) use clocks::Changed;
pub use clocks::{Membership, Stamp};
pub use dangling::Dangling;
pub use integrity::LinkIntegrity;
pub use record::{Kind, Resource, Stat};
pub use statement::{Avu, Graph, Statement, Term};
