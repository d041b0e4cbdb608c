//! Trees deeper than the limit for new resources.

use bytes::Bytes;
use cenote_store::{
    At, CheckOptions, Comparison, Condition, CopyOptions, CreateOptions, Draft, ErrorKind,
    ListOptions, NamedEntry, Query, ResourceId, StorePath, WalkCursor,
};

use crate::raw::{key, named};
use crate::world::{World, assert_clean, at, findings, kind, path, world};

/// Levels of each of the trees that are put below one another.
const LEVELS: usize = StorePath::MAX_DEPTH - 1;
/// The number of trees.
const TREES: usize = 3;

/// Creates this many nested collections, and returns the innermost.
fn mkdirs(world: &World, top: &str, levels: usize) -> ResourceId {
    let to = path(&format!("/{top}{}", "/d".repeat(levels - 1)));
    let options = CreateOptions { parents: true, ..CreateOptions::default() };
    world.store.create(&world.admin, &to, Draft::Collection, options).unwrap().id
}

/// Moves a collection at the top of the tree as earlier versions did, whatever the resulting depth.
fn graft(world: &World, top: &str, below: ResourceId) {
    let (id, entry) = (world.id(&format!("/{top}")), named(b'C', &[1], top.as_bytes()));
    let mut record = world.value(&key(b'N', &[id])).to_vec();
    // A frame, the head of an array, and the id of the collection above: `docs/format.md`.
    let (head, rest) = (if record[5] == 0x98 { 2 } else { 1 }, 1);
    assert_eq!(record[5 + head], 1, "below the root");
    let parent = u16::try_from(below.0).unwrap().to_be_bytes();
    record.splice(5 + head..5 + head + rest, [0x19, parent[0], parent[1]]);
    let checksum = crc32c::crc32c(&record[5..]).to_le_bytes();
    record[1..5].copy_from_slice(&checksum);
    world.raw_put(named(b'C', &[below.0], top.as_bytes()), world.value(&entry));
    world.raw_delete(&entry);
    world.raw_put(key(b'N', &[id]), Bytes::from(record));
}

/// A tree of more than seven hundred levels between others, with an object in the innermost collection.
fn deep() -> (World, ResourceId) {
    let world = world();
    let mut innermost = mkdirs(&world, "t0", LEVELS);
    for tree in 1..TREES {
        let top = format!("t{tree}");
        let next = mkdirs(&world, &top, LEVELS);
        if tree == TREES - 1 {
            let below = format!("/{top}{}", "/d".repeat(LEVELS - 1));
            world.put(&format!("{below}/leaf"), b"leaf");
            world.describe(&format!("{below}/leaf"), "k", "v");
        }
        graft(&world, &top, innermost);
        innermost = next;
    }
    for other in ["/a", "/z"] {
        world.put(other, b"beside");
        world.describe(other, "k", "v");
    }
    findings(&world.store, CheckOptions { repair: true, contents: 0 });
    assert_clean(&world.store);
    let stat = world.store.list(&world.admin, &At::Id(innermost), &ListOptions::default()).unwrap();
    let leaf = stat.entries[0].id;
    (world, leaf)
}

/// The number of resources.
const ALL: usize = LEVELS * TREES + 3;

/// All paths in the pages, as requested by an opening.
fn paths<T>(mut page: impl FnMut(Option<T>) -> (Vec<StorePath>, Option<T>)) -> Vec<StorePath> {
    let (mut all, mut next) = page(None);
    while next.is_some() {
        let (more, after) = page(next);
        all.extend(more);
        next = after;
    }
    all
}

