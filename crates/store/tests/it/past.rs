//! As of a moment: random histories against a plain list of the states of the store after each step. If all history is
//! kept, every request about any moment has the exact result; otherwise the exact result or none. `PROPTEST_CASES` sets
//! the number of histories.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cenote_store::{
    AccessChange, AttributeChange, AvuChange, Conditions, CopyOptions, Draft, ErrorKind, Kind,
    Moment, MoveOptions, Pace, PastEntry, Position, Prune, PutOptions, RemoveOptions,
    RestoreOptions, Result, Retention, Rights, Scope, StorePath, Time, Versioning, Where,
    attribute_of,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::changesets;
use crate::world::{World, assert_clean, at, avu, cases, kind, noise, path, run, world};

/// The former state of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Was {
    pub(crate) id: u64,
    pub(crate) kind: Kind,
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) avus: BTreeSet<(String, String)>,
    pub(crate) mode: Option<u32>,
    pub(crate) target: Option<String>,
}

/// The whole state after a step, and its time.
pub(crate) struct Snapshot {
    pub(crate) position: Position,
    pub(crate) time: Time,
    pub(crate) tree: BTreeMap<StorePath, Was>,
}

#[derive(Debug, Clone)]
pub(crate) enum Op {
    Mkdir(StorePath),
    Link(StorePath),
    Put(StorePath, usize),
    Append(StorePath, usize),
    Describe(StorePath, u8),
    Undescribe(StorePath, u8),
    Mode(StorePath, u32),
    Move(StorePath, StorePath, bool),
    Copy(StorePath, StorePath),
    Remove(StorePath),
    Undo(usize),
    RestoreVersion(StorePath, usize),
    Grant(StorePath),
    /// These lose history.
    Forget(Loss),
}

#[derive(Debug, Clone)]
pub(crate) enum Loss {
    Policy(StorePath, bool),
    Prune(StorePath, usize),
    Purge,
    Sweep,
    /// Removed for good, with all below it.
    Remove(StorePath),
    Upkeep,
}

pub(crate) fn op() -> impl Strategy<Value = Op> {
    let paths = || "(/[ab]){1,3}".prop_map(|text| path(&text));
    prop_oneof![
        5 => paths().prop_map(Op::Mkdir),
        1 => paths().prop_map(Op::Link),
        5 => (paths(), 0usize..150).prop_map(|(p, n)| Op::Put(p, n)),
        2 => (paths(), 1usize..80).prop_map(|(p, n)| Op::Append(p, n)),
        4 => (paths(), 0u8..4).prop_map(|(p, n)| Op::Describe(p, n)),
        2 => (paths(), 0u8..4).prop_map(|(p, n)| Op::Undescribe(p, n)),
        1 => (paths(), 0u32..0o777).prop_map(|(p, n)| Op::Mode(p, n)),
        4 => (paths(), paths(), any::<bool>()).prop_map(|(p, q, b)| Op::Move(p, q, b)),
        2 => (paths(), paths()).prop_map(|(p, q)| Op::Copy(p, q)),
        3 => paths().prop_map(Op::Remove),
        3 => (0usize..3).prop_map(Op::Undo),
        1 => (paths(), 0usize..3).prop_map(|(p, n)| Op::RestoreVersion(p, n)),
        1 => paths().prop_map(Op::Grant),
    ]
}

/// Few places, so that most of these find something in them.
fn change_of_place() -> impl Strategy<Value = Op> {
    let paths = || "(/[ab]){1,2}".prop_map(|text| path(&text));
    prop_oneof![
        6 => (paths(), paths(), any::<bool>()).prop_map(|(p, q, b)| Op::Move(p, q, b)),
        1 => paths().prop_map(Op::Mkdir),
        1 => (paths(), 0usize..150).prop_map(|(p, n)| Op::Put(p, n)),
        4 => paths().prop_map(Op::Remove),
        1 => (0usize..3).prop_map(Op::Undo),
        3 => Just(Op::Forget(Loss::Purge)),
        1 => Just(Op::Forget(Loss::Upkeep)),
    ]
}

