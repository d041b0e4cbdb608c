use jiff::Timestamp;
use proptest::prelude::*;

use super::*;

fn at(second: i64) -> Option<Timestamp> {
    Some(Timestamp::from_second(second).unwrap())
}

fn entry(kind: EntryKind, mode: Option<u32>, mtime: Option<Timestamp>) -> Entry {
    Entry::local(kind, mode, mtime)
}

fn directory() -> Entry {
    entry(EntryKind::Directory, Some(0o755), at(1))
}

fn file(size: u64, second: i64) -> Entry {
    let file = LocalFile { path: "/nowhere".into(), size, mode: 0o644, mtime: at(second) };
    entry(EntryKind::File(file), Some(0o644), at(second))
}

fn object(size: u64, mtime: Option<Timestamp>) -> Entry {
    let json = serde_json::json!({
        "id": 7, "path": "/x", "kind": "object", "size": size, "mode": 0o644, "mtime": mtime,
    });
    let resource: Resource = serde_json::from_value(json).unwrap();
    Entry::from_resource(resource).unwrap()
}

fn tree<const N: usize>(entries: [(&str, Entry); N]) -> Tree {
    entries.map(|(path, entry)| (path.to_owned(), entry)).into()
}

fn paths(changes: &[Change]) -> Vec<&str> {
    changes.iter().map(|change| change.path.as_str()).collect()
}

const DELETE: Rules = Rules { checksum: false, delete: true, versions: false };

#[test]
fn unchanged_items_are_skipped() {
    let plan = plan(
        tree([("d", directory()), ("d/a", file(3, 9))]),
        tree([("d", directory()), ("d/a", object(3, at(9)))]),
        DELETE,
    );
    assert_eq!((plan.transfer.len(), plan.remove.len(), plan.attributes.len()), (0, 0, 0));
    assert_eq!(plan.unchanged, 1);
}

#[test]
fn a_different_size_or_time_means_different_content() {
    for there in [object(4, at(9)), object(3, at(8)), object(3, None)] {
        let plan = plan(tree([("a", file(3, 9))]), tree([("a", there)]), Rules::default());
        assert_eq!(paths(&plan.transfer), ["a"]);
    }
}

#[test]
fn a_different_mode_does_not_mean_different_content() {
    let mut there = object(3, at(9));
    there.mode = Some(0o600);
    let plan = plan(tree([("a", file(3, 9))]), tree([("a", there)]), Rules::default());
    assert_eq!((paths(&plan.attributes), paths(&plan.transfer)), (vec!["a"], vec![]));
}

#[test]
fn extra_items_in_the_target_are_removed_only_on_request_and_only_once() {
    let target =
        || tree([("d", directory()), ("d/a", object(1, None)), ("d.txt", object(1, None))]);
    assert_eq!(plan(Tree::new(), target(), Rules::default()).remove, [""; 0]);
    let mut removed = plan(Tree::new(), target(), DELETE).remove;
    removed.sort();
    assert_eq!(removed, ["d", "d.txt"]);
}

#[test]
fn a_resource_of_another_kind_is_a_conflict_unless_it_may_be_removed() {
    let (source, target) =
        (tree([("a", file(1, 1))]), tree([("a", directory()), ("a/b", object(1, None))]));
    let refused = plan(source.clone(), target.clone(), Rules::default());
    assert_eq!((refused.failures.len(), refused.transfer.len()), (1, 0));
    let replaced = plan(source, target, DELETE);
    assert_eq!((replaced.remove, paths(&replaced.transfer)), (vec!["a".to_owned()], vec!["a"]));
}

#[test]
fn bytes_are_compared_on_request_or_if_a_time_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    std::fs::write(&path, "abc").unwrap();
    let local = LocalFile::new(&path).unwrap();
    let mtime = local.mtime;
    let here = || entry(EntryKind::File(local.clone()), Some(local.mode), mtime);
    let there = |text: &[u8], mtime| {
        let mut there = object(3, mtime);
        if let EntryKind::Object(resource) = &mut there.kind {
            resource.sha256 = Some(Sha256Digest::of(text).to_string());
        }
        Entry { mode: Some(local.mode), ..there }
    };
    let checksum = Rules { checksum: true, ..Rules::default() };
    let run = |there, rules| plan(tree([("a", here())]), tree([("a", there)]), rules);
    assert_eq!(run(there(b"abd", mtime), Rules::default()).transfer.len(), 0);
    assert_eq!(run(there(b"abd", mtime), checksum).transfer.len(), 1);
    assert_eq!(run(there(b"abc", None), Rules::default()).transfer.len(), 0);
    assert_eq!(run(there(b"abd", None), Rules::default()).transfer.len(), 1);
}

#[test]
fn objects_are_equal_if_their_bytes_or_shared_contents_are() {
    let object = |sha256: Option<&str>, etag: &str, second| {
        let mut object = object(3, at(second));
        if let EntryKind::Object(resource) = &mut object.kind {
            (resource.sha256, resource.etag) = (sha256.map(str::to_owned), Some(etag.to_owned()));
        }
        object
    };
    let run = |one, two| plan(tree([("a", one)]), tree([("a", two)]), Rules::default());
    assert_eq!(run(object(None, "1", 9), object(None, "1", 9)).unchanged, 1);
    assert_eq!(run(object(Some("x"), "1", 9), object(Some("x"), "2", 9)).unchanged, 1);
    let touched = run(object(Some("x"), "1", 9), object(Some("x"), "2", 8));
    assert_eq!((touched.attributes.len(), touched.transfer.len()), (1, 0));
    for other in [object(Some("y"), "2", 9), object(None, "2", 9)] {
        assert_eq!(run(object(Some("x"), "1", 9), other).transfer.len(), 1);
    }
}

