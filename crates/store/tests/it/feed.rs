//! The change feed: order, positions, and visibility.

use std::collections::BTreeMap;
use std::time::Duration;

use cenote_blob::Place;
use cenote_kv::PostgresEngine;
use cenote_store::{
    AccessChange, At, Caller, Change, ChangeKind, ChangePage, Clock as _, ErrorKind, ListOptions,
    Pace, Parts, Position, PutOptions, RemoveOptions, ResourceId, Rights, Role, Scope, Store,
    Where,
};

use futures_util::FutureExt;
use proptest::prelude::*;

use crate::postgres_server::fresh_schema;
use crate::world::{World, at, kind, run, world, world_on};

fn all(world: &World, caller: &Caller, limit: usize) -> Vec<Change> {
    let (mut changes, mut since) = (Vec::new(), Position::default());
    loop {
        let page = world.store.changes(caller, since, limit).unwrap();
        changes.extend(page.changes);
        since = page.next.to_string().parse().unwrap();
        assert_eq!(since, page.next, "a position survives being written down");
        if !page.more {
            return changes;
        }
    }
}

#[test]
fn every_change_is_reported_once_and_in_order() {
    let world = world();
    let id = world.put("/a", b"1").id;
    world.put("/a", b"2");
    world.describe("/a", "k", "v");
    let grant = [AccessChange::Grant("public".into(), Rights::READ_OBJECT.into(), Scope::This)];
    world.store.change_access(&world.admin, &at("/a"), &grant).unwrap();
    world.mv("/a", "/b").unwrap();
    world.rm("/b").unwrap();
    use ChangeKind::*;
    for limit in [1, 3, 100] {
        let changes = all(&world, &world.admin, limit);
        let kinds: Vec<_> = changes.iter().map(|change| change.kind).collect();
        assert_eq!(kinds, [Created, Written, Described, Granted, Moved, Removed]);
        assert!(changes.iter().all(|change| change.id == id));
        assert!(changes.is_sorted_by(|a, b| a.position < b.position));
        assert_eq!(changes[4].from.as_ref().unwrap().1, "a");
        assert_eq!(changes[5].name, "b");
    }
}

/// Waiting requests are woken by each commit that the feed reports, and by no other.
#[test]
fn a_commit_with_changes_wakes_waiters_whoever_made_it() {
    let world = world();
    world.keep_removed("/", 86_400);
    world.put("/a", b"1");
    let operations: [(&str, &dyn Fn()); 7] = [
        ("a new object", &|| drop(world.put("/b", b"1"))),
        ("a look", &|| drop(world.stat("/b"))),
        ("a refused change", &|| assert!(world.rm("/none").is_err())),
        ("a description", &|| drop(world.describe("/a", "k", "v"))),
        ("a removal", &|| drop(world.discard("/b"))),
        ("a note", &|| world.store.tend_notes("x", |notes| notes.put("n", "1".into())).unwrap()),
        ("a round of upkeep", &|| run(world.store.maintain_once(&Pace::default())).unwrap()),
    ];
    for (name, operation) in operations {
        let before = world.store.newest_change().unwrap();
        // Not polled yet: a waiter checks for changes first.
        let rung = world.store.changed();
        operation();
        let is_told = world.store.newest_change().unwrap() != before;
        assert_eq!(rung.now_or_never().is_some(), is_told, "{name}");
    }
}

#[test]
fn the_end_of_the_feed_is_a_position_to_continue_from() {
    let world = world();
    world.put("/a", b"");
    let end = world.store.changes(&world.admin, Position::default(), 10).unwrap();
    assert!(!end.more);
    assert!(world.store.changes(&world.admin, end.next, 10).unwrap().changes.is_empty());
    world.put("/b", b"");
    let news = world.store.changes(&world.admin, end.next, 10).unwrap();
    assert_eq!(news.changes.iter().map(|change| change.name.as_str()).collect::<Vec<_>>(), ["b"]);
    for bad in ["", "x", "zz", &"z".repeat(24), &"0".repeat(23), "é23456789012345678901234"] {
        assert_eq!(kind(bad.parse::<Position>()), ErrorKind::Invalid);
    }
}

