//! The tree: names, ids, moves, copies, removals, listings.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

use cenote_blob::Place;
use cenote_kv::{Batch, CommitError, Engine, Limits, MemoryEngine, Snapshot, Token, Version};
use cenote_store::{
    At, AvuChange, Conditions, CopyOptions, CreateOptions, Draft, ErrorKind, Kind, ListOptions,
    MoveOptions, Name, PutOptions, RemoveOptions, ResourceId, StorePath, WalkCursor,
};
use proptest::prelude::*;

use crate::world::{at, cases, kind, path, world, world_on};

#[test]
fn an_id_never_changes_and_never_returns() {
    let world = world();
    let mut seen = BTreeSet::new();
    for round in 0..3 {
        let world = world.reopened();
        let stat = world.put("/a", b"x");
        assert!(seen.insert(stat.id), "round {round} gave an id again");
        assert_eq!(world.put("/a", b"y").id, stat.id);
        assert_eq!(world.mv("/a", "/b").unwrap().id, stat.id);
        world.rm("/b").unwrap();
        assert_eq!(kind(world.store.stat(&world.admin, &At::Id(stat.id))), ErrorKind::NotFound);
    }
}

#[test]
fn a_rename_costs_one_commit_whatever_is_below() {
    let changed_keys = |children: usize| {
        let world = world();
        world.mkdir("/a");
        (0..children).for_each(|n| drop(world.put(&format!("/a/{n}"), b"x")));
        let before: BTreeSet<_> = world.rows().into_iter().collect();
        world.mv("/a", "/b").unwrap();
        let after: BTreeSet<_> = world.rows().into_iter().collect();
        assert_eq!(world.read("/b/0"), b"x");
        before.symmetric_difference(&after).count()
    };
    assert_eq!(changed_keys(1), changed_keys(200));
}

#[test]
fn a_collection_cannot_move_into_itself() {
    let world = world();
    world.mkdir("/a");
    world.mkdir("/a/b");
    assert_eq!(kind(world.mv("/a", "/a/b/c")), ErrorKind::Invalid);
    assert_eq!(kind(world.mv("/a", "/a/c")), ErrorKind::Invalid);
    assert_eq!(kind(world.mv("/", "/a/c")), ErrorKind::Invalid);
    let parents = MoveOptions { parents: true, ..MoveOptions::default() };
    let moved = world.store.relocate(&world.admin, &at("/a"), &path("/a/new/c"), parents);
    assert_eq!(kind(moved), ErrorKind::Invalid);
    assert_eq!(world.names("/a"), ["b"]);
}

#[test]
fn of_two_moves_that_would_form_a_cycle_one_fails() {
    for _ in 0..50 {
        let world = world();
        world.mkdir("/a");
        world.mkdir("/b");
        let start = Barrier::new(2);
        let moved: Vec<_> = thread::scope(|scope| {
            let moves = [("/a", "/b/a"), ("/b", "/a/b")].map(|(from, to)| {
                let (world, start) = (&world, &start);
                scope.spawn(move || {
                    start.wait();
                    world.mv(from, to).is_ok()
                })
            });
            moves.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(moved.iter().filter(|moved| **moved).count(), 1);
        let walk = world.store.walk(&world.admin, &at("/"), None, 10).unwrap();
        assert_eq!(walk.entries.len(), 2, "nothing is lost in a ring");
    }
}

#[test]
fn concurrent_creations_of_one_name_create_one_resource() {
    let world = world();
    let made: usize = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| world.try_mkdir(&world.admin, "/a").is_ok())).collect();
        threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
    });
    assert_eq!(made, 1);
}

