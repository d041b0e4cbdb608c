//! The order of key names: bytewise on the unescaped form, prefixes first.
//!
//! For a name without `\` and `%`, the unescaped form need not be computed: each `/` stands for a NUL. Such names are
//! compared in place.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::{KeyName, NameRef, is_plain};

impl NameRef<'_> {
    /// The path in two pieces, starting at the slash after the namespace.
    fn path(&self) -> [&[u8]; 2] {
        let namespace = self.namespace().prefix().len();
        if self.head.is_empty() {
            [&[], &self.tail[namespace..]]
        } else {
            [&self.head[namespace..], self.tail]
        }
    }
}

/// Compares two plain parts of names.
#[inline]
pub(crate) fn compare_plain(a: &[u8], b: &[u8]) -> Ordering {
    match first_difference(a, b) {
        Some(at) => unescaped_byte(a[at]).cmp(&unescaped_byte(b[at])),
        None => a.len().cmp(&b.len()),
    }
}

/// Where two slices first differ within the length of the shorter.
#[inline]
fn first_difference(a: &[u8], b: &[u8]) -> Option<usize> {
    let len = a.len().min(b.len());
    let words = a[..len].chunks_exact(8).zip(b[..len].chunks_exact(8));
    let same = words.take_while(|(a, b)| a == b).count() * 8;
    (same..len).find(|&at| a[at] != b[at])
}

#[inline]
fn unescaped_byte(byte: u8) -> u8 {
    if byte == b'/' { 0 } else { byte }
}

/// Compares plain paths of two pieces each.
fn compare_pieces(mut a: [&[u8]; 2], mut b: [&[u8]; 2]) -> Ordering {
    loop {
        a = drop_empty(a);
        b = drop_empty(b);
        let len = a[0].len().min(b[0].len());
        if len == 0 {
            return a[0].len().cmp(&b[0].len());
        }
        let order = compare_plain(&a[0][..len], &b[0][..len]);
        if order.is_ne() {
            return order;
        }
        a[0] = &a[0][len..];
        b[0] = &b[0][len..];
    }
}

fn drop_empty(pieces: [&[u8]; 2]) -> [&[u8]; 2] {
    if pieces[0].is_empty() { [pieces[1], &[]] } else { pieces }
}

impl Ord for NameRef<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        if !self.plain || !other.plain {
            return self.unescaped().cmp(&other.unescaped());
        }
        if std::ptr::eq(self.head, other.head) && !self.head.is_empty() {
            return compare_plain(self.tail, other.tail);
        }
        let namespaces = self.namespace().cmp(&other.namespace());
        namespaces.then_with(|| compare_pieces(self.path(), other.path()))
    }
}

impl PartialOrd for NameRef<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for NameRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for NameRef<'_> {}

impl Hash for NameRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.unescaped().hash(state);
    }
}

impl Ord for KeyName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.borrow().cmp(&other.borrow())
    }
}

impl PartialOrd for KeyName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for KeyName {
    fn eq(&self, other: &Self) -> bool {
        self.borrow() == other.borrow()
    }
}

impl Eq for KeyName {}

impl Hash for KeyName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.borrow().hash(state);
    }
}

/// Compares canonical names relative to one parent, in any form.
pub(crate) fn compare_relative(a: &[u8], b: &[u8]) -> Ordering {
    if is_plain(a) && is_plain(b) {
        return compare_plain(a, b);
    }
    let below_root = |tail| NameRef { head: b"/", tail, plain: false };
    below_root(a).cmp(&below_root(b))
}