#[test]
fn a_link_with_a_different_target_is_replaced() {
    let link = |to: &str| entry(EntryKind::Link(to.to_owned()), None, None);
    let plan = plan(tree([("l", link("a"))]), tree([("l", link("b"))]), DELETE);
    assert_eq!((plan.remove, paths(&plan.transfer)), (vec!["l".to_owned()], vec!["l"]));
}

/// An entry with a certain description and state.
fn described(entry: Entry, description: Option<&str>, state: &str) -> Entry {
    let (description, state) = (description.map(str::to_owned), Some(state.to_owned()));
    Entry { description, state, ..entry }
}

#[test]
fn a_different_description_does_not_mean_different_content() {
    let link = || entry(EntryKind::Link("a".to_owned()), None, None);
    let only = || entry(EntryKind::Description, None, None);
    let object = || object(3, at(9));
    for kind in [&directory as &dyn Fn() -> Entry, &link, &only, &object] {
        for (here, there, number) in
            [(Some("d"), Some("e"), 1), (None, Some("e"), 1), (Some("d"), None, 1), (None, None, 0)]
        {
            let source = tree([("a", described(kind(), here, "1"))]);
            let plan = plan(source, tree([("a", described(kind(), there, "2"))]), DELETE);
            assert_eq!(plan.descriptions.len(), number, "{:?}", kind());
            assert_eq!((plan.transfer.len(), plan.attributes.len(), plan.remove.len()), (0, 0, 0));
            let expected_states =
                plan.descriptions.iter().map(|change| change.expected_state.as_deref());
            assert!(expected_states.eq(std::iter::repeat_n(Some("2"), number)));
        }
    }
}

#[test]
fn a_media_type_is_compared_if_it_was_given_explicitly() {
    let typed = |(media_type, guessed): (Option<&str>, bool)| {
        let mut object = object(3, at(9));
        if let EntryKind::Object(resource) = &mut object.kind {
            (resource.media_type, resource.etag) =
                (media_type.map(str::to_owned), Some("1".into()));
            resource.media_type_guessed = guessed;
        }
        object
    };
    let (declared, other, guess, none) =
        ((Some("t"), false), (Some("u"), false), (Some("t"), true), (None, false));
    for (here, there, number) in [
        (declared, declared, 0),
        (declared, other, 1),
        (declared, none, 1),
        (none, declared, 1),
        (declared, guess, 1),
        (guess, declared, 1),
        (guess, (Some("u"), true), 0),
        (none, guess, 0),
    ] {
        let plan = plan(tree([("a", typed(here))]), tree([("a", typed(there))]), DELETE);
        assert_eq!((plan.attributes.len(), plan.transfer.len()), (number, 0));
    }
    let plan = plan(tree([("a", file(3, 9))]), tree([("a", typed(declared))]), DELETE);
    assert_eq!(plan.unchanged, 1);
}

/// Trees of the store with a few names, kinds, contents and descriptions.
fn any_tree() -> impl Strategy<Value = Tree> {
    let kind = prop_oneof![
        Just(directory()),
        Just(entry(EntryKind::Description, None, None)),
        "[xy]".prop_map(|target| entry(EntryKind::Link(target), None, None)),
        ("[xy]", "[tu]", 0..2_i64).prop_map(|(etag, media_type, second)| {
            let mut object = object(3, at(second));
            if let EntryKind::Object(resource) = &mut object.kind {
                (resource.etag, resource.media_type) = (Some(etag), Some(media_type));
            }
            object
        }),
    ];
    let entry = (kind, proptest::option::of("[de]"), "[0-9]{3}");
    let entry = entry
        .prop_map(|(entry, description, state)| described(entry, description.as_deref(), &state));
    proptest::collection::btree_map("[ab](/[ab])?", entry, 0..6).prop_map(|mut tree| {
        let collections = tree.clone();
        let in_one = |path: &str| path.split_once('/').map(|(above, _)| collections.get(above));
        tree.retain(|path, _| {
            in_one(path).is_none_or(|above| above.is_some_and(Entry::is_directory))
        });
        tree
    })
}

/// The target after a plan is carried out: kept and transferred items.
fn carried_out(plan: Plan, mut target: Tree) -> Tree {
    for gone in &plan.remove {
        let below = format!("{gone}/");
        target.retain(|path, _| path != gone && !path.starts_with(&below));
    }
    for Change { path, entry, expected_state } in
        plan.transfer.into_iter().chain(plan.attributes).chain(plan.descriptions)
    {
        let there = target.insert(path, entry);
        assert_eq!(
            there.and_then(|there| there.state),
            expected_state,
            "what is replaced was seen"
        );
    }
    target
}

proptest! {
    #[test]
    fn a_completed_plan_leaves_nothing_to_do(source in any_tree(), target in any_tree()) {
        let first = plan(source.clone(), target.clone(), DELETE);
        let second = plan(source, carried_out(first, target), DELETE);
        let left = [second.transfer, second.attributes, second.descriptions].map(|left| left.len());
        prop_assert_eq!((left, second.remove.len(), second.failures.len()), ([0; 3], 0, 0));
    }
}