#[test]
fn a_move_replaces_only_permitted_targets() {
    let world = world();
    let replace = MoveOptions { replace: true, ..MoveOptions::default() };
    let mv =
        |from: &str, to: &str| world.store.relocate(&world.admin, &at(from), &path(to), replace);
    world.put("/a", b"a");
    world.put("/b", b"b");
    world.mkdir("/empty");
    world.mkdir("/full");
    world.put("/full/x", b"x");
    assert_eq!(kind(world.mv("/a", "/b")), ErrorKind::Exists);
    let a = world.stat("/a").unwrap().id;
    assert_eq!(mv("/a", "/b").unwrap().id, a);
    assert_eq!(world.read("/b"), b"a");
    assert_eq!(kind(world.stat("/a")), ErrorKind::NotFound);
    assert_eq!(kind(mv("/b", "/empty")), ErrorKind::WrongKind);
    assert_eq!(kind(mv("/full", "/b")), ErrorKind::WrongKind);
    assert_eq!(kind(mv("/empty", "/full")), ErrorKind::NotEmpty);
    mv("/full", "/empty").unwrap();
    assert_eq!(world.names("/empty"), ["x"]);
    assert_eq!(kind(mv("/empty/x", "/empty")), ErrorKind::WrongKind);
    assert_eq!(mv("/empty", "/empty").unwrap().path, path("/empty"));
}

#[test]
fn creation_if_absent_and_with_parents() {
    let world = world();
    let plain = CreateOptions::default();
    let create =
        |to: &str, options| world.store.create(&world.admin, &path(to), Draft::Collection, options);
    assert_eq!(kind(create("/a/b", plain)), ErrorKind::NotFound);
    create("/a/b", CreateOptions { parents: true, ..plain }).unwrap();
    assert_eq!(kind(create("/a/b", plain)), ErrorKind::Exists);
    let first = world.stat("/a/b").unwrap();
    assert_eq!(create("/a/b", CreateOptions { exist_ok: true, ..plain }).unwrap(), first);
    world.put("/f", b"");
    assert_eq!(kind(create("/f", CreateOptions { exist_ok: true, ..plain })), ErrorKind::Exists);
    assert_eq!(
        kind(create("/f/x", CreateOptions { parents: true, ..plain })),
        ErrorKind::WrongKind
    );
    assert_eq!(kind(create("/", plain)), ErrorKind::Exists);
}

#[test]
fn every_kind_of_resource_keeps_its_properties() {
    let world = world();
    let create = |to: &str, draft| {
        world.store.create(&world.admin, &path(to), draft, CreateOptions::default()).unwrap()
    };
    let link = create("/l", Draft::Link("../x".into()));
    assert_eq!((link.resource.kind, link.resource.target.as_deref()), (Kind::Link, Some("../x")));
    assert_eq!(create("/d", Draft::Description).resource.kind, Kind::Description);
    for what in ["/l", "/d", "/"] {
        assert_eq!(kind(world.try_read(&world.admin, what)), ErrorKind::WrongKind);
        assert_eq!(
            kind(world.try_put(&world.admin, what, b"", PutOptions::default())),
            ErrorKind::WrongKind
        );
    }
    for target in [String::new(), "x".repeat(4_097), "a\0b".into()] {
        let options = CreateOptions::default();
        let made = world.store.create(&world.admin, &path("/m"), Draft::Link(target), options);
        assert_eq!(kind(made), ErrorKind::Invalid);
    }
}

#[test]
fn a_removed_tree_disappears_immediately_and_is_swept_later() {
    let world = world();
    for n in 0..600 {
        let options = PutOptions { parents: true, ..PutOptions::default() };
        world.try_put(&world.admin, &format!("/a/{}/{}/{n}", n % 3, n % 7), b"x", options).unwrap();
    }
    let inside = world.stat("/a/0/0/0").unwrap().id;
    assert_eq!(kind(world.rm("/a")), ErrorKind::NotEmpty);
    world.rm_all("/a").unwrap();
    assert_eq!(kind(world.stat("/a/0/0/0")), ErrorKind::NotFound);
    assert_eq!(kind(world.store.stat(&world.admin, &At::Id(inside))), ErrorKind::NotFound);
    world.put("/a", b"the name is free");
    let world = world.reopened();
    assert_eq!(world.store.pending_jobs().unwrap(), 1);
    assert_eq!(world.store.run_jobs().unwrap(), 600 + 21 + 3 + 1);
    assert_eq!(world.store.pending_jobs().unwrap(), 0);
    assert_eq!((world.table(b'N').len(), world.table(b'C').len()), (2, 1));
    world.rm("/a").unwrap();
    assert!(world.table(b'c').is_empty(), "every counter is back at zero");
}

