//! Three-way merge (`elektraMerge`): values decide, metadata is taken from the key that is chosen.

use crate::key::{Key, KeyRef};
use crate::keyset::KeySet;
use crate::name::KeyName;
use crate::value::ValueRef;

/// What to do if both sides changed a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Abort the merge.
    #[default]
    Abort,
    /// Take our side.
    Ours,
    /// Take their side.
    Theirs,
}

/// One of the three key sets, below its root.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The keys; those outside `root` are ignored.
    pub keys: &'a KeySet,
    /// The root corresponding to the same place in all three.
    pub root: &'a KeyName,
}

/// A key that both sides changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The name below the result's root.
    pub name: KeyName,
}

/// The result of a merge.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The merged keys; `None` if the merge was aborted.
    pub keys: Option<KeySet>,
    /// The keys that both sides changed, however that was resolved.
    pub conflicts: Vec<Conflict>,
}

/// Merges `ours` and `theirs`, which are both derived from `base`, below `root`.
///
/// Like the original, this treats the same change on both sides as a conflict unless `same_change_agrees`.
pub fn merge(
    ours: Side<'_>,
    theirs: Side<'_>,
    base: Side<'_>,
    root: &KeyName,
    strategy: Strategy,
    same_change_agrees: bool,
) -> Merged {
    let [our_keys, their_keys, base_keys] = [ours, theirs, base].map(|side| side.below(root));
    let mut merged = Merged { keys: Some(KeySet::new()), conflicts: Vec::new() };
    let mut names = base_keys.clone();
    names.append_all(&our_keys);
    names.append_all(&their_keys);
    for key in &names {
        let name = key.name().to_name();
        let found = |keys: &KeySet| keys.get(&name).map(KeyRef::to_key);
        let (our, their, base) = (found(&our_keys), found(&their_keys), found(&base_keys));
        let choice = choose(&our, &their, &base, same_change_agrees);
        merged.settle(name, choice, our, their, strategy);
    }
    merged
}

impl Side<'_> {
    /// The keys below the side's root, moved below `root`.
    fn below(self, root: &KeyName) -> KeySet {
        let keys = self.keys.below(self.root);
        if self.root.as_bytes() == root.as_bytes() {
            return keys;
        }
        keys.iter().filter_map(|key| moved(key, self.root, root)).collect()
    }
}

fn moved(key: KeyRef<'_>, from: &KeyName, to: &KeyName) -> Option<Key> {
    let name = key.name().to_name();
    let from = from.with_namespace(name.namespace());
    Some(key.to_key().renamed(name.replace_prefix(&from, to)?))
}

/// Which side a key is taken from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    Ours,
    Theirs,
    Conflict,
}

fn choose(our: &Option<Key>, their: &Option<Key>, base: &Option<Key>, agree: bool) -> Choice {
    let [our, their, base] = [our, their, base].map(|key| key.as_ref().map(Key::value));
    let same = |a: Option<ValueRef<'_>>, b| a == b;
    match (same(our, base), same(their, base)) {
        (_, true) => Choice::Ours,
        (true, false) => Choice::Theirs,
        (false, false) if agree && same(our, their) => Choice::Ours,
        (false, false) => Choice::Conflict,
    }
}

impl Merged {
    fn settle(
        &mut self,
        name: KeyName,
        choice: Choice,
        our: Option<Key>,
        their: Option<Key>,
        strategy: Strategy,
    ) {
        let chosen = match (choice, strategy) {
            (Choice::Ours, _) | (Choice::Conflict, Strategy::Ours) => our,
            (Choice::Theirs, _) | (Choice::Conflict, Strategy::Theirs) => their,
            (Choice::Conflict, Strategy::Abort) => {
                self.keys = None;
                None
            }
        };
        if choice == Choice::Conflict {
            self.conflicts.push(Conflict { name });
        }
        if let (Some(keys), Some(key)) = (&mut self.keys, chosen) {
            keys.append(key);
        }
    }
}
