//! Resources shared from collections that a caller cannot see or list, compared with a full scan.

use std::collections::BTreeSet;
use std::sync::Arc;

use cenote_blob::Place;
use cenote_kv::{FaultyEngine, MemoryEngine};
use cenote_store::{
    AccessChange, At, Caller, CreateOptions, Draft, ErrorKind, ListOptions, ResourceId, Rights,
    Scope, SharedCursor, SharedOptions, Stat,
};
use proptest::prelude::*;

use crate::world::{World, any_rights, assert_clean, at, cases, kind, path, world, world_on};

const FOLDERS: [&str; 6] = ["/home/a", "/home/a/x", "/home/a/x/y", "/home/b", "/home/b/x", "/open"];
const PERSONS: [&str; 5] = ["u", "lab", "public", "other", "role:user"];
const SCOPES: [Scope; 4] = [Scope::This, Scope::This, Scope::Default, Scope::Subtree];

/// One change of a tree: of access, or a move, or a removal.
type Step = (u8, usize, usize, usize, Rights);

fn folder(world: &World, to: &str) {
    let options = CreateOptions { parents: true, exist_ok: true, ..CreateOptions::default() };
    world.store.create(&world.admin, &path(to), Draft::Collection, options).unwrap();
}

fn grant(world: &World, what: &At, to: &str, rights: Rights, scope: Scope) {
    let change = [AccessChange::Grant(to.into(), rights.into(), scope)];
    world.store.change_access(&world.admin, what, &change).unwrap();
}

fn everything(world: &World) -> Vec<Stat> {
    world.store.walk(&world.admin, &at("/"), None, 1_000).unwrap().entries
}

/// A user in a group, and homes that are closed to them.
fn homes() -> (World, Caller) {
    let world = world();
    world.user("u");
    world.user("other");
    world.store.add_group(&world.admin, "lab").unwrap();
    world.store.change_group(&world.admin, "lab", &["u".into()], &[]).unwrap();
    for home in FOLDERS {
        folder(&world, home);
        world.put(&format!("{home}/file"), b"");
    }
    let user = world.store.caller_for(world.store.person_named("u").unwrap().0).unwrap();
    (world, user)
}

fn step(world: &World, (kind, what, person, scope, rights): Step) {
    let all = everything(world);
    let Some(chosen) = all.get(what % all.len().max(1)) else { return };
    let at = At::Id(chosen.id);
    match kind {
        0 => drop(world.store.remove(
            &world.admin,
            &at,
            &cenote_store::RemoveOptions { recursive: true, ..Default::default() },
        )),
        1 => drop(world.mv(&chosen.path.to_string(), &format!("/home/b/m{person}"))),
        _ => grant(world, &at, PERSONS[person % 5], rights, SCOPES[scope % 4]),
    }
}

/// The result of a full scan: visible resources with a grant for the caller, in collections that they cannot see or
/// list.
fn looked_up(world: &World, caller: &Caller) -> BTreeSet<ResourceId> {
    let sees = |of: &At| world.store.stat(caller, of).is_ok();
    let lists = |of: &At| world.store.list(caller, of, &ListOptions::default()).is_ok();
    let named = |stat: &Stat| {
        let (_, lines) = world.store.access(&world.admin, &At::Id(stat.id)).unwrap();
        let mut own = lines.iter().filter(|line| line.from == stat.path);
        own.any(|line| ["u", "lab", "public", "role:user"].contains(&line.name.as_str()))
    };
    let shared = |stat: &Stat| {
        let above = At::Id(stat.resource.parent);
        sees(&At::Id(stat.id)) && !(sees(&above) && lists(&above)) && named(stat)
    };
    everything(world).into_iter().filter(shared).map(|stat| stat.id).collect()
}

fn pages(world: &World, caller: &Caller, mut options: SharedOptions) -> BTreeSet<ResourceId> {
    let mut found = BTreeSet::new();
    loop {
        let page = world.store.shared(caller, &options).unwrap();
        assert!(page.items.len() <= options.limit);
        for stat in page.items {
            assert_eq!(world.store.stat(caller, &At::Id(stat.id)).unwrap(), stat);
            assert!(found.insert(stat.id), "given twice: {}", stat.path);
        }
        let Some(next) = page.next else { return found };
        let next = SharedCursor::from_bytes(&next.to_bytes()).unwrap();
        assert_ne!(options.after.replace(next.clone()), Some(next), "it goes on");
    }
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn shared_resources_are_found_without_a_full_scan(
        steps in proptest::collection::vec(
            (0u8..8, any::<usize>(), any::<usize>(), any::<usize>(), any_rights()), 0..12),
        (limit, effort) in (1usize..4, prop_oneof![1usize..8, Just(SharedOptions::EFFORT)]),
    ) {
        let (world, user) = homes();
        for each in steps {
            step(&world, each);
        }
        let options = SharedOptions { limit, effort, after: None };
        prop_assert_eq!(pages(&world, &user, options.clone()), looked_up(&world, &user));
        prop_assert_eq!(pages(&world, &world.admin, options), BTreeSet::new());
        assert_clean(&world.store);
        world.sweep();
        assert_clean(&world.store);
    }
}

/// A collection that can be listed costs one lookup, however many of its children have grants for the caller.
#[test]
fn a_collection_that_can_be_listed_costs_one_lookup() {
    let engine = FaultyEngine::new(Arc::new(MemoryEngine::new()));
    let world = world_on(engine.clone(), Place::memory("main"));
    let user = world.user("u");
    world.mkdir("/open");
    grant(&world, &at("/"), "u", Rights::READ_OBJECT, Scope::This);
    grant(&world, &at("/open"), "u", Rights::READ_OBJECT, Scope::Subtree);
    for n in 0..200 {
        world.put(&format!("/open/{n}"), b"");
        grant(&world, &at(&format!("/open/{n}")), "u", Rights::READ_OBJECT, Scope::This);
    }
    let before = engine.steps();
    assert!(pages(&world, &user, SharedOptions::default()).is_empty());
    assert!(engine.steps() - before < 20);
}

#[test]
fn the_owner_of_an_object_has_no_entry_for_it() {
    let world = world();
    world.put("/a", b"");
    assert!(world.table(b'S').is_empty());
    world.user("u");
    grant(&world, &at("/a"), "u", Rights::READ_OBJECT, Scope::This);
    assert_eq!(world.table(b'S').len(), 1);
    world.rm("/a").unwrap();
    assert!(world.table(b'S').is_empty());
}

#[test]
fn other_bytes_are_not_a_cursor() {
    for bytes in [&b""[..], b"S", b"S1234567", b"T12345678123456781234567"] {
        assert_eq!(kind(SharedCursor::from_bytes(bytes)), ErrorKind::Invalid);
    }
}
