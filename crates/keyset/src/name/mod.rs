//! Key names: the owned [`KeyName`] and the borrowed [`NameRef`].
//!
//! Invariant: both are always valid and canonical. The unescaped form, which determines the order, is not stored but
//! computed while comparing.

mod canonical;
mod error;
mod order;
mod relation;

use std::borrow::Cow;
use std::fmt;

pub use self::error::NameError;
use crate::Namespace;
pub(crate) use canonical::{
    canonicalise, finish, is_plain, is_simple, split_namespace, validate_path,
};
pub(crate) use order::{compare_plain, compare_relative};

/// A valid, canonical key name such as `user:/sw/app/#_10`.
///
/// Names may contain any byte except NUL. Equality and order are those of the unescaped form, as in a key set: `/\#1`
/// equals `/#1`.
#[derive(Clone)]
pub struct KeyName {
    bytes: Box<[u8]>,
    plain: bool,
}

impl KeyName {
    /// Validates and canonicalises `name` (`keyNew`).
    ///
    /// # Errors
    /// Why the name is invalid.
    pub fn new(name: impl AsRef<[u8]>) -> Result<Self, NameError> {
        let name = name.as_ref();
        let (_, slash) = split_namespace(name)?;
        Self::from_path(&name[..slash], slash, &name[slash..])
    }

    /// The root of a namespace.
    pub fn root(namespace: Namespace) -> Self {
        Self::from_canonical(format!("{}/", namespace.prefix()).into_bytes())
    }

    /// Appends a relative path, in which `..` may ascend as far as the namespace (`keyAddName`).
    ///
    /// # Errors
    /// If `path` contains a bad escape or a NUL.
    pub fn join(&self, path: impl AsRef<[u8]>) -> Result<Self, NameError> {
        Self::from_path(self.without_root_slash(), self.floor(), path.as_ref())
    }

    /// Interprets what a person writes with this name as the parent: a complete name (a colon before the first
    /// slash), a cascading one, or one relative to the parent.
    ///
    /// # Errors
    /// Why the name is invalid.
    pub fn resolve(&self, text: impl AsRef<[u8]>) -> Result<Self, NameError> {
        let text = text.as_ref();
        let slash = memchr::memchr(b'/', text).unwrap_or(text.len());
        let whole = text.starts_with(b"/") || text[..slash].ends_with(b":");
        if whole { Self::new(text) } else { self.join(text) }
    }

    /// The name with one more part, escaped as necessary (`keyAddBaseName`).
    ///
    /// # Errors
    /// If `part` contains a NUL.
    pub fn child(&self, part: impl AsRef<[u8]>) -> Result<Self, NameError> {
        let part = part.as_ref();
        if let Some(at) = memchr::memchr(0, part) {
            return Err(NameError::Nul(at));
        }
        let mut bytes = self.without_root_slash().to_vec();
        bytes.push(b'/');
        canonical::escape_part(part, &mut bytes);
        Ok(Self::from_canonical(bytes))
    }

    /// The name without its last part; `None` for a root.
    pub fn parent(&self) -> Option<Self> {
        let floor = self.floor();
        let end = canonical::last_part(self.without_root_slash(), floor)?;
        let mut bytes = self.bytes[..end].to_vec();
        finish(&mut bytes, floor);
        Some(Self::from_canonical(bytes))
    }

    /// The name with a different last part (`keySetBaseName`).
    ///
    /// # Errors
    /// For a root, or a part that contains a NUL.
    pub fn with_base_name(&self, part: impl AsRef<[u8]>) -> Result<Self, NameError> {
        self.parent().ok_or(NameError::Root)?.child(part)
    }

    /// The same path in another namespace (`keySetNamespace`).
    #[must_use]
    pub fn with_namespace(&self, namespace: Namespace) -> Self {
        let mut bytes = namespace.prefix().as_bytes().to_vec();
        bytes.extend_from_slice(&self.bytes[self.floor()..]);
        Self::from_canonical(bytes)
    }

    /// The name with its prefix `old` replaced by `new` (`keyReplacePrefix`); `None` if it is not the same as or
    /// below `old` in the same namespace.
    pub fn replace_prefix(&self, old: &Self, new: &Self) -> Option<Self> {
        if self.namespace() != old.namespace() || !self.is_below_or_same(old) {
            return None;
        }
        if self == old {
            return Some(new.clone());
        }
        let (old, new) = (old.proper_root(), new.proper_root());
        if let Some(rest) = self.bytes.strip_prefix(old.without_root_slash()) {
            let bytes = [new.without_root_slash(), rest].concat();
            return Some(Self::from_canonical(bytes));
        }
        let depth = old.parts().count();
        self.parts().skip(depth).try_fold(new.into_owned(), |name, part| name.child(part)).ok()
    }

