//! The changes of a history.

use proptest::prelude::*;

use super::OBJECTS;
use super::contents::{Contents, contents, length, some};

/// The kind of request that writes bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// PUT and PATCH of `/v1/fs`.
    Native,
    /// `write` of the iRODS HTTP API with its parameters in headers.
    Headers,
    /// The same as a form of several parts.
    Form,
    /// PUT of irods-rest's `stream`.
    Rest,
}

/// Parts of a content, in the order in which they are sent: where each starts, in thousandths of what those before
/// it (by number) cover.
#[derive(Debug, Clone)]
pub(super) struct Pieces {
    pub(super) pieces: Vec<(usize, Contents)>,
    pub(super) first: usize,
}

impl Pieces {
    /// The offset and the bytes of each, without a gap, in the order of sending.
    pub(super) fn placed(&self) -> Vec<(usize, Vec<u8>)> {
        let mut end = 0;
        let mut placed: Vec<_> = Vec::new();
        for (thousandths, contents) in &self.pieces {
            let offset = end * thousandths / 1_000;
            end = end.max(offset + contents.length);
            placed.push((offset, contents.bytes()));
        }
        let first = self.first % placed.len();
        placed.rotate_left(first);
        placed
    }
}

#[derive(Debug, Clone)]
pub(super) enum Change {
    Put(Way, Contents),
    /// At an offset.
    Write(Way, usize, Contents),
    Append(Way, Contents),
    Cut(usize),
    /// Through iRODS: the content is truncated, and the bytes start at an offset.
    CutAndWrite(Way, usize, Contents),
    /// An upload in parts, with or without the digest of the whole.
    Upload(Pieces, bool),
    /// A stage with the content of the object, or an empty one.
    Stage(bool, Vec<Edit>, End),
    /// A parallel write, which replaces the content or overwrites parts of it.
    Parallel(Pieces, bool),
    /// To another object, through iRODS or natively.
    Copy(usize, bool),
    /// To another object, if there is none.
    Move(usize),
    Keep,
    Restore(usize),
    Replicate,
    Trim,
    Remove,
    /// Folds writes, sweeps, computes digests.
    Upkeep,
}

/// A change of a stage.
#[derive(Debug, Clone)]
pub(super) enum Edit {
    Write(usize, Contents),
    Append(Contents),
    Cut(usize),
}

/// How a stage ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Published,
    /// Published with the digest of the whole.
    Verified,
    /// Published by force, after a concurrent put.
    Forced,
    Abandoned,
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        3 => (length(), some()).prop_map(|(at, bytes)| Edit::Write(at, bytes)),
        1 => some().prop_map(Edit::Append),
        1 => length().prop_map(Edit::Cut),
    ]
}

fn end() -> impl Strategy<Value = End> {
    prop::sample::select(vec![End::Published, End::Verified, End::Forced, End::Abandoned])
}

fn way() -> impl Strategy<Value = Way> {
    prop::sample::select(vec![Way::Native, Way::Headers, Way::Form, Way::Rest])
}

fn irods() -> impl Strategy<Value = Way> {
    prop::sample::select(vec![Way::Headers, Way::Form, Way::Rest])
}

fn appending() -> impl Strategy<Value = Way> {
    prop::sample::select(vec![Way::Native, Way::Headers, Way::Form])
}

fn pieces() -> impl Strategy<Value = Pieces> {
    let piece = (prop_oneof![2 => Just(1_000), 1 => 0..1_000_usize], some());
    (proptest::collection::vec(piece, 1..5), 0..4_usize)
        .prop_map(|(pieces, first)| Pieces { pieces, first })
}

pub(super) fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (way(), contents()).prop_map(|(way, bytes)| Change::Put(way, bytes)),
        5 => (way(), length(), some()).prop_map(|(way, at, bytes)| Change::Write(way, at, bytes)),
        3 => (appending(), some()).prop_map(|(way, bytes)| Change::Append(way, bytes)),
        3 => length().prop_map(Change::Cut),
        1 => (irods(), length(), some()).prop_map(|(way, at, bytes)| Change::CutAndWrite(way, at, bytes)),
        3 => (pieces(), any::<bool>()).prop_map(|(pieces, with_digest)| Change::Upload(pieces, with_digest)),
        4 => (any::<bool>(), proptest::collection::vec(edit(), 0..4), end())
            .prop_map(|(from, edits, end)| Change::Stage(from, edits, end)),
        3 => (pieces(), any::<bool>()).prop_map(|(pieces, keep)| Change::Parallel(pieces, keep)),
        2 => (0..OBJECTS, any::<bool>()).prop_map(|(to, native)| Change::Copy(to, native)),
        1 => (0..OBJECTS).prop_map(Change::Move),
        2 => Just(Change::Keep),
        2 => (0..4_usize).prop_map(Change::Restore),
        2 => Just(Change::Replicate),
        1 => Just(Change::Trim),
        1 => Just(Change::Remove),
        2 => Just(Change::Upkeep),
    ]
}
