//! Jobs that move bytes: everything below a collection or in a place; and the effect of a restart.

use std::sync::Arc;

use cenote_blob::Place;
use cenote_kv::{
    Batch, CommitError, Engine, Fault, FaultyEngine, MemoryEngine, Snapshot, Token, Version,
};
use cenote_store::{Caller, CopyOptions, ErrorKind, JobStatus, NewToken, PlaceState, Rights};

use crate::injected::Injected;
use crate::world::{World, assert_clean, at, kind, noise, path, run, world_on, world_with_places};

fn finish(world: &World, job: &JobStatus) -> JobStatus {
    run(world.store.run_moves()).unwrap();
    let job = world.store.job(&world.admin, job.id).unwrap();
    assert!(job.finished);
    job
}

fn lab(world: &World) {
    for collection in ["/lab", "/lab/run"] {
        world.mkdir(collection);
    }
    for (n, to) in ["/lab/x", "/lab/run/y", "/lab/run/z"].into_iter().enumerate() {
        world.put(to, &noise(300 * n, n as u64));
    }
}

#[test]
fn everything_below_a_collection_is_replicated_and_trimmed() {
    let world = world_with_places();
    lab(&world);
    let a = world.place("a");
    let job = world.store.replicate_tree(&world.admin, &at("/lab"), a).unwrap();
    assert_eq!((job.kind, job.finished), ("replicate", false));
    assert_eq!(finish(&world, &job).done, 3);
    for object in ["/lab/x", "/lab/run/y", "/lab/run/z"] {
        assert_eq!(world.replicas(object), "0 main, 1 a");
    }
    let main = world.place("main");
    let job = world.store.trim_tree(&world.admin, &at("/lab/run"), Some(main), 1).unwrap();
    assert_eq!(finish(&world, &job).done, 2);
    assert_eq!(world.replicas("/lab/run/z"), "1 a");
    assert_eq!(world.replicas("/lab/x"), "0 main, 1 a");
    let job = world.store.trim_tree(&world.admin, &at("/"), None, 1).unwrap();
    assert_eq!(finish(&world, &job).done, 3);
    assert_eq!(world.replicas("/lab/x"), "0 main");
    assert_clean(&world.store);
    let object = world.store.replicate_tree(&world.admin, &at("/lab/x"), a);
    assert_eq!(kind(object), ErrorKind::WrongKind);
    assert_eq!(kind(world.store.job(&world.admin, 77)), ErrorKind::NotFound);
}

/// An engine with which something is done just before a snapshot, once.
#[derive(Debug, Default, Clone)]
struct Interrupted {
    inner: MemoryEngine,
    before: Injected,
}

impl Engine for Interrupted {
    fn name(&self) -> &'static str {
        "interrupted"
    }

    fn snapshot(&self) -> cenote_kv::Result<Box<dyn Snapshot>> {
        self.before.run();
        self.inner.snapshot()
    }

    fn commit(&self, batch: Batch) -> Result<Version, CommitError> {
        self.inner.commit(batch)
    }

    fn outcome(&self, token: &Token) -> cenote_kv::Result<Option<Version>> {
        self.inner.outcome(token)
    }
}

#[test]
fn a_job_that_ends_while_it_is_looked_up_is_found() {
    let engine = Interrupted::default();
    let world = world_on(engine.clone(), Place::memory("main")).with_places(Default::default());
    lab(&world);
    let job = world.store.replicate_tree(&world.admin, &at("/lab"), world.place("a")).unwrap();
    let store = world.store.clone();
    engine.before.set(move || run(store.run_moves()).unwrap());
    let found = world.store.job(&world.admin, job.id).unwrap();
    assert_eq!((found.finished, found.done), (true, 3));
}

/// The longer job keeps one worker busy, until the other one has finished both its turn and the shorter job.
#[test]
fn a_job_that_another_worker_finished_is_not_run_again() {
    let world = world_with_places();
    lab(&world);
    let main = world.place("main");
    for to in ["/long", "/short"] {
        world.mkdir(to);
    }
    (0..300).for_each(|n| drop(world.put(&format!("/long/{n}"), b"x")));
    world.put("/short/x", &noise(300, 1));
    world.replicate("/short/x", "a").unwrap();
    let long = world.store.replicate_tree(&world.admin, &at("/long"), world.place("a")).unwrap();
    let short = world.store.trim_tree(&world.admin, &at("/short"), Some(main), 1).unwrap();
    let (one, other) =
        run(async { tokio::join!(world.store.run_moves(), world.store.run_moves()) });
    one.and(other).unwrap();
    let done = |job: &JobStatus| world.store.job(&world.admin, job.id).unwrap().done;
    assert_eq!((done(&long), done(&short)), (300, 1), "a second trim finds nothing to do");
}

#[test]
fn objects_that_the_caller_may_not_change_are_counted_and_skipped() {
    let world = world_with_places();
    lab(&world);
    let user = world.user("u");
    let grant = |what: &str, rights: Rights| {
        let scope = cenote_store::Scope::Subtree;
        let grant = [cenote_store::AccessChange::Grant("u".into(), rights.into(), scope)];
        world.store.change_access(&world.admin, &at(what), &grant).unwrap();
    };
    grant("/lab", Rights::READ_OBJECT);
    grant("/lab/run", Rights::MODIFY_OBJECT);
    let job = world.store.replicate_tree(&user, &at("/lab"), world.place("a")).unwrap();
    let job = finish(&world, &job);
    assert_eq!((job.done, job.failed), (2, 1));
    assert!(job.fault.is_some());
    assert_eq!(world.replicas("/lab/x"), "0 main");
}

