//! Several objects of one name in one directory, as dxfuse shows them: the newest one under the name, the others in directories
//! `1`, `2`, `3` beside it.
//!
//! Invariants: no two are at the same place; a numbered directory has the name of nothing else there; an object stays where it was shown
//! before, unless its name is another one by now.

use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What has a name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) is_directory: bool,
    /// When it was created, in milliseconds, and its id: the newest one is first.
    pub(crate) age: (i64, u64),
    /// Where it is shown already.
    pub(crate) shown: Option<Slot>,
}

/// Where an object is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Slot {
    /// In the directory itself.
    Top,
    /// In the directory of this number.
    Numbered(u32),
}

/// Where each of the items is shown.
pub(crate) fn arrange(items: &[Item]) -> Vec<Slot> {
    let names: HashSet<&str> = items.iter().map(|item| item.name.as_str()).collect();
    let is_free = |number: u32| !names.contains(number.to_string().as_str());
    let mut slots = vec![Slot::Top; items.len()];
    for alike in groups(items) {
        let directory = alike.iter().any(|at| items[*at].is_directory);
        let mut taken = BTreeSet::new();
        taken.extend(directory.then_some(Slot::Top));
        let mut rest = Vec::new();
        for at in alike.into_iter().filter(|at| !items[*at].is_directory) {
            let usable = |slot: &Slot| match slot {
                Slot::Top => true,
                Slot::Numbered(number) => is_free(*number),
            };
            match items[at].shown.filter(usable) {
                Some(slot) if taken.insert(slot) => slots[at] = slot,
                _ => rest.push(at),
            }
        }
        let numbers = (1..).filter(|number| is_free(*number)).map(Slot::Numbered);
        let mut free =
            std::iter::once(Slot::Top).chain(numbers).filter(|slot| !taken.contains(slot));
        for at in rest {
            slots[at] = free.next().unwrap_or(Slot::Top);
        }
    }
    slots
}

/// The items of each name, the newest first.
fn groups(items: &[Item]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        groups.entry(&item.name).or_default().push(at);
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    for group in &mut groups {
        group.sort_by_key(|at| std::cmp::Reverse(items[*at].age));
    }
    groups
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn object(name: &str, created: i64) -> Item {
        Item { name: name.into(), is_directory: false, age: (created, created as u64), shown: None }
    }

    fn directory(name: &str) -> Item {
        Item { is_directory: true, ..object(name, 0) }
    }

    #[test]
    fn the_newest_object_and_a_directory_keep_the_name() {
        let items =
            [object("X", 1), object("X", 3), object("X", 2), object("same", 5), directory("same")];
        use Slot::{Numbered, Top};
        let wanted = [Numbered(2), Top, Numbered(1), Numbered(1), Top];
        assert_eq!(arrange(&items), wanted);
        let with_one = [&items[..], &[directory("1"), object("2", 1)]].concat();
        assert_eq!(arrange(&with_one)[..2], [Numbered(4), Top]);
    }

    #[test]
    fn an_object_keeps_its_path_if_a_newer_one_is_added() {
        let mut items = vec![object("X", 1), object("X", 2)];
        items[0].shown = Some(Slot::Top);
        assert_eq!(arrange(&items), [Slot::Top, Slot::Numbered(1)]);
        items[1].shown = Some(Slot::Numbered(1));
        items.push(object("1", 3));
        assert_eq!(arrange(&items), [Slot::Top, Slot::Numbered(2), Slot::Top]);
    }

    fn item() -> impl Strategy<Value = Item> {
        let shown = prop_oneof![
            Just(None),
            Just(Some(Slot::Top)),
            (1..4_u32).prop_map(|number| Some(Slot::Numbered(number)))
        ];
        ("[12X]", any::<bool>(), 0..3_i64, shown).prop_map(
            |(name, is_directory, created, shown)| Item {
                name,
                is_directory,
                age: (created, 0),
                shown,
            },
        )
    }

    proptest! {
        #[test]
        fn no_two_items_have_the_same_path(items in prop::collection::vec(item(), 0..12)) {
            let mut items = items;
            // Names of directories are unique among directories, and every item has its own id.
            let mut seen = HashSet::new();
            items.retain(|item| !item.is_directory || seen.insert(item.name.clone()));
            for (id, item) in items.iter_mut().enumerate() {
                item.age.1 = id as u64;
            }
            let slots = arrange(&items);
            let mut places = HashSet::new();
            for (item, slot) in items.iter().zip(&slots) {
                prop_assert!(places.insert((item.name.clone(), *slot)));
                prop_assert!(!item.is_directory || *slot == Slot::Top);
                if let Slot::Numbered(number) = slot {
                    prop_assert!(items.iter().all(|other| other.name != number.to_string()));
                }
            }
            for (item, slot) in items.iter_mut().zip(&slots) {
                item.shown = Some(*slot);
            }
            prop_assert_eq!(arrange(&items), slots, "it is stable");
        }
    }
}
