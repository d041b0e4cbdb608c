//! Several servers over one catalog: none deletes what another one makes or reads, one does the work of the background, and what a
//! server that is gone held is taken over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use cenote_kv::{
    Batch, CommitError, Engine, Fault, FaultyEngine, Result as KvResult, Snapshot, Token, Version,
};
use cenote_store::{CopyOptions, ErrorKind, Health, NewToken, Pace, PutOptions, ReadOptions};

use crate::world::{World, assert_clean, at, kind, noise, path, run, world_with_places};

/// An engine that other processes may have open, too, and that can be out of reach.
#[derive(Debug)]
struct Shared {
    engine: Arc<dyn Engine>,
    away: AtomicU8,
}

/// It is there; commits do not arrive; commits arrive, and their answers are lost.
const THERE: u8 = 0;
const UNSENT: u8 = 1;
const UNANSWERED: u8 = 2;

impl Shared {
    fn over(engine: Arc<dyn Engine>) -> Self {
        Self { engine, away: AtomicU8::new(THERE) }
    }

    fn check(&self) -> KvResult<()> {
        match self.away.load(Ordering::SeqCst) {
            THERE => Ok(()),
            _ => Err(cenote_kv::Error::Io("the connection is lost".into())),
        }
    }
}

impl Engine for Shared {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn snapshot(&self) -> KvResult<Box<dyn Snapshot>> {
        self.engine.snapshot()
    }

    fn commit(&self, batch: Batch) -> KvResult<Version, CommitError> {
        let done = match self.away.load(Ordering::SeqCst) {
            UNSENT => Ok(0),
            _ => self.engine.commit(batch),
        };
        self.check().map_err(CommitError::Unknown)?;
        done
    }

    fn outcome(&self, token: &Token) -> KvResult<Option<Version>> {
        self.check()?;
        self.engine.outcome(token)
    }

    fn is_shared(&self) -> bool {
        true
    }
}

/// So many servers over one catalog and the same places, which have shown themselves.
fn servers<const N: usize>() -> [World; N] {
    servers_over(world_with_places())
}

fn servers_over<const N: usize>(mut first: World) -> [World; N] {
    first.parts.engine = Arc::new(Shared::over(first.parts.engine.clone()));
    let servers = std::array::from_fn(|_| first.reopened());
    beat(&servers.each_ref());
    servers
}

fn beat(servers: &[&World]) {
    servers.iter().for_each(|server| server.store.beat().unwrap());
}

/// Lets time pass in which only these show themselves.
fn pass(secs: u64, servers: &[&World]) {
    for _ in 0..secs / 2 {
        servers[0].clock.advance(Duration::from_secs(2));
        beat(servers);
    }
}

fn leading<const N: usize>(servers: &[World; N]) -> [bool; N] {
    servers.each_ref().map(|server| server.store.leads())
}

#[test]
fn one_server_does_the_background_work_until_it_leaves_or_is_missed() {
    let servers = servers::<3>();
    let [a, b, c] = &servers;
    assert_eq!(leading(&servers), [true, false, false]);
    pass(60, &[a, b, c]);
    assert_eq!(leading(&servers), [true, false, false]);
    pass(10, &[b, c]);
    assert_eq!(leading(&servers), [false; 3], "it stops before another one begins");
    pass(12, &[b, c]);
    let leader = leading(&servers).iter().position(|leads| *leads).expect("one took it over");
    assert!(leader != 0 && leading(&servers).iter().filter(|leads| **leads).count() == 1);
    pass(4, &[a, b, c]);
    assert!(servers[leader].store.leads() && !a.store.leads(), "who comes back waits");
    servers[leader].store.leave().unwrap();
    beat(&[a]);
    assert_eq!(leading(&servers), [true, false, false]);
}

/// Nobody is missed for time in which the database was away.
#[test]
fn a_pause_of_all_servers_takes_nothing_from_any() {
    let servers = servers::<2>();
    let [a, b] = &servers;
    a.clock.advance(Duration::from_secs(3_600));
    assert_eq!(leading(&servers), [false; 2], "a machine that was asleep is not sure of anything");
    beat(&[b, a]);
    pass(4, &[b, a]);
    assert_eq!(leading(&servers), [true, false]);
}

