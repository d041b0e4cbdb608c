//! Versions: kept according to the collection, with their description, restored and pruned.

use cenote_store::{
    AccessChange, At, AttributeChange, BatchItem, BatchWhat, CopyOptions, ErrorKind, MoveOptions,
    Prune, PutOptions, RemoveOptions, Retention, Rights, Scope, Versioning, Where,
};

use crate::world::{World, assert_clean, at, kind, noise, path, world};

fn set(world: &World, what: &str, versioning: Versioning) {
    let change =
        AttributeChange { versioning: Some(Some(versioning)), ..AttributeChange::default() };
    world.store.set_attributes(&world.admin, &at(what), &change).unwrap();
}

fn each_change(keep: Option<u32>) -> World {
    let world = world();
    set(&world, "/", Versioning::EachChange(Retention { last: keep, ..Retention::default() }));
    world
}

fn numbers(world: &World, what: &str) -> Vec<u64> {
    let versions = world.store.versions(&world.admin, &at(what)).unwrap();
    versions.into_iter().map(|version| version.version).collect()
}

#[test]
fn versions_are_off_by_default() {
    let world = world();
    world.put("/a", b"1");
    world.put("/a", b"2");
    assert!(numbers(&world, "/a").is_empty());
    assert_eq!(kind(world.try_keep("/a", None)), ErrorKind::Invalid);
}

#[test]
fn on_request_keeps_the_requested_versions() {
    let world = world();
    set(&world, "/", Versioning::OnRequest(Retention::default()));
    world.put("/a", &noise(100, 1));
    let kept = world.try_keep("/a", Some("first")).unwrap();
    world.put("/a", b"2");
    world.put("/a", b"3");
    world.sweep();
    assert_eq!(numbers(&world, "/a"), [kept.version]);
    assert!(world.read_version("/a", kept.version) == noise(100, 1));
}

#[test]
fn each_change_keeps_the_replaced_state() {
    let world = each_change(None);
    world.put("/a", b"1");
    world.put("/a", b"22");
    world.write_at("/a", Where::Append, b"+").unwrap();
    world.truncate("/a", 1).unwrap();
    world.sweep();
    let bytes: Vec<_> = numbers(&world, "/a")
        .into_iter()
        .map(|version| world.read_version("/a", version))
        .collect();
    assert_eq!(bytes, [b"22+".to_vec(), b"22".to_vec(), b"1".to_vec()]);
    assert_eq!(world.read("/a"), b"2");
}

#[test]
fn the_nearest_collection_decides() {
    let world = each_change(None);
    world.mkdir("/off");
    set(&world, "/off", Versioning::Off);
    world.put("/off/a", b"1");
    world.put("/off/a", b"2");
    assert!(numbers(&world, "/off/a").is_empty());
}

#[test]
fn only_the_configured_number_of_newest_versions_is_kept() {
    let world = each_change(Some(2));
    (0..6).for_each(|n| drop(world.put("/a", &noise(100, n))));
    world.sweep();
    let kept = numbers(&world, "/a");
    assert_eq!(kept.len(), 2);
    assert!(world.read_version("/a", kept[0]) == noise(100, 4));
    assert!(world.read_version("/a", kept[1]) == noise(100, 3));
    assert_eq!(world.table(b'B').len(), 3, "what was pruned is swept");
}

#[test]
fn restoring_a_version_restores_content_and_description() {
    let world = each_change(None);
    world.put("/a", b"1");
    world.describe("/a", "state", "good");
    world.put("/a", b"2");
    let good = numbers(&world, "/a")[0];
    world.describe("/a", "state", "bad");
    let id = world.stat("/a").unwrap().id;
    let restored = world.store.restore_version(&world.admin, &At::Id(id), good).unwrap();
    assert_eq!(restored.id, id);
    assert_eq!(world.read("/a"), b"1");
    let values: Vec<_> = world.store.avus(&world.admin, &at("/a")).unwrap();
    assert_eq!(values.iter().map(|avu| avu.value.as_str()).collect::<Vec<_>>(), ["good"]);
    assert_eq!(
        world.read_version("/a", numbers(&world, "/a")[0]),
        b"2",
        "what was current is kept"
    );
    assert_eq!(
        kind(world.store.restore_version(&world.admin, &at("/a"), 999)),
        ErrorKind::NotFound
    );
}

