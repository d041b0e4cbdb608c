//! Versions of descriptions: when they are created, their cost, labels, times, and which are kept.

use std::time::Duration;

use cenote_store::{
    AccessChange, AttributeChange, AvuChange, Caller, Conditions, Dangling, Describing, ErrorKind,
    Graph, NewVersion, Prune, PutOptions, Retention, Rights, Scope, Statement, Term, Time, Version,
    VersionDifference, Versioning,
};

use crate::world::{World, assert_clean, at, avu, kind, once, path, rows, run, world};

fn set(world: &World, what: &str, versioning: Versioning) {
    let change =
        AttributeChange { versioning: Some(Some(versioning)), ..AttributeChange::default() };
    world.store.set_attributes(&world.admin, &at(what), &change).unwrap();
}

/// A store with versions of each change below `/`, and an object `/a`.
fn each_change(retention: Retention) -> World {
    let world = world();
    set(&world, "/", Versioning::EachChange(retention));
    world.put("/a", b"1");
    world
}

fn change(world: &World, what: &str, changes: &[AvuChange]) {
    let any = Conditions::default();
    world.store.change_avus(&world.admin, &at(what), changes, &any).unwrap();
}

fn add(n: usize) -> AvuChange {
    AvuChange::Add(avu("k", &n.to_string()))
}

fn versions(world: &World, what: &str) -> Vec<Version> {
    world.store.versions(&world.admin, &at(what)).unwrap()
}

fn numbers(world: &World, what: &str) -> Vec<u64> {
    versions(world, what).into_iter().map(|version| version.version).collect()
}

fn graph(world: &World, what: &str, version: u64) -> Graph {
    world.store.graph_of_version(&world.admin, &at(what), version).unwrap()
}

fn compare(world: &World, what: &str, from: u64, to: Option<u64>) -> VersionDifference {
    world.store.compare_versions(&world.admin, &at(what), from, to).unwrap()
}

fn values(graph: &Graph) -> Vec<String> {
    graph.iter().map(|statement| statement.object.text().to_owned()).collect()
}

#[test]
fn each_request_creates_one_version_however_much_it_changes() {
    let world = each_change(Retention::default());
    (0..10).for_each(|n| change(&world, "/a", &[add(n)]));
    assert_eq!(versions(&world, "/a").len(), 10);
    change(&world, "/a", &(10..20).map(add).collect::<Vec<_>>());
    assert_eq!(versions(&world, "/a").len(), 11);
    change(&world, "/a", &[add(0)]);
    assert_eq!(versions(&world, "/a").len(), 11, "nothing changed");
    let all = numbers(&world, "/a");
    let counts: Vec<_> =
        all.iter().rev().map(|version| graph(&world, "/a", *version).len()).collect();
    assert_eq!(counts, (0..=10).collect::<Vec<_>>());
}

#[test]
fn changes_of_attributes_create_versions_that_restore_them() {
    let world = each_change(Retention::default());
    let mode = |mode| AttributeChange { mode: Some(mode), ..AttributeChange::default() };
    for bits in [0o600, 0o644] {
        world.store.set_attributes(&world.admin, &at("/a"), &mode(bits)).unwrap();
    }
    let [second, first] = numbers(&world, "/a")[..] else { panic!() };
    world.store.restore_version(&world.admin, &at("/a"), second).unwrap();
    assert_eq!(world.stat("/a").unwrap().resource.mode, Some(0o600));
    world.store.restore_version(&world.admin, &at("/a"), first).unwrap();
    assert_eq!(world.stat("/a").unwrap().resource.mode, None);
}

