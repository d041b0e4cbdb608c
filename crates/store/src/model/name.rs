//! The name of a child in its collection.

use std::fmt;
use std::sync::Arc;

use crate::{Error, Result};

/// Any UTF-8 of 1 to 1,024 bytes without `/` and NUL, and neither `.` nor `..`. Unicode is kept
/// as given: two spellings of one letter are two names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<str>);

impl Name {
    /// The longest name, in bytes.
    pub const MAX: usize = 1_024;

    /// Checks and takes a name.
    pub fn new(name: impl Into<String>) -> Result<Self> {
        let name = name.into();
        match Self::fault(&name) {
            None => Ok(Self(name.into())),
            Some(fault) => Err(Error::invalid(format!("a name {fault}: {name:.64?}"))
                .with_hint("names are UTF-8 of 1 to 1,024 bytes without `/` and NUL")),
        }
    }

    fn fault(name: &str) -> Option<&'static str> {
        match name {
            "" => Some("cannot be empty"),
            "." | ".." => Some("cannot be `.` or `..`"),
            _ if name.len() > Self::MAX => Some("cannot be longer than 1,024 bytes"),
            _ if name.contains('/') => Some("cannot contain `/`"),
            _ if name.contains('\0') => Some("cannot contain NUL"),
            _ => None,
        }
    }

    /// A name read back from the catalog.
    pub(crate) fn trusted(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.0
    }
}
