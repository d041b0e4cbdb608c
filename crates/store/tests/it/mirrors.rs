//! Keeping descriptions in sync: their tags, and copying the description of one resource to
//! another.

use cenote_store::{
    AccessChange, AttributeChange, ChangeKind, Conditions, CopyOptions, ErrorKind, Graph,
    PutOptions, Rights, Scope, Stat, Statement, Term, Time, description_tag,
};
use proptest::collection::btree_set;
use proptest::prelude::*;

use crate::world::{World, at, cases, kind, path, world};

fn copy(world: &World, from: &str, to: &str, tag: Option<&str>) -> cenote_store::Result<Stat> {
    let conditions = Conditions { if_match: tag.map(str::to_owned), ..Conditions::default() };
    world.store.copy_description(&world.admin, &at(from), &at(to), &conditions)
}

fn graph(world: &World, of: &str) -> Graph {
    world.store.graph(&world.admin, &at(of)).unwrap().1
}

fn set(world: &World, on: &str, graph: &Graph) -> Stat {
    let any = Conditions::default();
    world.store.change_graph(&world.admin, &at(on), &any, |_| Ok(graph.clone())).unwrap()
}

fn statement() -> impl Strategy<Value = Statement> {
    let subject = prop_oneof![Just(None), Just(Some("_:b".to_owned()))];
    let object = prop_oneof![
        "[ab]{0,2}".prop_map(Term::string),
        "[ab]{0,2}".prop_map(Term::Iri),
        "[ab]{1,2}".prop_map(Term::Blank),
    ];
    let unit = proptest::option::of("[mK]");
    (subject, "urn:[ab]", object, unit).prop_map(|(subject, predicate, object, unit)| Statement {
        subject,
        predicate,
        object,
        unit,
    })
}

