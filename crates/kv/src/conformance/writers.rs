//! Many writers at once.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use bytes::Bytes;

use super::{Subject, commit, is_conflict, put, read, rows};
use crate::{Batch, Engine, KeyRange, ScanOptions, Version, counter};

const WRITERS: i64 = 8;
pub(super) const ROUNDS: i64 = 25;

fn number(value: i64) -> Bytes {
    Bytes::copy_from_slice(&value.to_be_bytes())
}

pub(super) fn together(work: impl Fn(i64) + Sync) {
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let work = &work;
            scope.spawn(move || work(writer));
        }
    });
}

/// Tries until no other commit came between reading and writing.
fn retry(engine: &dyn Engine, change: impl Fn(&mut Batch, &dyn crate::Snapshot)) {
    loop {
        let view = engine.snapshot().unwrap();
        let mut batch = Batch::new(view.version());
        change(&mut batch, &*view);
        let result = engine.commit(batch);
        if !is_conflict(&result) {
            result.unwrap();
            return;
        }
    }
}

/// Reads a key into the batch's evidence.
fn relied_on(batch: &mut Batch, view: &dyn crate::Snapshot, key: &str) -> i64 {
    let value = view.get(key.as_bytes()).unwrap();
    batch.expect(key.to_owned(), value.clone());
    value.map_or(0, |value| counter(&value))
}

/// Read, add one, write: no increment overwrites another.
pub fn concurrent_increments_are_not_lost(subject: &dyn Subject) {
    let engine = subject.open();
    together(|_| {
        for _ in 0..ROUNDS {
            retry(&*engine, |batch, view| {
                let count = relied_on(batch, view, "n");
                batch.put("n", number(count + 1)).add("blind", 1);
            });
        }
    });
    assert_eq!(read(&*engine, "n"), Some(number(WRITERS * ROUNDS)));
    assert_eq!(read(&*engine, "blind"), Some(number(WRITERS * ROUNDS)));
}

const ACCOUNTS: i64 = 5;

fn account(at: i64) -> String {
    format!("account/{}", at.rem_euclid(ACCOUNTS))
}

fn sum(view: &dyn crate::Snapshot) -> i64 {
    let found = rows(view, &KeyRange::prefix("account/"), ScanOptions::default());
    found.iter().map(|(_, value)| counter(value)).sum()
}

/// Money moves between accounts; every snapshot taken in the meantime shows all of it.
pub fn transfers_keep_the_sum(subject: &dyn Subject) {
    let engine = subject.open();
    commit(&*engine, |batch| {
        for at in 0..ACCOUNTS {
            batch.put(account(at), number(100));
        }
        batch
    });
    together(|writer| {
        for round in 0..ROUNDS {
            retry(&*engine, |batch, view| {
                assert_eq!(sum(view), 100 * ACCOUNTS);
                let (from, to) = (account(writer + round), account(2 * writer + round + 1));
                if from != to {
                    let left = relied_on(batch, view, &from) - 1;
                    let right = relied_on(batch, view, &to) + 1;
                    batch.put(from, number(left)).put(to, number(right));
                }
            });
        }
    });
    assert_eq!(sum(&*engine.snapshot().unwrap()), 100 * ACCOUNTS);
}

/// Of many who saw that a name is free, one gets it.
pub fn only_one_of_many_creates(subject: &dyn Subject) {
    let engine = subject.open();
    put(&*engine, "other", "");
    for round in 0..ROUNDS {
        let created = AtomicUsize::new(0);
        let seen = engine.snapshot().unwrap().version();
        together(|writer| {
            let mut batch = Batch::new(seen);
            batch.expect(format!("name{round}"), None).put(format!("name{round}"), number(writer));
            let result = engine.commit(batch);
            if !is_conflict(&result) {
                result.unwrap();
                created.fetch_add(1, Ordering::Relaxed);
            }
        });
        assert_eq!(created.into_inner(), 1);
    }
}

/// Batches that are written together with one that conflicts are not hurt by it.
pub fn a_conflict_fails_its_own_batch_only(subject: &dyn Subject) {
    let engine = subject.open();
    put(&*engine, "a", "1");
    together(|writer| {
        for round in 0..ROUNDS {
            let mut batch = Batch::default();
            let even = writer % 2 == 0;
            batch.expect("a", Some(if even { "1" } else { "2" }.into()));
            batch.put(format!("w/{writer}/{round}"), "");
            assert_eq!(is_conflict(&engine.commit(batch)), !even);
        }
    });
    let view = engine.snapshot().unwrap();
    let written = rows(&*view, &KeyRange::prefix("w/"), ScanOptions::default()).len() as i64;
    assert_eq!(written, WRITERS / 2 * ROUNDS);
}

/// A snapshot taken at any moment shows every commit up to its version and none beyond.
pub fn snapshots_are_consistent_under_writes(subject: &dyn Subject) {
    let engine = subject.open();
    let writing = AtomicBool::new(true);
    thread::scope(|scope| {
        scope.spawn(|| {
            while writing.load(Ordering::Relaxed) {
                let view = engine.snapshot().unwrap();
                let log = rows(&*view, &KeyRange::prefix("log/"), ScanOptions::default());
                assert_eq!(log.len() as Version, view.version());
                assert_eq!(
                    view.get(b"n").unwrap().map_or(0, |n| counter(&n)),
                    view.version() as i64
                );
            }
        });
        together(|_| {
            for _ in 0..ROUNDS {
                commit(&*engine, |batch| batch.append("log/", "").add("n", 1));
            }
        });
        writing.store(false, Ordering::Relaxed);
    });
}

/// Each commit has a version of its own, which is also the place of its appends.
pub fn versions_are_unique_and_in_order(subject: &dyn Subject) {
    let engine = subject.open();
    let versions = std::sync::Mutex::new(BTreeSet::new());
    together(|writer| {
        let mut last = 0;
        for _ in 0..ROUNDS {
            let version = commit(&*engine, |batch| batch.append("log/", number(writer)));
            assert!(version > last);
            last = version;
            assert!(versions.lock().unwrap().insert(version));
        }
    });
    let view = engine.snapshot().unwrap();
    let found = rows(&*view, &KeyRange::prefix("log/"), ScanOptions::default());
    let logged: Vec<Version> = found
        .iter()
        .map(|(key, _)| Version::from_be_bytes(key[4..12].try_into().unwrap()))
        .collect();
    let expected: Vec<Version> = (1..=(WRITERS * ROUNDS) as Version).collect();
    assert_eq!(logged, expected);
    assert_eq!(versions.into_inner().unwrap().into_iter().collect::<Vec<_>>(), expected);
}