#[test]
fn only_visible_changes_are_reported() {
    let world = world();
    let user = world.user("u");
    world.mkdir("/open");
    world.mkdir("/closed");
    let grant = [AccessChange::Grant("u".into(), Rights::READ_OBJECT.into(), Scope::Subtree)];
    world.store.change_access(&world.admin, &at("/open"), &grant).unwrap();
    world.put("/open/a", b"");
    world.put("/closed/b", b"");
    world.rm("/open/a").unwrap();
    world.rm("/closed/b").unwrap();
    let seen: Vec<_> =
        all(&world, &user, 2).into_iter().map(|change| (change.kind, change.name)).collect();
    assert!(seen.contains(&(ChangeKind::Removed, "a".into())));
    assert!(seen.iter().all(|(_, name)| name != "b" && name != "closed"));
}

/// Grants to `u`, for this resource only.
fn grant(world: &World, what: &str, rights: Rights) {
    world.grant(what, "u", rights, Scope::This);
}

fn visible_changes(world: &World, caller: &Caller) -> Vec<(ChangeKind, String, Option<String>)> {
    let summary = |change: Change| (change.kind, change.name, change.from.map(|(_, name)| name));
    all(world, caller, 3).into_iter().map(summary).collect()
}

#[test]
fn names_of_hidden_resources_are_not_reported() {
    let world = world();
    let user = world.user("u");
    world.mkdir("/open");
    world.mkdir("/closed");
    grant(&world, "/open", Rights::READ_OBJECT);
    for secret in ["/open/secret-gone", "/open/secret-first", "/closed/secret-before"] {
        world.put(secret, b"");
    }
    world.rm("/open/secret-gone").unwrap();
    world.mv("/open/secret-first", "/open/second").unwrap();
    world.mv("/closed/secret-before", "/open/after").unwrap();
    for shown in ["/open/second", "/open/after"] {
        grant(&world, shown, Rights::READ_OBJECT);
    }
    let changes = visible_changes(&world, &user);
    use ChangeKind::*;
    assert!(changes.contains(&(Moved, "second".into(), None)), "{changes:?}");
    assert!(changes.contains(&(Granted, "after".into(), None)), "{changes:?}");
    assert!(!format!("{changes:?}").contains("secret"), "{changes:?}");
}

#[test]
fn known_names_are_reported_and_a_move_to_a_hidden_collection_is_a_removal() {
    let world = world();
    let user = world.user("u");
    world.mkdir("/open");
    world.mkdir("/closed");
    let default = [AccessChange::Grant("u".into(), Rights::READ_OBJECT.into(), Scope::Default)];
    world.store.change_access(&world.admin, &at("/open"), &default).unwrap();
    grant(&world, "/open", Rights::READ_OBJECT);
    world.put("/open/a", b"");
    world.mv("/open/a", "/open/b").unwrap();
    use ChangeKind::*;
    let seen = visible_changes(&world, &user);
    assert!(seen.contains(&(Created, "a".into(), None)), "{seen:?}");
    assert!(seen.contains(&(Moved, "b".into(), Some("a".into()))), "{seen:?}");
    world.mv("/open/b", "/closed/c").unwrap();
    let seen = visible_changes(&world, &user);
    assert_eq!(seen.last(), Some(&(Removed, "b".into(), None)), "{seen:?}");
    assert!(!seen.iter().any(|(_, name, _)| name == "c"));
}

/// The position of a change of an access list that may have hidden something.
fn hidden(world: &World, caller: &Caller, since: Position) -> Option<Position> {
    world.store.changes(caller, since, 100).unwrap().access
}

#[test]
fn a_revocation_is_reported_without_a_name_to_those_who_lose_access() {
    let world = world();
    let (user, other) = (world.user("u"), world.user("other"));
    let top = world.mkdir("/lab").id;
    world.put("/lab/a", b"");
    let now = || world.store.newest_change().unwrap();
    let begun = now();
    grant(&world, "/lab", Rights::READ_OBJECT);
    assert_eq!(hidden(&world, &user, begun), None, "it is reported by name");
    assert_eq!(hidden(&world, &other, begun), None, "nothing changed for them");
    let granted = now();
    let below = world.store.changes_below(&user, top, granted, 100).unwrap();
    assert_eq!(below.access, None);
    grant(&world, "/lab", Rights::NONE);
    let revoked = now();
    assert_eq!(hidden(&world, &user, granted), Some(revoked));
    assert_eq!(world.store.changes(&user, granted, 100).unwrap().changes, []);
    assert_eq!(hidden(&world, &other, granted), None);
    assert_eq!(hidden(&world, &world.admin, granted), None, "they see all");
    assert_eq!(hidden(&world, &user, revoked), None);
}