#[test]
fn a_token_for_a_subtree_sees_only_its_own_jobs() {
    let world = world_with_places();
    lab(&world);
    let user = world.user("u");
    let token = |within: &str| -> Caller {
        let new = NewToken { rights: Rights::OWN, within: Some(at(within)), ..NewToken::default() };
        let (secret, _) = world.store.add_token(&user, &new).unwrap();
        world.store.authenticate_token(&secret).unwrap()
    };
    let scope = cenote_store::Scope::Subtree;
    let rights = Rights::MODIFY_OBJECT.into();
    let grant = cenote_store::AccessChange::Grant("u".into(), rights, scope);
    world.store.change_access(&world.admin, &at("/lab"), &[grant]).unwrap();
    let (lab, run) = (token("/lab"), token("/lab/run"));
    let begin = |caller| world.store.replicate_tree(caller, &at("/lab/run"), world.place("a"));
    let of_user = begin(&user).unwrap();
    let of_lab = begin(&lab).unwrap();
    let sees = |caller, job: &JobStatus| world.store.job(caller, job.id).is_ok();
    for job in [&of_user, &of_lab] {
        assert!(sees(&user, job) && !sees(&run, job));
    }
    assert!(sees(&lab, &of_lab) && !sees(&lab, &of_user));
    finish(&world, &of_user);
    assert!(!sees(&run, &of_user) && sees(&user, &of_user), "also when it is over");
}

#[test]
fn a_drained_place_is_empty_and_accepts_nothing() {
    let world = world_with_places();
    world.put_in("a", "/one", &noise(500, 1));
    world.put_in("a", "/empty", b"");
    world.put_in("a", "/two", &noise(500, 2));
    world.replicate("/two", "b").unwrap();
    world.put_in("b", "/two", &noise(500, 3));
    let copy = CopyOptions::default();
    world.store.copy(&world.admin, &at("/one"), &path("/copy"), copy).unwrap();
    assert_eq!(world.replicas("/copy"), "0 a");
    let (a, b) = (world.place("a"), world.place("b"));
    let job = world.store.drain_place(&world.admin, a, Some(b)).unwrap();
    assert_eq!(finish(&world, &job).done, 2);
    assert_eq!(world.replicas("/one"), "0 b");
    assert_eq!(world.replicas("/empty"), "0 b");
    // The stale replica is in the same place as the good one.
    assert_eq!(world.replicas("/two"), "1 b");
    assert!(world.read("/one") == noise(500, 1) && world.read("/two") == noise(500, 3));
    assert!(world.read("/copy") == noise(500, 1));
    assert_eq!(world.blobs_in("a"), 0);
    let status = world.store.places().unwrap().into_iter().find(|place| place.id == a).unwrap();
    assert_eq!((status.copies, status.replicas), (0, 0));
    assert_eq!(status.info.state, PlaceState::Draining);
    run(world.store.remove_place(&world.admin, a)).unwrap();
    assert_clean(&world.store);
    world.sweep();
    assert_clean(&world.store);
}

#[test]
fn a_drain_needs_another_place() {
    let world = world_with_places();
    let (main, a) = (world.place("main"), world.place("a"));
    let pair = world.add_group("pair", &["a", "b"]);
    let drain = |from, to| world.store.drain_place(&world.admin, from, to);
    assert_eq!(kind(drain(a, Some(a))), ErrorKind::Invalid);
    assert_eq!(kind(drain(pair, None)), ErrorKind::Invalid);
    assert_eq!(kind(drain(main, Some(a))), ErrorKind::Invalid);
    assert_eq!(kind(drain(main, Some(pair))), ErrorKind::Invalid);
    world.store.set_default_place(&world.admin, pair).unwrap();
    world.put("/x", &noise(500, 1));
    drain(main, Some(a)).unwrap();
    let user = world.user("u");
    assert_eq!(kind(world.store.drain_place(&user, a, Some(main))), ErrorKind::Denied);
}

#[test]
fn a_job_resumes_after_a_restart() {
    let engine = FaultyEngine::new(Arc::new(MemoryEngine::new()));
    let place = cenote_blob::Place::memory("main");
    let world = world_on(engine.clone(), place).with_places(Default::default());
    world.mkdir("/lab");
    for n in 0..300 {
        world.put(&format!("/lab/{n}"), b"x");
    }
    engine.heal();
    let job = world.store.replicate_tree(&world.admin, &at("/lab"), world.place("a")).unwrap();
    let mut world = world;
    let mut step = 100;
    let done = loop {
        engine.heal();
        engine.fail_at(step, Fault::Lose);
        let outcome = run(world.store.run_moves());
        engine.heal();
        step *= 3;
        if outcome.is_ok() && world.store.job(&world.admin, job.id).is_ok_and(|job| job.finished) {
            break world.store.job(&world.admin, job.id).unwrap();
        }
        world = world.reopened();
    };
    assert!(done.done <= 300, "{done:?}");
    assert_eq!(world.store.pending_jobs().unwrap(), 0);
    let missing = (0..300).filter(|n| world.replicas(&format!("/lab/{n}")) != "0 main, 1 a");
    assert!(missing.count() as u64 <= done.failed);
    assert_clean(&world.store);
}
