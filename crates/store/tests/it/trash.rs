//! Resources kept in the trash: hidden from all operations, restored unchanged, purged when due.

use std::time::Duration;

use cenote_store::{
    At, AvuChange, Caller, ChangeKind, Comparison, Condition, Conditions, CopyOptions, ErrorKind,
    Membership, MoveOptions, NewTicket, Position, PutOptions, Query, ReadOptions, RemoveOptions,
    ResourceId, RestoreOptions, Rights, Scope, SharedOptions, StorePath, TicketUse, TrashOptions,
};

use crate::raw::key;
use crate::world::{World, assert_clean, at, avu, kind, noise, path, run, world};

const DAY: u64 = 86_400;

/// A store that keeps removed resources for a day, with a described, shared tree whose object has
/// versions.
fn kept() -> World {
    let world = world();
    world.keep_removed("/", DAY);
    world.mkdir("/lab");
    world.mkdir("/lab/run");
    world.mkdir("/lab/run/deep");
    let change = cenote_store::AttributeChange {
        versioning: Some(Some(cenote_store::Versioning::EachChange(
            cenote_store::Retention::default(),
        ))),
        ..cenote_store::AttributeChange::default()
    };
    world.store.set_attributes(&world.admin, &at("/lab"), &change).unwrap();
    world.put("/lab/run/a", &noise(100, 1));
    world.put("/lab/run/a", &noise(200, 2));
    world.put("/lab/run/deep/b", b"small");
    let described = [AvuChange::Add(avu("k", "v"))];
    for of in ["/lab/run", "/lab/run/a"] {
        let any = Conditions::default();
        world.store.change_avus(&world.admin, &at(of), &described, &any).unwrap();
    }
    world
}

fn grant(world: &World, to: &str, of: &str, rights: Rights, scope: Scope) {
    world.grant(of, to, rights, scope);
}

fn restore(world: &World, caller: &Caller, id: ResourceId) -> cenote_store::Result<StorePath> {
    let done = world.store.restore_removed(caller, id, &RestoreOptions::default());
    done.map(|stat| stat.path)
}

fn to(path: &str) -> RestoreOptions {
    RestoreOptions { to: Some(path.parse().unwrap()), parents: false }
}

/// Everything that a caller can observe below a path.
fn observed(world: &World, below: &str) -> String {
    let (store, admin) = (&world.store, &world.admin);
    let walk = store.walk(admin, &at("/"), None, 10_000).unwrap().entries;
    let mut lines = Vec::new();
    for stat in walk.into_iter().filter(|stat| stat.path.starts_with(&path(below))) {
        let at = At::Id(stat.id);
        let read = |version| {
            let options = ReadOptions { version, ..ReadOptions::default() };
            run(store.open(admin, &at, &options).unwrap().read_all()).unwrap()
        };
        lines.push(format!("{stat:?}"));
        lines.push(format!("{:?}", store.avus(admin, &at).unwrap()));
        lines.push(format!("{:?}", store.access(admin, &at).unwrap()));
        lines.push(format!("{:?}", store.tickets(admin, &at).unwrap()));
        if stat.resource.content.is_some() {
            lines.push(format!("{:?}", read(None)));
            for version in store.versions(admin, &at).unwrap() {
                lines.push(format!("{version:?} {:?}", read(Some(version.version))));
            }
        }
    }
    lines.push(format!("{:?}", found(world, admin)));
    lines.push(format!("{:?}", store.usage(admin, &self::at(below)).unwrap()));
    lines.join("\n")
}

/// The results of a search for the attribute.
fn found(world: &World, caller: &Caller) -> Vec<StorePath> {
    let condition = Condition {
        attribute: "k".into(),
        comparison: Comparison::Equal,
        value: "v".into(),
        unit: None,
    };
    let query = Query {
        under: at("/"),
        conditions: vec![condition],
        name: None,
        kind: None,
        text: None,
        after: None,
        limit: 100,
        effort: Query::EFFORT,
    };
    let page = world.store.search(caller, &query).unwrap();
    page.items.into_iter().map(|stat| stat.path).collect()
}

