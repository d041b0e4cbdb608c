//! What a check reports: plain data, one line each.

use std::fmt;

use crate::model::StorePath;

/// One difference between what the catalog or a place holds and what it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The kind of finding.
    pub kind: FindingKind,
    /// With what: the id of a resource, a content, a blob, …, or a name.
    pub id: String,
    /// Where that is, for a resource that is in the tree.
    pub path: Option<StorePath>,
    /// More about it, in a sentence without a line break.
    pub detail: String,
    /// Whether it was repaired.
    pub repaired: bool,
}

/// The kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// A record does not decode.
    DamagedRecord,
    /// An entry of a collection does not fit the resource.
    Entry,
    /// A resource cannot be reached from the root.
    Unreachable,
    /// A counter is wrong.
    Counter,
    /// An index does not fit the descriptions or the access lists that it is made of.
    Index,
    /// A reference, or its way back, is missing or leads nowhere.
    Reference,
    /// Something that nothing refers to, and that no sweep would find.
    Leftover,
    /// Removed resources that no job would sweep.
    Job,
    /// Ids that are in use could be assigned again.
    NextId,
    /// The extents of a content do not match its head.
    Content,
    /// A blob is in none, or not in all, of its places.
    MissingBlob,
    /// A blob has another length than it should.
    ShortBlob,
    /// A blob has other bytes than were written.
    DamagedBlob,
    /// The checksums of a blob's blocks cannot be read, or are not those of its bytes.
    Checksums,
    /// A place has a blob that the catalog does not know.
    OrphanBlob,
    /// The bytes of a content do not have its SHA-256.
    Digest,
    /// A replica is recorded in a place without its content.
    Replica,
    /// A place cannot be reached, so its contents are not checked.
    UnreachablePlace,
}

impl FindingKind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DamagedRecord => "damaged-record",
            Self::Entry => "entry",
            Self::Unreachable => "unreachable",
            Self::Counter => "counter",
            Self::Index => "index",
            Self::Reference => "reference",
            Self::Leftover => "leftover",
            Self::Job => "job",
            Self::NextId => "next-id",
            Self::Content => "content",
            Self::MissingBlob => "missing-blob",
            Self::ShortBlob => "short-blob",
            Self::DamagedBlob => "damaged-blob",
            Self::Checksums => "checksums",
            Self::OrphanBlob => "orphan-blob",
            Self::Digest => "digest",
            Self::Replica => "replica",
            Self::UnreachablePlace => "unreachable-place",
        }
    }
}

impl Finding {
    pub(super) fn new(kind: FindingKind, id: impl fmt::Display, detail: impl Into<String>) -> Self {
        Self { kind, id: id.to_string(), path: None, detail: detail.into(), repaired: false }
    }

    pub(super) fn at(mut self, path: Option<StorePath>) -> Self {
        self.path = path;
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.as_str(), self.id)?;
        if let Some(path) = &self.path {
            // A name may hold a line break; a finding is one line.
            write!(f, " {:?}", path.to_string())?;
        }
        write!(f, ": {}", self.detail)?;
        f.write_str(if self.repaired { " (repaired)" } else { "" })
    }
}
