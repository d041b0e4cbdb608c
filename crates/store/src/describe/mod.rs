//! Changes of descriptions as operations: the rights they need, the version that each keeps where that is wanted, the clocks and the
//! feed. What a description is, and how it is kept, is in [`crate::metadata`].

mod change;
mod classes;
mod copy;
mod late;

pub(crate) use change::changed;
pub(crate) use classes::record_classes;
pub(crate) use late::{bind_late, note_late};