/// Also by closing a resource to the entries of the collections above, and by a list above the followed subtree.
#[test]
fn every_change_that_hides_a_resource_is_reported_with_or_without_its_name() {
    let world = world();
    let user = world.user("u");
    let lab = world.mkdir("/lab").id;
    world.mkdir("/lab/in");
    let name = |name: &str| name.to_owned();
    let default = |who| AccessChange::Grant(name(who), Rights::READ_OBJECT.into(), Scope::Default);
    let cases = [
        ("/lab/in", AccessChange::Closed(true)),
        ("/lab", default("other")),
        ("/", AccessChange::Grant(name("u"), Rights::NONE.into(), Scope::Default)),
    ];
    world.user("other");
    for (path, change) in cases {
        let lists = [
            ("/", default("u")),
            ("/lab", AccessChange::Clear),
            ("/lab/in", AccessChange::Closed(false)),
        ];
        for (path, change) in lists {
            world.store.change_access(&world.admin, &at(path), &[change]).unwrap();
        }
        grant(&world, "/lab", Rights::READ_DESCRIPTION);
        assert!(world.store.stat(&user, &at("/lab/in")).is_ok(), "{change:?}");
        let since = world.store.newest_change().unwrap();
        world.store.change_access(&world.admin, &at(path), std::slice::from_ref(&change)).unwrap();
        assert!(world.store.stat(&user, &at("/lab/in")).is_err(), "{change:?}");
        let page = world.store.changes_below(&user, lab, since, 100).unwrap();
        let by_name = page.changes.last().is_some_and(|it| it.kind == ChangeKind::Granted);
        assert!(by_name || page.access == Some(page.next), "{change:?}");
    }
}

/// The record that someone may do other things now names nobody else, and is reported to nobody else.
#[test]
fn a_change_of_groups_role_or_password_is_reported_to_that_user_alone() {
    let world = world();
    let (user, other) = (world.user("u"), world.user("other"));
    let (store, admin, name) = (&world.store, &world.admin, || vec!["u".to_owned()]);
    store.add_group(admin, "lab").unwrap();
    store.add_group(admin, "gone").unwrap();
    store.change_group(admin, "gone", &name(), &[]).unwrap();
    let changes: [(&str, &dyn Fn()); 5] = [
        ("a group that they enter", &|| store.change_group(admin, "lab", &name(), &[]).unwrap()),
        ("a group that they leave", &|| store.change_group(admin, "lab", &[], &name()).unwrap()),
        ("a removed group", &|| store.remove_person(admin, "gone").unwrap()),
        ("a role", &|| store.set_role(admin, "u", Role::GroupAdmin).unwrap()),
        ("a password", &|| store.set_password(admin, "u", "another").unwrap()),
    ];
    for (what, change) in changes {
        let since = store.newest_change().unwrap();
        let rung = store.changed();
        change();
        let page = store.changes(&user, since, 100).unwrap();
        let now = store.newest_change().unwrap();
        assert_eq!((page.changes, page.access, page.renew), (vec![], Some(now), true), "{what}");
        assert!(rung.now_or_never().is_some(), "{what}");
        for caller in [&other, admin] {
            let page = store.changes(caller, since, 100).unwrap();
            assert_eq!((page.changes, page.access, page.renew), (vec![], None, false), "{what}");
        }
    }
}

