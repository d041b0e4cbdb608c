//! People, and what they may do.

mod classes;
mod grant;
mod grant_table;
mod only;
mod person;
mod rights;
mod token;

pub(crate) use classes::Classes;
pub use grant::{Access, Grant, Scope};
pub(crate) use grant_table::GrantTable;
pub use only::Only;
pub use person::{Person, PersonKind, Role};
pub use rights::{Rights, Setting, Vocabulary};
pub use token::TokenScope;