    /// The root for a name such as `/%`, whose unescaped form is that of a root.
    fn proper_root(&self) -> Cow<'_, Self> {
        let root = Self::root(self.namespace());
        if !self.plain && *self == root { Cow::Owned(root) } else { Cow::Borrowed(self) }
    }

    /// The canonical escaped name.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The borrowed form, which implements comparisons.
    pub fn borrow(&self) -> NameRef<'_> {
        NameRef { head: &[], tail: &self.bytes, plain: self.plain }
    }

    /// The namespace.
    pub fn namespace(&self) -> Namespace {
        Namespace::of_canonical(&self.bytes)
    }

    /// The unescaped parts below the namespace.
    pub fn parts(&self) -> impl Iterator<Item = Vec<u8>> {
        canonical::split_parts(&self.bytes[self.floor()..]).filter(|part| !part.is_empty()).map(
            |part| {
                let mut bytes = Vec::with_capacity(part.len());
                canonical::unescape_part(part, &mut bytes);
                bytes
            },
        )
    }

    /// The unescaped last part; `None` for a root.
    pub fn base_name(&self) -> Option<Vec<u8>> {
        self.parts().last()
    }

    /// The unescaped form, which determines the order: namespace byte, NUL, and each part followed by NUL (a root:
    /// three bytes).
    pub fn unescaped(&self) -> Vec<u8> {
        self.borrow().unescaped()
    }

    /// Whether this is the root of a namespace.
    pub fn is_root(&self) -> bool {
        self.bytes.len() == self.floor() + 1
    }

    /// Wraps bytes that are already a canonical name.
    pub(crate) fn from_canonical(bytes: Vec<u8>) -> Self {
        let plain = is_plain(&bytes);
        Self { bytes: bytes.into_boxed_slice(), plain }
    }

    fn from_path(start: &[u8], floor: usize, path: &[u8]) -> Result<Self, NameError> {
        validate_path(path)?;
        let mut bytes = Vec::with_capacity(start.len() + path.len() + 1);
        bytes.extend_from_slice(start);
        canonicalise(&mut bytes, floor, path);
        finish(&mut bytes, floor);
        Ok(Self::from_canonical(bytes))
    }

    /// The length of the namespace in bytes.
    pub(crate) fn floor(&self) -> usize {
        self.namespace().prefix().len()
    }

    /// The bytes to which `/part` can be appended.
    pub(crate) fn without_root_slash(&self) -> &[u8] {
        if self.is_root() { &self.bytes[..self.floor()] } else { &self.bytes }
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.borrow().fmt(f)
    }
}

impl fmt::Debug for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.bytes))
    }
}

impl std::str::FromStr for KeyName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        Self::new(name)
    }
}

/// A borrowed key name: `head` and `tail` together are the canonical escaped name. In a loaded file the parent's name
/// is stored once, as the head.
#[derive(Clone, Copy)]
pub struct NameRef<'a> {
    pub(crate) head: &'a [u8],
    pub(crate) tail: &'a [u8],
    pub(crate) plain: bool,
}

impl<'a> NameRef<'a> {
    /// The escaped name in one piece, copied only if it is in two.
    pub fn to_bytes(self) -> Cow<'a, [u8]> {
        match self.whole() {
            Some(whole) => Cow::Borrowed(whole),
            None => Cow::Owned([self.head, self.tail].concat()),
        }
    }

    /// The part after `head` (a name with a trailing slash), if this name obviously starts with it.
    pub(crate) fn tail_below(self, head: &[u8]) -> Option<&'a [u8]> {
        if self.head == head { Some(self.tail) } else { self.whole()?.strip_prefix(head) }
    }

    /// The escaped name, if it is in one piece.
    fn whole(self) -> Option<&'a [u8]> {
        match (self.head, self.tail) {
            ([], whole) | (whole, []) => Some(whole),
            _ => None,
        }
    }

    /// The two pieces of the escaped name; either may be empty.
    pub fn pieces(self) -> [&'a [u8]; 2] {
        [self.head, self.tail]
    }

    /// The owned name.
    pub fn to_name(self) -> KeyName {
        KeyName { bytes: [self.head, self.tail].concat().into_boxed_slice(), plain: self.plain }
    }

    /// The namespace.
    pub fn namespace(self) -> Namespace {
        Namespace::of_canonical(if self.head.is_empty() { self.tail } else { self.head })
    }

    /// The unescaped form; see [`KeyName::unescaped`].
    pub fn unescaped(self) -> Vec<u8> {
        let namespace = self.namespace();
        let name = self.to_bytes();
        let mut bytes = vec![namespace.byte(), 0];
        for part in canonical::split_parts(&name[namespace.prefix().len() + 1..]) {
            canonical::unescape_part(part, &mut bytes);
            bytes.push(0);
        }
        bytes
    }
}

impl fmt::Display for NameRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&String::from_utf8_lossy(&self.to_bytes()))
    }
}

impl fmt::Debug for NameRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.to_bytes()))
    }
}