#[test]
fn a_removal_may_depend_on_the_state() {
    let world = world();
    let old = world.put("/a", b"x").state_tag();
    let new = world.put("/a", b"y").state_tag();
    let remove = |tag: String| {
        let options = RemoveOptions { if_match: Some(tag), ..RemoveOptions::default() };
        world.store.remove(&world.admin, &at("/a"), &options)
    };
    assert_eq!(kind(remove(old)), ErrorKind::Precondition);
    remove(new).unwrap();
    assert_eq!(kind(world.rm("/")), ErrorKind::Invalid);
}

#[test]
fn a_copy_shares_contents_and_is_independent() {
    let world = world();
    world.put("/a", &[7; 1_000]);
    world.describe("/a", "colour", "red");
    world.cp("/a", "/b").unwrap();
    assert_eq!(world.table(b'B').len(), 1, "the bytes are kept once");
    assert_eq!(world.store.avus(&world.admin, &at("/b")).unwrap()[0].value, "red");
    world.put("/a", b"new");
    assert_eq!(world.read("/b"), [7; 1_000]);
    world.sweep();
    assert_eq!(world.read("/b"), [7; 1_000]);
    world.rm("/b").unwrap();
    world.sweep();
    assert!(world.table(b'B').is_empty());
}

#[test]
fn a_copy_of_a_tree_can_be_run_again() {
    let world = world();
    world.mkdir("/a");
    world.mkdir("/a/sub");
    world.put("/a/sub/x", b"x");
    assert_eq!(kind(world.cp("/a", "/b")), ErrorKind::WrongKind);
    let copy = |to: &str, replace| {
        let options = CopyOptions { recursive: true, replace, ..CopyOptions::default() };
        world.store.copy(&world.admin, &at("/a"), &path(to), options)
    };
    copy("/b", false).unwrap();
    assert_eq!(world.read("/b/sub/x"), b"x");
    assert_eq!(kind(copy("/b", false)), ErrorKind::Exists);
    copy("/b", true).unwrap();
    assert_eq!(kind(copy("/a/sub/y", false)), ErrorKind::Invalid);
    assert_eq!(kind(world.cp("/a/sub/x", "/a/sub/x")), ErrorKind::Exists);
}

#[test]
fn a_copy_over_a_link_makes_it_the_same_link() {
    let world = world();
    for (name, target) in [("/a", "there"), ("/b", "elsewhere")] {
        let draft = Draft::Link(target.into());
        world.store.create(&world.admin, &path(name), draft, CreateOptions::default()).unwrap();
    }
    let options = CopyOptions { replace: true, ..CopyOptions::default() };
    world.store.copy(&world.admin, &at("/a"), &path("/b"), options).unwrap();
    assert_eq!(world.stat("/b").unwrap().resource.target.as_deref(), Some("there"));
}

#[test]
fn a_listing_pages_from_any_name() {
    let world = world();
    for name in ["b", "d", "é", "a b", "Z"] {
        world.put(&format!("/{name}"), b"");
    }
    let list = |after: Option<&str>, limit| {
        let after = after.map(|name| Name::new(name).unwrap());
        let page = world.store.list(&world.admin, &at("/"), &ListOptions { after, limit }).unwrap();
        let names: Vec<_> = page.entries.into_iter().map(|entry| entry.resource.name).collect();
        (names, page.next.map(|name| name.to_string()))
    };
    assert_eq!(list(None, 2), (vec!["Z".into(), "a b".into()], Some("a b".into())));
    assert_eq!(list(Some("c"), 1), (vec!["d".into()], Some("d".into())));
    assert_eq!(list(Some("d"), 10), (vec!["é".into()], None));
    assert_eq!(list(Some("zz"), 0).0, ["é"]);
    world.put("/file", b"");
    let listed = world.store.list(&world.admin, &at("/file"), &ListOptions::default());
    assert_eq!(kind(listed), ErrorKind::WrongKind);
}

