//! What the writes of a batch do.

use bytes::Bytes;

use super::{Subject, commit, keys, put, read, rows};
use crate::{Batch, Engine, KeyRange, ScanOptions, counter};

/// Writes take effect in the order given.
pub fn later_writes_of_a_batch_win(subject: &dyn Subject) {
    let engine = subject.open();
    commit(&*engine, |batch| {
        batch.put("a", "1").put("a", "2").put("b", "1").delete("b").delete("c").put("c", "1");
        batch.put("n", 5i64.to_be_bytes().to_vec()).add("n", 2);
        batch.add("m", 7).put("m", "not a number").delete("m").add("m", 1)
    });
    assert_eq!(read(&*engine, "a"), Some("2".into()));
    assert_eq!(read(&*engine, "b"), None);
    assert_eq!(read(&*engine, "c"), Some("1".into()));
    assert_eq!(count(&*engine, "n"), 7);
    assert_eq!(count(&*engine, "m"), 1);
}

/// The first commit is 1; every commit, also an empty one, is one more.
pub fn versions_rise_by_commit(subject: &dyn Subject) {
    let engine = subject.open();
    assert_eq!(put(&*engine, "a", "1"), 1);
    assert_eq!(commit(&*engine, |batch| batch), 2);
    assert_eq!(put(&*engine, "a", "1"), 3);
    assert_eq!(engine.snapshot().unwrap().version(), 3);
}

fn count(engine: &dyn Engine, key: &str) -> i64 {
    read(engine, key).map_or(0, |value| counter(&value))
}

/// Additions are signed, repeat within a batch, wrap at the ends, and leave nothing at zero.
pub fn counters_add_up(subject: &dyn Subject) {
    let engine = subject.open();
    commit(&*engine, |batch| batch.add("n", 3).add("n", 4).add("n", -10));
    assert_eq!(read(&*engine, "n"), Some(Bytes::copy_from_slice(&(-3i64).to_be_bytes())));
    commit(&*engine, |batch| batch.add("n", 3));
    assert_eq!(read(&*engine, "n"), None);
    commit(&*engine, |batch| batch.add("n", i64::MAX));
    commit(&*engine, |batch| batch.add("n", 1));
    assert_eq!(count(&*engine, "n"), i64::MIN);
    put(&*engine, "text", "no counter");
    commit(&*engine, |batch| batch.add("text", 2));
    assert_eq!(count(&*engine, "text"), 2);
}

/// Additions from one and the same old snapshot do not conflict.
pub fn counters_commute(subject: &dyn Subject) {
    let engine = subject.open();
    put(&*engine, "other", "");
    let seen = engine.snapshot().unwrap().version();
    for delta in [1, 10, 100] {
        let mut batch = crate::Batch::new(seen);
        batch.add("n", delta).expect("other", Some(Bytes::new()));
        engine.commit(batch).unwrap();
    }
    assert_eq!(count(&*engine, "n"), 111);
}

/// The key of an append is its prefix, the version of its commit and its place there.
pub fn appends_sort_by_commit(subject: &dyn Subject) {
    let engine = subject.open();
    commit(&*engine, |batch| batch.append("log/", "1").put("x", "").append("log/", "2"));
    commit(&*engine, |batch| batch.append("other/", "o").append("log/", "3"));
    let view = engine.snapshot().unwrap();
    let found = rows(&*view, &KeyRange::prefix("log/"), ScanOptions::default());
    let key = |version: u64, index: u32| -> Vec<u8> {
        [b"log/".as_slice(), &version.to_be_bytes(), &index.to_be_bytes()].concat()
    };
    let expected = [(key(1, 0), "1"), (key(1, 1), "2"), (key(2, 1), "3")];
    assert_eq!(found, expected.map(|(key, value)| (Bytes::from(key), Bytes::from(value))));
}

/// A batch may ask for a later version than the next one, but not for an earlier one; appends follow, also after opening again.
pub fn versions_begin_where_a_batch_requests(subject: &dyn Subject) {
    const LATER: u64 = 5_000_000_000;
    let engine = subject.open();
    let begin = |engine: &dyn Engine, least, token| {
        let mut batch = Batch { least, token: Some(token), ..Batch::default() };
        batch.append("log/", "x");
        engine.commit(batch).unwrap()
    };
    assert_eq!(begin(&*engine, LATER, [1; 16]), LATER);
    assert_eq!(begin(&*engine, 7, [2; 16]), LATER + 1);
    assert_eq!(engine.snapshot().unwrap().version(), LATER + 1);
    drop(engine);
    let engine = subject.open();
    assert_eq!(engine.snapshot().unwrap().version(), LATER + 1);
    assert_eq!(engine.outcome(&[1; 16]).unwrap(), Some(LATER));
    assert_eq!(begin(&*engine, 0, [3; 16]), LATER + 2);
    let found =
        keys(&*engine.snapshot().unwrap(), &KeyRange::prefix("log/"), ScanOptions::default());
    let expected = [LATER, LATER + 1, LATER + 2].map(|version: u64| {
        Bytes::from([b"log/".as_slice(), &version.to_be_bytes(), &0u32.to_be_bytes()].concat())
    });
    assert_eq!(found, expected);
}
