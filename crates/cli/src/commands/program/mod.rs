//! The program itself: its configuration, completions and manual pages.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod man;
