//! Results as replies to the kernel.

use std::ffi::OsStr;
use std::time::{Duration, SystemTime};

use fuser::{
    Errno, FileAttr, FileType, Generation, INodeNo, ReplyAttr, ReplyEmpty, ReplyEntry, ReplyXattr,
};

use crate::attr::{Attr, FileKind};
use crate::error::{Fault, Level, Result};
use crate::ops::{Entry, FileSystem};

/// How long the kernel caches nodes that are followed by the change feed, and others.
const KEPT: Duration = Duration::from_secs(3600);
const BRIEF: Duration = Duration::from_secs(0);
/// The block size that files show, for programs that choose their buffers by it.
const BLOCK: u32 = 1 << 20;

pub(super) fn file_attr(system: &FileSystem, ino: u64, attr: &Attr) -> FileAttr {
    let owner = system.options().owner;
    FileAttr {
        ino: INodeNo(ino),
        size: attr.size,
        blocks: attr.size.div_ceil(512),
        atime: attr.atime,
        mtime: attr.mtime,
        ctime: attr.ctime,
        crtime: attr.ctime,
        kind: file_type(attr.kind),
        perm: attr.mode as u16,
        nlink: attr.links,
        uid: owner.uid,
        gid: owner.gid,
        rdev: 0,
        blksize: BLOCK,
        flags: 0,
    }
}

pub(super) fn answer_entry(system: &FileSystem, entry: Result<Entry>, reply: ReplyEntry) {
    match entry {
        Ok(Entry { ino, attr, keep }) => {
            let attr = file_attr(system, ino, &attr);
            let names = ttl(system.is_followed());
            reply.entry_with_ttls(ttl(keep), names, &attr, Generation(0));
        }
        Err(fault) => reply.error(errno(system, &fault)),
    }
}

pub(super) fn answer_empty(system: &FileSystem, outcome: Result<()>, reply: ReplyEmpty) {
    match outcome {
        Ok(()) => reply.ok(),
        Err(fault) => reply.error(errno(system, &fault)),
    }
}

pub(super) fn answer_xattr(
    system: &FileSystem,
    value: Result<impl AsRef<[u8]>>,
    size: u32,
    reply: ReplyXattr,
) {
    match value {
        Ok(value) if size == 0 => reply.size(value.as_ref().len() as u32),
        Ok(value) if value.as_ref().len() > size as usize => reply.error(Errno::ERANGE),
        Ok(value) => reply.data(value.as_ref()),
        Err(fault) => reply.error(errno(system, &fault)),
    }
}

/// A missing name; the kernel caches that if it will be notified when it appears.
pub(super) fn answer_missing(system: &FileSystem, reply: ReplyEntry) {
    let epoch = SystemTime::UNIX_EPOCH;
    let nothing = Attr {
        kind: FileKind::File,
        size: 0,
        mode: 0,
        links: 0,
        atime: epoch,
        mtime: epoch,
        ctime: epoch,
        etag: None,
        target: None,
        revision: 0,
    };
    reply.entry(&KEPT, &file_attr(system, 0, &nothing), Generation(0));
}

pub(super) fn answer_attr(system: &FileSystem, entry: Result<Entry>, reply: ReplyAttr) {
    match entry {
        Ok(Entry { ino, attr, keep }) => {
            reply.attr(ttl(keep), &file_attr(system, ino, &attr));
        }
        Err(fault) => reply.error(errno(system, &fault)),
    }
}

pub(super) fn file_type(kind: FileKind) -> FileType {
    match kind {
        FileKind::Directory => FileType::Directory,
        FileKind::File => FileType::RegularFile,
        FileKind::Symlink => FileType::Symlink,
    }
}

pub(super) fn ttl(keep: bool) -> &'static Duration {
    if keep { &KEPT } else { &BRIEF }
}

/// The errno that a program gets; unexpected faults are logged.
pub(super) fn errno(system: &FileSystem, fault: &Fault) -> Errno {
    if fault.level >= Level::Warning {
        (system.options().log.0)(fault);
    }
    match fault.errno {
        // dxfuse returns it for every operation without permission.
        libc::EACCES if system.options().is_dxfuse() => Errno::EPERM,
        errno => Errno::from_i32(errno),
    }
}

/// The same of opening a file, which dxfuse refuses as Linux does.
pub(super) fn open_errno(system: &FileSystem, fault: &Fault) -> Errno {
    match fault.errno {
        libc::EACCES => Errno::EACCES,
        _ => errno(system, fault),
    }
}

/// A name as the store has it: names in a store are UTF-8.
pub(super) fn text(name: &OsStr) -> Result<String> {
    let name = name.to_str().ok_or_else(|| Fault::new(libc::EILSEQ, "a name that is not UTF-8"))?;
    Ok(name.to_owned())
}
