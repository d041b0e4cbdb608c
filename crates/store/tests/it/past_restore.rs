//! Restoring trees of the past: random histories against the states of the store after each step, with changes while
//! the job is running and stops of it after any commit.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cenote_blob::Place;
use cenote_kv::{Fault, FaultyEngine, MemoryEngine};
use cenote_store::{
    AttributeChange, Conditions, ErrorKind, Graph, JobStatus, LinkIntegrity, Moment, Prune,
    QuotaTarget, RestorePast, RestoredPast, Result, Retention, Statement, StorePath, Term,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::past::{Op, Snapshot, Was, apply, keeping, loss, op, snapshot};
use crate::quotas::{self, hard};
use crate::world::{World, assert_clean, at, cases, kind, path, run, world_on};

fn restoration(from: &str, moment: Moment, to: &str) -> RestorePast {
    let (path, to) = (path(from), path(to));
    RestorePast { path, moment, to, recursive: true, parents: false, partial: false }
}

/// Restores, and completes the job if there is one.
fn restore(world: &World, what: &RestorePast) -> Result<Option<JobStatus>> {
    restore_while(world, what, || {})
}

/// The same with changes after the job was recorded.
fn restore_while(
    world: &World,
    what: &RestorePast,
    meanwhile: impl FnOnce(),
) -> Result<Option<JobStatus>> {
    match world.store.restore_as_of(&world.admin, what)? {
        RestoredPast::Now(_) => Ok(None),
        RestoredPast::Job(job) => {
            meanwhile();
            run(world.store.finish(job.id)).map(Some)
        }
    }
}

/// The comparable attributes of a tree, by the path below its top: everything but the ids.
fn below(snapshot: &Snapshot, top: &StorePath) -> BTreeMap<String, Was> {
    let tree = snapshot.tree.iter().filter(|(path, _)| path.starts_with(top));
    let names = |path: &StorePath| {
        let names = path.names()[top.names().len()..].iter().map(|name| name.as_str());
        names.collect::<Vec<_>>().join("/")
    };
    tree.map(|(path, was)| (names(path), Was { id: 0, ..was.clone() })).collect()
}

fn play(before: &[Op], later: &[Op], complete: bool) {
    let world = keeping();
    let mut snapshots = vec![snapshot(&world)];
    let (mut made, mut later) = (0, later.iter());
    let mut change = |op: &Op| {
        world.clock.advance(Duration::from_secs(1));
        apply(&world, op, made);
        made += 1;
    };
    for op in before {
        change(op);
        snapshots.push(snapshot(&world));
    }
    for (n, was) in snapshots.iter().enumerate() {
        for (m, top) in was.tree.keys().enumerate() {
            let to = format!("/restored {n} {m}");
            let what = restoration(&top.to_string(), Moment::Position(was.position), &to);
            let meanwhile = || later.by_ref().take(2).for_each(&mut change);
            let job = match restore_while(&world, &what, meanwhile) {
                Err(error) if error.kind() == ErrorKind::Expired && !complete => continue,
                job => job.unwrap(),
            };
            let now = snapshot(&world);
            match job.filter(|job| job.failed > 0) {
                Some(job) => {
                    assert!(!complete && job.fault.unwrap().contains("not kept"));
                    assert!(!now.tree.contains_key(&path(&to)), "{to} is half done");
                }
                None => assert_eq!(below(&now, &path(&to)), below(was, top), "{top}"),
            }
        }
    }
    world.sweep();
    assert_clean(&world.store);
}

proptest! {
    #![proptest_config(cases(25))]

    #[test]
    fn a_restoration_from_the_past_reproduces_the_former_state(
        before in vec(op(), 1..12),
        later in vec(op(), 0..12),
    ) {
        play(&before, &later, true);
    }

    #[test]
    fn incompletely_kept_resources_are_not_restored(
        before in vec(prop_oneof![4 => op(), 1 => loss()], 1..12),
        later in vec(prop_oneof![4 => op(), 1 => loss()], 0..12),
    ) {
        play(&before, &later, false);
    }
}

/// A tree in which resources were changed, moved and removed later, and the moment before that.
fn changed() -> (World, Moment) {
    let world = keeping();
    for folder in ["/c", "/c/d"] {
        world.mkdir(folder);
    }
    for name in ["/c/a", "/c/b", "/c/d/x"] {
        world.put(name, name.as_bytes());
    }
    let then = Moment::Position(world.store.newest_change().unwrap());
    world.put("/c/a", b"other");
    world.mv("/c/b", "/b").unwrap();
    world.rm_all("/c/d").unwrap();
    (world, then)
}

#[test]
fn a_restoration_is_hidden_until_it_is_complete_and_then_one_change() {
    let (world, then) = changed();
    let since = world.store.newest_change().unwrap();
    let before = snapshot(&world).tree;
    let what = restoration("/c", then, "/again");
    let RestoredPast::Job(job) = world.store.restore_as_of(&world.admin, &what).unwrap() else {
        panic!("a tree is restored by a job");
    };
    assert_eq!((job.kind, job.finished), ("restore", false));
    assert_eq!(snapshot(&world).tree, before);
    assert_clean(&world.store);
    let done = run(world.store.finish(job.id)).unwrap();
    assert_eq!((done.done, done.failed, done.finished), (4, 0, true));
    let changes = world.store.changes(&world.admin, since, 100).unwrap().changes;
    assert_eq!(changes.len(), 1, "{changes:?}");
    for (name, bytes) in [("/again/a", "/c/a"), ("/again/b", "/c/b"), ("/again/d/x", "/c/d/x")] {
        assert_eq!(world.read(name), bytes.as_bytes());
    }
    assert_eq!(world.read("/c/a"), b"other");
    // The past is unchanged: it does not contain the restored tree.
    assert_eq!(
        kind(world.store.stat_as_of(&world.admin, &path("/again"), then)),
        ErrorKind::NotFound
    );
    assert_clean(&world.store);
}

#[test]
fn a_restoration_resumes_wherever_it_was_stopped() {
    let engine = FaultyEngine::new(Arc::new(MemoryEngine::new()));
    let mut world = world_on(engine.clone(), Place::memory("main"));
    let keep =
        AttributeChange { keep_removed: Some(Some(1_000_000)), ..AttributeChange::default() };
    world.store.set_attributes(&world.admin, &at("/"), &keep).unwrap();
    world.mkdir("/c");
    let names: Vec<_> = (0..300).map(|n| format!("{n:03}")).collect();
    for name in &names {
        world.put(&format!("/c/{name}"), name.as_bytes());
    }
    world.state("/c/000", &[link("/c/299")]);
    world.state("/c/299", &[link("/c"), link("/c/000")]);
    let then = Moment::Position(world.store.newest_change().unwrap());
    world.rm_all("/c").unwrap();
    let what = restoration("/c", then, "/again");
    let RestoredPast::Job(job) = world.store.restore_as_of(&world.admin, &what).unwrap() else {
        panic!("a tree is restored by a job");
    };
    let (mut stops, mut step) = (0, 0);
    loop {
        // Further than the last attempt, whatever the step is.
        engine
            .fail_at(engine.steps() + step, if step % 2 == 0 { Fault::Lose } else { Fault::Keep });
        let ended = run(world.store.run_moves());
        engine.heal();
        world = world.reopened();
        if ended.is_ok() {
            break;
        }
        assert!(
            world.store.stat(&world.admin, &at("/again")).is_err()
                || world.names("/again") == names
        );
        (stops, step) = (stops + 1, step + 1 + step / 2);
    }
    assert!(stops > 10, "{stops}");
    run(world.store.run_moves()).unwrap();
    assert_eq!(kind(world.store.job(&world.admin, job.id)), ErrorKind::NotFound);
    assert_eq!(world.names("/again"), names);
    assert_eq!(world.read("/again/299"), b"299");
    assert_eq!(cited(&world, "/again/000"), ["cenote:/again/299"]);
    assert_eq!(cited(&world, "/again/299"), ["cenote:/again", "cenote:/again/000"]);
    assert_clean(&world.store);
}

#[test]
fn an_impossible_restoration_is_refused_with_the_reason_and_without_changes() {
    let (world, then) = changed();
    world.put("/taken", b"1");
    let before = snapshot(&world).tree;
    let refused = |what: RestorePast| world.store.restore_as_of(&world.admin, &what).unwrap_err();
    let taken = refused(restoration("/c", then, "/taken"));
    assert!(taken.kind() == ErrorKind::Exists && taken.hint().is_some(), "{taken}");
    let missing = restoration("/c", then, "/no/such");
    assert_eq!(refused(missing.clone()).kind(), ErrorKind::NotFound);
    let flat = RestorePast { recursive: false, ..restoration("/c", then, "/again") };
    assert_eq!(refused(flat).kind(), ErrorKind::WrongKind);
    assert_eq!(refused(restoration("/never", then, "/again")).kind(), ErrorKind::NotFound);
    let later = Moment::Time(cenote_store::Clock::now(&*world.clock).plus(Duration::from_secs(1)));
    assert_eq!(refused(restoration("/c", later, "/again")).kind(), ErrorKind::Invalid);
    assert_eq!(refused(restoration("/c", then, "/")).kind(), ErrorKind::Exists);
    // The name is reserved while the job is running.
    let RestoredPast::Job(job) =
        world.store.restore_as_of(&world.admin, &restoration("/c", then, "/again")).unwrap()
    else {
        panic!("a tree is restored by a job");
    };
    world.put("/again", b"mine");
    let job = run(world.store.finish(job.id)).unwrap();
    assert!(job.failed == 1 && job.fault.unwrap().contains("/again"));
    world.rm("/again").unwrap();
    world.sweep();
    assert_eq!(snapshot(&world).tree, before);
    assert_clean(&world.store);
    let parents = RestorePast { parents: true, ..missing };
    assert_eq!(restore(&world, &parents).unwrap().unwrap().failed, 0);
    assert_eq!(world.read("/no/such/d/x"), b"/c/d/x");
}

#[test]
fn resources_no_longer_kept_are_skipped_on_request() {
    let (world, then) = changed();
    let all = Prune::All(Retention::last(0));
    world.store.prune_versions(&world.admin, &at("/c/a"), &all).unwrap();
    let strict = restoration("/c", then, "/again");
    let job = restore(&world, &strict).unwrap().unwrap();
    assert!((job.done, job.failed) == (0, 1) && job.fault.unwrap().contains("not kept: /c/a"));
    assert!(!snapshot(&world).tree.contains_key(&path("/again")));
    let job = restore(&world, &RestorePast { partial: true, ..strict }).unwrap().unwrap();
    assert_eq!((job.done, job.failed), (3, 1));
    assert_eq!(world.read("/again/d/x"), b"/c/d/x");
    assert!(!snapshot(&world).tree.contains_key(&path("/again/a")));
    let one = RestorePast { recursive: false, ..restoration("/c/b", then, "/b again") };
    assert!(restore(&world, &one).unwrap().is_none());
    assert_eq!(world.read("/b again"), b"/c/b");
    world.sweep();
    assert_clean(&world.store);
}

/// A user can restore what they may read; anything else fails the job.
#[test]
fn a_restoration_requires_the_rights_of_reading_and_creating() {
    use cenote_store::{AccessChange, Rights, Scope};
    let (world, then) = changed();
    let user = world.user("u");
    let grant = |what: &str, rights: Rights, scope| {
        let grant = AccessChange::Grant("u".into(), rights.into(), scope);
        world.store.change_access(&world.admin, &at(what), &[grant]).unwrap();
    };
    world.mkdir("/mine");
    let begin = |from: &str, to: &str| {
        let what = RestorePast { partial: true, ..restoration(from, then, to) };
        world.store.restore_as_of(&user, &what)
    };
    assert_eq!(kind(begin("/c", "/mine/c")), ErrorKind::NotFound);
    grant("/c", Rights::READ_DESCRIPTION.union(Rights::LIST), Scope::This);
    grant("/c/a", Rights::READ_DESCRIPTION, Scope::This);
    assert_eq!(kind(begin("/c", "/mine/c")), ErrorKind::NotFound);
    grant("/mine", Rights::OWN, Scope::Subtree);
    assert_eq!(kind(begin("/c/a", "/mine/a")), ErrorKind::Denied);
    let RestoredPast::Job(job) = begin("/c", "/mine/c").unwrap() else { panic!("a job") };
    let job = run(world.store.finish(job.id)).unwrap();
    assert_eq!((job.done, job.failed), (0, 1), "{job:?}");
    assert_eq!(kind(world.store.stat(&user, &at("/mine/c"))), ErrorKind::NotFound);
    grant("/c/a", Rights::READ_DESCRIPTION.union(Rights::READ_CONTENT), Scope::This);
    let RestoredPast::Job(job) = begin("/c", "/mine/c").unwrap() else { panic!("a job") };
    let job = run(world.store.finish(job.id)).unwrap();
    assert_eq!((job.done, job.failed), (1, 0), "{job:?}");
    let owner = world.store.stat(&user, &at("/mine/c")).unwrap().resource.owner;
    assert_eq!(owner, user.user());
}

/// A tree being restored counts for the quotas of its target; if it does not fit, nothing is created.
#[test]
fn a_restoration_respects_quotas_including_those_set_meanwhile() {
    let (world, then) = changed();
    let quota = |resources: u64| {
        let target = QuotaTarget::Collection(at("/room"));
        world.store.set_quota(&world.admin, &target, hard(quotas::resources(resources))).unwrap();
    };
    let total = || {
        let quotas = world.store.quotas(&world.admin, None).unwrap();
        quotas.into_iter().next().unwrap().total.unwrap().resources
    };
    world.mkdir("/room");
    quota(4);
    let what = restoration("/c", then, "/room/again");
    let job = restore(&world, &what).unwrap().unwrap();
    assert!((job.done, job.failed) == (0, 1) && job.fault.unwrap().contains("quota"));
    world.sweep();
    assert_eq!((total(), world.names("/room").len()), (0, 0));
    quota(5);
    assert_eq!(restore(&world, &what).unwrap().unwrap().failed, 0);
    assert_eq!(total(), 5);
    assert_clean(&world.store);
    let item = world.discard("/room/again");
    world.store.empty_trash_of(&world.admin, item.id).unwrap();
    world.sweep();
    let target = QuotaTarget::Collection(at("/room"));
    world.store.remove_quota(&world.admin, &target).unwrap();
    let begun = restore_while(&world, &what, || quota(4)).unwrap().unwrap();
    assert!(begun.failed == 1 && begun.fault.as_ref().unwrap().contains("quota"), "{begun:?}");
    world.sweep();
    assert_eq!(total(), 0);
    assert_clean(&world.store);
}

fn link(to: &str) -> Statement {
    let (predicate, object) = ("http://p/cites".into(), Term::Iri(format!("cenote:{to}")));
    Statement { subject: None, predicate, object, unit: None }
}

fn cited(world: &World, of: &str) -> Vec<String> {
    let (_, graph) = world.store.graph(&world.admin, &at(of)).unwrap();
    let object = |statement: &Statement| match &statement.object {
        Term::Iri(iri) => iri.clone(),
        other => panic!("{other:?}"),
    };
    graph.iter().map(object).collect()
}

/// A tree whose resources link to each other, to themselves and to resources outside, and the moment before all of them
/// were moved, removed, replaced or redescribed.
fn linked() -> (World, Moment) {
    let world = keeping();
    for folder in ["/c", "/c/d", "/out"] {
        world.mkdir(folder);
    }
    for name in ["/c/a", "/c/b", "/c/d/x", "/c/gone"] {
        world.put(name, name.as_bytes());
    }
    world.state("/c", &[link("/c"), link("/c/d/x"), link("/out")]);
    world.state("/c/a", &[link("/c/b#part"), link("/c/gone"), link("/c/d")]);
    world.state("/c/d/x", &[link("/c"), link("/c/a"), link("/c/nothing")]);
    let then = Moment::Position(world.store.newest_change().unwrap());
    world.mv("/c/d", "/moved").unwrap();
    world.mv("/c/b", "/moved/b").unwrap();
    world.mv("/c/a", "/c/b").unwrap();
    world.rm("/c/gone").unwrap();
    world.put("/c/gone", b"another one");
    world.state("/c/b", &[link("/out")]);
    (world, then)
}

#[test]
fn links_within_a_restored_tree_refer_to_the_restored_resources() {
    let (world, then) = linked();
    restore(&world, &restoration("/c", then, "/again")).unwrap();
    assert_eq!(cited(&world, "/again"), ["cenote:/again", "cenote:/again/d/x", "cenote:/out"]);
    assert_eq!(
        cited(&world, "/again/a"),
        ["cenote:/again/b#part", "cenote:/again/d", "cenote:/again/gone"]
    );
    assert_eq!(
        cited(&world, "/again/d/x"),
        ["cenote:/again", "cenote:/again/a", "cenote:/c/nothing"]
    );
    world.mv("/again/d", "/elsewhere").unwrap();
    assert_eq!(cited(&world, "/again")[1], "cenote:/elsewhere/x", "it is a link");
    assert_clean(&world.store);
}

#[test]
fn a_restored_object_that_links_to_itself_links_to_itself() {
    let world = keeping();
    world.put("/a", b"a");
    world.put("/b", b"b");
    world.state("/a", &[link("/a#part"), link("/b")]);
    let of_other = Statement { subject: Some("cenote:/b".into()), ..link("/a") };
    world.state("/a", &[of_other]);
    let then = Moment::Position(world.store.newest_change().unwrap());
    world.mv("/a", "/moved").unwrap();
    restore(&world, &restoration("/a", then, "/again")).unwrap();
    assert_eq!(cited(&world, "/again"), ["cenote:/again#part", "cenote:/b", "cenote:/again"]);
    assert_clean(&world.store);
}

/// Like a description that is copied or moved there, a restored one is unchanged.
#[test]
fn a_tree_is_restored_unchanged_below_a_collection_with_strict_links() {
    let (world, then) = linked();
    world.mkdir("/strict");
    let change = AttributeChange {
        link_integrity: Some(Some(LinkIntegrity::Strict)),
        ..AttributeChange::default()
    };
    world.store.set_attributes(&world.admin, &at("/strict"), &change).unwrap();
    restore(&world, &restoration("/c", then, "/strict/again")).unwrap();
    assert_eq!(
        cited(&world, "/strict/again/d/x"),
        ["cenote:/c/nothing", "cenote:/strict/again", "cenote:/strict/again/a"]
    );
    let add = |old: &Graph| Ok(old.iter().cloned().chain([link("/c/nowhere")]).collect());
    let any = Conditions::default();
    let refused = world.store.change_graph(&world.admin, &at("/strict/again/a"), &any, add);
    assert_eq!(kind(refused), ErrorKind::Dangling);
    assert_clean(&world.store);
}
