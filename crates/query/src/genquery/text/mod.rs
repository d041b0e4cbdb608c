//! Tokens, and reading them one by one: shared by both languages.

pub(super) mod cursor;
pub(super) mod lexer;