#[test]
fn a_label_survives_the_change_after_it() {
    let world = each_change(None);
    world.put("/a", b"1");
    let kept = world.try_keep("/a", Some("published")).unwrap();
    world.put("/a", b"2");
    let versions = world.store.versions(&world.admin, &at("/a")).unwrap();
    assert_eq!(versions.len(), 1);
    assert_eq!(
        (versions[0].version, versions[0].label.as_deref()),
        (kept.version, Some("published"))
    );
}

#[test]
fn a_copy_over_an_object_keeps_its_former_state() {
    let world = each_change(None);
    world.put("/a", b"a");
    world.describe("/a", "of", "a");
    world.put("/b", b"b");
    world.describe("/b", "of", "b");
    let options = CopyOptions { replace: true, ..CopyOptions::default() };
    world.store.copy(&world.admin, &at("/a"), &path("/b"), options).unwrap();
    let kept = numbers(&world, "/b")[0];
    world.store.restore_version(&world.admin, &at("/b"), kept).unwrap();
    assert_eq!(world.read("/b"), b"b");
    assert_eq!(world.store.avus(&world.admin, &at("/b")).unwrap()[0].value, "b");
}

#[test]
fn pruning_keeps_contents_shared_with_others() {
    let world = each_change(None);
    world.put("/a", &noise(100, 1));
    world.cp("/a", "/b").unwrap();
    world.put("/a", &noise(100, 2));
    world.put("/a", &noise(100, 3));
    let all = numbers(&world, "/a");
    let prune = |prune| world.store.prune_versions(&world.admin, &at("/a"), &prune);
    assert_eq!(prune(Prune::One(all[1])).unwrap(), 1);
    assert_eq!(kind(prune(Prune::One(all[1]))), ErrorKind::NotFound);
    assert_eq!(prune(Prune::All(Retention::last(0))).unwrap(), 1);
    world.sweep();
    assert!(world.read("/b") == noise(100, 1) && world.read("/a") == noise(100, 3));
    assert_eq!(world.table(b'B').len(), 2);
    assert!(numbers(&world, "/a").is_empty());
    world.rm("/a").unwrap();
    world.rm("/b").unwrap();
    world.sweep();
    assert!(world.table(b'B').is_empty() && world.table(b'V').is_empty());
}

fn label(world: &World, what: &str, label: &str) -> u64 {
    world.try_keep(what, Some(label)).unwrap().version
}

#[test]
fn labelled_versions_are_not_pruned() {
    let world = each_change(Some(2));
    world.put("/a", &noise(100, 1));
    let paper = label(&world, "/a", "paper");
    (2..9).for_each(|n| drop(world.put("/a", &noise(100, n))));
    let kept = numbers(&world, "/a");
    assert_eq!((kept.len(), kept[2]), (3, paper), "two, and the one with the label");
    let prune = |prune| world.store.prune_versions(&world.admin, &at("/a"), &prune).unwrap();
    assert_eq!(prune(Prune::All(Retention::last(0))), 2);
    world.sweep();
    assert_eq!(numbers(&world, "/a"), [paper]);
    assert!(world.read_version("/a", paper) == noise(100, 1));
    assert_eq!(prune(Prune::One(paper)), 1, "by its number it goes");
}

#[test]
fn the_number_of_versions_is_limited_on_request_too() {
    let world = world();
    set(&world, "/", Versioning::OnRequest(Retention::last(2)));
    let keep = |label| world.try_keep("/a", label).unwrap().version;
    let mut kept = Vec::new();
    for n in 0..5 {
        world.put("/a", &noise(100, n));
        kept.push(keep(None));
    }
    assert_eq!(numbers(&world, "/a"), [kept[4], kept[3]]);
    world.put("/a", b"new");
    let paper = keep(Some("paper"));
    assert_eq!(numbers(&world, "/a"), [paper, kept[4], kept[3]]);
}

/// A store with versions of `/c/sub/x`, one of them with a label, and none of `/d/y`.
fn with_versions() -> World {
    let world = each_change(None);
    for folder in ["/c", "/c/sub", "/d"] {
        world.mkdir(folder);
    }
    world.put("/c/sub/x", b"1");
    label(&world, "/c/sub/x", "paper");
    world.put("/c/sub/x", b"2");
    world.put("/c/sub/x", b"3");
    world.put("/d/y", b"y");
    world
}