#[test]
fn a_removal_and_its_restoration_have_no_observable_effect() {
    let world = kept();
    world.user("ada");
    grant(&world, "ada", "/lab/run/deep", Rights::MODIFY_OBJECT, Scope::Subtree);
    world.store.add_ticket(&world.admin, &at("/lab/run/a"), &NewTicket::default()).unwrap();
    let before = observed(&world, "/lab/run");
    for _ in 0..2 {
        let item = world.discard("/lab/run");
        assert_eq!(item.until, world.store_now().plus(Duration::from_secs(DAY)));
        let world = world.reopened();
        assert_eq!(restore(&world, &world.admin, item.id).unwrap(), path("/lab/run"));
        assert_eq!(observed(&world, "/lab/run"), before);
    }
    assert_clean(&world.store);
}

#[test]
fn resources_in_the_trash_cannot_be_found() {
    let world = kept();
    let user = world.user("ada");
    for scope in [Scope::This, Scope::Subtree] {
        grant(&world, "ada", "/lab/run", Rights::OWN, scope);
    }
    let (secret, _) =
        world.store.add_ticket(&world.admin, &at("/lab/run/a"), &NewTicket::default()).unwrap();
    let ids = ["/lab/run", "/lab/run/a", "/lab/run/deep/b"].map(|p| world.stat(p).unwrap().id);
    assert!(!world.store.shared(&user, &SharedOptions::default()).unwrap().items.is_empty());
    world.discard("/lab/run");
    let store = &world.store;
    let reading = ReadOptions::default();
    for caller in [&world.admin, &user] {
        for way in ids.map(At::Id).into_iter().chain([at("/lab/run"), at("/lab/run/a")]) {
            let refused = [
                kind(store.stat(caller, &way)),
                kind(store.open(caller, &way, &reading).map(drop)),
                kind(store.versions(caller, &way)),
                kind(store.avus(caller, &way)),
                kind(store.graph(caller, &way)),
                kind(store.access(caller, &way)),
                kind(store.usage(caller, &way)),
                kind(store.replicas(caller, &way)),
                kind(store.tickets(caller, &way)),
                kind(store.add_ticket(caller, &way, &NewTicket::default())),
                kind(store.remove(caller, &way, &RemoveOptions::default())),
                kind(store.relocate(caller, &way, &path("/x"), MoveOptions::default())),
                kind(store.copy(caller, &way, &path("/x"), CopyOptions::default())),
                kind(store.walk(caller, &way, None, 10)),
                kind(store.set_attributes(caller, &way, &Default::default())),
            ];
            assert!(refused.iter().all(|kind| *kind == ErrorKind::NotFound), "{way:?} {refused:?}");
        }
        assert!(found(&world, caller).is_empty());
        assert!(store.shared(caller, &SharedOptions::default()).unwrap().items.is_empty());
    }
    // The resource of the ticket is missing.
    let shown = store.use_ticket(&user, &secret, "host", TicketUse::Read);
    let opened =
        shown.and_then(|ticket| store.stat(&user.clone().with_ticket(ticket), &At::Id(ids[1])));
    let refused = [ErrorKind::NotFound, ErrorKind::Unauthenticated];
    assert!(refused.contains(&kind(opened)));
    world.mkdir("/lab/run");
    assert!(world.names("/lab/run").is_empty());
    let put = world.try_put(&world.admin, "/lab/run/a", b"new", PutOptions::default()).unwrap();
    assert!(!ids.contains(&put.id));
}

