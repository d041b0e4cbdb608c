//! Where a draft is published, and what it begins from.

use cenote_client::{Address, At};
use jiff::Timestamp;

/// Where a draft is published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A name in a collection, where nothing has been yet; `exclusive` if nothing may be there by then.
    New { parent: u64, name: String, exclusive: bool },
    /// An object.
    Object(u64),
}

impl Target {
    pub(super) fn address(&self) -> Address {
        match self {
            Self::New { parent, name, .. } => {
                Address::Child { parent: *parent, name: name.clone() }
            }
            Self::Object(id) => Address::At(At::Id(*id)),
        }
    }

    pub(super) fn is_exclusive(&self) -> bool {
        matches!(self, Self::New { exclusive: true, .. })
    }
}

/// The initial content of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Base {
    /// No content: whatever the object has is replaced.
    Nothing,
    /// The content of an object that has this tag and size; it is published only while the object has it.
    Content { etag: Option<String>, size: u64 },
}

/// The attributes with which a draft is published.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct With {
    /// Mode bits, if they were set here.
    pub(crate) mode: Option<u32>,
    /// When it was last written.
    pub(crate) mtime: Option<Timestamp>,
}
