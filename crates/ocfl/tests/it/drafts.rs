//! Written objects are read back unchanged, despite interruptions.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;

use cenote_ocfl::{Draft, Object, Root};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use crate::support::{Sample, stamp};

type State = BTreeMap<String, Vec<u8>>;

fn add(draft: &mut Draft, second: i64, state: &State) {
    for (path, bytes) in state {
        draft.add_bytes(path, bytes).unwrap();
    }
    draft.end_version(stamp(second)).unwrap();
}

fn read(object: &Object) -> Vec<State> {
    let file = |digest: &String| object.read(digest, 64).unwrap();
    let state = |version: &cenote_ocfl::Version| {
        version.state.iter().map(|(path, digest)| (path.clone(), file(digest))).collect()
    };
    object.inventory().versions.iter().map(state).collect()
}

fn states() -> impl Strategy<Value = Vec<State>> {
    vec(btree_map("[a-z]{1,2}(/[A-Zé ]{1,3}\\.x)?\\.", vec(0u8..2, 0..3), 0..4), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn written_objects_are_read_back(states in states(), published in 0usize..5) {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::create(dir.path()).unwrap();
        let (first, more) = states.split_at(published.clamp(1, states.len()));
        let mut draft = Draft::new(&root, "urn:x").unwrap();
        (1..).zip(first).for_each(|(second, state)| add(&mut draft, second, state));
        draft.publish().unwrap();
        let place = root.place("urn:x").unwrap();
        if !more.is_empty() {
            let mut draft = Draft::of(&root, &Object::open(&place).unwrap()).unwrap();
            (1..).zip(more).for_each(|(second, state)| add(&mut draft, second, state));
            draft.publish().unwrap();
        }
        root.tidy().unwrap();
        let object = Object::open(&root.objects().unwrap()[0]).unwrap();
        object.check().unwrap();
        prop_assert_eq!(read(&object), states.clone());
        // Each content is stored once.
        let bytes: std::collections::BTreeSet<_> = states.iter().flat_map(BTreeMap::values).collect();
        prop_assert_eq!(object.inventory().manifest.len(), bytes.len());
    }
}

#[test]
fn a_draft_that_is_dropped_leaves_nothing() {
    let sample = Sample::new();
    let root = Root::open(sample.root()).unwrap();
    let mut draft = Draft::new(&root, "urn:other").unwrap();
    let mut incoming = draft.incoming().unwrap();
    incoming.write_all(b"some").unwrap();
    draft.add("a", incoming).unwrap();
    drop(draft);
    assert_eq!(root.objects().unwrap(), std::slice::from_ref(&sample.object));
    root.tidy().unwrap();
    assert!(!sample.root().join("extensions/cenote-staging").exists());
}

#[test]
fn paths_outside_the_object_are_not_written() {
    let sample = Sample::new();
    let root = Root::open(sample.root()).unwrap();
    let mut draft = Draft::new(&root, "urn:other").unwrap();
    for path in ["../x", "/x", "a/../../x", ""] {
        assert!(draft.add_bytes(path, b"").is_err(), "{path}");
    }
}

#[test]
fn partly_moved_versions_are_completed() {
    // The inventories of the first two versions, as if the run had been interrupted before it replaced that of the
    // object, or its sidecar.
    for names in [&["inventory.json", "inventory.json.sha512"][..], &["inventory.json.sha512"]] {
        let sample = Sample::new();
        for name in names {
            fs::copy(sample.path("v2").join(name), sample.path(name)).unwrap();
        }
        sample.check().unwrap_err();
        let object = Object::open_settled(&sample.object).unwrap();
        assert_eq!(object.inventory().versions.len(), 3);
        sample.check().unwrap();
    }
}

#[test]
fn a_content_is_known_by_its_sha256() {
    let sample = Sample::new();
    let root = Root::open(sample.root()).unwrap();
    let object = Object::open(&sample.object).unwrap();
    let draft = Draft::of(&root, &object).unwrap();
    let digest = cenote_ocfl::Algorithm::Sha512.of(b"one");
    assert_eq!(draft.known(&cenote_ocfl::Algorithm::Sha256.of(b"one")), Some(digest));
    assert_eq!(draft.known("00"), None);
}