#[test]
fn a_restoration_needs_a_free_name_and_a_collection_and_changes_nothing_else() {
    let world = kept();
    let item = world.discard("/lab/run");
    world.mkdir("/lab/run");
    let refused = restore(&world, &world.admin, item.id).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Exists);
    assert!(refused.hint().unwrap().contains("--to"));
    let by = |options: &RestoreOptions| world.store.restore_removed(&world.admin, item.id, options);
    assert_eq!(kind(by(&to("/none/run"))), ErrorKind::NotFound);
    assert_eq!(kind(by(&to("/"))), ErrorKind::Exists);
    let lab = world.discard("/lab");
    let gone = restore(&world, &world.admin, item.id).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
    assert!(gone.hint().unwrap().contains("--parents"));
    assert_eq!(world.trash_of(&world.admin).len(), 2);
    let parents = RestoreOptions { to: None, parents: true };
    assert_eq!(by(&parents).unwrap().path, path("/lab/run"));
    assert_eq!(kind(by(&parents)), ErrorKind::NotFound);
    assert_eq!(kind(restore(&world, &world.admin, lab.id)), ErrorKind::Exists);
    world.store.restore_removed(&world.admin, lab.id, &to("/old")).unwrap();
    assert_eq!(world.names("/"), ["lab", "old"]);
    assert!(world.trash_of(&world.admin).is_empty());
    assert_clean(&world.store);
}

#[test]
fn a_removed_resource_is_restored_into_its_collection_wherever_that_is() {
    let world = kept();
    let item = world.discard("/lab/run");
    world.mv("/lab", "/moved").unwrap();
    assert_eq!(restore(&world, &world.admin, item.id).unwrap(), path("/moved/run"));
}

#[test]
fn only_the_remover_and_those_with_control_can_see_and_restore_it() {
    let world = kept();
    let [ada, bob, eve] = ["ada", "bob", "eve"].map(|name| world.user(name));
    grant(&world, "ada", "/lab", Rights::DELETE_OBJECT, Scope::Subtree);
    grant(&world, "bob", "/lab", Rights::OWN, Scope::Subtree);
    grant(&world, "eve", "/lab", Rights::DELETE_OBJECT, Scope::Subtree);
    let recursive = RemoveOptions { recursive: true, ..RemoveOptions::default() };
    let item = world.store.remove(&ada, &at("/lab/run"), &recursive).unwrap().unwrap();
    assert_eq!(item.removed_by, ada.user());
    for (caller, sees) in [(&world.admin, true), (&ada, true), (&bob, true), (&eve, false)] {
        assert_eq!(world.trash_of(caller).len(), usize::from(sees), "{}", caller.name());
        let removed = world.store.usage(caller, &at("/lab")).unwrap().removed;
        assert_eq!(removed.items, u64::from(sees), "{}", caller.name());
    }
    assert_eq!(kind(restore(&world, &eve, item.id)), ErrorKind::NotFound);
    assert_eq!(kind(world.store.empty_trash_of(&eve, item.id)), ErrorKind::NotFound);
    assert_eq!(world.store.empty_trash(&eve).unwrap(), 0);
    // A user who lost the right to remove it can neither see nor restore it.
    grant(&world, "ada", "/lab", Rights::NONE, Scope::Subtree);
    assert!(world.trash_of(&ada).is_empty());
    assert_eq!(kind(restore(&world, &ada, item.id)), ErrorKind::NotFound);
    restore(&world, &bob, item.id).unwrap();
}

#[test]
fn pages_of_the_trash_return_each_item_once() {
    let world = kept();
    let mut expected: Vec<_> = (0..7).map(|n| world.put(&format!("/{n}"), b"x").id).collect();
    (0..7).for_each(|n| drop(world.discard(&format!("/{n}"))));
    world.discard("/lab/run");
    let below = Some(at("/lab"));
    let options = TrashOptions { below, ..TrashOptions::default() };
    assert_eq!(world.store.trash(&world.admin, &options).unwrap().items.len(), 1);
    let mut options = TrashOptions { limit: 3, effort: 2, ..TrashOptions::default() };
    let mut seen = Vec::new();
    loop {
        let page = world.store.trash(&world.admin, &options).unwrap();
        assert!(page.items.len() <= 2);
        seen.extend(page.items.into_iter().map(|item| item.id));
        options.after = page.next;
        if options.after.is_none() {
            break;
        }
    }
    expected.push(seen.iter().copied().find(|id| !expected.contains(id)).unwrap());
    expected.sort();
    assert_eq!(seen, expected);
}