fn maintained(server: &World) {
    run(server.store.maintain_once(&Pace::default())).unwrap();
}

#[test]
fn no_server_deletes_what_another_one_reads_for_hours() {
    let [a, b] = servers::<2>();
    a.put("/x", &noise(1_000, 1));
    pass(2, &[&a, &b]);
    let reader = b.store.open(&b.admin, &at("/x"), &ReadOptions::default()).unwrap();
    let set = b.store.begin_change_set(&b.admin, None).unwrap();
    a.put("/x", &noise(1_000, 2));
    for _ in 0..3 {
        a.clock.advance(Duration::from_secs(3_600));
        pass(4, &[&a, &b]);
        maintained(&a);
        assert_eq!(a.blobs_in("main"), 2);
    }
    assert!(run(reader.read_all()).unwrap() == noise(1_000, 1));
    assert_eq!(kind(b.store.drop_change_set(&b.admin, set.id)), ErrorKind::Expired);
    pass(2, &[&b, &a]);
    maintained(&a);
    assert_eq!(a.blobs_in("main"), 1);
    assert_clean(&a.store);
}

#[test]
fn a_server_that_is_gone_holds_back_nothing_for_long() {
    let [a, b] = servers::<2>();
    a.put("/x", &noise(1_000, 1));
    pass(2, &[&a, &b]);
    let _reader = b.store.open(&b.admin, &at("/x"), &ReadOptions::default()).unwrap();
    a.put("/x", &noise(1_000, 2));
    pass(2, &[&a, &b]);
    a.clock.advance(Duration::from_secs(7_200));
    pass(22, &[&a]);
    maintained(&a);
    assert_eq!(a.blobs_in("main"), 1);
}

#[test]
fn a_change_set_is_requested_at_the_server_that_began_it() {
    let [a, b] = servers::<2>();
    let set = a.store.begin_change_set(&a.admin, None).unwrap();
    assert_eq!(kind(b.store.change_set(&b.admin, set.id)), ErrorKind::Unavailable);
    assert_eq!(kind(run(b.store.commit_change_set(&b.admin, set.id))), ErrorKind::Unavailable);
    let unknown = "00".repeat(16).parse().unwrap();
    assert_eq!(kind(a.reopened().store.change_set(&a.admin, unknown)), ErrorKind::Unavailable);
    run(a.store.commit_change_set(&a.admin, set.id)).unwrap();
}

#[test]
fn the_end_of_a_job_is_known_to_all_servers_for_a_day() {
    let [a, b] = servers::<2>();
    a.mkdir("/lab");
    a.put("/lab/x", &noise(1_000, 1));
    // The first server does not know of the place.
    let late = b.add_place("late");
    let job = b.store.replicate_tree(&b.admin, &at("/lab"), late).unwrap();
    run(a.store.run_moves()).unwrap();
    for server in [&a, &b, &a.reopened()] {
        let job = server.store.job(&a.admin, job.id).unwrap();
        assert_eq!((job.finished, job.done, job.kind), (true, 1, "replicate"));
    }
    assert_eq!(run(b.store.finish(job.id)).unwrap().done, 1);
    a.clock.advance(Duration::from_secs(24 * 3_600 + 1));
    maintained(&a);
    assert_eq!(kind(b.store.job(&b.admin, job.id)), ErrorKind::NotFound);
}

/// Whichever step of the job fails, the last one included.
#[test]
fn no_server_reports_the_end_of_a_job_that_the_others_do_not_see() {
    let mut first = world_with_places();
    let faulty = FaultyEngine::new(first.parts.engine.clone());
    first.parts.engine = Arc::new(faulty.clone());
    let [a, b] = servers_over(first);
    a.mkdir("/lab");
    a.put("/lab/x", &noise(1_000, 1));
    let passes_with_a_fault_at = |step| {
        let job = b.store.replicate_tree(&b.admin, &at("/lab"), b.place("a")).unwrap();
        faulty.fail_at(step, Fault::Refuse);
        let worked = run(a.store.run_moves());
        let steps = faulty.steps();
        faulty.heal();
        let finished = |server: &World| server.store.job(&a.admin, job.id).unwrap().finished;
        assert_eq!(finished(&a), finished(&b), "{worked:?} at {step}");
        run(a.store.run_moves()).unwrap();
        assert!(finished(&a) && finished(&b), "at {step}");
        steps < step
    };
    assert!((1..).find(|step| passes_with_a_fault_at(*step)) > Some(5));
}

