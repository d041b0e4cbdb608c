//! The rights of a user on a resource, as a set.
//!
//! Invariant: the right to write content includes appending, so no set has the one without the other. Every
//! way to make a set keeps that.

mod encoding;
mod vocabulary;
mod words;

pub use vocabulary::{Setting, Vocabulary};

/// A set of rights on a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rights(u16);

/// The rights one by one. The order is that of the bits of a record (`docs/format.md`).
impl Rights {
    /// Nothing; the resource is not even seen.
    pub const NONE: Self = Self(0);
    /// See it, with its attributes and its description.
    pub const READ_DESCRIPTION: Self = Self(1);
    /// Read its content and its versions.
    pub const READ_CONTENT: Self = Self(1 << 1);
    /// List its children.
    pub const LIST: Self = Self(1 << 2);
    /// Add to its description.
    pub const ADD_DESCRIPTION: Self = Self(1 << 3);
    /// Replace something in its description, and set its attributes.
    pub const CHANGE_DESCRIPTION: Self = Self(1 << 4);
    /// Remove from its description.
    pub const REMOVE_DESCRIPTION: Self = Self(1 << 5);
    /// Create children in it.
    pub const CREATE: Self = Self(1 << 6);
    /// Add to the end of its content.
    pub const APPEND: Self = Self(1 << 7);
    /// Replace its content or parts of it, or add to it.
    pub const WRITE_CONTENT: Self = Self(1 << 8 | Self::APPEND.0);
    /// Remove or move it.
    pub const REMOVE: Self = Self(1 << 9);
    /// See and change who else may do what with it.
    pub const CONTROL: Self = Self(1 << 10);
    /// Everything.
    pub const ALL: Self = Self((1 << 11) - 1);

    /// The rights in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The rights in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The rights in this set but not in `other`. Without appending there is no writing either.
    const fn without(self, other: Self) -> Self {
        let left = self.0 & !other.0;
        match left & Self::APPEND.0 {
            0 => Self(left & !Self::WRITE_CONTENT.0),
            _ => Self(left),
        }
    }

    /// Whether all of `other` is in this set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether nothing is in this set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<Rights> for Rights {
    fn from_iter<T: IntoIterator<Item = Rights>>(sets: T) -> Self {
        sets.into_iter().fold(Self::NONE, Self::union)
    }
}
