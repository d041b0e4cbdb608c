//! Many changes in one commit: each has its own outcome, and failed ones change nothing.

use cenote_store::{
    BatchItem, BatchWhat, Conditions, ErrorKind, Expected, PutOptions, Result, Stat,
};

use crate::world::{World, kind, noise, once, path, run, world};

fn object(world: &World, to: &str, bytes: &[u8], options: PutOptions) -> BatchItem {
    let received = run(world.store.receive(once(bytes), &Expected::default())).unwrap();
    BatchItem { path: path(to), what: BatchWhat::Object(received.into()), options }
}

fn put(world: &World, items: &[BatchItem]) -> Vec<Result<Stat>> {
    world.store.publish_many(&world.admin, items).unwrap()
}

fn parents() -> PutOptions {
    PutOptions { parents: true, ..PutOptions::default() }
}

#[test]
fn one_commit_puts_many() {
    let world = world();
    world.put("/first", b"");
    let items = [
        BatchItem { path: path("/d"), what: BatchWhat::Collection, options: parents() },
        object(&world, "/d/small", b"s", PutOptions::default()),
        object(&world, "/d/large", &noise(500, 1), PutOptions::default()),
        BatchItem { path: path("/d/l"), what: BatchWhat::Link("small".into()), options: parents() },
    ];
    let before = world.parts.engine.snapshot().unwrap().version();
    assert!(put(&world, &items).iter().all(Result::is_ok));
    assert_eq!(world.parts.engine.snapshot().unwrap().version(), before + 1);
    assert_eq!(world.names("/d"), ["l", "large", "small"]);
    assert!(world.read("/d/large") == noise(500, 1));
    assert!(put(&world, &items[..1])[0].is_ok(), "a collection may be there");
}

#[test]
fn a_failed_batch_changes_nothing() {
    let world = world();
    world.put("/file", b"old");
    let rows = world.rows();
    let absent = PutOptions {
        conditions: Conditions { if_absent: true, ..Conditions::default() },
        ..parents()
    };
    let failing = [
        object(&world, "/file", b"new", absent),
        object(
            &world,
            "/new/collection/for/../nothing".replace("/..", "/x").as_str(),
            b"",
            PutOptions::default(),
        ),
        object(&world, "/file/below", b"", parents()),
        BatchItem { path: path("/file"), what: BatchWhat::Collection, options: parents() },
        BatchItem {
            path: path("/made/l"),
            what: BatchWhat::Link(String::new()),
            options: parents(),
        },
    ];
    let answers = put(&world, &failing);
    let kinds: Vec<_> = answers.into_iter().map(kind).collect();
    assert_eq!(
        kinds,
        [
            ErrorKind::Precondition,
            ErrorKind::NotFound,
            ErrorKind::WrongKind,
            ErrorKind::Exists,
            ErrorKind::Invalid,
        ]
    );
    assert_eq!(world.rows(), rows);
}

/// The parent collections of a refused item are not created either.
#[test]
fn an_item_that_fails_midway_leaves_nothing_and_the_others_complete() {
    let world = world();
    world.mkdir("/theirs");
    let user = world.user("u");
    let grant = cenote_store::AccessChange::Grant(
        "u".into(),
        cenote_store::Rights::CREATE_OBJECT.into(),
        cenote_store::Scope::This,
    );
    world.store.change_access(&world.admin, &crate::world::at("/theirs"), &[grant]).unwrap();
    let long = "x".repeat(4_097);
    let items = [
        object(&world, "/theirs/a", b"a", PutOptions::default()),
        BatchItem { path: path("/theirs/new/l"), what: BatchWhat::Link(long), options: parents() },
        object(&world, "/theirs/a", b"again", PutOptions::default()),
        object(&world, "/theirs/b", b"b", PutOptions::default()),
    ];
    let answers = world.store.publish_many(&user, &items).unwrap();
    let done: Vec<_> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(done, [true, false, true, true]);
    assert_eq!(world.names("/theirs"), ["a", "b"]);
    assert_eq!(world.read("/theirs/a"), b"again");
}

#[test]
fn items_see_those_before_them() {
    let world = world();
    let absent = PutOptions {
        conditions: Conditions { if_absent: true, ..Conditions::default() },
        ..PutOptions::default()
    };
    let items = [
        object(&world, "/a/x", b"1", parents()),
        object(&world, "/a/x", b"2", absent),
        object(&world, "/a/x", b"3", PutOptions::default()),
    ];
    let done: Vec<_> = put(&world, &items).iter().map(Result::is_ok).collect();
    assert_eq!(done, [true, false, true]);
    assert_eq!(world.read("/a/x"), b"3");
    world.rm_all("/a").unwrap();
    world.sweep();
    for table in *b"KkRBbgc" {
        assert!(world.table(table).is_empty(), "{}", table as char);
    }
}
