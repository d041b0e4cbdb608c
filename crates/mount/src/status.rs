//! What a mount is doing, for people and scripts: the extended attribute [`STATUS`] of its root, in JSON.

use serde::{Deserialize, Serialize};

use crate::error::{Fault, Result};
use crate::ops::FileSystem;
use crate::past::Past;

/// The extended attribute of the root of a mount that has its [`Status`]. It is in no name space of extended attributes, and no listing of
/// them has it.
pub const STATUS: &str = "cenote.status";

/// What a mount is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The collection that is mounted.
    pub root: String,
    /// Whether files can be changed.
    pub write: bool,
    /// The position of the change feed that is shown, if the mount is of the past.
    pub as_of: Option<String>,
    /// How many entries that directories had at that moment are missing, since their state was not kept: of the directories listed so far.
    #[serde(default)]
    pub lost: u64,
    /// Whether changes by others are reported to it; otherwise everything is requested again.
    pub follows: bool,
    /// Whether it shows the last known state, and does not use the server.
    #[serde(default)]
    pub offline: bool,
    /// The position of the change feed up to which changes are seen.
    pub position: String,
    /// How many files and directories are known.
    pub known: u64,
    /// How many files are open.
    pub open_files: u64,
    /// What was written and is not published.
    pub unpublished: Vec<Unpublished>,
    /// Bytes that were read ahead and not yet used.
    pub read_ahead: Share,
    /// Bytes that were written and are in memory.
    pub write_memory: Share,
    /// The disk cache, if there is one.
    pub cache: Option<CacheStatus>,
}

/// A file that was written to, and is published when it is closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unpublished {
    /// Its path in the store; none if it was removed in the meantime.
    pub path: Option<String>,
    /// Its size in bytes, including written data.
    pub size: u64,
}

/// A part of something bounded, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// How much is in use.
    pub used: u64,
    /// The most that can be.
    pub limit: u64,
}

/// What a disk cache has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheStatus {
    /// Its directory.
    pub dir: String,
    /// How many contents it has, or parts of them.
    pub contents: u64,
    /// Their bytes.
    pub bytes: Share,
    /// Bytes that were read from it since the mount began.
    pub read: u64,
    /// Bytes that have arrived from the server, to be cached.
    pub fetched: u64,
}

impl FileSystem {
    /// What the mount is doing.
    pub fn status(&self) -> Status {
        let (options, known) = (self.options(), self.lock().len() as u64);
        Status {
            root: options.root.clone(),
            write: options.is_writable(),
            as_of: options.as_of.clone(),
            lost: self.0.source.past.as_ref().map_or(0, Past::lost),
            follows: self.is_followed(),
            offline: self.is_offline(),
            position: self.0.shown_position(),
            known,
            open_files: self.0.handles().len() as u64,
            unpublished: self.unpublished(),
            read_ahead: self.0.budget.share(),
            write_memory: self.0.memory.share(),
            cache: self.cache_status(),
        }
    }

    /// The same as the value of an extended attribute.
    pub(crate) fn status_text(&self) -> Result<Vec<u8>> {
        let failed = |error| Fault::warning(libc::EIO, format!("the status: {error}"));
        serde_json::to_vec(&self.status()).map_err(failed)
    }

    fn unpublished(&self) -> Vec<Unpublished> {
        let inodes: Vec<_> = self.0.drafts().keys().copied().collect();
        let cache = self.lock();
        let mut found: Vec<_> = inodes
            .into_iter()
            .filter_map(|ino| Some((ino, cache.node(ino).ok().filter(|node| node.dirty)?)))
            .map(|(ino, node)| Unpublished {
                path: cache.path(ino).ok().filter(|_| !node.orphan),
                size: node.attr.size,
            })
            .collect();
        found.sort_by(|one, other| one.path.cmp(&other.path));
        found
    }

    fn cache_status(&self) -> Option<CacheStatus> {
        let (options, usage) = (self.options().cache.as_ref()?, self.0.disk.as_ref()?.usage());
        Some(CacheStatus {
            dir: options.dir.display().to_string(),
            contents: usage.contents,
            bytes: usage.bytes,
            read: usage.read,
            fetched: usage.fetched,
        })
    }
}
