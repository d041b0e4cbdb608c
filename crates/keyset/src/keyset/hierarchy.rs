//! Subtrees: `ksBelow`, `ksCut`, `ksRename`.

use std::sync::Arc;

use super::pieces::{Pieces, Position};
use super::{Iter, KeySet};
use crate::Namespace;
use crate::name::{KeyName, NameRef};

/// A rename from or to a cascading name, which means several subtrees.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is in all namespaces: name the one to rename in, such as `user:/`")]
pub struct RenameError(String);

impl KeySet {
    /// The key of this name and all below it, in the same namespace.
    pub fn hierarchy(&self, root: &KeyName) -> Iter<'_> {
        let (from, to) = self.pieces.subtree(root);
        self.pieces.range(from, to)
    }

    /// A copy of the subtree; for a cascading name, from every namespace (`ksBelow`).
    #[must_use]
    pub fn below(&self, root: &KeyName) -> Self {
        let mut below = Self::new();
        for root in roots(root, &Namespace::ALL) {
            let (from, to) = self.pieces.subtree(&root);
            below.append_all(&Self { pieces: Arc::new(self.pieces.copy(from, to)) });
        }
        below
    }

    /// Removes the subtree and returns it; for a cascading name, from every namespace but `default` (`ksCut`).
    pub fn cut(&mut self, root: &KeyName) -> Self {
        let but_default = &Namespace::ALL[..Namespace::ALL.len() - 1];
        let mut cut = Self::new();
        for root in roots(root, but_default) {
            let (from, to) = self.pieces.subtree(&root);
            let pieces = Arc::make_mut(&mut self.pieces).cut(from, to);
            cut.append_all(&Self { pieces: Arc::new(pieces) });
        }
        cut
    }

    /// Moves the subtree below `root` to `new_root`, replacing existing keys, and returns the number of keys moved
    /// (`ksRename`).
    ///
    /// # Errors
    /// If either root is a cascading name.
    pub fn rename(&mut self, root: &KeyName, new_root: &KeyName) -> Result<usize, RenameError> {
        for name in [root, new_root] {
            if name.namespace() == Namespace::Cascading {
                return Err(RenameError(name.to_string()));
            }
        }
        let moved = self.cut(root);
        for key in &moved {
            let name = key.name().to_name().replace_prefix(root, new_root);
            let name = name.expect("a key of the subtree is below its root");
            self.append(key.to_key().renamed(name));
        }
        Ok(moved.len())
    }
}

/// The roots that a name refers to.
fn roots(root: &KeyName, namespaces: &[Namespace]) -> Vec<KeyName> {
    if root.namespace() != Namespace::Cascading {
        return vec![root.clone()];
    }
    namespaces.iter().map(|namespace| root.with_namespace(*namespace)).collect()
}

impl Pieces {
    /// The range of the subtree.
    fn subtree(&self, root: &KeyName) -> (Position, Position) {
        let root = root.borrow();
        let inside =
            |name: NameRef<'_>| name.namespace() == root.namespace() && name.is_below_or_same(root);
        let from = self.partition(|key| key.name() < root);
        let to = self.partition(|key| key.name() < root || inside(key.name()));
        (from, to)
    }
}
