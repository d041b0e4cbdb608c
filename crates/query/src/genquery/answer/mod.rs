//! Turning rows into a result: comparing, grouping and sorting them, within limits.

pub(super) mod compare;
pub(super) mod groups;
pub(super) mod limits;
pub(super) mod sorted;

pub use limits::{Limits, Stop};
