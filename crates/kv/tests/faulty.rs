//! The engine that fails on demand.

use std::sync::Arc;

use cenote_kv::conformance::Subject;
use cenote_kv::{
    Batch, CommitError, Engine, Error, Fault, FaultyEngine, KeyRange, MemoryEngine, ScanOptions,
    Snapshot,
};

/// Without a fault it behaves like the engine inside.
#[derive(Default)]
struct Faultless(MemoryEngine);

impl Subject for Faultless {
    fn open(&self) -> Arc<dyn Engine> {
        Arc::new(FaultyEngine::new(Arc::new(self.0.clone())))
    }
}

cenote_kv::conformance_tests!(Faultless::default());

fn faulty() -> FaultyEngine {
    let engine = FaultyEngine::new(Arc::new(MemoryEngine::new()));
    for key in ["a", "b"] {
        engine.commit(put(key)).expect("no fault is set");
    }
    engine
}

fn put(key: &'static str) -> Batch {
    let mut batch = Batch { token: Some([9; 16]), ..Batch::default() };
    batch.put(key, "");
    batch
}

fn scan(view: &dyn Snapshot, limit: usize) -> Vec<Result<(), Error>> {
    view.scan(&KeyRange::all(), ScanOptions::limit(limit)).map(|row| row.map(drop)).collect()
}

#[test]
fn the_named_step_fails_and_no_other() {
    let engine = faulty();
    for step in 1..=4 {
        engine.fail_at(step, Fault::Refuse);
        let view = engine.snapshot();
        assert_eq!(view.is_err(), step == 1);
        let Ok(view) = view else { continue };
        assert_eq!(view.get(b"a").is_err(), step == 2);
        assert_eq!(view.get_many(&[]).is_err(), step == 3);
        assert_eq!(engine.commit(put("c")).is_err(), step == 4);
        assert_eq!(engine.steps(), 4);
    }
}

#[test]
fn a_scan_fails_after_its_first_row() {
    let engine = faulty();
    let view = engine.snapshot().unwrap();
    for (limit, rows) in [(usize::MAX, 1), (2, 1), (1, 0)] {
        engine.fail_at(1, Fault::Refuse);
        let found = scan(&*view, limit);
        assert_eq!(found.len(), rows + 1);
        assert!(found[..rows].iter().all(Result::is_ok) && found[rows].is_err());
        assert!(scan(&*view, limit).iter().all(Result::is_ok));
    }
}

#[test]
fn a_refused_commit_leaves_the_engine_open() {
    let engine = faulty();
    engine.fail_at(1, Fault::Refuse);
    assert!(matches!(engine.commit(put("c")), Err(CommitError::NoSpace)));
    assert_eq!(engine.commit(put("c")).unwrap(), 3);
}

#[test]
fn an_unknown_commit_latches_until_opened_again() {
    for (fault, kept) in [(Fault::Lose, None), (Fault::Keep, Some(3))] {
        let engine = faulty();
        engine.fail_at(1, fault);
        let mut batch = put("c");
        batch.token = Some([1; 16]);
        assert!(matches!(engine.commit(batch), Err(CommitError::Unknown(_))));
        assert!(matches!(engine.commit(put("d")), Err(CommitError::Latched)));
        assert_eq!(engine.outcome(&[1; 16]).unwrap(), kept);
        engine.heal();
        engine.commit(put("d")).unwrap();
    }
}

#[test]
fn a_commit_in_doubt_shows_when_the_engine_is_opened_again() {
    for (fault, kept) in [(Fault::LoseInDoubt, None), (Fault::KeepInDoubt, Some(3))] {
        let engine = faulty();
        engine.fail_at(1, fault);
        let batch = Batch { token: Some([1; 16]), ..put("c") };
        assert!(matches!(engine.commit(batch), Err(CommitError::Unknown(_))));
        assert!(matches!(engine.commit(put("d")), Err(CommitError::Latched)));
        assert!(matches!(engine.outcome(&[1; 16]), Err(Error::Undecided)));
        assert!(engine.snapshot().unwrap().get(b"c").unwrap().is_none());
        engine.heal();
        assert_eq!(engine.outcome(&[1; 16]).unwrap(), kept);
        assert_eq!(engine.snapshot().unwrap().get(b"c").unwrap().is_some(), kept.is_some());
    }
}
