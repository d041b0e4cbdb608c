//! What stays when a store is closed and opened again.

use std::sync::Arc;

use super::{Subject, commit, put, rows};
use crate::{Engine, KeyRange, ScanOptions};

/// Rows, counters, logs and the version are as they were left.
pub fn everything_is_there_when_opened_again(subject: &dyn Subject) {
    let mut engine: Arc<dyn Engine> = subject.open();
    for round in 1..=3u64 {
        put(&*engine, format!("key{round}"), vec![round as u8; 100_000]);
        let version = commit(&*engine, |batch| batch.append("log/", "x").add("n", 1));
        assert_eq!(version, 2 * round);
        let view = engine.snapshot().unwrap();
        let before = rows(&*view, &KeyRange::all(), ScanOptions::default());
        drop((view, engine));
        engine = subject.open();
        let view = engine.snapshot().unwrap();
        assert_eq!(view.version(), version);
        assert!(rows(&*view, &KeyRange::all(), ScanOptions::default()) == before);
    }
}
