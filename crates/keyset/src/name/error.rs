//! Why a name is invalid.

/// The ways in which a key name can be invalid (Elektra `elektraKeyNameValidate`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The name is empty.
    #[error("a key name is not empty: write `/` or `user:/` for a root")]
    Empty,
    /// No `/` at the start and no `namespace:/`.
    #[error("a key name starts with `/` or with a namespace such as `user:/`")]
    NoNamespace,
    /// The word before the `:` is not a namespace.
    #[error("`{0}` is not a namespace: use meta, spec, proc, dir, user, system or default")]
    UnknownNamespace(String),
    /// A backslash that does not start a valid escape, at this byte of the name.
    #[error("the backslash at byte {0} escapes nothing: write `\\\\` for a backslash")]
    BadEscape(usize),
    /// A NUL byte, at this byte of the name.
    #[error("the NUL at byte {0} cannot be part of a key name")]
    Nul(usize),
    /// A root key has no last part to change.
    #[error("a root key has no base name")]
    Root,
}
