//! RO-Crate 1.1 and 1.2: a directory with files and `ro-crate-metadata.json`, which says what they are.
//!
//! * `export` writes the files, and what `entity` makes of their descriptions; `import` brings what `metadata` reads;
//! * `terms` stands for the context of RO-Crate, which is never fetched.

mod entity;
pub(crate) mod export;
pub(crate) mod import;
mod metadata;
mod terms;

use serde::Serialize;

/// The file that says what the others are.
const METADATA: &str = "ro-crate-metadata.json";
/// What the ids of a crate are relative to, here. Nothing is at this address.
const BASE: &str = "http://crate.invalid";
/// Says which properties of the root only the exporter made up.
const GENERATED: &str = "cenote:generated";
/// The type of what has a description only.
const DESCRIPTION: &str = "cenote:Description";

/// What became of a run.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Summary {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    /// Descriptions that were written.
    pub(crate) described: u64,
    pub(crate) unchanged: u64,
    pub(crate) skipped: u64,
    pub(crate) failed: u64,
}
