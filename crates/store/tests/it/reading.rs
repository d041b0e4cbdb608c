//! Listings of names, consistent readings, homes, and attributes of users.

use std::collections::BTreeSet;

use cenote_store::{
    AccessChange, At, AvuChange, Caller, ErrorKind, ListOptions, NamedEntry, NewToken, Result,
    Rights, Scope, Stat, StorePath,
};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::world::{World, any_rights, at, avu, cases, kind, path, world};

/// All names below a collection, read in pages of this many.
fn names(world: &World, caller: &Caller, of: &str, deep: bool, limit: usize) -> Vec<String> {
    let mut names = Vec::new();
    let mut after: Option<NamedEntry> = None;
    loop {
        let page = world.store.names(caller, &at(of), deep, after.as_ref(), limit).unwrap();
        assert!(page.entries.len() <= limit);
        names.extend(page.entries.iter().map(|entry| entry.path.to_string()));
        after = page.next;
        if after.is_none() {
            return names;
        }
    }
}

fn planted() -> World {
    let world = world();
    for collection in ["/a", "/a/z", "/a/b", "/a/b/c", "/d"] {
        world.mkdir(collection);
    }
    for object in ["/a/a", "/a/c", "/a/b/x", "/a/z/y", "/e"] {
        world.put(object, b"x");
    }
    world
}

#[test]
fn a_walk_lists_each_collection_before_its_children() {
    let world = planted();
    let all = ["/a", "/a/b", "/a/b/c", "/a/b/x", "/a/z", "/a/z/y", "/a/a", "/a/c", "/d", "/e"];
    for limit in 1..12 {
        assert_eq!(names(&world, &world.admin, "/", true, limit), all, "pages of {limit}");
        let children = names(&world, &world.admin, "/a", false, limit);
        assert_eq!(children, ["/a/b", "/a/z", "/a/a", "/a/c"], "pages of {limit}");
    }
    let refused = world.store.names(&world.admin, &at("/e"), true, None, 9);
    assert_eq!(kind(refused), ErrorKind::WrongKind);
}

#[test]
fn names_are_shown_to_callers_who_may_list_them() {
    let world = planted();
    let alice = world.user("alice");
    let grant = |what: &str, rights: Rights, scope| {
        let change = [AccessChange::Grant("alice".into(), rights.into(), scope)];
        world.store.change_access(&world.admin, &at(what), &change).unwrap();
    };
    assert_eq!(names(&world, &alice, "/", true, 3), Vec::<String>::new());
    grant("/a", Rights::READ_METADATA, Scope::This);
    assert_eq!(names(&world, &alice, "/", true, 3), ["/a"]);
    grant("/a", Rights::READ_OBJECT, Scope::This);
    grant("/a/c", Rights::READ_METADATA, Scope::This);
    assert_eq!(names(&world, &alice, "/", true, 3), ["/a", "/a/c"]);
    grant("/a/b", Rights::READ_OBJECT, Scope::Subtree);
    let seen = ["/a", "/a/b", "/a/b/c", "/a/b/x", "/a/c"];
    assert_eq!(names(&world, &alice, "/", true, 3), seen);
    let plain = world.admin.clone().elevated(false);
    let refused = world.store.names(&plain, &at("/a/z"), true, None, 9);
    assert!(refused.is_ok(), "an administrator owns what they made");
}

/// The listing of the collection, and of the collections in it; empty if it cannot be listed.
fn listed_again_and_again(world: &World, caller: &Caller, of: &At) -> Option<Vec<StorePath>> {
    let page = world.store.list(caller, of, &ListOptions::default()).ok()?;
    let mut paths = Vec::new();
    for entry in page.entries {
        let below = listed_again_and_again(world, caller, &At::Id(entry.id));
        paths.push(entry.path);
        paths.extend(below.into_iter().flatten());
    }
    paths.sort();
    Some(paths)
}

fn walked(world: &World, caller: &Caller, of: &At, limit: usize) -> Result<Vec<StorePath>> {
    let (mut paths, mut after) = (Vec::new(), None);
    loop {
        let page = world.store.walk(caller, of, after.as_ref(), limit)?;
        paths.extend(page.entries.into_iter().map(|entry| entry.path));
        after = page.next;
        if after.is_none() {
            return Ok(paths);
        }
    }
}

