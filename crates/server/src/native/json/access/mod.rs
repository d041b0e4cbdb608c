//! Access, people, and the secrets they log in with.

mod explain;
mod list;
mod only;
mod person;
mod secret;

pub(in crate::native) use explain::*;
pub(in crate::native) use list::*;
pub(in crate::native) use only::*;
pub(in crate::native) use person::*;
pub(in crate::native) use secret::*;
