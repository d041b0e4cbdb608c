//! The operations of a file system, without a kernel.

mod allocate;
mod begin;
mod changes;
mod dirs;
mod drafts;
mod files;
mod lookup;
mod small;
mod space;
mod xattrs;

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cenote_client::Client;
use tokio::sync::{mpsc, watch};

pub use self::allocate::Allocation;
use self::begin::Beginning;
pub use self::changes::SetAttr;
pub use self::dirs::DirEntry;
use self::dirs::OpenDirectory;
pub(crate) use self::drafts::LONGEST_NAME;
use self::drafts::Shared;
use self::files::Handle;
pub use self::files::Opened;
pub use self::space::{Room, Space};
pub(crate) use self::xattrs::none;
use crate::attr::{Attr, FileKind};
use crate::cache::{Cache, Ino, ROOT, Stale};
use crate::disk::DiskCache;
use crate::error::{Fault, Result};
use crate::feed::{Drops, Position};
use crate::journal::Journal;
use crate::options::{CacheOptions, Options};
use crate::read::{Budget, Leases, LocalFiles, SmallFiles};
use crate::source::Source;
use crate::write::Memory;

/// A store as a file system. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct FileSystem(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) source: Source,
    pub(crate) options: Options,
    pub(crate) budget: Arc<Budget>,
    pub(crate) position: Position,
    pub(crate) drops: Drops,
    /// The position up to which the kernel was notified of changes, if there is a kernel.
    shown: Mutex<Option<String>>,
    /// Whether changes are reported, so that the cache stays valid.
    follows: bool,
    cache: Mutex<Cache>,
    handles: Mutex<HashMap<u64, Arc<Handle>>>,
    drafts: Mutex<HashMap<Ino, Shared>>,
    pub(crate) memory: Arc<Memory>,
    pub(crate) local: LocalFiles,
    pub(crate) leases: Arc<Leases>,
    pub(crate) small: SmallFiles,
    pub(crate) disk: Option<Arc<DiskCache>>,
    /// What is seen, on the local disk.
    pub(crate) journal: Option<Journal>,
    listings: Mutex<HashMap<u64, OpenDirectory>>,
    next_handle: AtomicU64,
}

impl FileSystem {
    /// Opens the collection to be mounted. The receiver gets what a kernel has to drop from its caches.
    pub async fn open(
        client: Client,
        options: Options,
    ) -> Result<(Self, mpsc::UnboundedReceiver<Stale>)> {
        let source = Source::new(client, &options);
        let mut begun = Beginning::find(&source, &options).await?;
        if begun.cache.node(ROOT)?.attr.kind != FileKind::Directory {
            return Err(Fault::new(libc::ENOTDIR, format!("no collection: {}", options.root)));
        }
        let source = source.that_insists();
        source.set_offline(begun.offline);
        let disk = options.cache.as_ref();
        let disk = disk.map(|cache| disk_cache(cache, begun.root, &begun.created)).transpose()?;
        let (drops, dropped) = mpsc::unbounded_channel::<Stale>();
        begun.cache.set_drops(drops.clone());
        let inner = Inner {
            budget: Budget::new(options.read_ahead),
            source,
            position: watch::channel(begun.position).0,
            drops,
            shown: Mutex::default(),
            follows: begun.follows,
            cache: Mutex::new(begun.cache),
            handles: Mutex::default(),
            drafts: Mutex::default(),
            memory: Memory::new(options.write_memory),
            local: LocalFiles::default(),
            leases: Arc::default(),
            small: SmallFiles::default(),
            disk,
            journal: begun.journal,
            listings: Mutex::default(),
            next_handle: AtomicU64::new(1),
            options,
        };
        let system = Self(Arc::new(inner));
        if system.0.journal.is_some() {
            system.keep_journal((begun.root, begun.noted));
        }
        if begun.follows && !system.0.source.is_past() && !system.options().offline {
            system.follow(begun.below);
        }
        Ok((system, dropped))
    }

    /// Waits until a position of the change feed was taken into account.
    pub async fn reached(&self, position: &str) {
        let mut reached = self.0.position.subscribe();
        // The sender lives as long as the file system.
        let _open = reached.wait_for(|reached| reached.as_str() >= position).await;
    }

    /// How the store is mounted.
    pub fn options(&self) -> &Options {
        &self.0.options
    }

    /// The kernel drops references to an inode.
    pub fn forget(&self, ino: Ino, count: u64) {
        self.0.lock().forget(ino, count);
    }

    /// Whether it shows the last known state, and does not use the server.
    pub fn is_offline(&self) -> bool {
        self.0.source.is_offline()
    }

    /// Whether answers stay true until the kernel is notified.
    pub fn is_followed(&self) -> bool {
        self.0.follows
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Cache> {
        self.0.lock()
    }

    pub(crate) fn number(&self) -> u64 {
        self.0.next_handle.fetch_add(1, Ordering::Relaxed)
    }
}

/// Opens the disk cache. A recreated store at the same address has another root.
fn disk_cache(options: &CacheOptions, root: u64, created: &str) -> Result<Arc<DiskCache>> {
    let store = format!("{}\n{root}\n{created}", options.store);
    DiskCache::open(&options.dir, options.limit, store).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => Fault::new(libc::EBUSY, error.to_string()),
        _ => Fault::new(libc::EIO, format!("the cache {}: {error}", options.dir.display())),
    })
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Resources that cannot be recorded are not available offline.
        let _failed = self.note_learned();
    }
}

impl Inner {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The kernel has been notified of all changes up to a position.
    pub(crate) fn set_shown_position(&self, position: String) {
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Some(position);
    }

    /// The position of the change feed up to which changes are seen.
    pub(crate) fn shown_position(&self) -> String {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
        shown.unwrap_or_else(|| self.position.borrow().clone())
    }

    pub(crate) fn handles(&self) -> MutexGuard<'_, HashMap<u64, Arc<Handle>>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn drafts(&self) -> MutexGuard<'_, HashMap<Ino, Shared>> {
        self.drafts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn listings(&self) -> MutexGuard<'_, HashMap<u64, OpenDirectory>> {
        self.listings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Without a feed, cached data is requested again.
    pub(crate) fn trusts(&self, fresh: bool) -> bool {
        self.follows && fresh
    }
}

/// An answer about an inode, and whether it stays true until something is reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The number of the inode.
    pub ino: Ino,
    /// Its attributes.
    pub attr: Attr,
    /// Whether the kernel may keep them.
    pub keep: bool,
}