#[test]
fn a_move_of_a_collection_above_a_followed_subtree_is_reported_without_a_name() {
    let world = world();
    let user = world.user("u");
    for path in ["/from", "/from/run", "/from/run/data", "/to"] {
        world.mkdir(path);
    }
    let top = world.mkdir("/from/run/data/here").id;
    let default = [AccessChange::Grant("u".into(), Rights::READ_OBJECT.into(), Scope::Subtree)];
    world.store.change_access(&world.admin, &at("/from/run/data"), &default).unwrap();
    let since = world.store.newest_change().unwrap();
    world.mv("/from/run", "/from/renamed").unwrap();
    let page = world.store.changes_below(&user, top, since, 100).unwrap();
    assert_eq!((page.changes, page.access), (vec![], None), "rights are inherited as before");
    world.mv("/from/renamed", "/to/run").unwrap();
    let moved = world.store.newest_change().unwrap();
    let page = world.store.changes_below(&user, top, since, 100).unwrap();
    assert_eq!((page.changes, page.access), (vec![], Some(moved)));
    let page = world.store.changes_below(&world.admin, top, since, 100).unwrap();
    assert_eq!(page.access, None, "an administrator has the same rights everywhere");
}

#[test]
fn folding_patches_is_not_a_change() {
    let world = world();
    world.put("/a", b"");
    (0..200).for_each(|_| drop(world.write_at("/a", Where::Append, b"x").unwrap()));
    assert_eq!(all(&world, &world.admin, 1_000).len(), 201);
}

#[test]
fn concurrent_changes_are_reported_in_commit_order() {
    let world = world();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let world = &world;
            scope.spawn(move || {
                (0..20).for_each(|n| drop(world.put(&format!("/{writer}-{n}"), b"")));
            });
        }
    });
    let names: Vec<_> =
        all(&world, &world.admin, 7).into_iter().map(|change| change.name).collect();
    assert_eq!(names.len(), 80);
    for writer in 0..4 {
        let own: Vec<_> =
            names.iter().filter(|name| name.starts_with(&format!("{writer}-"))).collect();
        let expected: Vec<_> = (0..20).map(|n| format!("{writer}-{n}")).collect();
        assert_eq!(own, expected.iter().collect::<Vec<_>>());
    }
}

proptest! {
    #[test]
    fn any_text_is_a_position_or_an_error(text in "[0-9a-fA-F+-]{24}|\\PC{0,30}") {
        if let Ok(position) = text.parse::<Position>() {
            prop_assert_eq!(position.to_string().parse::<Position>().unwrap(), position);
        }
    }
}

#[test]
fn an_expired_position_is_reported() {
    let world = world();
    world.put("/a", b"1");
    let early = world.store.changes(&world.admin, Position::default(), 10).unwrap().next;
    world.put("/b", b"2");
    let late = world.store.changes(&world.admin, early, 10).unwrap().next;
    world.clock.advance(Duration::from_secs(3_600));
    world.put("/c", b"3");
    assert_eq!(world.store.trim_changes(world.clock.now()).unwrap(), 2);
    assert_eq!(world.store.trim_changes(world.clock.now()).unwrap(), 0);

    assert_eq!(kind(world.store.changes(&world.admin, early, 10)), ErrorKind::Expired);
    for since in [late, Position::default()] {
        let page = world.store.changes(&world.admin, since, 10).unwrap();
        assert_eq!(page.changes.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["c"]);
    }
}

#[test]
fn following_from_now_has_no_gap() {
    let world = world();
    assert_eq!(world.store.newest_change().unwrap(), Position::default());
    world.put("/a", b"1");
    let now = world.store.newest_change().unwrap();
    assert!(world.store.changes(&world.admin, now, 10).unwrap().changes.is_empty());
    world.clock.advance(Duration::from_secs(3_600));
    world.store.trim_changes(world.clock.now()).unwrap();
    assert_eq!(world.store.newest_change().unwrap(), now, "what was forgotten still counts");
    world.put("/b", b"2");
    let page = world.store.changes(&world.admin, now, 10).unwrap();
    assert_eq!(page.changes.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["b"]);
}

/// A client's copy of a subtree, maintained only through the feed.
#[derive(Default)]
struct Mirror(BTreeMap<ResourceId, (ResourceId, String)>);

impl Mirror {
    /// Reads the current resource `id`, with everything below it.
    fn read(&mut self, world: &World, id: ResourceId) {
        let Ok(entry) = world.store.stat(&world.admin, &At::Id(id)) else { return };
        self.0.insert(id, (entry.resource.parent, entry.resource.name));
        let Ok(page) = world.store.list(&world.admin, &At::Id(id), &ListOptions::default()) else {
            return;
        };
        page.entries.iter().for_each(|entry| self.read(world, entry.id));
    }

