//! The words of a query, and reading them one by one: the same in both languages.

pub(super) mod cursor;
pub(super) mod lexer;
