//! People, and what they may do.

mod grant;
mod person;
mod rights;
mod token;

pub use grant::{Access, Grant, Scope};
pub use person::{Person, PersonKind, Role};
pub use rights::{Rights, Setting, Vocabulary};
pub use token::TokenScope;
