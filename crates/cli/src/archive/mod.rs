//! A collection as files of a format that other programs read, and back.
//!
//! * `ocfl` is the Oxford Common File Layout as fcrepo 6 uses it, `ro_crate` a Research Object Crate.
//! * `names` names resources in an archive, `graph` translates what is stated of them, `units` are what triples lack.
//!
//! No state is recorded: what exists on the other side is determined by comparing, so that an interrupted run can be
//! continued.

mod graph;
mod names;
pub(crate) mod ocfl;
pub(crate) mod ro_crate;
mod units;

use std::fmt::Display;

use crate::error::{CliError, Kind};

/// An archive that cannot be read or written.
fn wrong(what: impl Display) -> CliError {
    CliError::new(Kind::Failed, what.to_string())
}
