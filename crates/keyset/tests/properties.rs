//! Properties of all names, key sets and bytes.
#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use std::collections::BTreeMap;

use cenote_keyset::format::{dump, quickdump};
use cenote_keyset::{
    Change, Format, Key, KeyName, KeySet, MetaKey, ReadOptions, ValueRef, diff, read, stream,
    to_bytes,
};
use common::name;
use proptest::prelude::*;

/// Parts that occasionally exercise every escaping rule.
fn part() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => prop::sample::select(b"ab01/.%#\\_ :".to_vec()),
        1 => 1_u8..=255,
    ];
    prop::collection::vec(byte, 0..6)
}

fn key_name(root: &'static str) -> impl Strategy<Value = KeyName> {
    name_below(name(root))
}

fn name_below(root: KeyName) -> impl Strategy<Value = KeyName> {
    prop::collection::vec(part(), 0..4).prop_map(move |parts| {
        parts.iter().fold(root.clone(), |name, part| name.child(part).unwrap())
    })
}

/// Roots, and names with any last part, such as `user:/a:`.
fn parent() -> impl Strategy<Value = KeyName> {
    let root = prop::sample::select(vec!["/", "spec:/", "user:/", "system:/a:"]);
    root.prop_flat_map(key_name)
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(1_u8..=255, 0..20)
}

fn key(root: &'static str) -> impl Strategy<Value = Key> {
    key_below(name(root))
}

fn key_below(root: KeyName) -> impl Strategy<Value = Key> {
    let metas = prop::collection::vec((part(), text()), 0..4);
    (name_below(root), any::<Option<bool>>(), text(), metas).prop_map(
        |(name, binary, value, metas)| {
            let mut key = Key::new(name);
            for (name, value) in metas {
                let name = KeyName::new("meta:/").unwrap().child(name).unwrap();
                key.set_meta(name.as_bytes(), value).unwrap();
            }
            if binary == Some(true) {
                key.set_binary([value, vec![0]].concat());
            } else if key.borrow().meta_value("binary").is_none() {
                key.set_string(value).unwrap();
            }
            key
        },
    )
}

fn keys(root: &'static str) -> impl Strategy<Value = KeySet> {
    keys_below(name(root))
}

/// A parent and keys below it.
fn keys_of_any_parent() -> impl Strategy<Value = (KeyName, KeySet)> {
    parent().prop_flat_map(|parent| (Just(parent.clone()), keys_below(parent)))
}

/// Keys, some of which share metakeys.
fn keys_below(root: KeyName) -> impl Strategy<Value = KeySet> {
    let shared = prop::collection::vec(any::<prop::sample::Index>(), 0..6);
    (prop::collection::vec(key_below(root), 0..12), shared).prop_map(|(mut keys, shared)| {
        let metas = [MetaKey::new("shared/a", "1").unwrap(), MetaKey::new("b", "").unwrap()];
        if !keys.is_empty() {
            for (at, index) in shared.into_iter().enumerate() {
                index.get_mut(&mut keys).share_meta(metas[at % 2].clone());
            }
        }
        keys.into_iter().collect()
    })
}

const STORAGE: [Format; 2] = [Format::Quickdump, Format::Dump];

