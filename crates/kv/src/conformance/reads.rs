//! Point reads, scans and snapshots.

use bytes::Bytes;

use super::{Subject, commit, keys, put, read, rows};
use crate::{Engine, Found, KeyRange, ScanOptions, Wanted};

/// A value is present after its commit, absent before it and after its removal.
pub fn reads_see_what_was_written(subject: &dyn Subject) {
    let engine = subject.open();
    assert_eq!(read(&*engine, "a"), None);
    put(&*engine, "a", "1");
    put(&*engine, "empty", "");
    assert_eq!(read(&*engine, "a"), Some("1".into()));
    assert_eq!(read(&*engine, "empty"), Some(Bytes::new()));
    put(&*engine, "a", "2");
    assert_eq!(read(&*engine, "a"), Some("2".into()));
    commit(&*engine, |batch| batch.delete("a").delete("never there"));
    assert_eq!(read(&*engine, "a"), None);
    let view = engine.snapshot().unwrap();
    assert_eq!(view.get(b"").unwrap(), None);
    assert_eq!(view.get(b"\xff").unwrap(), None);
}

/// Many keys at once, repeated and absent ones too.
pub fn reads_many_in_the_order_requested(subject: &dyn Subject) {
    let engine = subject.open();
    commit(&*engine, |batch| batch.put("a", "1").put("b", "2"));
    let keys = ["b", "none", "a", "b"].map(Bytes::from);
    let found = engine.snapshot().unwrap().get_many(&keys).unwrap();
    assert_eq!(found, [Some("2".into()), None, Some("1".into()), Some("2".into())]);
    assert!(engine.snapshot().unwrap().get_many(&[]).unwrap().is_empty());
}

/// As many as the deepest path needs, reserved ones among them, on a view that does not move: the same as one at a time.
pub fn reading_many_is_reading_each(subject: &dyn Subject) {
    let engine = subject.open();
    commit(&*engine, |batch| {
        for n in (0..1_000).step_by(2) {
            batch.put(format!("{n:04}"), format!("value {n}"));
        }
        batch.put("empty", "")
    });
    let view = engine.snapshot().unwrap();
    commit(&*engine, |batch| batch.put("0001", "later").put("0002", "later").delete("0004"));
    let mut keys: Vec<Bytes> = (0..1_000).rev().map(|n| format!("{n:04}").into()).collect();
    keys.extend([&b"empty"[..], b"", b"\xff", b"\xffv", b"0002", b"0002"].map(Bytes::from_static));
    let each: Vec<_> = keys.iter().map(|key| view.get(key).unwrap()).collect();
    assert_eq!(view.get_many(&keys).unwrap(), each);
}

/// Those that are read with the view are of its moment, as those that are read in it later.
pub fn a_view_and_its_first_values_are_of_one_moment(subject: &dyn Subject) {
    let engine = subject.open();
    put(&*engine, "a", "1");
    let keys = ["a", "none", "", "a"].map(Bytes::from);
    let ranges = vec![(KeyRange::all(), usize::MAX), (KeyRange::prefix("n"), 1)];
    let wanted = Wanted { keys: keys.to_vec(), ranges };
    let (view, found) = engine.snapshot_with(&wanted).unwrap();
    assert_eq!(found.values, [Some("1".into()), None, None, Some("1".into())]);
    assert_eq!(found.rows, [Some(vec![("a".into(), "1".into())]), Some(vec![])]);
    commit(&*engine, |batch| batch.put("a", "2").put("none", "now there"));
    assert_eq!(view.read(&wanted).unwrap(), found);
    let (later, found) = engine.snapshot_with(&keys[..2].to_vec().into()).unwrap();
    assert_eq!(found.values, [Some("2".into()), Some("now there".into())]);
    assert!(later.version() > view.version());
    assert_eq!(engine.snapshot_with(&Wanted::default()).unwrap().1, Found::default());
}

/// Keys and ranges that overlap, are empty or turned round, on a view that does not move: the same as one at a time.
pub fn reading_together_is_reading_each(subject: &dyn Subject) {
    let engine = subject.open();
    five(&*engine);
    let view = engine.snapshot().unwrap();
    commit(&*engine, |batch| batch.put("aa", "later").delete("b"));
    let bounds = ["", "a", "b", "bb", "c", "d", "zz"].map(Bytes::from);
    let ends = || bounds.iter().cloned().map(Some).chain([None]);
    let ranges =
        bounds.iter().flat_map(|start| ends().map(|end| KeyRange { start: start.clone(), end }));
    let limits = [0, 1, 2, 1_000, usize::MAX];
    let ranges = ranges.flat_map(|range| limits.map(|most| (range.clone(), most))).collect();
    let wanted = Wanted { keys: bounds.iter().chain(&bounds[..2]).cloned().collect(), ranges };
    let found = view.read(&wanted).unwrap();
    assert_eq!(found.values, view.get_many(&wanted.keys).unwrap());
    for ((range, most), found) in wanted.ranges.iter().zip(found.rows) {
        let scanned = rows(&*view, range, ScanOptions::limit(*most));
        assert_eq!(found, Some(scanned), "{range:?} {most}");
    }
    let alone = Wanted { keys: Vec::new(), ranges: vec![(KeyRange::all(), 3)] };
    assert_eq!(view.read(&alone).unwrap().rows[0].as_ref().map(Vec::len), Some(3));
    commit(&*engine, |batch| batch.put("large", vec![7; 1 << 20]));
    let both = vec![(KeyRange::prefix("large"), 2), (KeyRange::prefix("b"), 9)];
    let found = engine.snapshot().unwrap().read(&Wanted { keys: vec![], ranges: both }).unwrap();
    assert!(found.rows[0].as_ref().is_none_or(|rows| rows[0].1.len() == 1 << 20));
    assert_eq!(found.rows[1].as_ref().map(Vec::len), Some(1));
}

