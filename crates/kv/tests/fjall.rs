//! The fjall engine, under the suite that every engine has to pass.

use std::sync::Arc;

use cenote_kv::conformance::Subject;
use cenote_kv::{Engine, FjallEngine, FjallOptions};
use tempfile::TempDir;

struct Fjall(TempDir);

impl Subject for Fjall {
    fn open(&self) -> Arc<dyn Engine> {
        let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
        Arc::new(FjallEngine::open(self.0.path(), options).expect("a fresh directory opens"))
    }
}

cenote_kv::conformance_tests!(Fjall(tempfile::tempdir().unwrap()));