#[test]
fn the_nearest_collection_determines_the_trash_period_and_without_one_there_is_none() {
    let world = world();
    world.put("/a", b"1");
    world.rm("/a").unwrap();
    assert!(world.trash_of(&world.admin).is_empty());
    world.keep_removed("/", DAY);
    world.mkdir("/scratch");
    world.keep_removed("/scratch", 0);
    for name in ["/a", "/b", "/scratch/c"] {
        world.put(name, b"1");
    }
    world.rm("/scratch/c").unwrap();
    let permanent = RemoveOptions { permanent: true, ..RemoveOptions::default() };
    assert_eq!(world.store.remove(&world.admin, &at("/b"), &permanent).unwrap(), None);
    world.rm("/a").unwrap();
    let items = world.trash_of(&world.admin);
    assert_eq!(items.iter().map(|item| item.path.as_str()).collect::<Vec<_>>(), ["/a"]);
}

#[test]
fn versions_are_kept_in_the_trash_and_purged_only_on_request() {
    let world = kept();
    let permanent = RemoveOptions { permanent: true, recursive: true, ..RemoveOptions::default() };
    let refused = world.store.remove(&world.admin, &at("/lab/run"), &permanent);
    assert_eq!(kind(refused), ErrorKind::NotEmpty);
    let item = world.discard("/lab/run/a");
    restore(&world, &world.admin, item.id).unwrap();
    assert_eq!(world.store.versions(&world.admin, &at("/lab/run/a")).unwrap().len(), 2);
}

#[test]
fn a_resource_replaced_by_a_move_is_kept_with_its_versions() {
    let world = kept();
    world.put("/lab/new", b"new");
    let replace = MoveOptions { replace: true, ..MoveOptions::default() };
    let before = world.stat("/lab/run/a").unwrap();
    world.store.relocate(&world.admin, &at("/lab/new"), &path("/lab/run/a"), replace).unwrap();
    assert_eq!(world.read("/lab/run/a"), b"new");
    let item = world.trash_of(&world.admin).pop().unwrap();
    assert_eq!((item.id, item.path.as_str()), (before.id, "/lab/run/a"));
    world.store.restore_removed(&world.admin, item.id, &to("/old")).unwrap();
    assert_eq!(world.read("/old"), noise(200, 2));
    assert_eq!(world.store.versions(&world.admin, &at("/old")).unwrap().len(), 2);
    assert_clean(&world.store);
}

#[test]
fn the_trash_is_counted_and_purged_when_due_also_after_a_restart() {
    let world = kept();
    let item = world.discard("/lab/run");
    assert_eq!((item.resources, item.bytes), (None, None));
    world.store.run_jobs().unwrap();
    let counted = world.trash_of(&world.admin).pop().unwrap();
    assert_eq!((counted.resources, counted.bytes), (Some(4), Some(205)));
    let removed = world.store.stats(&world.admin).unwrap().removed.unwrap();
    assert_eq!((removed.items, removed.bytes), (1, 205));
    world.clock.advance(Duration::from_secs(DAY - 1));
    assert_eq!(world.store.purge_trash().unwrap(), 0);
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(world.store.purge_trash().unwrap(), 1);
    assert_eq!(kind(restore(&world, &world.admin, item.id)), ErrorKind::NotFound);
    assert_eq!(world.store.stats(&world.admin).unwrap().removed.unwrap(), Default::default());
    assert_clean(&world.store);
    // Nothing was swept yet; another process continues.
    let world = world.reopened();
    assert_eq!(world.store.run_jobs().unwrap(), 4);
    world.sweep();
    assert_eq!(world.blobs_in("main"), 0);
    assert_clean(&world.store);
}