fn five(engine: &dyn Engine) {
    commit(engine, |batch| {
        for key in ["a", "b", "ba", "c", "d"] {
            batch.put(key, key);
        }
        batch
    });
}

/// Bounds are included at the start and excluded at the end, in both directions.
pub fn scans_both_ways_within_bounds(subject: &dyn Subject) {
    let engine = subject.open();
    five(&*engine);
    let view = engine.snapshot().unwrap();
    let cases = [
        (KeyRange::all(), vec!["a", "b", "ba", "c", "d"]),
        (KeyRange::new("b", "c"), vec!["b", "ba"]),
        (KeyRange::new("aa", "cc"), vec!["b", "ba", "c"]),
        (KeyRange::prefix("b"), vec!["b", "ba"]),
        (KeyRange::prefix("b").after(b"b"), vec!["ba"]),
        (KeyRange { start: "c".into(), end: None }, vec!["c", "d"]),
        (KeyRange::new("c", "c"), vec![]),
        (KeyRange::new("d", "a"), vec![]),
        (KeyRange::new("x", "z"), vec![]),
    ];
    for (range, mut expected) in cases {
        assert_eq!(keys(&*view, &range, ScanOptions::default()), expected, "{range:?}");
        expected.reverse();
        let backwards = ScanOptions::default().reversed();
        assert_eq!(keys(&*view, &range, backwards), expected, "{range:?} backwards");
    }
}

/// A limit counts from the end that the scan starts at.
pub fn scans_stop_at_their_limit(subject: &dyn Subject) {
    let engine = subject.open();
    five(&*engine);
    let view = engine.snapshot().unwrap();
    let all = KeyRange::all();
    assert_eq!(keys(&*view, &all, ScanOptions::limit(2)), ["a", "b"]);
    assert_eq!(keys(&*view, &all, ScanOptions::limit(2).reversed()), ["d", "c"]);
    assert!(keys(&*view, &all, ScanOptions::limit(0)).is_empty());
    assert_eq!(keys(&*view, &all, ScanOptions::limit(99)).len(), 5);
    // A scan can be dropped early.
    assert_eq!(view.scan(&all, ScanOptions::default()).next().unwrap().unwrap().0, "a");
}

/// Keys are bytes: ordered as unsigned, a prefix before longer keys, NUL included.
pub fn scans_keep_byte_order(subject: &dyn Subject) {
    let engine = subject.open();
    let ordered: [&[u8]; 7] =
        [b"\0", b"\0\0", b"\0\xff", b"a", b"a\0", b"a\xff\xff", "\u{e9}".as_bytes()];
    commit(&*engine, |batch| {
        for key in ordered.iter().rev() {
            batch.put(Bytes::copy_from_slice(key), "");
        }
        batch
    });
    let view = engine.snapshot().unwrap();
    assert_eq!(keys(&*view, &KeyRange::all(), ScanOptions::default()), ordered);
    let prefixed = keys(&*view, &KeyRange::prefix("a"), ScanOptions::default());
    assert_eq!(prefixed, ordered[3..6]);
}

/// A snapshot shows the state at the time it was taken, whatever is committed later.
pub fn snapshots_do_not_move(subject: &dyn Subject) {
    let engine = subject.open();
    commit(&*engine, |batch| batch.put("kept", "old").put("removed", "x").add("count", 1));
    let view = engine.snapshot().unwrap();
    let before = rows(&*view, &KeyRange::all(), ScanOptions::default());
    commit(&*engine, |batch| {
        batch.put("kept", "new").delete("removed").put("added", "y").add("count", 1)
    });
    assert_eq!(rows(&*view, &KeyRange::all(), ScanOptions::default()), before);
    assert_eq!(view.get(b"kept").unwrap(), Some("old".into()));
    assert_eq!(view.get(b"added").unwrap(), None);
    assert_eq!(view.version(), 1);
    assert_eq!(engine.snapshot().unwrap().version(), 2);
}

/// What one caller had acknowledged, every snapshot taken afterwards contains.
pub fn snapshots_see_every_acknowledged_commit(subject: &dyn Subject) {
    let engine = subject.open();
    assert_eq!(engine.snapshot().unwrap().version(), 0);
    for count in 1..=20 {
        let version = put(&*engine, format!("key{count}"), "");
        let view = engine.snapshot().unwrap();
        assert_eq!(view.version(), version);
        assert_eq!(rows(&*view, &KeyRange::all(), ScanOptions::default()).len(), count);
    }
}

/// Values of the maximum size are read back completely, individually and in a scan.
pub fn large_values_come_back(subject: &dyn Subject) {
    let engine = subject.open();
    let largest = engine.limits().value;
    let sizes = [1 << 10, (64 << 10) - 1, 64 << 10, 1 << 20, largest];
    let value = |size: usize| -> Bytes { (0..size).map(|at| (at / 7) as u8).collect() };
    for size in sizes {
        put(&*engine, format!("{size:012}"), value(size));
    }
    let view = engine.snapshot().unwrap();
    let found = rows(&*view, &KeyRange::all(), ScanOptions::default());
    for (size, (key, scanned)) in sizes.into_iter().zip(found) {
        assert!(scanned == value(size), "a scan changed a value of {size} bytes");
        assert!(view.get(&key).unwrap() == Some(scanned), "a read changed {size} bytes");
    }
}
