//! The tree: looking at resources, and changing which there are.

mod change;
mod look;

pub(crate) use change::On;
pub use change::{Attributes, Destination, NewResource, Relocation, Removal};
pub use look::With;