#[test]
fn the_cost_of_removing_and_restoring_does_not_depend_on_the_tree() {
    let sizes = [3, 300].map(|many| {
        let world = kept();
        (0..many).for_each(|n| drop(world.put(&format!("/lab/run/deep/{n}"), b"x")));
        let before = crate::world::rows(&*world.parts.engine).len();
        let item = world.discard("/lab/run");
        let removed = crate::world::rows(&*world.parts.engine).len();
        restore(&world, &world.admin, item.id).unwrap();
        let restored = crate::world::rows(&*world.parts.engine).len();
        (removed as i64 - before as i64, restored as i64 - removed as i64)
    });
    assert_eq!(sizes[0], sizes[1]);
}

#[test]
fn the_feed_reports_a_removal_and_a_move_into_view() {
    let world = kept();
    let since = world.store.newest_change().unwrap();
    let item = world.discard("/lab/run");
    restore(&world, &world.admin, item.id).unwrap();
    let reported = |since: Position| {
        let page = world.store.changes(&world.admin, since, 100).unwrap();
        page.changes.into_iter().map(|c| (c.kind, c.id, c.name, c.from)).collect::<Vec<_>>()
    };
    let run = |kind| (kind, item.id, "run".to_owned(), None);
    assert_eq!(reported(since), [run(ChangeKind::Removed), run(ChangeKind::Moved)]);
}

#[test]
fn any_name_is_restored_unchanged() {
    let world = kept();
    let long = "x".repeat(1_024);
    for name in ["a b", "%2F", "..\\", "\u{1F4A3}\n\t\"'", "-rf", &long] {
        let to = format!("/lab/{name}");
        world.put(&to, name.as_bytes());
        let item = world.discard(&to);
        assert_eq!(item.path, to);
        assert_eq!(restore(&world, &world.admin, item.id).unwrap().to_string(), to);
        assert_eq!(world.read(&to), name.as_bytes());
    }
}

#[test]
fn a_damaged_entry_does_not_block_purging_others() {
    for damaged in [b'X', b'N'] {
        let world = kept();
        let ids: Vec<_> = (0..5).map(|n| world.put(&format!("/{n}"), b"x").id).collect();
        (0..5).for_each(|n| drop(world.discard(&format!("/{n}"))));
        world.damage(&key(damaged, &[ids[2].0]));
        let left = |of: &World| of.trash_of(&of.admin).into_iter().map(|item| item.id);
        let others: Vec<_> = ids.iter().copied().filter(|id| *id != ids[2]).collect();
        assert_eq!(left(&world).collect::<Vec<_>>(), others);
        assert_eq!(world.store.usage(&world.admin, &at("/")).unwrap().removed.items, 4);
        assert!(restore(&world, &world.admin, ids[2]).is_err());
        world.store.empty_trash_of(&world.admin, ids[0]).unwrap();
        world.clock.advance(Duration::from_secs(DAY));
        world.store.purge_trash().unwrap();
        assert_eq!(left(&world).count(), 0);
        // A resource known to be removed is purged when due, even if its other records are damaged.
        assert_eq!(world.table(b'N').contains(&key(b'N', &[ids[2].0]).into()), damaged == b'N');
        world.put("/a", b"x");
        world.discard("/a");
        assert_eq!(world.store.empty_trash(&world.admin).unwrap(), 1);
    }
}

#[test]
fn a_removal_and_a_restoration_update_only_the_membership_timestamps_of_their_collections() {
    let world = kept();
    let clocks = || {
        let [lab, run, object] = ["/lab", "/lab/run", "/lab/run/a"].map(|of| world.stat(of).ok());
        let of = [lab.clone().unwrap(), world.stat("/").unwrap()];
        let members = world.store.memberships(&of).unwrap();
        (members, lab.map(|lab| lab.resource), run, object)
    };
    let before = clocks();
    world.clock.advance(Duration::from_secs(1));
    let item = world.discard("/lab/run");
    let removed = clocks();
    world.clock.advance(Duration::from_secs(1));
    restore(&world, &world.admin, item.id).unwrap();
    let restored = clocks();
    assert_eq!((&before.1, &before.2, &before.3), (&restored.1, &restored.2, &restored.3));
    let lab = |of: &[Option<Membership>]| of[0].unwrap();
    let root = |of: &[Option<Membership>]| of[1].unwrap();
    for (earlier, later) in [(&before.0, &removed.0), (&removed.0, &restored.0)] {
        assert!(lab(earlier).changes < lab(later).changes);
        assert!(lab(earlier).changed < lab(later).changed);
        assert_eq!(root(earlier), root(later));
    }
    // Restoring into another collection updates that one's timestamp.
    let item = world.discard("/lab/run");
    let before = clocks().0;
    world.clock.advance(Duration::from_secs(1));
    world.store.restore_removed(&world.admin, item.id, &to("/run")).unwrap();
    let after = clocks().0;
    assert_eq!(lab(&before), lab(&after));
    assert!(root(&before).changes < root(&after).changes);
}