#[test]
fn a_version_of_a_collection_is_its_description_and_not_its_members() {
    let world = each_change(Retention::default());
    world.mkdir("/c");
    change(&world, "/c", &[add(1)]);
    world.put("/c/x", b"x");
    change(&world, "/c", &[add(2)]);
    assert_eq!(versions(&world, "/c").len(), 2, "a child makes none");
    let described = world.stat("/c/x").unwrap();
    world.store.restore_version(&world.admin, &at("/c"), numbers(&world, "/c")[0]).unwrap();
    assert_eq!(values(&world.store.graph(&world.admin, &at("/c")).unwrap().1), ["1"]);
    assert_eq!(world.stat("/c/x").unwrap(), described);
    assert_clean(&world.store);
}

#[test]
fn a_comparison_of_two_versions_is_their_difference() {
    let world = each_change(Retention::default());
    change(&world, "/a", &[add(1), add(2)]);
    change(&world, "/a", &[AvuChange::Remove(avu("k", "1")), add(3)]);
    world.put("/a", b"22");
    let [third, second, first] = numbers(&world, "/a")[..] else { panic!() };
    let difference = compare(&world, "/a", second, Some(third));
    assert_eq!(difference.content_changed(), Some(false));
    assert_eq!(
        (values(&difference.removed), values(&difference.added)),
        (vec!["1".into()], vec!["3".into()])
    );
    let difference = compare(&world, "/a", first, None);
    assert_eq!(difference.content_changed(), Some(true));
    let sizes = difference.contents.map(|content| content.unwrap().size);
    assert_eq!((sizes, values(&difference.added).len()), ([1, 2], 2));
    let backwards = compare(&world, "/a", third, Some(second));
    assert_eq!(
        (values(&backwards.removed), values(&backwards.added)),
        (vec!["3".into()], vec!["1".into()])
    );
    let missing = world.store.compare_versions(&world.admin, &at("/a"), 99, None);
    assert_eq!(kind(missing), ErrorKind::NotFound);
}

/// 2,000 statements, some 200 KB.
fn describe_much(world: &World) {
    let long = "x".repeat(60);
    let all: Vec<_> = (0..2_000).map(|n| AvuChange::Add(avu(&format!("a{n}"), &long))).collect();
    change(world, "/a", &all);
}

fn bytes_of(world: &World, table: u8) -> usize {
    let rows = rows(&*world.parts.engine).into_iter().filter(|(key, _)| key[0] == table);
    rows.map(|(key, value)| key.len() + value.len()).sum()
}

#[test]
fn a_version_of_a_large_description_stores_only_the_changes() {
    let world = each_change(Retention::default());
    describe_much(&world);
    let before = bytes_of(&world, b'v') + bytes_of(&world, b'V');
    (0..10).for_each(|n| change(&world, "/a", &[add(n)]));
    world.put("/a", b"2");
    world.try_keep("/a", Some("label")).unwrap();
    let taken = bytes_of(&world, b'v') + bytes_of(&world, b'V') - before;
    assert!(taken < 12 * 600, "{taken} bytes for twelve versions");
    let all = numbers(&world, "/a");
    for (n, version) in all.iter().rev().skip(1).enumerate() {
        assert_eq!(graph(&world, "/a", *version).len(), 2_000 + n.min(10));
    }
    assert_clean(&world.store);
}

#[test]
fn pruning_any_version_leaves_the_others_unchanged() {
    for gone in 0..7 {
        let world = each_change(Retention::default());
        change(&world, "/a", &[add(100)]);
        describe_much(&world);
        (0..3).for_each(|n| change(&world, "/a", &[add(n)]));
        let all: Vec<_> = (0..2_000).map(|n| AvuChange::Clear(format!("a{n}"))).collect();
        change(&world, "/a", &all);
        change(&world, "/a", &[add(9)]);
        let mut before: Vec<_> = (numbers(&world, "/a").into_iter())
            .map(|version| (version, graph(&world, "/a", version)))
            .collect();
        let (version, _) = before.remove(gone);
        world.store.prune_versions(&world.admin, &at("/a"), &Prune::One(version)).unwrap();
        for (version, was) in before {
            assert!(graph(&world, "/a", version) == was, "{version}");
        }
        assert_clean(&world.store);
    }
}

