//! Objects: directories with a declaration, an inventory and the contents of their versions.
//!
//! * `open` reads the inventory, `check` compares it with every file, `older` with the inventories of earlier versions;
//! * `draft` writes new versions beside the object and moves them in (`settle`).

mod check;
mod draft;
mod files;
mod older;
mod open;
mod settle;

pub use self::check::{Checked, Content};
pub use self::draft::{Draft, Incoming, Stamp};
pub(crate) use self::draft::{sync, write};
pub use self::open::Object;
pub(crate) use self::open::{is_object, small};
