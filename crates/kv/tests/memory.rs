//! The memory engine: the suite that every engine has to pass.

use std::sync::Arc;

use cenote_kv::conformance::Subject;
use cenote_kv::{Engine, MemoryEngine};

/// Shares its rows between engines, and so outlives them.
#[derive(Default)]
struct Memory(MemoryEngine);

impl Subject for Memory {
    fn open(&self) -> Arc<dyn Engine> {
        Arc::new(self.0.clone())
    }
}

cenote_kv::conformance_tests!(Memory::default());