/// A server hears of a change of places some time later.
#[test]
fn no_server_records_a_small_content_in_a_place_that_another_one_removed() {
    let [one, other] = servers_over::<2>(world_with_places());
    let [main, a] = ["main", "a"].map(|name| one.place(name));
    one.store.set_default_place(&one.admin, a).unwrap();
    maintained(&other);
    other.put("/x", b"small");
    one.put("/z", b"replaced");
    assert_eq!(other.replicas("/x"), "0 a");
    one.store.set_default_place(&one.admin, main).unwrap();
    let job = one.store.drain_place(&one.admin, a, None).unwrap();
    let put = || other.try_put(&other.admin, "/y", b"small", PutOptions::default());
    let copy = || {
        let options = CopyOptions { replace: true, ..CopyOptions::default() };
        other.store.copy(&other.admin, &at("/x"), &path("/z"), options)
    };
    assert_eq!(kind(put()), ErrorKind::Unavailable);
    run(one.store.finish(job.id)).unwrap();
    run(one.store.remove_place(&one.admin, a)).unwrap();
    assert_eq!((kind(put()), kind(copy())), (ErrorKind::Unavailable, ErrorKind::Unavailable));
    maintained(&other);
    put().unwrap();
    copy().unwrap();
    assert_eq!(["/x", "/y", "/z"].map(|object| other.replicas(object)), ["0 main"; 3]);
    assert_clean(&one.store);
}

#[test]
fn a_token_is_known_and_revoked_everywhere_at_once() {
    let [a, b] = servers::<2>();
    let (secret, token) = a.store.add_token(&a.admin, &NewToken::default()).unwrap();
    assert_eq!(b.store.authenticate_token(&secret).unwrap().user(), a.admin.user());
    b.store.revoke_token(&b.admin, None, token.id).unwrap();
    assert_eq!(kind(a.store.authenticate_token(&secret)), ErrorKind::Unauthenticated);
}

#[test]
fn all_servers_have_the_same_key() {
    let [a, b] = servers::<2>();
    let key = a.store.shared_key("cursors").unwrap();
    assert!(key.is_some() && key == b.store.shared_key("cursors").unwrap());
    assert_ne!(key, b.store.shared_key("others").unwrap());
    assert_eq!(world_with_places().store.shared_key("cursors").unwrap(), None);
}

#[test]
fn a_catalog_of_one_process_has_no_rows_of_servers() {
    let world = world_with_places();
    assert!(world.store.leads());
    world.store.beat().unwrap();
    world.put("/x", &noise(1_000, 1));
    world.replicate("/x", "a").unwrap();
    world.trim("/x", 0).unwrap();
    maintained(&world);
    assert_eq!(world.table(b'W').len(), 0);
}

/// Its caller gets that answer; all others continue, and nothing that it may have recorded is deleted.
#[test]
fn a_catalog_that_was_out_of_reach_during_a_commit_takes_changes_again() {
    for away in [UNSENT, UNANSWERED] {
        let mut world = world_with_places();
        let engine = Arc::new(Shared::over(world.parts.engine.clone()));
        world.parts.engine = engine.clone();
        let world = world.reopened();
        beat(&[&world]);
        world.put("/first", &noise(1_000, 1));
        engine.away.store(away, Ordering::SeqCst);
        let options = PutOptions::default();
        let put = world.try_put(&world.admin, "/x", &noise(1_000, 2), options);
        assert_eq!(kind(put), ErrorKind::Unknown);
        let _ = run(world.store.maintain_once(&Pace::default()));
        assert_eq!(world.blobs_in("main"), 2, "the catalog may know it");

        engine.away.store(THERE, Ordering::SeqCst);
        assert_eq!(world.store.health(), Health::Ready);
        world.mkdir("/later");
        let has_happened = away == UNANSWERED;
        assert_eq!(world.stat("/x").is_ok(), has_happened);
        beat(&[&world]);
        maintained(&world);
        assert_eq!(world.blobs_in("main"), 1 + usize::from(has_happened));
        assert_clean(&world.store);
    }
}