fn small_tree() -> Vec<Op> {
    let collections = ["/a", "/b", "/b/a"].map(|text| Op::Mkdir(path(text)));
    let objects = ["/a/a", "/b/b", "/b/a/a"].map(|text| Op::Put(path(text), 9));
    collections.into_iter().chain(objects).collect()
}

pub(crate) fn loss() -> impl Strategy<Value = Op> {
    let paths = || "(/[ab]){1,3}".prop_map(|text| path(&text));
    let loss = prop_oneof![
        2 => (paths(), any::<bool>()).prop_map(|(p, b)| Loss::Policy(p, b)),
        2 => (paths(), 0usize..3).prop_map(|(p, n)| Loss::Prune(p, n)),
        3 => Just(Loss::Purge),
        1 => Just(Loss::Sweep),
        1 => paths().prop_map(Loss::Remove),
        1 => Just(Loss::Upkeep),
    ];
    loss.prop_map(Op::Forget)
}

/// A store that keeps all versions and removed resources.
pub(crate) fn keeping() -> World {
    let world = world();
    let change = AttributeChange {
        versioning: Some(Some(Versioning::EachChange(Retention::default()))),
        keep_removed: Some(Some(1_000_000)),
        ..AttributeChange::default()
    };
    world.store.set_attributes(&world.admin, &at("/"), &change).unwrap();
    world
}

/// Performs it, if possible.
pub(crate) fn apply(world: &World, op: &Op, seed: u64) {
    let (store, admin, any) = (&world.store, &world.admin, Conditions::default());
    match op.clone() {
        Op::Mkdir(p) => drop(store.create(admin, &p, Draft::Collection, Default::default())),
        Op::Link(p) => {
            let target = Draft::Link(format!("target {seed}"));
            drop(store.create(admin, &p, target, Default::default()));
        }
        Op::Put(p, size) => {
            let bytes = noise(size, seed);
            drop(world.try_put(admin, &p.to_string(), &bytes, PutOptions::default()));
        }
        Op::Append(p, size) => {
            drop(world.write_at(&p.to_string(), Where::Append, &noise(size, seed)));
        }
        Op::Describe(p, n) => {
            // Some are so large that the description is split into rows.
            let value = if n == 3 { "w".repeat(40_000) } else { format!("{n} {seed}") };
            let change = AvuChange::Add(avu(&format!("k{n}"), &value));
            drop(store.change_avus(admin, &(&p).into(), &[change], &any));
        }
        Op::Undescribe(p, n) => {
            let change = AvuChange::Clear(format!("k{n}"));
            drop(store.change_avus(admin, &(&p).into(), &[change], &any));
        }
        Op::Mode(p, mode) => {
            let change = AttributeChange { mode: Some(mode), ..AttributeChange::default() };
            drop(store.set_attributes(admin, &(&p).into(), &change));
        }
        Op::Move(from, to, replace) => {
            let options = MoveOptions { replace, versions: true, ..MoveOptions::default() };
            drop(store.relocate(admin, &(&from).into(), &to, options));
        }
        Op::Copy(from, to) => {
            let options = CopyOptions { replace: true, ..CopyOptions::default() };
            drop(store.copy(admin, &(&from).into(), &to, options));
        }
        Op::Remove(p) => drop(world.rm_all(&p.to_string())),
        Op::Undo(nth) => {
            if let Some(item) = world.trash_of(admin).get(nth) {
                drop(store.restore_removed(admin, item.id, &RestoreOptions::default()));
            }
        }
        Op::RestoreVersion(p, nth) => {
            let versions = store.versions(admin, &(&p).into()).unwrap_or_default();
            if let Some(version) = versions.get(nth) {
                store.restore_version(admin, &(&p).into(), version.version).unwrap();
            }
        }
        Op::Grant(p) => {
            let inherit = AccessChange::Inherit(seed.is_multiple_of(2));
            drop(store.change_access(admin, &(&p).into(), &[inherit]));
        }
        Op::Forget(loss) => lose(world, loss),
    }
}

