//! Key sets of thousands of keys, and input that streams reject.
#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use cenote_keyset::format::{NameForm, quickdump};
use cenote_keyset::{Format, Key, KeySet, Namespace, ReadOptions, read, stream, to_bytes};
use common::name;

#[test]
fn appends_in_any_order_end_up_in_order() {
    let mut keys = KeySet::new();
    for at in (0..5000_u64).map(|at| at * 7919 % 5000) {
        keys.append(Key::new(name(&format!("user:/k{at:05}"))));
    }
    assert_eq!(keys.len(), 5000);
    assert!(
        keys.iter().zip(0..).all(|(key, at)| key.name().to_string() == format!("user:/k{at:05}"))
    );
    assert_eq!(keys.hierarchy(&name("user:/k00007")).count(), 1);
}

#[test]
fn lookups_with_and_without_an_index_agree() {
    let names: Vec<_> = (0..500).map(|at| name(&format!("user:/p/{}/k{at}", at % 7))).collect();
    let keys: KeySet = names.iter().cloned().map(Key::new).collect();
    let bytes = to_bytes(&keys, &name("user:/p"), Format::Quickdump).unwrap();
    let mut keys =
        read(bytes, &name("user:/p"), Format::Quickdump, ReadOptions::default()).unwrap();
    for round in 0..3 {
        for (at, key) in names.iter().enumerate() {
            assert_eq!(keys.get(key).is_some(), round < 2 || at % 2 == 0, "{key} in {round}");
            assert!(keys.get(&key.join("below").unwrap()).is_none());
            assert!(keys.get(&key.with_namespace(Namespace::Dir)).is_none());
            if round == 1 && at % 2 == 1 {
                keys.remove(key).unwrap();
            }
        }
    }
}

#[test]
fn streams_refuse_names_that_require_a_whole_file() {
    let old = b"kdbOpen 1\nksNew 0\nksEnd\n";
    let mut writer = quickdump::Writer::new(std::io::sink());
    stream(&old[..], Format::Dump, ReadOptions::default(), &mut writer).unwrap_err();
    assert_eq!(format!("{:?}", NameForm::Old), "Old");
}

/// Keys with two metakeys each, the second only in every third.
fn described() -> KeySet {
    let key = |at: usize| {
        let mut key = Key::new(name(&format!("user:/p/k{at:03}")));
        key.set_meta("a", format!("{at}")).unwrap();
        if at.is_multiple_of(3) {
            key.set_meta("b", "third").unwrap();
        }
        key
    };
    (0..900).map(key).collect()
}

#[test]
fn only_the_changed_part_of_a_large_file_is_rewritten() {
    let parent = name("user:/p");
    let nth = |keys: &KeySet, at: usize| keys.at(at).unwrap().to_key();
    for format in [Format::Quickdump, Format::Dump] {
        let bytes = to_bytes(&described(), &parent, format).unwrap();
        let file = read(bytes, &parent, format, ReadOptions::default()).unwrap();
        for (from, to) in [(0, 450), (450, 0), (450, 899), (899, 450), (10, 20), (300, 301)] {
            let mut keys = file.clone();
            let meta = file.at(from).unwrap().meta_keys().next().unwrap();
            let [mut changed, mut other] = [to, 600].map(|at| nth(&file, at));
            changed.share_meta(meta);
            other.set_string("new").unwrap();
            keys.append(changed);
            keys.append(other);
            let bytes = to_bytes(&keys, &parent, format).unwrap();
            let again = read(bytes, &parent, format, ReadOptions::default()).unwrap();
            assert_eq!(again, keys);
            let [from, to, third] = [from, to, 5].map(|at| again.at(at).unwrap());
            assert!(from.meta().next().unwrap().is_same(to.meta().next().unwrap()));
            assert!(!from.meta().next().unwrap().is_same(third.meta().next().unwrap()));
        }
    }
}