fn remove(world: &World, what: &str, versions: bool) -> cenote_store::Result<()> {
    let options = RemoveOptions { recursive: true, versions, ..RemoveOptions::default() };
    world.store.remove(&world.admin, &at(what), &options).map(drop)
}

#[test]
fn removing_a_resource_with_versions_has_to_be_requested() {
    let world = with_versions();
    let refused = remove(&world, "/c/sub/x", false).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotEmpty);
    let message = refused.to_string();
    assert!(
        message.contains("2 versions") && message.contains("paper") && message.contains("/c/sub/x"),
        "{message}"
    );
    for above in ["/c/sub", "/c"] {
        assert_eq!(kind(remove(&world, above, false)), ErrorKind::NotEmpty);
    }
    assert_eq!(numbers(&world, "/c/sub/x").len(), 2);
    remove(&world, "/d", false).unwrap();
    remove(&world, "/c", true).unwrap();
    world.sweep();
    assert!(world.table(b'V').is_empty());
    assert_clean(&world.store);
}

/// More than are examined one by one: resources with versions are examined instead.
#[test]
fn versions_are_found_below_a_large_collection() {
    let world = with_versions();
    let item = |n: usize, top: &str| BatchItem {
        path: path(&format!("{top}/{n}")),
        what: BatchWhat::Collection,
        options: PutOptions::default(),
    };
    for top in ["/c", "/d"] {
        for step in 0..11 {
            let items: Vec<_> = (step * 1_000..(step + 1) * 1_000).map(|n| item(n, top)).collect();
            world.store.publish_many(&world.admin, &items).unwrap();
        }
    }
    assert_eq!(kind(remove(&world, "/c", false)), ErrorKind::NotEmpty);
    remove(&world, "/d", false).unwrap();
}

#[test]
fn replacing_a_resource_with_versions_has_to_be_requested() {
    let world = with_versions();
    let over = |versions| {
        let options = MoveOptions { replace: true, versions, ..MoveOptions::default() };
        world.store.relocate(&world.admin, &at("/d/y"), &path("/c/sub/x"), options)
    };
    assert_eq!(kind(over(false)), ErrorKind::NotEmpty);
    assert_eq!((world.read("/c/sub/x"), world.read("/d/y")), (b"3".to_vec(), b"y".to_vec()));
    over(true).unwrap();
    assert_eq!(world.read("/c/sub/x"), b"y");
    // A moved resource keeps its versions, without any option.
    let world = with_versions();
    world.mv("/c/sub/x", "/d/x").unwrap();
    assert_eq!(numbers(&world, "/d/x").len(), 2);
}

#[test]
fn restoring_the_oldest_kept_version_loses_nothing() {
    let world = each_change(Some(1));
    world.put("/a", &noise(100, 1));
    world.put("/a", &noise(100, 2));
    let oldest = numbers(&world, "/a")[0];
    world.store.restore_version(&world.admin, &at("/a"), oldest).unwrap();
    world.sweep();
    assert!(world.read("/a") == noise(100, 1));
    assert!(world.read_version("/a", numbers(&world, "/a")[0]) == noise(100, 2));
}

#[test]
fn versions_require_the_rights_of_their_operations() {
    let world = each_change(None);
    world.put("/a", b"1");
    world.put("/a", b"2");
    let version = numbers(&world, "/a")[0];
    let user = world.user("reader");
    let grant = |rights: Rights| {
        let change = [AccessChange::Grant("reader".into(), rights.into(), Scope::This)];
        world.store.change_access(&world.admin, &at("/a"), &change).unwrap();
    };
    assert_eq!(kind(world.store.versions(&user, &at("/a"))), ErrorKind::NotFound);
    grant(Rights::READ_OBJECT);
    assert_eq!(world.store.versions(&user, &at("/a")).unwrap().len(), 1);
    assert_eq!(kind(world.store.restore_version(&user, &at("/a"), version)), ErrorKind::Denied);
    grant(Rights::MODIFY_OBJECT);
    world.store.restore_version(&user, &at("/a"), version).unwrap();
    let prune = Prune::One(version);
    assert_eq!(kind(world.store.prune_versions(&user, &at("/a"), &prune)), ErrorKind::Denied);
}