/// The names in the trash, in the order of removal.
fn in_the_trash(world: &World) -> Vec<String> {
    let options = TrashOptions { limit: 1_000, ..TrashOptions::default() };
    let mut items = world.store.trash(&world.admin, &options).unwrap().items;
    items.sort_by_key(|item| (item.removed, item.id));
    items.into_iter().map(|item| item.path).collect()
}

fn upkept(world: &World) {
    run(world.store.maintain_once(&cenote_store::Pace::default())).unwrap();
}

#[test]
fn the_oldest_removals_are_purged_first_if_a_collection_exceeds_its_limit() {
    let world = kept();
    world.keep_removed_bytes("/lab", Some(1_000));
    for n in 0..5 {
        world.put(&format!("/lab/{n}"), &noise(400, n));
        world.discard(&format!("/lab/{n}"));
        world.put(&format!("/{n}"), &noise(400, n));
        world.discard(&format!("/{n}"));
    }
    upkept(&world);
    assert_eq!(in_the_trash(&world), ["/0", "/1", "/2", "/lab/3", "/3", "/lab/4", "/4"]);
    assert_clean(&world.store);
}

#[test]
fn a_tree_counts_for_a_limit_once_it_is_counted_and_is_not_kept_if_larger() {
    let world = kept();
    world.keep_removed_bytes("/lab", Some(204));
    world.discard("/lab/run");
    upkept(&world);
    assert!(in_the_trash(&world).is_empty());
    assert_eq!(world.store.stats(&world.admin).unwrap().removed.unwrap().items, 0);
    assert_clean(&world.store);
}

#[test]
fn a_changed_limit_applies_to_earlier_removals() {
    let world = kept();
    let remove = |n: u64| {
        world.put(&format!("/lab/{n}"), &noise(100, n));
        world.discard(&format!("/lab/{n}"));
    };
    remove(0);
    world.keep_removed_bytes("/lab", Some(1_000));
    (1..5).for_each(remove);
    upkept(&world);
    assert_eq!(in_the_trash(&world).len(), 5);
    world.keep_removed_bytes("/lab", None);
    remove(5);
    upkept(&world);
    assert_eq!(in_the_trash(&world).len(), 6);
    world.keep_removed_bytes("/lab", Some(200));
    upkept(&world);
    assert_eq!(in_the_trash(&world), ["/lab/0", "/lab/3", "/lab/4", "/lab/5"]);
    assert_clean(&world.store);
}

