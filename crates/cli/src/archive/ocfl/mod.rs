//! The Oxford Common File Layout, as fcrepo 6 uses it: an object for each resource, with the id `info:fedora/PATH`.
//!
//! * `export` writes objects, with a version for each state that the store has kept; `import` reads objects of any maker;
//! * `headers` are fcrepo's, which say what each file of an object is; `extra` is what they cannot say.

pub(crate) mod export;
mod extra;
mod headers;
pub(crate) mod import;

use serde::Serialize;

use crate::migrate::OutcomeKind;

/// The id of the collection, which is the prefix of all ids below it.
const ROOT: &str = "info:fedora";

/// What became of a run.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Summary {
    /// Resources of which something was written.
    pub(crate) resources: u64,
    pub(crate) versions: u64,
    pub(crate) bytes: u64,
    pub(crate) unchanged: u64,
    pub(crate) skipped: u64,
    pub(crate) failed: u64,
}

/// What was written of one resource.
#[derive(Debug, Clone, Copy, Default)]
struct Written {
    versions: u64,
    bytes: u64,
}

impl Summary {
    fn add(&mut self, kind: OutcomeKind, written: Written) {
        match kind {
            OutcomeKind::Brought => {
                self.resources += 1;
                self.versions += written.versions;
                self.bytes += written.bytes;
            }
            OutcomeKind::Unchanged => self.unchanged += 1,
            OutcomeKind::Skipped => self.skipped += 1,
            OutcomeKind::Failed => self.failed += 1,
        }
    }
}