    fn forget(&mut self, id: ResourceId) {
        self.0.remove(&id);
        let below: Vec<_> =
            self.0.iter().filter(|(_, (parent, _))| *parent == id).map(|(id, _)| *id).collect();
        below.into_iter().for_each(|id| self.forget(id));
    }

    fn apply(&mut self, world: &World, change: Change) {
        match change.kind {
            ChangeKind::Removed => self.forget(change.id),
            // It became visible, with everything below it.
            ChangeKind::Moved if change.from.is_none() => self.read(world, change.id),
            _ => drop(self.0.insert(change.id, (change.parent, change.name))),
        }
    }
}

/// A change of a small tree: the operation, and the paths.
fn step() -> impl Strategy<Value = (u8, usize, usize, bool)> {
    (0..5u8, 0..PLACES.len(), 0..PLACES.len(), proptest::bool::weighted(0.4))
}

const PLACES: [&str; 8] = ["/t", "/t/a", "/t/a/b", "/t/c", "/o", "/o/a", "/o/a/b", "/t/a/b/d"];

fn all_below() -> RemoveOptions {
    RemoveOptions { recursive: true, ..RemoveOptions::default() }
}

fn act(world: &World, (what, from, to): (u8, usize, usize)) {
    let (from, to) = (PLACES[from], PLACES[to]);
    match what {
        0 | 1 => drop(world.try_mkdir(&world.admin, from)),
        2 => drop(world.mv(from, to)),
        3 if from != "/t" => drop(world.store.remove(&world.admin, &at(from), &all_below())),
        _ => drop(world.try_put(&world.admin, &format!("{from}/f"), b"x", PutOptions::default())),
    }
}

proptest! {
    #[test]
    fn following_the_feed_of_a_subtree_reproduces_its_contents(steps in prop::collection::vec(step(), 1..40)) {
        let world = world();
        let top = world.mkdir("/t").id;
        let (mut mirror, mut since) = (Mirror::default(), world.store.newest_change().unwrap());
        mirror.read(&world, top);
        let last = steps.len() - 1;
        for (n, (what, from, to, looks)) in steps.into_iter().enumerate() {
            act(&world, (what, from, to));
            if !looks && n < last {
                continue;
            }
            match world.store.changes_below(&world.admin, top, since, 10_000) {
                Ok(page) => {
                    since = page.next;
                    page.changes.into_iter().for_each(|change| mirror.apply(&world, change));
                }
                Err(gone) => {
                    prop_assert_eq!(gone.kind(), ErrorKind::NotFound);
                    mirror.forget(top);
                }
            }
            let mut now = Mirror::default();
            now.read(&world, top);
            prop_assert_eq!(&mirror.0, &now.0);
        }
    }
}

#[test]
fn the_feed_of_a_subtree_is_hidden_and_ends_with_its_top() {
    let world = world();
    let user = world.user("u");
    let top = world.mkdir("/t").id;
    let since = world.store.newest_change().unwrap();
    let look = |caller: &Caller| world.store.changes_below(caller, top, since, 10);
    assert_eq!(kind(look(&user)), ErrorKind::NotFound);
    world.put("/t/a", b"");
    world.put("/other", b"");
    let names = |page: ChangePage| page.changes.into_iter().map(|change| change.name);
    assert_eq!(names(look(&world.admin).unwrap()).collect::<Vec<_>>(), ["a"]);
    world.rm("/t/a").unwrap();
    world.rm("/t").unwrap();
    assert_eq!(kind(look(&world.admin)), ErrorKind::NotFound);
}

/// Of two servers over one catalog, each is notified of changes by the other.
#[test]
fn a_change_by_another_server_wakes_waiters() {
    let Some(config) = fresh_schema() else { return };
    let open = || PostgresEngine::open(&config).unwrap();
    let world = world_on(open(), Place::memory("main"));
    let other = Store::open_existing(Parts::new(open(), Place::memory("main"))).unwrap();
    // The first call returns at once, since it starts to listen.
    run(other.changed());
    let (before, mut changed) = (other.newest_change().unwrap(), other.changed());
    world.mkdir("/made");
    loop {
        run(changed);
        if other.newest_change().unwrap() != before {
            break;
        }
        changed = other.changed();
    }
    assert!(other.stat(&world.admin, &at("/made")).is_ok());
}
