//! Random histories, side by side with the memory engine.

use std::cell::Cell;

use bytes::Bytes;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{Subject, rows};
use crate::{
    Batch, Bound, CommitError, Engine, Evidence, KeyRange, MemoryEngine, RangeDigest, ScanOptions,
    Snapshot, Version, Write,
};

/// One batch, and how old the snapshot is that its evidence comes from.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) age: usize,
    expected: Vec<Expected>,
    bounds: Vec<Bound>,
    writes: Vec<Write>,
    least: Version,
}

impl Step {
    /// The batch whose evidence is read from `view`.
    pub(crate) fn batch(&self, view: &dyn Snapshot) -> Batch {
        let mut batch = Batch {
            bounds: self.bounds.clone(),
            writes: self.writes.clone(),
            least: self.least,
            ..Batch::new(view.version())
        };
        for expected in &self.expected {
            expected.see(view, &mut batch);
        }
        batch
    }
}

/// What is read for evidence.
#[derive(Debug, Clone)]
enum Expected {
    Key(Bytes),
    Range(KeyRange, usize),
}

impl Expected {
    fn see(&self, view: &dyn Snapshot, batch: &mut Batch) {
        match self.clone() {
            Self::Key(key) => batch.expect(key.clone(), view.get(&key).unwrap()),
            Self::Range(range, limit) => {
                let digest = RangeDigest::of(&rows(view, &range, ScanOptions::limit(limit)));
                batch.expect_range(range, limit, digest)
            }
        };
    }
}

/// Few keys, so that histories collide.
fn key() -> impl Strategy<Value = Bytes> {
    "[ab]{1,3}".prop_map(Bytes::from)
}

pub(crate) fn range() -> impl Strategy<Value = KeyRange> {
    prop_oneof![
        key().prop_map(KeyRange::prefix),
        (key(), key()).prop_map(|(start, end)| KeyRange::new(start, end)),
        key().prop_map(|start| KeyRange { start, end: Some("c".into()) }),
    ]
}

fn write() -> impl Strategy<Value = Write> {
    let value = prop::collection::vec(any::<u8>(), 0..4).prop_map(Bytes::from);
    prop_oneof![
        4 => (key(), value.clone()).prop_map(|(key, value)| Write::Put(key, value)),
        2 => key().prop_map(Write::Delete),
        2 => (key(), any::<i64>()).prop_map(|(key, delta)| Write::Add(key, delta)),
        1 => (key(), value).prop_map(|(key, value)| Write::Append(key, value)),
    ]
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let expected = prop_oneof![
        2 => key().prop_map(Expected::Key),
        1 => (range(), 0..4usize).prop_map(|(range, limit)| Expected::Range(range, limit)),
    ];
    let expected = prop::collection::vec(expected, 0..4);
    let bounds = prop::collection::vec(bound(), 0..2);
    let writes = prop::collection::vec(write(), 0..5);
    let least = prop_oneof![4 => Just(0), 1 => 0..100u64];
    let parts = (0..4usize, expected, bounds, writes, least);
    parts.prop_map(|(age, expected, bounds, writes, least)| Step {
        age,
        expected,
        bounds,
        writes,
        least,
    })
}

/// As far from zero as additions are.
fn bound() -> impl Strategy<Value = Bound> {
    (key(), any::<i64>()).prop_map(|(key, most)| Bound { key, most })
}

/// What an engine says that compares the keys of `batch` together: in a conflict, any of them stands for all.
pub(crate) fn together(batch: &Batch, answer: &Result<Version, CommitError>) -> String {
    let is_read = |key| batch.evidence.iter().flat_map(Evidence::keys).any(|(read, _)| read == key);
    match answer {
        Err(CommitError::Conflict { key }) if is_read(key) => "a conflict of keys".to_owned(),
        answer => format!("{answer:?}"),
    }
}

pub(crate) fn assert_same(left: &dyn Snapshot, right: &dyn Snapshot, probes: &[(KeyRange, usize)]) {
    assert_eq!(left.version(), right.version());
    assert_same_rows(left, right, probes);
}

pub(crate) fn assert_same_rows(
    left: &dyn Snapshot,
    right: &dyn Snapshot,
    probes: &[(KeyRange, usize)],
) {
    let everything = (KeyRange::all(), usize::MAX);
    for (range, limit) in probes.iter().chain([&everything]) {
        for options in [ScanOptions::limit(*limit), ScanOptions::limit(*limit).reversed()] {
            assert_eq!(rows(left, range, options), rows(right, range, options), "{range:?}");
        }
    }
}

/// Any history of batches, stale and fresh, has the same answers and leaves the same rows.
pub fn behaves_as_the_memory_engine(subject: &dyn Subject) {
    let engine = subject.open();
    let model = MemoryEngine::new();
    let (conflicts, exceeded) = (Cell::new(0), Cell::new(0));
    let histories = prop::collection::vec(step(), 1..12);
    let probes = prop::collection::vec((range(), 0..5usize), 0..4);
    let mut runner =
        TestRunner::new(Config { cases: 64, failure_persistence: None, ..Config::default() });
    let result = runner.run(&(histories, probes), |(history, probes)| {
        // The views of this history and their twins, oldest first.
        let mut views = vec![(engine.snapshot().unwrap(), model.snapshot().unwrap())];
        for step in history {
            let (view, _) = &views[views.len().saturating_sub(1 + step.age)];
            let batch = step.batch(&**view);
            let (left, right) = (engine.commit(batch.clone()), model.commit(batch.clone()));
            let described = |answer| match subject.names_the_key() {
                true => format!("{answer:?}"),
                false => together(&batch, answer),
            };
            assert_eq!(described(&left), described(&right));
            match right {
                Ok(_) => {}
                Err(CommitError::Conflict { .. }) => conflicts.set(conflicts.get() + 1),
                Err(CommitError::Exceeded { .. }) => exceeded.set(exceeded.get() + 1),
                Err(failed) => panic!("{failed:?}"),
            }
            views.push((engine.snapshot().unwrap(), model.snapshot().unwrap()));
        }
        for (left, right) in &views {
            assert_same(&**left, &**right, &probes);
        }
        Ok(())
    });
    result.unwrap();
    assert!(conflicts.get() > 0, "the histories never collided");
    assert!(exceeded.get() > 0, "no bound was ever exceeded");
}