fn lose(world: &World, loss: Loss) {
    let (store, admin) = (&world.store, &world.admin);
    match loss {
        Loss::Policy(p, keeps) => {
            let policy = match keeps {
                true => Versioning::EachChange(Retention::last(2)),
                false => Versioning::Off,
            };
            let change =
                AttributeChange { versioning: Some(Some(policy)), ..AttributeChange::default() };
            drop(store.set_attributes(admin, &(&p).into(), &change));
        }
        Loss::Prune(p, nth) => {
            let versions = store.versions(admin, &(&p).into()).unwrap_or_default();
            if let Some(version) = versions.get(nth) {
                let one = Prune::One(version.version);
                store.prune_versions(admin, &(&p).into(), &one).unwrap();
            }
        }
        // What is in a collection is left to a job of the next upkeep.
        Loss::Purge => drop(store.empty_trash(admin).unwrap()),
        Loss::Sweep => world.sweep(),
        Loss::Remove(p) => {
            let options = RemoveOptions {
                recursive: true,
                versions: true,
                permanent: true,
                ..RemoveOptions::default()
            };
            drop(store.remove(admin, &(&p).into(), &options));
        }
        Loss::Upkeep => run(store.maintain_once(&Pace::default())).unwrap(),
    }
}

pub(crate) fn snapshot(world: &World) -> Snapshot {
    let (store, admin) = (&world.store, &world.admin);
    let walk = store.walk(admin, &at("/"), None, 10_000).unwrap();
    let tree = walk.entries.into_iter().map(|stat| {
        let at = cenote_store::At::Id(stat.id);
        let avus = store.avus(admin, &at).unwrap();
        let was = Was {
            id: stat.id.0,
            kind: stat.resource.kind,
            bytes: (stat.resource.kind == Kind::Object).then(|| world.read(&stat.path.to_string())),
            avus: avus.into_iter().map(|avu| (avu.attribute, avu.value)).collect(),
            mode: stat.resource.mode,
            target: stat.resource.target.clone(),
        };
        (stat.path, was)
    });
    let tree = tree.collect();
    Snapshot { position: store.newest_change().unwrap(), time: store_time(world), tree }
}

fn store_time(world: &World) -> Time {
    cenote_store::Clock::now(&*world.clock)
}

/// What the store returns for a path at a moment.
fn seen(world: &World, path: &StorePath, moment: Moment) -> Result<Was> {
    let (store, admin) = (&world.store, &world.admin);
    let past = store.stat_as_of(admin, path, moment)?;
    let (described, graph) = store.graph_as_of(admin, path, moment)?;
    assert_eq!(past, described);
    let bytes = match past.kind {
        Kind::Object => {
            let (opened, content) = store.open_as_of(admin, path, moment)?;
            assert_eq!(opened, past);
            Some(run(content.read_all()).unwrap().to_vec())
        }
        _ => None,
    };
    let avus = graph
        .iter()
        .map(|statement| (attribute_of(&statement.predicate), statement.object.text().to_owned()));
    let attributes = past.attributes.unwrap();
    Ok(Was {
        id: past.id.0,
        kind: past.kind,
        bytes,
        avus: avus.collect(),
        mode: attributes.mode,
        target: attributes.target,
    })
}

/// Compares a path at a moment with its former state. Nothing is invented; only if history was lost may there be no
/// result.
fn compare(world: &World, path: &StorePath, moment: Moment, was: Option<&Was>, complete: bool) {
    match (seen(world, path, moment), was) {
        (Ok(seen), was) => assert!(Some(&seen) == was, "{path}: {seen:?}, not {was:?}"),
        (Err(error), None) if error.kind() == ErrorKind::NotFound => {}
        (Err(error), _) if error.kind() == ErrorKind::Expired && !complete => {}
        (Err(error), was) => panic!("{path}: {error}, not {was:?}"),
    }
}