#[test]
fn a_change_without_a_version_leaves_kept_versions_unchanged() {
    let world = each_change(Retention::default());
    describe_much(&world);
    let kept = world.try_keep("/a", Some("paper")).unwrap();
    let was = graph(&world, "/a", kept.version);
    set(&world, "/", Versioning::Off);
    change(&world, "/a", &[add(1), AvuChange::Clear("a7".into())]);
    change(&world, "/a", &[AvuChange::Remove(avu("k", "1")), AvuChange::Clear("a8".into())]);
    world.put("/a", b"2");
    assert!(graph(&world, "/a", kept.version) == was);
    assert_eq!(compare(&world, "/a", kept.version, None).removed.len(), 2);
    assert_clean(&world.store);
}

/// Refused with a hint, and no row has changed.
#[track_caller]
fn refused<T: std::fmt::Debug>(
    world: &World,
    expected: ErrorKind,
    request: impl FnOnce() -> cenote_store::Result<T>,
) {
    let before = rows(&*world.parts.engine);
    let error = request().unwrap_err();
    assert_eq!(error.kind(), expected, "{error}");
    assert!(error.hint().is_some() || expected == ErrorKind::Invalid, "{error}");
    assert!(rows(&*world.parts.engine) == before);
}

#[test]
fn invalid_versions_are_refused_without_changes() {
    let world = each_change(Retention::default());
    let first = world.try_keep("/a", Some("one")).unwrap().version;
    refused(&world, ErrorKind::Exists, || world.try_keep("/a", Some("one")));
    refused(&world, ErrorKind::Exists, || world.try_keep("/a", Some("two")));
    world.put("/a", b"2");
    refused(&world, ErrorKind::Exists, || world.try_keep("/a", Some("one")));
    refused(&world, ErrorKind::Invalid, || world.try_keep("/a", Some("")));
    refused(&world, ErrorKind::Invalid, || world.try_keep("/a", Some("a\nb")));
    let label = |version, label| world.store.label_version(&world.admin, &at("/a"), version, label);
    let second = world.try_keep("/a", Some("two")).unwrap().version;
    refused(&world, ErrorKind::Exists, || label(second, Some("one")));
    refused(&world, ErrorKind::NotFound, || label(99, Some("three")));
    refused(&world, ErrorKind::NotFound, || {
        world.store.graph_of_version(&world.admin, &at("/a"), 99)
    });
    refused(&world, ErrorKind::NotFound, || {
        world.store.restore_version(&world.admin, &at("/a"), 99)
    });
    label(first, None).unwrap();
    label(second, Some("one")).unwrap();
    let labels: Vec<_> = versions(&world, "/a").into_iter().map(|version| version.label).collect();
    assert_eq!(labels, [Some("one".into()), None]);
}

#[test]
fn a_version_may_have_a_given_time_that_is_not_in_the_future() {
    let world = each_change(Retention::default());
    let keep = |time| {
        let new = NewVersion { time: Some(time), ..NewVersion::default() };
        world.store.keep_version(&world.admin, &at("/a"), &new)
    };
    let now = world.stat("/a").unwrap().resource.modified;
    refused(&world, ErrorKind::Invalid, || keep(now.plus(Duration::from_nanos(1))));
    assert_eq!(keep(Time::from_secs(7)).unwrap().time, Time::from_secs(7));
    world.clock.advance(Duration::from_secs(5));
    world.put("/a", b"2");
    world.put("/a", b"3");
    let [second, first] = &versions(&world, "/a")[..] else { panic!() };
    assert!(second.version > first.version, "the order is that of the numbers");
    assert_eq!(first.time, Time::from_secs(7), "kept once, on request");
    assert_eq!(second.time, now.plus(Duration::from_secs(5)), "when it became the current state");
    assert_eq!(second.kept_by, Some(world.admin.user()));
}

fn keep(world: &World, new: NewVersion) -> Version {
    world.store.keep_version(&world.admin, &at("/a"), &new).unwrap()
}

