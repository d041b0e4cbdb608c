//! Conditions: a batch is applied only if its evidence is still valid.

use bytes::Bytes;

use super::{Subject, commit, is_conflict, put, read, rows};
use crate::{Batch, CommitError, Engine, KeyRange, RangeDigest, ScanOptions, Version};

/// Commits a write to `w` that depends on `evidence`, given as of version `seen`.
fn attempt(
    engine: &dyn Engine,
    seen: Version,
    evidence: impl FnOnce(&mut Batch) -> &mut Batch,
) -> Result<Version, CommitError> {
    let mut batch = Batch::new(seen);
    evidence(batch.put("w", "done"));
    engine.commit(batch)
}

fn version(engine: &dyn Engine) -> Version {
    engine.snapshot().unwrap().version()
}

/// A key must hold the value that was read.
pub fn evidence_on_a_value(subject: &dyn Subject) {
    let engine = subject.open();
    put(&*engine, "a", "1");
    let seen = version(&*engine);
    attempt(&*engine, seen, |batch| batch.expect("a", Some("1".into()))).unwrap();
    put(&*engine, "a", "2");
    let late = attempt(&*engine, seen, |batch| batch.expect("a", Some("1".into())));
    assert!(matches!(late, Err(CommitError::Conflict { key }) if key == "a"));
    commit(&*engine, |batch| batch.delete("a"));
    let gone = attempt(&*engine, seen, |batch| batch.expect("a", Some("2".into())));
    assert!(is_conflict(&gone));
}

/// A key must still be absent; an empty value is not absence.
pub fn evidence_on_absence(subject: &dyn Subject) {
    let engine = subject.open();
    put(&*engine, "other", "");
    let seen = version(&*engine);
    attempt(&*engine, seen, |batch| batch.expect("a", None)).unwrap();
    put(&*engine, "a", "");
    assert!(is_conflict(&attempt(&*engine, seen, |batch| batch.expect("a", None))));
    attempt(&*engine, seen, |batch| batch.expect("a", Some(Bytes::new()))).unwrap();
}

/// Evidence is about values: a change that was undone is no conflict.
pub fn evidence_survives_a_change_and_back(subject: &dyn Subject) {
    let engine = subject.open();
    put(&*engine, "a", "1");
    let seen = version(&*engine);
    put(&*engine, "a", "2");
    put(&*engine, "a", "1");
    attempt(&*engine, seen, |batch| batch.expect("a", Some("1".into()))).unwrap();
}

/// A batch's own writes do not count against its evidence.
pub fn evidence_is_about_the_state_before(subject: &dyn Subject) {
    let engine = subject.open();
    put(&*engine, "a", "1");
    for seen in [version(&*engine), 0] {
        let found = read(&*engine, "a");
        let mut batch = Batch::new(seen);
        batch.put("a", format!("after {seen}")).delete("gone").expect("a", found);
        engine.commit(batch).unwrap();
    }
}

/// Version 0 has everything checked, whatever is in the store.
pub fn evidence_without_a_snapshot_is_checked(subject: &dyn Subject) {
    let engine = subject.open();
    fn wrong(batch: &mut Batch) -> &mut Batch {
        batch.expect("a", Some("never there".into()))
    }
    assert!(is_conflict(&attempt(&*engine, 0, wrong)));
    put(&*engine, "a", "1");
    assert!(is_conflict(&attempt(&*engine, 0, wrong)));
    assert!(is_conflict(&attempt(&*engine, 0, |batch| batch.expect("a", None))));
}

/// Changes a store in one way.
type Change = fn(&mut Batch) -> &mut Batch;

/// What [`reset`] leaves, as evidence.
fn three(batch: &mut Batch) -> &mut Batch {
    batch.expect("b", Some("2".into())).expect("gone", None).expect("c", Some("3".into()))
}

fn reset(batch: &mut Batch) -> &mut Batch {
    batch.put("b", "2").put("c", "3").delete("gone").delete("d")
}

/// All keys of a batch hold together, or none.
pub fn evidence_of_several_keys_is_one(subject: &dyn Subject) {
    let engine = subject.open();
    let changes: [Change; 6] = [
        |batch| batch.put("c", "4"),
        |batch| batch.delete("c"),
        |batch| batch.put("gone", ""),
        |batch| batch.delete("c").put("gone", "3"),
        |batch| batch.put("b", "23").put("c", ""),
        |batch| batch.delete("b").delete("c"),
    ];
    for change in changes {
        commit(&*engine, reset);
        let seen = version(&*engine);
        commit(&*engine, |batch| batch.put("d", "beside"));
        attempt(&*engine, seen, three).unwrap();
        commit(&*engine, change);
        assert!(is_conflict(&attempt(&*engine, seen, three)));
        assert!(is_conflict(&attempt(&*engine, 0, three)));
    }
}

/// The one that changed, if the engine can tell.
pub fn a_conflict_of_several_keys_names_one_of_them(subject: &dyn Subject) {
    let engine = subject.open();
    let changes: [(&str, Change); 3] = [
        ("b", |batch| batch.delete("b")),
        ("c", |batch| batch.put("c", "4")),
        ("gone", |batch| batch.put("gone", "1")),
    ];
    for (changed, change) in changes {
        commit(&*engine, reset);
        let seen = version(&*engine);
        commit(&*engine, change);
        let Err(CommitError::Conflict { key }) = attempt(&*engine, seen, three) else {
            panic!("{changed} was changed");
        };
        let is_one = ["b", "c", "gone"].iter().any(|one| key == one);
        assert!(if subject.names_the_key() { key == changed } else { is_one }, "{key:?}");
    }
}