/// Compares the children of a collection at a moment, in pages of two.
fn compare_list(world: &World, top: &StorePath, snapshot: &Snapshot, complete: bool) {
    let moment = Moment::Position(snapshot.position);
    let (mut after, mut listed) = (None::<String>, BTreeMap::new());
    loop {
        let page = world.store.list_as_of(&world.admin, top, moment, (after.as_deref(), 2));
        let page = match page {
            Err(error) if error.kind() == ErrorKind::Expired && !complete => return,
            page => page.unwrap(),
        };
        assert!(page.entries.len() <= 2);
        listed.extend(page.entries.into_iter().map(|entry| match entry {
            PastEntry::Kept(past) => (past.path, (past.id.0, true)),
            PastEntry::Lost { id, path } => (path, (id.0, false)),
        }));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let depth = top.names().len() + 1;
    let below = snapshot
        .tree
        .iter()
        .filter(|(path, _)| path.names().len() == depth && path.starts_with(top));
    let expected: BTreeMap<_, _> = below.map(|(path, was)| (path.clone(), was.id)).collect();
    let ids: BTreeMap<_, _> = listed.iter().map(|(path, (id, _))| (path.clone(), *id)).collect();
    assert_eq!(ids, expected, "{top}");
    assert!(!complete || listed.values().all(|(_, kept)| *kept), "{listed:?}");
}

fn play(ops: &[Op], complete: bool) {
    let world = keeping();
    let mut snapshots = vec![snapshot(&world)];
    for (n, op) in ops.iter().enumerate() {
        world.clock.advance(Duration::from_secs(1));
        apply(&world, op, n as u64);
        snapshots.push(snapshot(&world));
    }
    let paths: BTreeSet<_> = snapshots.iter().flat_map(|it| it.tree.keys().cloned()).collect();
    for snapshot in &snapshots {
        for moment in [Moment::Position(snapshot.position), Moment::Time(snapshot.time)] {
            for path in &paths {
                compare(&world, path, moment, snapshot.tree.get(path), complete);
            }
        }
        let collections = snapshot.tree.iter().filter(|(_, was)| was.kind == Kind::Collection);
        compare_list(&world, &StorePath::root(), snapshot, complete);
        collections.for_each(|(top, _)| compare_list(&world, top, snapshot, complete));
    }
    assert_clean(&world.store);
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn every_past_state_is_reproduced_if_history_is_kept(ops in vec(op(), 1..25)) {
        play(&ops, true);
    }

    #[test]
    fn every_past_state_is_reproduced_or_reported_as_not_kept(
        ops in vec(prop_oneof![4 => op(), 1 => loss()], 1..25),
    ) {
        play(&ops, false);
    }
}

proptest! {
    #![proptest_config(cases(120))]

    /// Moves and removals of what exists, which histories that begin with an empty store seldom have.
    #[test]
    fn every_past_place_is_reproduced_or_reported_as_not_kept(
        ops in vec(change_of_place(), 1..16),
    ) {
        play(&[small_tree(), ops].concat(), false);
    }
}

fn as_of(world: &World, what: &str, moment: Moment) -> Result<Was> {
    seen(world, &path(what), moment)
}

#[test]
fn a_moment_outside_of_the_kept_past_is_refused() {
    let world = keeping();
    world.put("/a", b"1");
    let early = store_time(&world);
    world.clock.advance(Duration::from_secs(60));
    world.put("/a", b"2");
    let (middle, position) = (store_time(&world), world.store.newest_change().unwrap());
    world.clock.advance(Duration::from_secs(60));
    world.put("/a", b"3");
    let later = store_time(&world).plus(Duration::from_nanos(1));
    assert_eq!(kind(as_of(&world, "/a", Moment::Time(later))), ErrorKind::Invalid);
    let ahead: Position = "ffffffffffffffffffffffff".parse().unwrap();
    assert_eq!(kind(as_of(&world, "/a", Moment::Position(ahead))), ErrorKind::Invalid);
    let text = position.to_string();
    let never: Position = format!("{}{}", &text[..16], "00ffffff").parse().unwrap();
    let error = as_of(&world, "/a", Moment::Position(never)).unwrap_err();
    assert!(error.kind() == ErrorKind::Invalid && error.hint().is_some(), "{error}");
    assert_eq!(as_of(&world, "/a", Moment::Time(early)).unwrap().bytes.unwrap(), b"1");
    assert_eq!(as_of(&world, "/a", Moment::Time(middle)).unwrap().bytes.unwrap(), b"2");
    world.store.trim_changes(middle.plus(Duration::from_nanos(1))).unwrap();
    assert_eq!(kind(as_of(&world, "/a", Moment::Time(early))), ErrorKind::Expired);
    // It is not known whether any forgotten change was later.
    assert_eq!(kind(as_of(&world, "/a", Moment::Time(middle))), ErrorKind::Expired);
    assert_eq!(as_of(&world, "/a", Moment::Position(position)).unwrap().bytes.unwrap(), b"2");
    assert_eq!(as_of(&world, "/a", Moment::Time(store_time(&world))).unwrap().bytes.unwrap(), b"3");
}

#[test]
fn the_past_is_known_for_as_long_as_the_store_is_set_to_keep_changes() {
    const DAY: u64 = 24 * 3_600;
    let mut world = keeping();
    for (days, kept) in [(365, true), (30, false)] {
        world.parts.keep_changes = Duration::from_secs(days * DAY);
        world = world.reopened();
        world.put("/a", b"1");
        world.clock.advance(Duration::from_secs(1));
        let then = Moment::Time(store_time(&world));
        world.clock.advance(Duration::from_secs(100 * DAY));
        world.put("/a", b"2");
        run(world.store.maintain_once(&Pace::default())).unwrap();
        match kept {
            true => assert_eq!(as_of(&world, "/a", then).unwrap().bytes.unwrap(), b"1"),
            false => assert_eq!(kind(as_of(&world, "/a", then)), ErrorKind::Expired),
        }
    }
}

#[test]
fn the_changes_of_a_change_set_have_the_time_of_its_commit() {
    let world = keeping();
    let (within, set) = changesets::begun(&world);
    within.put("/within", b"1");
    world.clock.advance(Duration::from_secs(20));
    world.put("/beside", b"2");
    let before = store_time(&world);
    world.clock.advance(Duration::from_secs(20));
    changesets::commit(&world, set).unwrap();
    assert_eq!(as_of(&world, "/beside", Moment::Time(before)).unwrap().bytes.unwrap(), b"2");
    assert_eq!(kind(as_of(&world, "/within", Moment::Time(before))), ErrorKind::NotFound);
    let after = Moment::Time(store_time(&world));
    assert_eq!(as_of(&world, "/within", after).unwrap().bytes.unwrap(), b"1");
}

#[test]
fn a_state_that_is_not_kept_is_reported_and_its_name_is_listed() {
    let world = keeping();
    world.mkdir("/c");
    world.put("/c/a", b"1");
    world.put("/c/b", b"1");
    let before = Moment::Position(world.store.newest_change().unwrap());
    world.put("/c/a", b"2");
    let all = Prune::All(Retention::last(0));
    world.store.prune_versions(&world.admin, &at("/c/a"), &all).unwrap();
    let error = as_of(&world, "/c/a", before).unwrap_err();
    assert!(error.kind() == ErrorKind::Expired && error.hint().is_some(), "{error}");
    let page = world.store.list_as_of(&world.admin, &path("/c"), before, (None, 10)).unwrap();
    let lost = |entry: &PastEntry| matches!(entry, PastEntry::Lost { .. });
    assert_eq!(page.entries.iter().map(lost).collect::<Vec<_>>(), [true, false]);
    assert_eq!(as_of(&world, "/c/b", before).unwrap().bytes.unwrap(), b"1");
}

/// For callers who may not see it now, or could not see it at its former path, it is reported as missing.
#[test]
fn the_past_does_not_reveal_hidden_resources() {
    let world = keeping();
    let user = world.user("u");
    let grant = |what: &str, rights: Rights| world.grant(what, "u", rights, Scope::This);
    let reading = Rights::READ_DESCRIPTION.union(Rights::READ_CONTENT).union(Rights::LIST);
    for folder in ["/open", "/shut"] {
        world.mkdir(folder);
    }
    grant("/open", reading);
    for name in ["/open/stays", "/open/hidden", "/open/removed", "/shut/moved", "/shut/in"] {
        world.put(name, b"1");
        grant(name, reading);
    }
    let then = Moment::Position(world.store.newest_change().unwrap());
    world.put("/open/stays", b"2");
    grant("/open/hidden", Rights::NONE);
    world.rm("/open/removed").unwrap();
    world.mv("/shut/moved", "/open/moved").unwrap();
    let seen = |what: &str| world.store.stat_as_of(&user, &path(what), then).map(drop);
    seen("/open/stays").unwrap();
    // It can be read at its former path, by callers who may read it at its current one.
    seen("/shut/in").unwrap();
    for hidden in ["/open/hidden", "/open/removed", "/open/moved", "/open/never", "/shut"] {
        let (reported, none) = (seen(hidden).unwrap_err(), seen("/open/never").unwrap_err());
        assert_eq!(
            (reported.kind(), reported.hint()),
            (ErrorKind::NotFound, none.hint()),
            "{hidden}"
        );
        assert_eq!(reported.to_string(), format!("nothing is at {hidden}"));
    }
    let names = |caller| {
        let page = world.store.list_as_of(caller, &path("/open"), then, (None, 10)).unwrap();
        page.entries.len()
    };
    assert_eq!((names(&user), names(&world.admin)), (1, 3));
}

/// Also after it was permanently removed: where that happened counts as well, as long as the collection there exists.
#[test]
fn the_past_does_not_reveal_what_was_purged_where_it_is_hidden() {
    let world = keeping();
    let user = world.user("u");
    for folder in ["/open", "/shut", "/shut/kept", "/shut/tree"] {
        world.mkdir(folder);
    }
    let reading = Rights::READ_DESCRIPTION.union(Rights::READ_CONTENT).union(Rights::LIST);
    world.grant("/open", "u", reading, Scope::Subtree);
    let names = ["/open/alone", "/open/kept", "/open/shown", "/open/swept"];
    for name in names {
        world.put(name, b"1");
    }
    let then = Moment::Position(world.store.newest_change().unwrap());
    world.mkdir("/open/new");
    for (from, to) in
        names.into_iter().zip(["/shut/a", "/shut/kept/a", "/open/new/a", "/shut/tree/a"])
    {
        world.mv(from, to).unwrap();
    }
    for removed in ["/shut/a", "/shut/kept/a", "/open/new/a", "/shut/tree"] {
        world.rm_all(removed).unwrap();
    }
    world.store.empty_trash(&world.admin).unwrap();
    // In the trash, what was in it can still be decided on.
    world.rm_all("/shut/kept").unwrap();
    let (none, not_kept) = (ErrorKind::NotFound, ErrorKind::Expired);
    for _ in 0..2 {
        let seen = |name| kind(world.store.stat_as_of(&user, &path(name), then));
        assert_eq!(names.map(seen), [none, none, not_kept, not_kept]);
        let page = world.store.list_as_of(&user, &path("/open"), then, (None, 10)).unwrap();
        let shown: Vec<_> = page.entries.iter().map(|entry| entry.path().to_string()).collect();
        assert_eq!(shown, ["/open/shown", "/open/swept"]);
        let mut walk = world.store.walk_as_of(&user, &path("/open"), then, None).unwrap();
        assert_eq!(world.store.walk_further(&mut walk, 10).unwrap(), page.entries);
        run(world.store.maintain_once(&Pace::default())).unwrap();
    }
}

/// What left a collection is still listed as it was there, wherever it was removed, and with what collection.
#[test]
fn what_was_moved_away_and_purged_is_reported_as_not_kept() {
    let world = keeping();
    for folder in ["/c", "/tree", "/tree/in"] {
        world.mkdir(folder);
    }
    for name in ["/c/alone", "/c/below", "/c/deep"] {
        world.put(name, b"1");
    }
    let then = Moment::Position(world.store.newest_change().unwrap());
    world.mv("/c/alone", "/elsewhere").unwrap();
    world.mv("/c/below", "/tree/below").unwrap();
    world.mv("/c/deep", "/tree/in/deep").unwrap();
    world.rm("/elsewhere").unwrap();
    world.rm_all("/tree").unwrap();
    world.store.empty_trash(&world.admin).unwrap();
    for swept in [false, true] {
        for name in ["/c/alone", "/c/below", "/c/deep", "/tree/in"] {
            assert_eq!(kind(as_of(&world, name, then)), ErrorKind::Expired, "{name} {swept}");
        }
        let page = world.store.list_as_of(&world.admin, &path("/c"), then, (None, 10)).unwrap();
        let names: Vec<_> = page.entries.iter().map(|entry| entry.path().to_string()).collect();
        assert_eq!(names, ["/c/alone", "/c/below", "/c/deep"], "{swept}");
        run(world.store.maintain_once(&Pace::default())).unwrap();
    }
}