#[test]
fn stat_many_returns_an_outcome_for_each_resource() {
    let world = world();
    let a = world.put("/a", b"x");
    let answers = world.store.stat_many(&world.admin, &[at("/a"), at("/b"), At::Id(a.id)]).unwrap();
    assert_eq!(answers[0].as_ref().unwrap(), &a);
    assert_eq!(answers[1].as_ref().unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(answers[2].as_ref().unwrap(), &a);
}

#[test]
fn both_tags_change_with_what_they_represent() {
    let world = world();
    let first = world.put("/a", b"x");
    let described = world.describe("/a", "k", "v");
    assert_eq!(first.content_tag(), described.content_tag());
    assert_ne!(first.state_tag(), described.state_tag());
    let written = world.put("/a", b"y");
    assert_ne!(written.content_tag(), described.content_tag());
    assert_ne!(written.state_tag(), described.state_tag());
}

/// A small tree, as the set of its paths.
fn trees() -> impl Strategy<Value = BTreeSet<String>> {
    proptest::collection::btree_set("(/[ab]|/a b|/a-){1,4}", 0..12)
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn a_walk_continues_from_any_path(tree in trees(), limit in 1usize..5, from in "(/[ab]|/a b){0,3}") {
        let world = world();
        let parents = CreateOptions { parents: true, exist_ok: true, ..CreateOptions::default() };
        for each in &tree {
            world.store.create(&world.admin, &path(each), Draft::Collection, parents).unwrap();
        }
        let all = world.store.walk(&world.admin, &at("/"), None, 10_000).unwrap().entries;
        let paths: Vec<StorePath> = all.iter().map(|stat| stat.path.clone()).collect();
        prop_assert!(paths.is_sorted());
        let expected: BTreeSet<_> = tree.iter().flat_map(|each| prefixes(&path(each))).collect();
        prop_assert_eq!(paths.iter().cloned().collect::<BTreeSet<_>>(), expected);

        let start = if from.is_empty() { StorePath::root() } else { path(&from) };
        let mut after = WalkCursor::after(&StorePath::root(), &start);
        let mut walked = Vec::new();
        while let Some(place) = after {
            let page = world.store.walk(&world.admin, &at("/"), Some(&place), limit).unwrap();
            walked.extend(page.entries.into_iter().map(|stat| stat.path));
            after = page.next;
        }
        let later: Vec<_> = paths.into_iter().filter(|path| *path > start).collect();
        prop_assert_eq!(walked, later);
    }

    #[test]
    fn pages_of_a_listing_include_every_lasting_entry(
        names in proptest::collection::btree_set("[a-c]{1,3}", 1..20),
        limit in 1usize..4,
        changes in proptest::collection::vec((any::<bool>(), "[a-c]{1,3}"), 0..20),
    ) {
        let world = world();
        names.iter().for_each(|name| drop(world.put(&format!("/{name}"), b"")));
        let mut stay = names.clone();
        let (mut seen, mut after, mut changes) = (Vec::new(), None, changes.into_iter());
        loop {
            let page = world.store.list(&world.admin, &at("/"), &ListOptions { after, limit }).unwrap();
            seen.extend(page.entries.into_iter().map(|entry| entry.resource.name));
            if let Some((create, name)) = changes.next() {
                stay.remove(&name);
                let to = format!("/{name}");
                if create { world.put(&to, b""); } else { let _ = world.rm(&to); }
            }
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        prop_assert!(seen.is_sorted());
        prop_assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), seen.len(), "nothing twice");
        prop_assert!(stay.iter().all(|name| seen.contains(name)));
    }
}

fn prefixes(path: &StorePath) -> Vec<StorePath> {
    let mut all = Vec::new();
    let mut next = Some(path.clone());
    while let Some(path) = next.filter(|path| !path.names().is_empty()) {
        next = path.split_last().map(|(above, _)| above);
        all.push(path);
    }
    all
}

