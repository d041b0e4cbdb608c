//! Records about the tree, as lines of a journal: `CRC64 JSON`, the checksum (CRC-64/NVME) of the JSON in 16 hexadecimal digits.
//!
//! Invariant: a line that was torn or damaged does not have its checksum, and counts as missing; the lines after it are read.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crc_fast::CrcAlgorithm::Crc64Nvme;
use serde::{Deserialize, Serialize};

use crate::attr::{Attr, FileKind};

/// One thing that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Note {
    /// The collection that is mounted, and when it was created.
    Root(ResourceState, String),
    /// All that is in a collection.
    Listed(u64, Vec<(String, ResourceState)>),
    /// Something has a name in a collection.
    Put(u64, String, ResourceState),
    /// This resource has a name in a collection no more.
    Gone(u64, String, u64),
    /// What was seen below this resource may not be shown any more.
    Below(u64),
    /// What was seen before may not be shown any more.
    Clear,
    /// All changes up to this position of the change feed are noted.
    Reached(String),
}

/// The last known state of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ResourceState {
    pub(crate) id: u64,
    kind: Kind,
    size: u64,
    mode: u32,
    mtime: Moment,
    ctime: Moment,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    etag: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    revision: u64,
}

/// Seconds and nanoseconds since 1970; earlier times are not kept.
type Moment = (u64, u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    #[serde(rename = "d")]
    Directory,
    #[serde(rename = "f")]
    File,
    #[serde(rename = "l")]
    Symlink,
}

impl Note {
    /// The line of a journal.
    pub(super) fn encode(&self) -> Vec<u8> {
        let json = serde_json::to_string(self).unwrap_or_default();
        format!("{:016x} {json}\n", checksum(json.as_bytes())).into_bytes()
    }

    /// Reads a line, without its end; `None` if it is not whole.
    pub(super) fn decode(line: &[u8]) -> Option<Self> {
        let (sum, json) = line.split_first_chunk::<16>()?;
        let json = json.strip_prefix(b" ")?;
        let is_whole = format!("{:016x}", checksum(json)).as_bytes() == sum;
        is_whole.then(|| serde_json::from_slice(json).ok())?
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    crc_fast::checksum(Crc64Nvme, bytes)
}

impl ResourceState {
    pub(crate) fn new(id: u64, attr: &Attr) -> Self {
        let kind = match attr.kind {
            FileKind::Directory => Kind::Directory,
            FileKind::File => Kind::File,
            FileKind::Symlink => Kind::Symlink,
        };
        Self {
            id,
            kind,
            size: attr.size,
            mode: attr.mode,
            mtime: moment(attr.mtime),
            ctime: moment(attr.ctime),
            etag: attr.etag.clone(),
            target: attr.target.clone(),
            revision: attr.revision,
        }
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }

    pub(crate) fn attr(&self) -> Attr {
        let kind = match self.kind {
            Kind::Directory => FileKind::Directory,
            Kind::File => FileKind::File,
            Kind::Symlink => FileKind::Symlink,
        };
        let mtime = time(self.mtime);
        Attr {
            kind,
            size: self.size,
            mode: self.mode & 0o7777,
            links: 1,
            atime: mtime,
            mtime,
            ctime: time(self.ctime),
            etag: self.etag.clone(),
            target: self.target.clone(),
            revision: self.revision,
        }
    }
}

fn moment(time: SystemTime) -> Moment {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_secs(), since.subsec_nanos())
}

/// A time that no clock shows is 1970.
fn time((seconds, nanoseconds): Moment) -> SystemTime {
    let since = Duration::from_secs(seconds).checked_add(Duration::from_nanos(nanoseconds.into()));
    since.and_then(|since| UNIX_EPOCH.checked_add(since)).unwrap_or(UNIX_EPOCH)
}
