//! Writing contents: the data written to a file is a draft until the file is closed or synced, and then one version of the object.
//!
//! Invariants: a draft is invisible to others; a small draft is in memory and is published by one request, a larger one
//! is a stage on the server, so memory is bounded whatever the size; a fault of a write in the background is reported
//! by the next operation on the draft. A write that succeeded is part of the draft, whether the server can be reached or not.
//! What was given up and arrives late changes nothing.

mod ahead;
mod attempts;
mod draft;
mod gathered;
mod kept;
mod memory;
mod pieced;
mod publication;
mod sender;
mod stage;
mod target;

pub(crate) use self::draft::Draft;
pub(crate) use self::memory::Memory;
pub(crate) use self::target::{Base, Target, With};