proptest! {
    #[test]
    fn descriptions_are_equal_if_and_only_if_their_tags_are(
        one in btree_set(statement(), 0..3), two in btree_set(statement(), 0..3),
    ) {
        let tags = [&one, &two].map(description_tag);
        prop_assert_eq!(tags[0] == tags[1], one == two);
        prop_assert_eq!(tags[0].is_none(), one.is_empty());
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_copy_of_a_description_is_complete(
        one in btree_set(statement(), 0..5), two in btree_set(statement(), 0..5),
    ) {
        let world = world();
        world.put("/a", b"a");
        world.mkdir("/b");
        set(&world, "/a", &one);
        let before = set(&world, "/b", &two);
        let after = copy(&world, "/a", "/b", Some(&before.state_tag())).unwrap();
        prop_assert_eq!(graph(&world, "/b"), one.clone());
        prop_assert_eq!(after.state_tag() == before.state_tag(), one == two);
        crate::world::assert_clean(&world.store);
    }
}

#[test]
fn copying_a_description_copies_mode_time_and_media_type_and_nothing_else() {
    let world = world();
    let text = PutOptions { media_type: Some("text/x".into()), ..PutOptions::default() };
    world.try_put(&world.admin, "/a", b"a", text).unwrap();
    world.put("/b", b"b");
    let change = AttributeChange { mode: Some(0o600), ..AttributeChange::default() };
    world.store.set_attributes(&world.admin, &at("/a"), &change).unwrap();
    let time = Some(Time::from_secs(7));
    let change = AttributeChange { mtime: time, ..AttributeChange::default() };
    let before = world.store.set_attributes(&world.admin, &at("/b"), &change).unwrap();
    let after = copy(&world, "/a", "/b", None).unwrap().resource;
    assert_eq!((after.mode, after.mtime), (Some(0o600), time), "what /a does not say, stays");
    assert_eq!(after.content.as_ref().unwrap().media_type.as_deref(), Some("text/x"));
    assert_eq!((world.read("/b"), after.access), (b"b".to_vec(), before.resource.access));
    assert_eq!(copy(&world, "/a", "/b", None).unwrap().resource.revision, after.revision);
}

#[test]
fn a_concurrently_changed_description_is_not_replaced() {
    let world = world();
    world.put("/a", b"");
    world.describe("/a", "k", "v");
    let seen = world.put("/b", b"").state_tag();
    world.describe("/b", "k", "by somebody");
    let before = graph(&world, "/b");
    assert_eq!(kind(copy(&world, "/a", "/b", Some(&seen))), ErrorKind::Precondition);
    assert_eq!(graph(&world, "/b"), before);
    let over = |conditions| {
        let options = CopyOptions { replace: true, conditions, ..CopyOptions::default() };
        kind(world.store.copy(&world.admin, &at("/a"), &path("/b"), options))
    };
    let stale = Conditions { if_match: Some(seen), ..Conditions::default() };
    assert_eq!(over(stale.clone()), ErrorKind::Precondition);
    let absent = Conditions { if_absent: true, ..Conditions::default() };
    assert_eq!(over(absent.clone()), ErrorKind::Precondition);
    assert_eq!(graph(&world, "/b"), before);
    world.rm("/b").unwrap();
    assert_eq!(over(stale), ErrorKind::Precondition);
    let options = CopyOptions { conditions: absent, ..CopyOptions::default() };
    world.store.copy(&world.admin, &at("/a"), &path("/b"), options).unwrap();
}

#[test]
fn the_condition_of_a_tree_copy_applies_to_its_top() {
    let world = world();
    for folder in ["/a", "/a/sub", "/b"] {
        world.mkdir(folder);
    }
    let top = Some(world.stat("/b").unwrap().state_tag());
    let copy = |if_match: Option<String>| {
        let conditions = Conditions { if_match, ..Conditions::default() };
        let options = CopyOptions { recursive: true, replace: true, conditions, parents: false };
        world.store.copy(&world.admin, &at("/a"), &path("/b"), options)
    };
    assert_eq!(kind(copy(Some("r1.0".into()))), ErrorKind::Precondition);
    assert!(world.names("/b").is_empty());
    copy(top).unwrap();
    assert_eq!(world.names("/b"), ["sub"]);
}

#[test]
fn copying_a_description_requires_the_levels_of_a_change() {
    let world = world();
    let user = world.user("u");
    let grant = |on: &str, rights: Rights| {
        let grant = [AccessChange::Grant("u".into(), rights.into(), Scope::This)];
        world.store.change_access(&world.admin, &at(on), &grant).unwrap();
    };
    for name in ["/a", "/b"] {
        world.put(name, b"");
        world.describe(name, name, "v");
    }
    let copy = || {
        let any = Conditions::default();
        world.store.copy_description(&user, &at("/a"), &at("/b"), &any).map(drop)
    };
    assert_eq!(copy().unwrap_err().kind(), ErrorKind::NotFound);
    grant("/a", Rights::READ_METADATA);
    assert_eq!(copy().unwrap_err().kind(), ErrorKind::NotFound);
    grant("/b", Rights::CREATE_METADATA);
    assert_eq!(copy().unwrap_err().kind(), ErrorKind::Denied);
    grant("/b", Rights::MODIFY_METADATA);
    copy().unwrap();
    let change = AttributeChange { mode: Some(0o600), ..AttributeChange::default() };
    world.store.set_attributes(&world.admin, &at("/a"), &change).unwrap();
    grant("/b", Rights::CREATE_METADATA);
    assert_eq!(copy().unwrap_err().kind(), ErrorKind::Denied, "a mode, too, is a change");
}

#[test]
fn a_copied_description_is_reported_as_one_change() {
    let world = world();
    world.put("/a", b"");
    world.put("/b", b"");
    world.describe("/a", "k", "v");
    let since = world.store.newest_change().unwrap();
    copy(&world, "/a", "/b", None).unwrap();
    copy(&world, "/a", "/b", None).unwrap();
    let changes = world.store.changes(&world.admin, since, 100).unwrap().changes;
    let kinds: Vec<_> = changes.iter().map(|change| change.kind).collect();
    assert_eq!(kinds, [ChangeKind::Described]);
}

/// Nearby ids are read in one scan, others one by one.
#[test]
fn a_walk_returns_the_tags_of_all_descriptions() {
    let world = world();
    world.mkdir("/t");
    world.put("/t/first", b"");
    world.mkdir("/far");
    (0..40).for_each(|n| drop(world.put(&format!("/far/{n}"), b"")));
    world.put("/t/last", b"");
    for name in ["/t/first", "/far/7", "/far/9"] {
        world.describe(name, "k", name);
    }
    for (top, expected) in [("/t", 1), ("/far", 2)] {
        let (page, tags) = world.store.walk_described(&world.admin, &at(top), None, 1_000).unwrap();
        assert_eq!(tags.iter().flatten().count(), expected);
        for (entry, tag) in page.entries.iter().zip(tags) {
            assert_eq!(tag, description_tag(&graph(&world, &entry.path.to_string())));
        }
    }
}