fn sharing(keys: &KeySet) -> Vec<(usize, usize, bool)> {
    let metas: Vec<_> = keys.iter().flat_map(|key| key.meta().collect::<Vec<_>>()).collect();
    let pairs = (0..metas.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    pairs.map(|(a, b)| (a, b, metas[a].is_same(metas[b]))).collect()
}

proptest! {
    #[test]
    fn canonical_names_are_unchanged(name in key_name("user:/")) {
        let again = KeyName::new(name.as_bytes()).unwrap();
        prop_assert_eq!(again.as_bytes(), name.as_bytes());
    }

    #[test]
    fn parts_round_trip(parts in prop::collection::vec(part(), 0..5)) {
        let name = parts.iter().fold(name("dir:/"), |name, part| name.child(part).unwrap());
        prop_assert_eq!(name.parts().collect::<Vec<_>>(), parts);
    }

    #[test]
    fn names_order_as_their_unescaped_forms(a in key_name("user:/x"), b in key_name("user:/x")) {
        prop_assert_eq!(a.cmp(&b), a.unescaped().cmp(&b.unescaped()));
        let (other, root) = (b.with_namespace(cenote_keyset::Namespace::Proc), name("user:/"));
        prop_assert!(other < a && root < a);
    }

    #[test]
    fn any_bytes_are_a_name_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..30)) {
        for prefix in [&b""[..], b"/", b"user:/"] {
            if let Ok(name) = KeyName::new([prefix, &bytes].concat()) {
                let again = KeyName::new(name.as_bytes()).unwrap();
        prop_assert_eq!(again.as_bytes(), name.as_bytes());
            }
        }
    }

    #[test]
    fn storage_formats_are_lossless((parent, keys) in keys_of_any_parent()) {
        for format in STORAGE {
            let bytes = to_bytes(&keys, &parent, format).unwrap();
            let again = read(bytes.clone(), &parent, format, ReadOptions::default()).unwrap();
            prop_assert_eq!(&again, &keys);
            prop_assert_eq!(sharing(&again), sharing(&keys));
            prop_assert_eq!(to_bytes(&again, &parent, format).unwrap(), bytes);
        }
    }

    #[test]
    fn changed_files_are_written_losslessly(
        (parent, keys) in keys_of_any_parent(),
        changes in prop::collection::vec(any::<[prop::sample::Index; 3]>(), 1..5),
    ) {
        for format in STORAGE {
            let bytes = to_bytes(&keys, &parent, format).unwrap();
            let mut set = read(bytes, &parent, format, ReadOptions::default()).unwrap();
            let changes = if set.is_empty() { &[] } else { &changes[..] };
            for [from, to, meta] in changes {
                let [giver, mut key] = [from, to].map(|at| set.at(at.index(set.len())).unwrap().to_key());
                let metas: Vec<_> = giver.borrow().meta_keys().collect();
                match metas.get(meta.index(metas.len() + 1)) {
                    Some(meta) => key.share_meta(meta.clone()),
                    None => key.set_value(giver.value()),
                }
                set.append(key);
            }
            let bytes = to_bytes(&set, &parent, format).unwrap();
            let again = read(bytes, &parent, format, ReadOptions::default()).unwrap();
            prop_assert_eq!(sharing(&again), sharing(&set));
            prop_assert_eq!(again, set);
        }
    }

    #[test]
    fn text_formats_are_lossless((parent, keys) in keys_of_any_parent()) {
        for format in [Format::Json, Format::Toml, Format::Ini] {
            let Ok(bytes) = to_bytes(&keys, &parent, format) else {
                prop_assert!(format != Format::Ini, "INI holds every key set");
                continue;
            };
            let again = read(bytes.clone(), &parent, format, ReadOptions::default());
            prop_assert_eq!(again.unwrap(), keys.clone(), "{}", String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn a_stream_converts_as_loading_does(keys in keys("user:/p")) {
        let quick = to_bytes(&keys, &name("user:/p"), Format::Quickdump).unwrap();
        let slow = to_bytes(&keys, &name("user:/p"), Format::Dump).unwrap();
        let mut out = Vec::new();
        stream(&quick[..], Format::Quickdump, ReadOptions::default(), &mut dump::Writer::new(&mut out)).unwrap();
        prop_assert_eq!(&out, &slow);
        out.clear();
        stream(&slow[..], Format::Dump, ReadOptions::default(), &mut quickdump::Writer::new(&mut out)).unwrap();
        prop_assert_eq!(&out, &quick);
    }

    #[test]
    fn any_bytes_are_a_file_or_refused(
        tail in prop::collection::vec(any::<u8>(), 0..200),
        strict in any::<bool>(),
    ) {
        let heads: [(&[u8], Format); 5] = [
            (b"EKDB\0\0\0\x03", Format::Quickdump),
            (b"EKDB\0\0\0\x02", Format::Quickdump),
            (b"kdbOpen 2\n", Format::Dump),
            (b"kdbOpen 1\n", Format::Dump),
            (b"", Format::Ini),
        ];
        for (head, format) in heads {
            let bytes = [head, &tail].concat();
            let options = ReadOptions { strict, ..ReadOptions::default() };
            if let Err(error) = read(bytes.clone(), &name("user:/p"), format, options) {
                prop_assert!(error.offset <= bytes.len() as u64);
            }
        }
    }

    #[test]
    fn damaged_files_are_read_or_refused(
        keys in keys("user:/p"),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        for format in STORAGE {
            let mut bytes = to_bytes(&keys, &name("user:/p"), format).unwrap();
            for (at, byte) in &changes {
                *at.get_mut(&mut bytes) = *byte;
            }
            if let Ok(keys) = read(bytes, &name("user:/p"), format, ReadOptions::default()) {
                for (a, b) in keys.iter().zip(keys.iter().skip(1)) {
                    prop_assert!(a.name() < b.name());
                }
            }
        }
    }

    #[test]
    fn a_key_set_is_an_ordered_map(
        start in keys("user:/"),
        steps in prop::collection::vec((0..6_u8, key("user:/"), any::<prop::sample::Index>()), 0..40),
    ) {
        let bytes = to_bytes(&start, &name("user:/"), Format::Quickdump).unwrap();
        let mut set = read(bytes, &name("user:/"), Format::Quickdump, ReadOptions::default()).unwrap();
        let mut model: BTreeMap<Vec<u8>, Key> =
            start.iter().map(|key| (key.name().unescaped(), key.to_key())).collect();
        for (kind, key, index) in steps {
            let before = set.clone();
            let picked = model.values().nth(index.index(model.len().max(1))).cloned();
            let picked = picked.unwrap_or(key.clone());
            let root = picked.name().unescaped();
            match kind {
                0..3 => {
                    model.insert(key.name().unescaped(), key.clone());
                    set.append(key);
                }
                3 => {
                    let removed = set.remove(&picked.name().to_name());
                    prop_assert_eq!(removed, model.remove(&root));
                }
                4 => {
                    let cut = set.cut(&picked.name().to_name());
                    let stem = if root.len() == 3 { &root[..2] } else { &root[..] };
                    let inside = |name: &Vec<u8>| name.starts_with(stem);
                    let expected: Vec<_> = model.iter().filter(|(name, _)| inside(name)).map(|(_, key)| key.clone()).collect();
                    model.retain(|name, _| !inside(name));
                    prop_assert_eq!(cut.iter().map(|key| key.to_key()).collect::<Vec<_>>(), expected);
                }
                _ => {
                    let other: KeySet = [key.clone(), picked.clone()].into_iter().collect();
                    set.append_all(&other);
                    for key in [key, picked] {
                        model.insert(key.name().unescaped(), key);
                    }
                }
            }
            prop_assert_eq!(set.len(), model.len());
            prop_assert!(set.iter().map(|key| key.name().unescaped()).eq(model.keys().cloned()));
            prop_assert!(model.values().all(|key| set.get(&key.name().to_name()) == Some(key.borrow())));
            let places = before.iter().enumerate().all(|(at, key)| before.at(at) == Some(key));
            prop_assert!(places, "a copy is left as it was");
        }
    }

    #[test]
    fn applying_a_diff_turns_one_set_into_the_other(old in keys("user:/"), new in keys("user:/")) {
        let mut patched = old.clone();
        for change in diff(&old, &new) {
            match change {
                Change::Added(key) | Change::Modified(_, key) => patched.append(key.to_key()),
                Change::Removed(key) => drop(patched.remove(&key.name().to_name())),
            }
        }
        prop_assert_eq!(&patched, &new);
        prop_assert_eq!(diff(&new, &new).count(), 0);
    }

    #[test]
    fn binary_keys_are_those_with_the_metakey(keys in keys("user:/")) {
        for key in &keys {
            prop_assert_eq!(key.value().is_binary(), key.meta_value("binary").is_some());
            prop_assert!(!matches!(key.value(), ValueRef::Binary(b"")));
        }
    }
}
