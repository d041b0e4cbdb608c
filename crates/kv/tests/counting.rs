//! The engine that counts its calls.

use std::sync::Arc;

use cenote_kv::conformance::Subject;
use cenote_kv::{Batch, CountingEngine, Counts, Engine, KeyRange, MemoryEngine, ScanOptions};

/// It behaves like the engine inside.
#[derive(Default)]
struct Counted(MemoryEngine);

impl Subject for Counted {
    fn open(&self) -> Arc<dyn Engine> {
        Arc::new(CountingEngine::new(Arc::new(self.0.clone())))
    }
}

cenote_kv::conformance_tests!(Counted::default());

#[test]
fn each_call_is_counted_in_its_category() {
    let engine = CountingEngine::new(Arc::new(MemoryEngine::new()));
    let mut batch = Batch::default();
    batch.put("a", "1").expect("b", None).expect("c", None);
    let commit = engine.cost(|| assert_eq!(engine.commit(batch).unwrap(), 1));
    assert_eq!(commit, Counts { commits: 1, evidence: 2, bytes: 2, ..Counts::default() });
    let reads = engine.cost(|| {
        let view = engine.snapshot().unwrap();
        view.get(b"a").unwrap();
        view.get_many(&["a".into(), "bcd".into()]).unwrap();
        assert_eq!(view.scan(&KeyRange::all(), ScanOptions::default()).count(), 1);
    });
    let expected = Counts { snapshots: 1, gets: 1, multi_gets: 1, scans: 1, ..Counts::default() };
    assert_eq!(reads, Counts { bytes: 2 + 5 + 2, ..expected });
    assert_eq!(reads.reads(), 3);
}
