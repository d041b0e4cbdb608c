//! RO-Crate 1.1 and 1.2: a directory or a zip with files and `ro-crate-metadata.json`, which says what they are.
//!
//! * `export` writes the files to a `target`, what `entity` makes of their descriptions, and `preview` for people;
//! * `import` brings what `metadata` reads from a `source`; `check` compares the two and writes nothing;
//! * `terms` stands for the context of RO-Crate, which is never fetched.

pub(crate) mod check;
mod entity;
pub(crate) mod export;
pub(crate) mod import;
mod metadata;
mod preview;
mod source;
mod target;
mod terms;

use serde::Serialize;

use super::names::Place;

/// The file that says what the others are.
const METADATA: &str = "ro-crate-metadata.json";
/// The page that says the same to people.
const PREVIEW: &str = "ro-crate-preview.html";
/// What the ids of a crate are relative to, here. Nothing is at this address.
const BASE: &str = "http://crate.invalid";
/// Says which properties of the root only the exporter made up.
const GENERATED: &str = "cenote:generated";
/// The type of what has a description only.
const DESCRIPTION: &str = "cenote:Description";

/// Whether a file is made from the others, so that it is not one of them.
fn is_about_the_crate(place: &Place) -> bool {
    matches!(place.text().as_str(), METADATA | PREVIEW)
}

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
