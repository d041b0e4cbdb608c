//! The requests of the kernel. Each is a separate task; those that need no call to the server are completed
//! immediately.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::SystemTime;

use bytes::Bytes;
use cenote_client::XattrMode;
use fuser::{
    BsdFileFlags, Errno, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenAccMode, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate,
    ReplyData, ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs,
    ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use tokio::runtime::Handle;

use super::ahead::Kernel;
use super::passthrough::Modes;
use super::reply::{
    answer_attr, answer_empty, answer_entry, answer_missing, answer_xattr, errno, file_attr,
    file_type, open_errno, text, ttl,
};
use crate::error::{Fault, Result};
use crate::ops::{Allocation, DirEntry, Entry, FileSystem, LONGEST_NAME, SetAttr, Space};
use crate::options::Ownership;

/// The unit in which the room of the store is shown.
const BLOCK: u64 = 4096;

#[derive(Debug)]
pub(super) struct Layer {
    pub(super) system: FileSystem,
    pub(super) runtime: Handle,
    pub(super) modes: Arc<Modes>,
    pub(super) kernel: Kernel,
}

impl Layer {
    /// Runs a request: as far as it gets without waiting here, and the rest as a task.
    fn run(&self, request: impl Future<Output = ()> + Send + 'static) {
        let _runtime = self.runtime.enter();
        let mut request: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(request);
        let mut context = Context::from_waker(Waker::noop());
        if request.as_mut().poll(&mut context).is_pending() {
            self.runtime.spawn(request);
        }
    }

    /// Answers with a listing: that of this moment if it is read from its beginning.
    fn list<F>(&self, directory: FileHandle, offset: u64, answer: F)
    where
        F: FnOnce(&FileSystem, Result<Arc<Vec<DirEntry>>>) + Send + 'static,
    {
        let system = self.system.clone();
        self.run(async move {
            let listing = match offset {
                0 => system.list_again(directory.0).await,
                _ => system.listing(directory.0),
            };
            answer(&system, listing);
        });
    }
}

impl Filesystem for Layer {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        for wanted in [
            InitFlags::FUSE_DO_READDIRPLUS,
            InitFlags::FUSE_READDIRPLUS_AUTO,
            InitFlags::FUSE_PARALLEL_DIROPS,
            InitFlags::FUSE_CACHE_SYMLINKS,
            // Otherwise the kernel requests the capabilities of a file before each write.
            InitFlags::FUSE_HANDLE_KILLPRIV_V2,
        ] {
            // An older kernel does not support it.
            let _unsupported = config.add_capabilities(wanted);
        }
        if self.system.options().passes_through()
            && config.add_capabilities(InitFlags::FUSE_PASSTHROUGH).is_ok()
        {
            let _unsupported = config.set_max_stack_depth(1);
        }
        let _largest = config.set_max_write(1 << 20);
        let _largest = config.set_max_readahead(1 << 20);
        let _smallest = config.set_max_background(64);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let (system, name) = (self.system.clone(), text(name));
        self.run(async move {
            let Ok(name) = name else { return reply.error(Errno::ENOENT) };
            match system.lookup(parent.0, &name).await {
                Err(fault) if fault.errno == libc::ENOENT && system.lacks(parent.0, &name) => {
                    answer_missing(&system, reply);
                }
                entry => answer_entry(&system, entry, reply),
            }
        });
    }

    fn forget(&self, _: &Request, ino: INodeNo, count: u64) {
        self.system.forget(ino.0, count);
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let system = self.system.clone();
        self.run(async move { answer_attr(&system, system.getattr(ino.0).await, reply) });
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        let system = self.system.clone();
        self.run(async move {
            match system.readlink(ino.0).await {
                Ok(target) => reply.data(target.as_bytes()),
                Err(fault) => reply.error(errno(&system, &fault)),
            }
        });
    }

    fn open(&self, _: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let (system, write) = (self.system.clone(), flags.acc_mode() != OpenAccMode::O_RDONLY);
        let (modes, kernel) = (Arc::clone(&self.modes), self.kernel.clone());
        let appends = write && flags.0 & libc::O_APPEND != 0;
        self.run(async move {
            if appends && !system.can_change(ino.0).unwrap_or(true) {
                return reply.error(Errno::EACCES);
            }
            let opened = match system.open_file(ino.0, write).await {
                Ok(opened) => opened,
                Err(fault) => return reply.error(open_errno(&system, &fault)),
            };
            let mut flags = FopenFlags::empty();
            flags.set(FopenFlags::FOPEN_NOFLUSH, !write);
            match modes.open(&system, (ino.0, opened.handle), &reply).await {
                Some(backing) => {
                    reply.opened_passthrough(FileHandle(opened.handle), flags, &backing);
                }
                None => {
                    let has_it = opened.keep_cache || (!write && kernel.give(&system, ino.0));
                    flags.set(FopenFlags::FOPEN_KEEP_CACHE, has_it);
                    reply.opened(FileHandle(opened.handle), flags);
                }
            }
        });
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let system = self.system.clone();
        self.run(async move {
            match system.read(handle.0, offset, size).await {
                Ok(bytes) => reply.data(&bytes),
                Err(fault) => reply.error(errno(&system, &fault)),
            }
        });
    }

    fn release(
        &self,
        _: &Request,
        ino: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        let system = self.system.clone();
        self.modes.close(ino.0);
        self.run(async move {
            system.release(handle.0).await;
            reply.ok();
        });
    }

    fn opendir(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let system = self.system.clone();
        self.run(async move {
            match system.opendir(ino.0).await {
                Ok(handle) => reply.opened(FileHandle(handle), FopenFlags::empty()),
                Err(fault) => reply.error(errno(&system, &fault)),
            }
        });
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        self.list(handle, offset, move |system, listing| {
            let listing = match listing {
                Ok(listing) => listing,
                Err(fault) => return reply.error(errno(system, &fault)),
            };
            for (next, entry) in (1..).zip(listing.iter()).skip(offset as usize) {
                if reply.add(INodeNo(entry.ino), next, file_type(entry.attr.kind), &entry.name) {
                    break;
                }
            }
            reply.ok();
        });
    }

    fn readdirplus(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        self.list(handle, offset, move |system, listing| {
            let listing = match listing {
                Ok(listing) => listing,
                Err(fault) => return reply.error(errno(system, &fault)),
            };
            for (next, entry) in (1..).zip(listing.iter()).skip(offset as usize) {
                let (attr, keep) = system.present(entry);
                let attr = file_attr(system, entry.ino, &attr);
                let (ino, ttl) = (INodeNo(entry.ino), ttl(keep));
                if reply.add(ino, next, &entry.name, ttl, &attr, Generation(0)) {
                    break;
                }
                if entry.name != "." && entry.name != ".." {
                    system.listed(entry.ino);
                }
            }
            reply.ok();
        });
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.system.releasedir(handle.0);
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let system = self.system.clone();
        self.run(async move {
            let Space { bytes, files } = system.space().await;
            let (limit, free) = (bytes.limit / BLOCK, bytes.free / BLOCK);
            let (size, name) = (BLOCK as u32, LONGEST_NAME);
            reply.statfs(limit, free, free, files.limit, files.free, size, name, size);
        });
    }

    fn getxattr(&self, _: &Request, ino: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        let (system, name) = (self.system.clone(), text(name));
        self.run(async move {
            let value = async { system.getxattr(ino.0, &name?).await }.await;
            answer_xattr(&system, value, size, reply);
        });
    }

    fn listxattr(&self, _: &Request, ino: INodeNo, size: u32, reply: ReplyXattr) {
        let system = self.system.clone();
        self.run(async move { answer_xattr(&system, system.listxattr(ino.0).await, size, reply) });
    }

    fn setattr(
        &self,
        request: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let system = self.system.clone();
        let Ownership { uid: owner, gid: group } = system.options().owner;
        if uid.is_some_and(|uid| uid != owner) || gid.is_some_and(|gid| gid != group) {
            return reply.error(Errno::EPERM);
        }
        let moment = |time| match time {
            TimeOrNow::SpecificTime(time) => time,
            TimeOrNow::Now => (system.options().now)(),
        };
        let (mtime, atime) = (mtime.map(moment), atime.map(moment));
        let set = SetAttr { mode, size, mtime, atime };
        // A request that sets nothing is all that the kernel sends before another user allocates a range.
        let is_empty = set == SetAttr::default();
        let drops = (is_empty || size.is_some()) && mode.is_none() && request.uid() != 0;
        let group = is_empty.then(|| request.gid());
        self.run(async move {
            let dropped = if drops { system.drop_privileges(ino.0, group).await } else { Ok(()) };
            let entry = async { dropped.and(Ok(system.setattr(ino.0, set).await?)) }.await;
            answer_attr(&system, entry, reply);
        });
    }

    fn mknod(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let (system, name) = (self.system.clone(), text(name));
        self.run(async move {
            let made = match name {
                _ if mode & libc::S_IFMT != libc::S_IFREG => {
                    Err(Fault::new(libc::EPERM, "a store cannot have devices or pipes"))
                }
                Ok(name) => system.mknod(parent.0, &name, mode).await,
                Err(fault) => Err(fault),
            };
            answer_entry(&system, made, reply);
        });
    }

    fn mkdir(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let (system, name) = (self.system.clone(), text(name));
        self.run(async move {
            let made = async { system.mkdir(parent.0, &name?, mode).await }.await;
            answer_entry(&system, made, reply);
        });
    }

    fn symlink(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let (system, name, target) = (self.system.clone(), text(name), text(target.as_os_str()));
        self.run(async move {
            let made = match (name, target) {
                (Ok(name), Ok(target)) => system.symlink(parent.0, &name, &target).await,
                (Err(fault), _) | (_, Err(fault)) => Err(fault),
            };
            answer_entry(&system, made, reply);
        });
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let (system, name) = (self.system.clone(), text(name));
        self.run(async move {
            let done = async { system.unlink(parent.0, &name?).await }.await;
            answer_empty(&system, done, reply);
        });
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let (system, name) = (self.system.clone(), text(name));
        self.run(async move {
            let done = async { system.rmdir(parent.0, &name?).await }.await;
            answer_empty(&system, done, reply);
        });
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        to: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let (system, name, new_name) = (self.system.clone(), text(name), text(new_name));
        self.run(async move {
            if !(flags - RenameFlags::RENAME_NOREPLACE).is_empty() {
                return reply.error(Errno::EINVAL);
            }
            let replace = !flags.contains(RenameFlags::RENAME_NOREPLACE);
            let done = match (name, new_name) {
                (Ok(name), Ok(new_name)) => {
                    system.rename((parent.0, &name), (to.0, &new_name), replace).await
                }
                (Err(fault), _) | (_, Err(fault)) => Err(fault),
            };
            answer_empty(&system, done, reply);
        });
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let (system, name) = (self.system.clone(), text(name));
        self.run(async move {
            let exclusive = flags & libc::O_EXCL != 0;
            let created = async { system.create(parent.0, &name?, mode, exclusive).await }.await;
            match created {
                Ok((Entry { ino, attr, keep }, opened)) => {
                    let attr = file_attr(&system, ino, &attr);
                    let (handle, flags) = (FileHandle(opened.handle), FopenFlags::FOPEN_KEEP_CACHE);
                    reply.created(ttl(keep), &attr, Generation(0), handle, flags);
                }
                Err(fault) => reply.error(errno(&system, &fault)),
            }
        });
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        how: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let (system, bytes) = (self.system.clone(), Bytes::copy_from_slice(data));
        let append = flags.0 & libc::O_APPEND != 0;
        self.run(async move {
            let written = async {
                if how.contains(WriteFlags::FUSE_WRITE_KILL_SUIDGID) {
                    system.drop_privileges(ino.0, None).await?;
                }
                system.write(handle.0, offset, bytes, append).await
            };
            match written.await {
                Ok(written) => reply.written(written),
                Err(fault) => reply.error(errno(&system, &fault)),
            }
        });
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let system = self.system.clone();
        self.run(async move {
            let range = offset..offset.saturating_add(length);
            let done =
                async { system.allocate(handle.0, range, Allocation::of(mode)?).await }.await;
            answer_empty(&system, done, reply);
        });
    }

    fn flush(&self, _: &Request, _: INodeNo, handle: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        let system = self.system.clone();
        self.run(async move { answer_empty(&system, system.flush(handle.0).await, reply) });
    }

    fn fsync(&self, _: &Request, _: INodeNo, handle: FileHandle, _: bool, reply: ReplyEmpty) {
        let system = self.system.clone();
        self.run(async move { answer_empty(&system, system.fsync(handle.0).await, reply) });
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        // A change of the tree is durable when it is answered.
        reply.ok();
    }

    fn setxattr(
        &self,
        _: &Request,
        ino: INodeNo,
        name: &OsStr,
        value: &[u8],
        flags: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        let (system, name) = (self.system.clone(), text(name));
        let value = Bytes::copy_from_slice(value);
        let mode = match flags {
            libc::XATTR_CREATE => XattrMode::Create,
            libc::XATTR_REPLACE => XattrMode::Replace,
            _ => XattrMode::Any,
        };
        self.run(async move {
            let done = async { system.setxattr(ino.0, &name?, value, mode).await }.await;
            answer_empty(&system, done, reply);
        });
    }

    fn removexattr(&self, _: &Request, ino: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let (system, name) = (self.system.clone(), text(name));
        self.run(async move {
            let done = async { system.removexattr(ino.0, &name?).await }.await;
            answer_empty(&system, done, reply);
        });
    }
}
