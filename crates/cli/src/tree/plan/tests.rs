use jiff::Timestamp;

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

const DELETE: Rules = Rules { checksum: false, delete: true };

#[test]
fn what_is_the_same_is_left_alone() {
    let plan = plan(
        tree([("d", directory()), ("d/a", file(3, 9))]),
        tree([("d", directory()), ("d/a", object(3, at(9)))]),
        DELETE,
    );
    assert_eq!((plan.transfer.len(), plan.remove.len(), plan.attributes.len()), (0, 0, 0));
    assert_eq!(plan.unchanged, 1);
}

#[test]
fn another_size_or_time_is_another_content() {
    for there in [object(4, at(9)), object(3, at(8)), object(3, None)] {
        let plan = plan(tree([("a", file(3, 9))]), tree([("a", there)]), Rules::default());
        assert_eq!(paths(&plan.transfer), ["a"]);
    }
}

#[test]
fn another_mode_is_no_other_content() {
    let mut there = object(3, at(9));
    there.mode = Some(0o600);
    let plan = plan(tree([("a", file(3, 9))]), tree([("a", there)]), Rules::default());
    assert_eq!((paths(&plan.attributes), paths(&plan.transfer)), (vec!["a"], vec![]));
}

#[test]
fn what_only_the_target_has_goes_only_if_told_and_only_once() {
    let target =
        || tree([("d", directory()), ("d/a", object(1, None)), ("d.txt", object(1, None))]);
    assert_eq!(plan(Tree::new(), target(), Rules::default()).remove, [""; 0]);
    let mut removed = plan(Tree::new(), target(), DELETE).remove;
    removed.sort();
    assert_eq!(removed, ["d", "d.txt"]);
}

#[test]
fn something_of_another_kind_is_in_the_way_unless_it_may_go() {
    let (source, target) =
        (tree([("a", file(1, 1))]), tree([("a", directory()), ("a/b", object(1, None))]));
    let refused = plan(source.clone(), target.clone(), Rules::default());
    assert_eq!((refused.failures.len(), refused.transfer.len()), (1, 0));
    let replaced = plan(source, target, DELETE);
    assert_eq!((replaced.remove, paths(&replaced.transfer)), (vec!["a".to_owned()], vec!["a"]));
}

#[test]
fn bytes_decide_where_asked_or_where_a_time_is_missing() {
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
    let checksum = Rules { checksum: true, delete: false };
    let run = |there, rules| plan(tree([("a", here())]), tree([("a", there)]), rules);
    assert_eq!(run(there(b"abd", mtime), Rules::default()).transfer.len(), 0);
    assert_eq!(run(there(b"abd", mtime), checksum).transfer.len(), 1);
    assert_eq!(run(there(b"abc", None), Rules::default()).transfer.len(), 0);
    assert_eq!(run(there(b"abd", None), Rules::default()).transfer.len(), 1);
}

#[test]
fn objects_are_the_same_by_their_bytes_or_by_the_content_that_they_share() {
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
fn a_link_that_points_elsewhere_is_replaced() {
    let link = |to: &str| entry(EntryKind::Link(to.to_owned()), None, None);
    let plan = plan(tree([("l", link("a"))]), tree([("l", link("b"))]), DELETE);
    assert_eq!((plan.remove, paths(&plan.transfer)), (vec!["l".to_owned()], vec!["l"]));
}