#[test]
fn a_second_version_of_the_same_state_is_separate_and_updates_no_timestamp() {
    let world = each_change(Retention::default());
    describe_much(&world);
    let first = world.try_keep("/a", Some("one")).unwrap();
    let before = world.stat("/a").unwrap();
    let another = NewVersion { label: Some("two".into()), another: true, ..NewVersion::default() };
    let second = keep(&world, another);
    assert!(second.version > first.version);
    assert_eq!((second.time, &second.content), (first.time, &first.content));
    let after = world.stat("/a").unwrap();
    assert_eq!(after.description_tag(), before.description_tag());
    assert_eq!(after.content_tag(), before.content_tag());
    let clocks = |of: &cenote_store::Stat| {
        (of.resource.modified, of.resource.written(), of.resource.described().time)
    };
    assert_eq!(clocks(&after), clocks(&before));
    change(&world, "/a", &[add(1)]);
    for version in [first.version, second.version] {
        assert_eq!(graph(&world, "/a", version).len(), 2_000);
    }
    assert_clean(&world.store);
}

#[test]
fn a_version_with_a_given_description_leaves_the_others_unchanged() {
    for is_kept in [false, true] {
        let world = each_change(Retention::default());
        describe_much(&world);
        change(&world, "/a", &[add(1)]);
        if is_kept {
            world.try_keep("/a", None).unwrap();
        }
        let now = world.store.graph(&world.admin, &at("/a")).unwrap();
        let mut before: Vec<_> = (numbers(&world, "/a").into_iter())
            .map(|version| (version, graph(&world, "/a", version)))
            .collect();
        let own: Graph = now.1.iter().take(5).cloned().collect();
        let inserted = keep(
            &world,
            NewVersion {
                time: Some(Time::from_secs(7)),
                description: Some(own.clone()),
                ..NewVersion::default()
            },
        );
        assert_eq!(inserted.time, Time::from_secs(7));
        before.push((inserted.version, own));
        let after = world.store.graph(&world.admin, &at("/a")).unwrap();
        assert_eq!(after.1, now.1);
        assert_eq!(after.0.description_tag(), now.0.description_tag());
        change(&world, "/a", &[add(2)]);
        before.push((numbers(&world, "/a")[0], now.1));
        change(&world, "/a", &[AvuChange::Clear("a7".into())]);
        for gone in 0..before.len() {
            for (version, was) in &before {
                assert!(graph(&world, "/a", *version) == *was, "{version}");
            }
            let (version, _) = before.remove(gone % before.len());
            world.store.prune_versions(&world.admin, &at("/a"), &Prune::One(version)).unwrap();
            assert_clean(&world.store);
        }
    }
}

#[test]
fn a_version_can_be_requested_without_a_collection_setting_but_not_if_versions_are_off() {
    let world = world();
    world.put("/a", b"1");
    let undecided = NewVersion { undecided: true, ..NewVersion::default() };
    let refused = || world.store.keep_version(&world.admin, &at("/a"), &NewVersion::default());
    assert_eq!(kind(refused()), ErrorKind::Invalid);
    keep(&world, undecided.clone());
    world.put("/a", b"2");
    assert_eq!(numbers(&world, "/a").len(), 1, "what is replaced is not kept unasked");
    set(&world, "/", Versioning::Off);
    assert_eq!(
        kind(world.store.keep_version(&world.admin, &at("/a"), &undecided)),
        ErrorKind::Invalid
    );
    assert_clean(&world.store);
}