#[test]
fn restored_and_purged_resources_count_for_no_limit() {
    let world = kept();
    world.keep_removed_bytes("/lab", Some(250));
    let items: Vec<_> = (0..3)
        .map(|n| {
            world.put(&format!("/lab/{n}"), &noise(100, n));
            world.discard(&format!("/lab/{n}"))
        })
        .collect();
    restore(&world, &world.admin, items[0].id).unwrap();
    world.store.empty_trash_of(&world.admin, items[1].id).unwrap();
    world.put("/lab/3", &noise(100, 3));
    world.discard("/lab/3");
    upkept(&world);
    assert_eq!(in_the_trash(&world), ["/lab/2", "/lab/3"]);
    assert_clean(&world.store);
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(24))]
    /// Under any limits the newest removals that fit are kept, for each collection separately.
    #[test]
    fn under_any_limits_the_newest_removals_that_fit_are_kept(
        limits in proptest::array::uniform2(proptest::option::of(0u64..600)),
        removals in proptest::collection::vec((0usize..3, 0u64..200), 1..20),
    ) {
        let world = kept();
        let above = ["/lab/run", "/lab", ""];
        world.keep_removed_bytes("/lab/run", limits[0]);
        world.keep_removed_bytes("/lab", limits[1]);
        let mut removed = Vec::new();
        for (n, (place, size)) in removals.into_iter().enumerate() {
            let path = format!("{}/{n}", above[place]);
            world.put(&path, &noise(size as usize, 1));
            world.discard(&path);
            let limit = match place {
                0 if limits[0].is_some() => Some(0),
                0 | 1 if limits[1].is_some() => Some(1),
                _ => None,
            };
            removed.push((path, size, limit));
        }
        upkept(&world);
        let fits = |n: usize| {
            let Some(limit) = removed[n].2 else { return true };
            let under = || removed.iter().filter(|other| other.2 == Some(limit));
            let over = under().map(|other| other.1).sum::<u64>().saturating_sub(limits[limit].unwrap());
            let before = removed[..n].iter().filter(|other| other.2 == Some(limit));
            before.map(|other| other.1).sum::<u64>() >= over
        };
        let expected: Vec<_> =
            (0..removed.len()).filter(|n| fits(*n)).map(|n| removed[n].0.clone()).collect();
        proptest::prop_assert_eq!(in_the_trash(&world), expected);
        assert_clean(&world.store);
    }
}

#[test]
fn a_query_reads_exactly_what_its_caller_can_restore() {
    let world = kept();
    let ada = world.user("ada");
    grant(&world, "ada", "/lab/run", Rights::OWN, Scope::Subtree);
    let [run_id, deep] = ["/lab/run", "/lab/run/deep/b"].map(|p| world.stat(p).unwrap().id);
    world.mkdir("/lab/stays");
    world.discard("/lab/run");
    let store = &world.store;
    let reading = store.reading(&world.admin).unwrap();
    let removed: Vec<_> = reading.removed().map(|item| item.unwrap().unwrap().id).collect();
    assert_eq!(removed, [run_id]);
    let found = reading.removed_with(deep).unwrap().unwrap();
    assert_eq!((found.item().id, found.names().len()), (run_id, 2));
    assert_eq!(found.stat(&path("/x")).path, path("/x/deep/b"));
    let top = reading.removed_with(run_id).unwrap().unwrap();
    let below = top.below(&reading, &path("/x"), true).unwrap();
    let below: Vec<_> = below.map(|stat| stat.unwrap().unwrap().path.to_string()).collect();
    assert_eq!(below, ["/x/a", "/x/deep", "/x/deep/b"]);
    let opened = store.open_removed(&world.admin, deep).unwrap();
    assert_eq!(run(opened.read_all()).unwrap(), "small");
    assert!(reading.removed_with(world.stat("/lab/stays").unwrap().id).unwrap().is_none());

    // Ada owns it, but neither removed it nor controls where it was.
    let reading = store.reading(&ada).unwrap();
    assert!(reading.removed().all(|item| item.unwrap().is_none()));
    assert!(reading.removed_with(deep).unwrap().is_none());
    assert_eq!(kind(store.open_removed(&ada, deep).map(drop)), ErrorKind::NotFound);
}

#[test]
fn a_removal_may_set_its_trash_period_if_no_collection_does() {
    let world = world();
    let keep = Some(Duration::from_secs(DAY));
    let remove = || {
        world.put("/a", b"a");
        let options = RemoveOptions { keep, ..RemoveOptions::default() };
        world.store.remove(&world.admin, &at("/a"), &options).unwrap()
    };
    let kept = remove().expect("it is kept");
    assert_eq!(kept.until, kept.removed.plus(Duration::from_secs(DAY)));
    world.keep_removed("/", 0);
    assert!(remove().is_none(), "a setting counts for more");
}
