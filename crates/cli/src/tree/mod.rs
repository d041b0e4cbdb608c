//! Trees of files on both sides: reading them, comparing them, and making one like the other.
//!
//! Invariant: a transfer that was finished finds nothing to do when it is run again. What
//! differs is decided in one place (`plan`), whichever the direction.

mod beneath;
mod change;
mod copy;
mod download;
mod entry;
mod filter;
mod flags;
mod listed;
mod local;
mod plan;
mod remote;
mod report;
mod upload;

pub(crate) use copy::copy;
pub(crate) use download::download;
pub(crate) use filter::{Filter, FilterArgs};
pub(crate) use flags::{ReadArgs, TransferArgs, Way, WriteArgs, uploads};
pub(crate) use plan::Rules;
pub(crate) use upload::upload;