/// Accepts only small commits.
#[derive(Debug)]
struct SmallCommits(MemoryEngine);

impl Engine for SmallCommits {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn snapshot(&self) -> cenote_kv::Result<Box<dyn Snapshot>> {
        self.0.snapshot()
    }

    fn commit(&self, batch: Batch) -> Result<Version, CommitError> {
        self.limits().check(&batch)?;
        self.0.commit(batch)
    }

    fn outcome(&self, token: &Token) -> cenote_kv::Result<Option<Version>> {
        self.0.outcome(token)
    }

    fn limits(&self) -> Limits {
        Limits { batch: 16 << 10, ..Limits::default() }
    }
}

#[test]
fn a_sweep_keeps_to_the_size_of_a_commit() {
    let world = world_on(SmallCommits(MemoryEngine::new()), Place::memory("main"));
    world.mkdir("/a");
    for n in 0..100 {
        let name = format!("/a/{n}");
        world.put(&name, b"");
        let words: Vec<_> =
            (0..20).map(|n| AvuChange::Add(crate::world::avu("k", &n.to_string()))).collect();
        let conditions = Conditions::default();
        world.store.change_avus(&world.admin, &at(&name), &words, &conditions).unwrap();
    }
    world.rm_all("/a").unwrap();
    assert_eq!(world.store.run_jobs().unwrap(), 101);
    assert!(world.table(b'I').is_empty());
}

#[test]
fn a_collection_id_and_a_name_are_equivalent_to_a_path() {
    use cenote_store::{At, CopyOptions, Name};
    let world = world();
    let (store, admin) = (&world.store, &world.admin);
    let collection = world.mkdir("/c").id;
    let child = |name: &str| At::Child(collection, Name::new(name).unwrap());
    // Whatever the current name of the collection.
    world.mv("/c", "/moved").unwrap();
    let made = store.create(admin, &child("d"), Draft::Collection, Default::default()).unwrap();
    assert_eq!(made.path, path("/moved/d"));
    world.put("/a", b"1");
    store.copy(admin, &at("/a"), &child("copy"), CopyOptions::default()).unwrap();
    store.relocate(admin, &at("/a"), &child("a"), Default::default()).unwrap();
    let deep = CopyOptions { recursive: true, ..CopyOptions::default() };
    let outside = At::Child(ResourceId::ROOT, Name::new("again").unwrap());
    store.copy(admin, &At::Id(collection), &outside, deep.clone()).unwrap();
    assert_eq!((world.names("/moved"), world.names("/again")).0, ["a", "copy", "d"]);
    assert_eq!(world.names("/again"), ["a", "copy", "d"]);
    assert_eq!(store.stat(admin, &child("a")).unwrap().path, path("/moved/a"));
    let refused = |to: At| kind(store.create(admin, &to, Draft::Collection, Default::default()));
    assert_eq!(refused(child("a")), ErrorKind::Exists);
    assert_eq!(refused(At::Id(collection)), ErrorKind::Invalid);
    assert_eq!(
        refused(At::Child(ResourceId(1 << 40), Name::new("x").unwrap())),
        ErrorKind::NotFound
    );
    let object = store.stat(admin, &child("a")).unwrap().id;
    assert_eq!(refused(At::Child(object, Name::new("x").unwrap())), ErrorKind::WrongKind);
    assert_eq!(
        kind(store.copy(admin, &At::Id(collection), &child("in itself"), deep)),
        ErrorKind::Invalid
    );
    assert_eq!(
        kind(store.relocate(admin, &At::Id(collection), &child("ring"), Default::default())),
        ErrorKind::Invalid
    );
    // A collection that is hidden is missing.
    let user = world.user("u");
    let hidden = kind(store.create(&user, &child("x"), Draft::Collection, Default::default()));
    assert_eq!(hidden, ErrorKind::NotFound);
    world.rm_all("/moved").unwrap();
    assert_eq!(refused(child("late")), ErrorKind::NotFound);
}