/// However often a key was read, it held one value.
pub fn repeated_keys_hold_once_and_contradictory_ones_never(subject: &dyn Subject) {
    let engine = subject.open();
    put(&*engine, "a", "1");
    let seen = version(&*engine);
    put(&*engine, "other", "");
    let both = |first: Option<&'static str>, then: Option<&'static str>| {
        let (first, then) = (first.map(Bytes::from), then.map(Bytes::from));
        attempt(&*engine, seen, |batch| {
            batch.expect("a", first).expect("b", None).expect("a", then)
        })
    };
    both(Some("1"), Some("1")).unwrap();
    for (first, then) in
        [(Some("1"), Some("2")), (Some("2"), Some("1")), (None, Some("1")), (Some("1"), None)]
    {
        assert!(is_conflict(&both(first, then)), "{first:?}, {then:?}");
    }
}

/// A byte decides, wherever it is.
pub fn evidence_is_as_large_as_values_are(subject: &dyn Subject) {
    let engine = subject.open();
    let value = Bytes::from(vec![b'v'; 3 << 20]);
    let last = [&value[1..], b"w"].concat();
    commit(&*engine, |batch| batch.put("a", value.clone()).put("b", value.clone()));
    let mut both = Batch::default();
    both.expect("a", Some(value.clone())).expect("b", Some(value)).put("w", "done");
    engine.commit(both.clone()).unwrap();
    put(&*engine, "b", last);
    assert!(is_conflict(&engine.commit(both)));
}

/// What a scan saw, as evidence.
fn seen_in(engine: &dyn Engine, range: &KeyRange, limit: usize) -> (Version, RangeDigest) {
    let view = engine.snapshot().unwrap();
    let found = rows(&*view, range, ScanOptions::limit(limit));
    (view.version(), RangeDigest::of(&found))
}

fn attempt_range(
    engine: &dyn Engine,
    (seen, digest): (Version, RangeDigest),
    range: &KeyRange,
    limit: usize,
) -> Result<Version, CommitError> {
    attempt(engine, seen, |batch| batch.expect_range(range.clone(), limit, digest))
}

/// A row that appears in a range that was read is a conflict, one beside it is not.
pub fn ranges_find_phantoms(subject: &dyn Subject) {
    let engine = subject.open();
    put(&*engine, "p/b", "1");
    for range in [KeyRange::prefix("p/"), KeyRange::prefix("empty/")] {
        let seen = seen_in(&*engine, &range, usize::MAX);
        attempt_range(&*engine, seen, &range, usize::MAX).unwrap();
        put(&*engine, "p", "beside");
        put(&*engine, "p0", "beside");
        attempt_range(&*engine, seen, &range, usize::MAX).unwrap();
        put(&*engine, [range.start.as_ref(), b"a"].concat(), "phantom");
        let late = attempt_range(&*engine, seen, &range, usize::MAX);
        assert!(matches!(late, Err(CommitError::Conflict { key }) if key == range.start));
    }
}

/// Removed rows and changed values are seen; a row moved is not the same row.
pub fn ranges_find_removals_and_changes(subject: &dyn Subject) {
    let engine = subject.open();
    let range = KeyRange::prefix("p/");
    fn reset(batch: &mut Batch) -> &mut Batch {
        batch.put("p/a", "1").put("p/b", "2").delete("p/c")
    }
    let changes: [fn(&mut Batch) -> &mut Batch; 4] = [
        |batch| batch.delete("p/b"),
        |batch| batch.put("p/b", "3"),
        |batch| batch.delete("p/b").put("p/c", "2"),
        |batch| batch.put("p/a", "12").put("p/b", ""),
    ];
    for change in changes {
        commit(&*engine, reset);
        let seen = seen_in(&*engine, &range, usize::MAX);
        commit(&*engine, change);
        assert!(is_conflict(&attempt_range(&*engine, seen, &range, usize::MAX)));
        commit(&*engine, reset);
        attempt_range(&*engine, seen, &range, usize::MAX).unwrap();
    }
}

/// A scan that stopped at its limit depends only on the rows that it saw.
pub fn ranges_end_at_their_limit(subject: &dyn Subject) {
    let engine = subject.open();
    commit(&*engine, |batch| batch.put("p/b", "").put("p/d", "").put("p/f", ""));
    let range = KeyRange::prefix("p/");
    let seen = seen_in(&*engine, &range, 2);
    put(&*engine, "p/e", "past the limit");
    attempt_range(&*engine, seen, &range, 2).unwrap();
    put(&*engine, "p/c", "within");
    assert!(is_conflict(&attempt_range(&*engine, seen, &range, 2)));
}

/// A batch with one broken condition does nothing at all.
pub fn a_conflict_applies_nothing(subject: &dyn Subject) {
    let engine = subject.open();
    commit(&*engine, |batch| batch.put("a", "1").put("b", "1"));
    let view = engine.snapshot().unwrap();
    put(&*engine, "b", "2");
    let before = engine.snapshot().unwrap();
    let mut batch = Batch::new(view.version());
    batch.expect("a", Some("1".into())).expect("b", Some("1".into()));
    batch.put("a", "9").put("new", "").delete("b").add("n", 1).append("log/", "entry");
    batch.token = Some([7; 16]);
    assert!(is_conflict(&engine.commit(batch)));
    let after = engine.snapshot().unwrap();
    let everything = |view| rows(view, &KeyRange::all(), ScanOptions::default());
    assert_eq!(everything(&*after), everything(&*before));
    assert_eq!(after.version(), before.version());
    assert_eq!(engine.outcome(&[7; 16]).unwrap(), None);
}