#[test]
fn every_traversal_of_a_deep_tree_terminates() {
    let (world, leaf) = deep();
    let (store, admin) = (&world.store, &world.admin);
    let walked = paths(|after: Option<WalkCursor>| {
        let page = store.walk(admin, &at("/"), after.as_ref(), 200).unwrap();
        (page.entries.into_iter().map(|entry| entry.path).collect(), page.next)
    });
    assert_eq!((walked.len(), walked[0].to_string()), (ALL, "/a".to_owned()));
    assert_eq!(
        (walked[ALL - 1].to_string(), walked[ALL - 2].names().len()),
        ("/z".to_owned(), LEVELS * TREES + 1)
    );
    let mut named = paths(|after: Option<NamedEntry>| {
        let page = store.names(admin, &at("/"), true, after.as_ref(), 200).unwrap();
        (page.entries.into_iter().map(|entry| entry.path).collect(), page.next)
    });
    named.sort();
    assert_eq!(named, walked);
    assert_eq!(store.usage(admin, &at("/")).unwrap().collections as usize, LEVELS * TREES);
    for (condition, name) in [(Some("k"), None), (None, Some("{leaf,a,z}"))] {
        let found = paths(|after| {
            let condition = condition.map(|attribute| Condition {
                attribute: attribute.into(),
                comparison: Comparison::Exists,
                value: String::new(),
                unit: None,
            });
            let query = Query {
                under: at("/"),
                conditions: condition.into_iter().collect(),
                name: name.map(str::to_owned),
                kind: None,
                text: None,
                after,
                limit: 2,
                effort: Query::EFFORT,
            };
            let page = store.search(admin, &query).unwrap();
            (page.items.into_iter().map(|stat| stat.path).collect(), page.next)
        });
        assert_eq!(found.len(), 3, "{condition:?} {name:?}");
    }
    let by_path = store.stat(admin, &At::Path(walked[ALL - 2].clone())).unwrap();
    assert_eq!(by_path.id, leaf);
    world.rm_all("/t0").unwrap();
    world.sweep();
    assert_eq!(world.table(b'N').len(), 3);
    assert_clean(store);
}

#[test]
fn nothing_is_created_moved_or_copied_beyond_the_maximum_depth() {
    let world = world();
    let (deepest, far) = (mkdirs(&world, "a", StorePath::MAX_DEPTH), StorePath::MAX_DEPTH - 5);
    mkdirs(&world, "b", 5);
    mkdirs(&world, "c", 6);
    world.put("/x", b"x");
    let below = |levels: usize, name: &str| format!("/a{}/{name}", "/d".repeat(levels - 1));
    let before = world.rows();
    let recursive = CopyOptions { recursive: true, ..CopyOptions::default() };
    for to in [below(far, "c"), below(far + 1, "b"), below(StorePath::MAX_DEPTH, "x")] {
        let from = at(&format!("/{}", to.rsplit('/').next().unwrap()));
        let copied = world.store.copy(&world.admin, &from, &path(&to), recursive.clone());
        assert_eq!(kind(copied), ErrorKind::Invalid, "{to}");
        assert_eq!(kind(world.mv(&from.to_string(), &to)), ErrorKind::Invalid, "{to}");
    }
    let deeper = below(StorePath::MAX_DEPTH, "x");
    assert_eq!(kind(world.try_mkdir(&world.admin, &deeper)), ErrorKind::Invalid);
    assert_eq!(world.rows(), before);
    assert_eq!(world.mv("/b", &below(far, "b")).unwrap().path, path(&below(far, "b")));
    assert_eq!(world.stat(&below(StorePath::MAX_DEPTH - 1, "d")).unwrap().id, deepest);
}

#[test]
fn resources_that_are_too_deep_may_be_moved_no_deeper() {
    let (world, leaf) = deep();
    world.mv("/t0", "/renamed").unwrap();
    mkdirs(&world, "b", 1);
    assert_eq!(kind(world.mv("/renamed", "/b/t0")), ErrorKind::Invalid);
    let stat = world.store.stat(&world.admin, &At::Id(leaf)).unwrap();
    assert_eq!(stat.path.names().len(), LEVELS * TREES + 1);
    let up =
        world.store.relocate(&world.admin, &At::Id(leaf), &path("/b/leaf"), Default::default());
    assert_eq!(up.unwrap().path, path("/b/leaf"));
}
