//! The calls, by subject.

mod administration;
mod contents;
mod descriptions;
mod history;
mod items;
mod lines;
mod tree;

pub use administration::*;
pub use contents::*;
pub use descriptions::*;
pub use history::*;
pub use tree::*;