proptest! {
    #![proptest_config(cases(48))]

    /// Every traversal of a tree visits what its collections list individually, from any cursor.
    #[test]
    fn a_walk_equals_repeated_listings(
        grants in proptest::collection::vec((any::<Index>(), 0usize..3, any_rights()), 0..6),
        limit in 1usize..4,
    ) {
        let world = planted();
        let user = world.user("u");
        let all = walked(&world, &world.admin, &at("/"), 100).unwrap();
        let scopes = [Scope::This, Scope::Default, Scope::Subtree];
        for (what, scope, rights) in grants {
            let change = [AccessChange::Grant("u".into(), rights.into(), scopes[scope])];
            let what = At::from(what.get(&all).clone());
            world.store.change_access(&world.admin, &what, &change).unwrap();
        }
        for of in ["/", "/a", "/a/b", "/a/z"] {
            let shown = listed_again_and_again(&world, &user, &at(of));
            prop_assert_eq!(walked(&world, &user, &at(of), limit).ok(), shown.clone(), "walk {}", of);
            let usage = world.store.usage(&user, &at(of)).ok();
            let counted = usage.map(|usage| usage.objects + usage.collections);
            prop_assert_eq!(counted, shown.as_ref().map(|shown| shown.len() as u64), "usage {}", of);
            match shown {
                Some(shown) => {
                    let mut named: Vec<StorePath> =
                        names(&world, &user, of, true, limit).iter().map(|name| path(name)).collect();
                    named.sort();
                    prop_assert_eq!(named, shown, "names {}", of);
                }
                None => prop_assert!(world.store.names(&user, &at(of), true, None, limit).is_err()),
            }
        }
    }
}

#[test]
fn a_reading_shows_one_state_of_the_store() {
    let world = planted();
    world.describe("/a/c", "colour", "green");
    let id = world.stat("/a/c").unwrap().id.0;
    let reading = world.store.reading(&world.admin).unwrap();
    world.rm_all("/a").unwrap();
    world.store.run_jobs().unwrap();
    assert!(reading.stat(&at("/a/c")).unwrap().is_some());
    assert_eq!(reading.avus(id).unwrap(), [avu("colour", "green")]);
    let found = reading.stating(Some("colour"), Some("green"), 10).unwrap();
    assert_eq!(found, Some(BTreeSet::from([id])));
    assert_eq!(reading.stating(Some("colour"), None, 0).unwrap(), None, "more than asked for");
    assert_eq!(reading.stating(Some("colour"), Some("red"), 10).unwrap(), Some(BTreeSet::new()));
    assert_eq!(reading.stating(None, Some("green"), 10).unwrap(), Some(BTreeSet::from([id])));
    assert_eq!(reading.stating(None, Some("green"), 0).unwrap(), None, "more than asked for");
    assert_eq!(reading.stating(None, Some("red"), 10).unwrap(), Some(BTreeSet::new()));
    let count = |entries: &mut dyn Iterator<Item = Result<Option<Stat>>>| {
        entries.filter(|entry| matches!(entry, Ok(Some(_)))).count()
    };
    assert_eq!(count(&mut reading.children(&at("/a")).unwrap()), 4);
    assert_eq!(count(&mut reading.below(&at("/a")).unwrap()), 7);
    let now = world.store.reading(&world.admin).unwrap();
    assert!(now.stat(&at("/a/c")).unwrap().is_none());
}

#[test]
fn a_reading_shows_only_resources_visible_to_its_caller() {
    let world = planted();
    let alice = world.user("alice");
    let reading = world.store.reading(&alice).unwrap();
    assert!(reading.stat(&at("/a")).unwrap().is_none());
    let change = [AccessChange::Grant("alice".into(), Rights::READ_METADATA.into(), Scope::This)];
    world.store.change_access(&world.admin, &at("/a/b/x"), &change).unwrap();
    let reading = world.store.reading(&alice).unwrap();
    let seen = |entries: &mut dyn Iterator<Item = Result<Option<Stat>>>| {
        entries.filter_map(|entry| Some(entry.unwrap()?.path.to_string())).collect::<Vec<_>>()
    };
    for top in ["/", "/a", "/a/b"] {
        assert_eq!(seen(&mut reading.below(&at(top)).unwrap()), ["/a/b/x"], "{top}");
    }
    assert_eq!(seen(&mut reading.children(&at("/a/b")).unwrap()), ["/a/b/x"]);
    assert!(seen(&mut reading.children(&at("/a")).unwrap()).is_empty());
    for nothing in ["/none", "/e"] {
        assert_eq!(reading.below(&at(nothing)).unwrap().count(), 0);
    }
    assert_eq!(reading.caller().name(), "alice");
}

