//! Attributes of files: those of a resource, as `stat(2)` shows them.

use std::time::SystemTime;

use cenote_client::{Brief, Resource, ResourceKind};
use jiff::Timestamp;

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A collection.
    Directory,
    /// An object, or a description, which is shown as an empty file.
    File,
    /// A link.
    Symlink,
}

impl FileKind {
    fn of(kind: ResourceKind) -> Self {
        match kind {
            ResourceKind::Collection => Self::Directory,
            ResourceKind::Object | ResourceKind::Description => Self::File,
            ResourceKind::Link => Self::Symlink,
        }
    }

    /// The mode of resources without one.
    fn default_mode(self) -> u32 {
        match self {
            Self::Directory => 0o755,
            Self::File => 0o644,
            Self::Symlink => 0o777,
        }
    }
}

/// The cached state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attr {
    /// Its kind.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// Mode bits as in `st_mode & 0o7777`.
    pub mode: u32,
    /// How many names it has: none once it was removed. The names in a directory are not counted, so it has one, too.
    pub links: u32,
    /// The access time set by a program of this mount, otherwise the modification time.
    pub atime: SystemTime,
    /// When its content last changed, or what a client set.
    pub mtime: SystemTime,
    /// When anything of it last changed.
    pub ctime: SystemTime,
    /// The tag of its content.
    pub etag: Option<String>,
    /// Where a link leads.
    pub target: Option<String>,
    /// Counts the changes of the resource; 0 where that is not known.
    pub revision: u64,
}

impl Attr {
    /// Whether `stat(2)` shows the same.
    pub(crate) fn looks_like(&self, other: &Self) -> bool {
        (self.size, self.mode, self.mtime) == (other.size, other.mode, other.mtime)
    }

    pub(crate) fn of(resource: &Resource) -> Self {
        let changed = resource.content_modified.or(resource.members_modified);
        let changed = resource.mtime.or(changed).or(resource.modified);
        // All that is known of a collection of the past.
        let changed = changed.or(resource.description_modified);
        let latest = [resource.modified, resource.members_modified].into_iter().flatten().max();
        let latest = latest.or(resource.content_modified).or(resource.description_modified);
        Self {
            etag: resource.etag.clone(),
            revision: revision(resource.state.as_deref()),
            ..Self::new((resource.kind, resource.mode), (time(changed), time(latest)))
        }
        .with_content(resource.size, resource.target.clone())
    }

    /// The same of an entry of a brief listing.
    pub(crate) fn of_brief(entry: Brief) -> Self {
        let changed = entry.content_modified.or(entry.members_modified).unwrap_or(entry.modified);
        let changed = entry.mtime.unwrap_or(changed);
        let latest = entry.members_modified.map_or(entry.modified, |at| at.max(entry.modified));
        Self {
            etag: entry.etag,
            revision: revision(Some(&entry.state)),
            ..Self::new((entry.kind, entry.mode), (changed.into(), latest.into()))
        }
        .with_content(entry.size, entry.target)
    }

    fn new(
        (kind, mode): (ResourceKind, Option<u32>),
        (mtime, ctime): (SystemTime, SystemTime),
    ) -> Self {
        let kind = FileKind::of(kind);
        Self {
            kind,
            size: 0,
            mode: mode.unwrap_or(kind.default_mode()) & 0o7777,
            links: 1,
            atime: mtime,
            mtime,
            ctime,
            etag: None,
            target: None,
            revision: 0,
        }
    }

    fn with_content(self, size: Option<u64>, target: Option<String>) -> Self {
        let size = match self.kind {
            FileKind::Directory => 4096,
            FileKind::File => size.unwrap_or(0),
            FileKind::Symlink => target.as_ref().map_or(0, String::len) as u64,
        };
        Self { size, target, ..self }
    }
}

pub(crate) fn time(time: Option<Timestamp>) -> SystemTime {
    time.map_or(SystemTime::UNIX_EPOCH, SystemTime::from)
}

/// The revision in the tag of a state, `"r1017.3"`.
fn revision(state: Option<&str>) -> u64 {
    let digits = state.and_then(|state| state.trim_matches('"').rsplit_once('.'));
    digits.and_then(|(_, digits)| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_read_from_the_tag_of_a_state() {
        assert_eq!(revision(Some("\"r1017.3\"")), 3);
        for other in [None, Some(""), Some("\"r1017\""), Some("\"r.x\"")] {
            assert_eq!(revision(other), 0);
        }
    }
}