#[test]
fn setting_a_time_requires_the_right_to_change_the_description() {
    use cenote_store::{AccessChange, Rights, Scope};
    let world = each_change(Retention::default());
    let user = world.user("u");
    let allow = |rights: Rights| {
        let grant = AccessChange::Grant("u".into(), rights.into(), Scope::This);
        world.store.change_access(&world.admin, &at("/a"), &[grant]).unwrap();
    };
    let keep = |time| {
        let new = NewVersion { time, ..NewVersion::default() };
        world.store.keep_version(&user, &at("/a"), &new)
    };
    let writing = Rights::READ_DESCRIPTION.union(Rights::APPEND).union(Rights::WRITE_CONTENT);
    allow(writing);
    assert_eq!(kind(keep(Some(Time::from_secs(7)))), ErrorKind::Denied);
    keep(None).unwrap();
    allow(writing.union(Rights::CHANGE_DESCRIPTION));
    assert_eq!(keep(Some(Time::from_secs(7))).unwrap().time, Time::from_secs(7));
}

#[test]
fn versions_are_kept_by_count_and_by_age() {
    const DAY: Duration = Duration::from_secs(86_400);
    let world = each_change(Retention { last: Some(2), daily: Some(3), ..Retention::default() });
    let label = |label| world.try_keep("/a", Some(label)).unwrap().version;
    let paper = label("paper");
    let mut states = Vec::new();
    for n in 0..20u64 {
        world.clock.advance(DAY / 4);
        states.push(world.put("/a", &n.to_be_bytes()).resource);
    }
    let day = |time: Time| time.secs().div_euclid(86_400);
    // All but the last state were replaced: two, and the last one of each of three days.
    states.pop();
    let mut expected: Vec<u64> = states.iter().rev().take(2).map(|was| was.revision).collect();
    let mut days: Vec<i64> = states.iter().map(|was| day(was.modified)).collect();
    days.dedup();
    for last in days.iter().rev().take(3) {
        let of_day = states.iter().filter(|was| day(was.modified) == *last);
        expected.extend(of_day.map(|was| was.revision).max());
    }
    expected.push(paper);
    expected.sort_unstable();
    expected.dedup();
    expected.reverse();
    assert_eq!(numbers(&world, "/a"), expected);
    world.sweep();
    assert_clean(&world.store);
}

/// Bytes and the description that comes with them are one change: of one version, and refused together.
#[test]
fn bytes_and_their_description_are_one_change() {
    let world = each_change(Retention::default());
    let of = |value: &str| Statement {
        subject: None,
        predicate: "urn:k".to_owned(),
        object: Term::string(value),
        unit: None,
    };
    let put = |caller: &Caller, bytes: &'static [u8], value: &str, optional| {
        let change = |old: &Graph| {
            let others = old.iter().filter(|it| it.predicate != "urn:k").cloned();
            Ok(others.chain([of(value)]).collect())
        };
        let describing = Describing { change: &change, dangling: Dangling::Kept, optional };
        let options = PutOptions::default();
        run(world.store.put_described(caller, path("/a"), once(bytes), options, describing))
    };
    let stored = || values(&world.store.graph(&world.admin, &at("/a")).unwrap().1);
    for (n, bytes) in [(1, &b"one"[..]), (2, b"two")] {
        put(&world.admin, bytes, &n.to_string(), false).unwrap();
        assert_eq!((world.read("/a"), stored()), (bytes.to_vec(), vec![n.to_string()]));
    }
    let kept = versions(&world, "/a");
    let described: Vec<_> =
        kept.iter().map(|it| values(&graph(&world, "/a", it.version))).collect();
    assert_eq!(described, [vec!["1".to_owned()], vec![]], "no state between the two");
    let grace = world.user("grace");
    let grant = AccessChange::Grant("grace".into(), Rights::WRITE_CONTENT.into(), Scope::This);
    world.store.change_access(&world.admin, &at("/a"), &[grant]).unwrap();
    assert_eq!(kind(put(&grace, b"three", "3", false)), ErrorKind::Denied);
    assert_eq!((world.read("/a"), stored()), (b"two".to_vec(), vec!["2".to_owned()]));
    put(&grace, b"four", "4", true).unwrap();
    assert_eq!((world.read("/a"), stored()), (b"four".to_vec(), vec!["2".to_owned()]));
    assert_clean(&world.store);
}