#[test]
fn a_home_belongs_to_its_user() {
    let world = world();
    let (alice, bob) = (world.user("alice"), world.user("bob"));
    world.store.make_home(&alice, "alice").unwrap();
    world.store.make_home(&world.admin, "bob").unwrap();
    world.store.make_home(&alice, "alice").unwrap();
    for home in ["/home/alice", "/trash/home/alice"] {
        assert_eq!(world.store.rights(&alice, &at(home)).unwrap(), Rights::OWN);
        assert_eq!(kind(world.store.rights(&bob, &at(home))), ErrorKind::NotFound);
    }
    assert_eq!(world.store.rights(&alice, &at("/home")).unwrap(), Rights::READ_OBJECT);
    assert_eq!(
        names(&world, &bob, "/", true, 9),
        ["/home", "/home/bob", "/trash", "/trash/home", "/trash/home/bob"]
    );
    assert_eq!(kind(world.store.make_home(&alice, "bob")), ErrorKind::Denied);
    assert_eq!(kind(world.store.make_home(&world.admin, "public")), ErrorKind::Invalid);
    assert_eq!(kind(world.store.make_home(&world.admin, "nobody")), ErrorKind::NotFound);
}

#[test]
fn attributes_of_users_are_removed_with_them() {
    let world = world();
    let alice = world.user("alice");
    let change = [AvuChange::Add(avu("orcid", "0000"))];
    assert_eq!(kind(world.store.change_person_avus(&alice, "alice", &change)), ErrorKind::Denied);
    world.store.change_person_avus(&world.admin, "alice", &change).unwrap();
    assert_eq!(world.store.person_avus("alice").unwrap(), [avu("orcid", "0000")]);
    let reading = world.store.reading(&world.admin).unwrap();
    let found = reading.stating(Some("orcid"), Some("0000"), 10).unwrap();
    assert_eq!(found, Some(BTreeSet::from([alice.user().0])));
    world.store.remove_person(&world.admin, "alice").unwrap();
    let reading = world.store.reading(&world.admin).unwrap();
    assert_eq!(reading.stating(Some("orcid"), Some("0000"), 10).unwrap(), Some(BTreeSet::new()));
}

#[test]
fn expired_tokens_do_not_accumulate() {
    let world = world();
    let hour = std::time::Duration::from_secs(3_600);
    let new = NewToken {
        label: "login".into(),
        rights: Rights::OWN,
        lifetime: Some(hour),
        ..NewToken::default()
    };
    world.store.add_token(&world.admin, &new).unwrap();
    world.clock.advance(hour / 2);
    world.store.add_token(&world.admin, &new).unwrap();
    world.clock.advance(hour / 2);
    world.store.add_token(&world.admin, &new).unwrap();
    assert_eq!(world.store.tokens(&world.admin).unwrap().len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The listing of names and the walk agree, whatever the tree and the pages.
    #[test]
    fn names_equal_those_of_a_walk(
        made in proptest::collection::vec(("[ab](/[ab]){0,3}", any::<bool>()), 0..12),
        limit in 1usize..5,
    ) {
        let world = world();
        for (name, collection) in made {
            let to = format!("/{name}");
            if collection {
                let _ = world.try_mkdir(&world.admin, &to);
            } else {
                let _ = world.try_put(&world.admin, &to, b"x", Default::default());
            }
        }
        let walked = world.store.walk(&world.admin, &at("/"), None, 1_000).unwrap().entries;
        let walked: BTreeSet<String> = walked.iter().map(|entry| entry.path.to_string()).collect();
        let plain = world.admin.clone().elevated(false);
        for caller in [&world.admin, &plain] {
            let named = names(&world, caller, "/", true, limit);
            prop_assert_eq!(named.iter().cloned().collect::<BTreeSet<_>>(), walked.clone());
            prop_assert_eq!(named.len(), walked.len());
            for name in &named {
                let stat = world.store.stat(&world.admin, &at(name)).unwrap();
                prop_assert_eq!(stat.path, path(name));
            }
        }
    }
}
