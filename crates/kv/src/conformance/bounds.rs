//! Bounds of counters: an answer that depends on the newest value.

use std::sync::atomic::{AtomicI64, Ordering};

use super::writers::{ROUNDS, together};
use super::{Subject, commit, is_conflict, put, read, rows};
use crate::{Batch, CommitError, Engine, KeyRange, ScanOptions, Version, counter};

fn add(engine: &dyn Engine, seen: Version, delta: i64, most: i64) -> Result<Version, CommitError> {
    let mut batch = Batch::new(seen);
    batch.add("n", delta).require_at_most("n", most);
    engine.commit(batch)
}

fn version(engine: &dyn Engine) -> Version {
    engine.snapshot().unwrap().version()
}

fn held(engine: &dyn Engine) -> i64 {
    read(engine, "n").map_or(0, |value| counter(&value))
}

fn is_exceeded(result: &Result<Version, CommitError>, expected: i64) -> bool {
    matches!(result, Err(CommitError::Exceeded { key, held }) if key == "n" && *held == expected)
}

/// A total equal to the bound is accepted, one more is refused with the value of the counter; several additions count
/// together.
pub fn bounds_hold_after_the_additions(subject: &dyn Subject) {
    let engine = subject.open();
    add(&*engine, 0, 10, 10).unwrap();
    assert!(is_exceeded(&add(&*engine, 0, 1, 10), 10));
    add(&*engine, 0, -3, 10).unwrap();
    let mut batch = Batch::default();
    batch.add("n", 5).require_at_most("n", 10).add("n", -2);
    engine.commit(batch).unwrap();
    assert_eq!(held(&*engine), 10);
    // A batch that adds nothing is refused, too, if its bound is exceeded; a missing counter is zero.
    assert!(is_exceeded(&add(&*engine, 0, 0, 9), 10));
    let mut absent = Batch::default();
    absent.require_at_most("absent", -1);
    assert!(matches!(
        engine.commit(absent),
        Err(CommitError::Exceeded { key, held: 0 }) if key == "absent"
    ));
    // A value that is not a counter counts as zero, too.
    put(&*engine, "text", "no counter");
    let mut text = Batch::default();
    text.require_at_most("text", 0);
    engine.commit(text).unwrap();
}

/// A snapshot that is the newest does not spare the check, and an old one does not fail it.
pub fn bounds_rest_on_the_newest_value(subject: &dyn Subject) {
    let engine = subject.open();
    put(&*engine, "other", "");
    let old = version(&*engine);
    for _ in 0..3 {
        add(&*engine, old, 1, 3).unwrap();
    }
    assert!(is_exceeded(&add(&*engine, old, 1, 3), 3));
    assert!(is_exceeded(&add(&*engine, version(&*engine), 1, 3), 3));
    commit(&*engine, |batch| batch.add("n", -1));
    add(&*engine, old, 1, 3).unwrap();
}

/// Counters wrap; bounded ones do not.
pub fn bounds_refuse_sums_that_do_not_fit(subject: &dyn Subject) {
    let engine = subject.open();
    add(&*engine, 0, i64::MAX, i64::MAX).unwrap();
    assert!(is_exceeded(&add(&*engine, 0, 1, i64::MAX), i64::MAX));
    let mut batch = Batch::default();
    batch.add("n", i64::MAX).add("n", i64::MAX).require_at_most("n", i64::MAX);
    assert!(is_exceeded(&engine.commit(batch), i64::MAX));
    assert_eq!(held(&*engine), i64::MAX);
}

/// A commit that depends on something that has changed is a conflict, not a lack of room.
pub fn a_conflict_comes_before_a_bound(subject: &dyn Subject) {
    let engine = subject.open();
    add(&*engine, 0, 10, 10).unwrap();
    let mut batch = Batch::default();
    batch.add("n", 1).require_at_most("n", 10).expect("a", Some("never there".into()));
    assert!(is_conflict(&engine.commit(batch)));
}

/// A batch that is refused by its bound leaves nothing, not even its token.
pub fn an_exceeded_bound_applies_nothing(subject: &dyn Subject) {
    let engine = subject.open();
    commit(&*engine, |batch| batch.put("a", "1").add("n", 10));
    let before = engine.snapshot().unwrap();
    let mut batch = Batch { token: Some([7; 16]), ..Batch::default() };
    batch.put("a", "9").put("new", "").add("m", 1).append("log/", "entry");
    batch.add("n", 1).require_at_most("m", 1).require_at_most("n", 10);
    assert!(is_exceeded(&engine.commit(batch), 10));
    let after = engine.snapshot().unwrap();
    let everything = |view| rows(view, &KeyRange::all(), ScanOptions::default());
    assert_eq!(everything(&*after), everything(&*before));
    assert_eq!(after.version(), before.version());
    assert_eq!(engine.outcome(&[7; 16]).unwrap(), None);
}

/// Many writers fill a counter to exactly its bound; none has a conflict, and each that is refused found it full.
pub fn writers_below_a_bound_never_conflict_and_never_exceed_it(subject: &dyn Subject) {
    const MOST: i64 = 100;
    let engine = subject.open();
    let (seen, taken) = (version(&*engine), AtomicI64::new(0));
    together(|writer| {
        for round in 0..ROUNDS {
            let mut batch = Batch::new(seen);
            batch.add("n", 1).require_at_most("n", MOST).put(format!("w/{writer}/{round}"), "");
            match engine.commit(batch) {
                Ok(_) => drop(taken.fetch_add(1, Ordering::Relaxed)),
                refused => assert!(is_exceeded(&refused, MOST), "{refused:?}"),
            }
            assert!(held(&*engine) <= MOST);
        }
    });
    let view = engine.snapshot().unwrap();
    let written = rows(&*view, &KeyRange::prefix("w/"), ScanOptions::default()).len() as i64;
    assert_eq!((taken.into_inner(), written, held(&*engine)), (MOST, MOST, MOST));
}
