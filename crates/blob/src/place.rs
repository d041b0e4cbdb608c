//! A place: somewhere that blobs are stored, and the operations on them.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt, future};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt, parse_url_opts};
use tokio::task::spawn_blocking;
use url::Url;

use crate::cache::Cache;
use crate::disk::Space;
use crate::error::Source;
use crate::id::BLOBS;
use crate::turns::Turns;
use crate::{Algorithm, BlobId, BlobWriter, Damage, Error, Hasher, Result, disk};

/// The part size in bytes for a local place: several in flight stay under 2 MiB.
const LOCAL_PART: usize = 512 << 10;

/// The part size in bytes for a remote place, where each part is a request. S3 requires at least 5 MiB and at most
/// 10,000 parts.
const REMOTE_PART: usize = 8 << 20;

/// Storage for blobs: a directory, a bucket, memory. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Place {
    name: Arc<str>,
    store: Arc<dyn ObjectStore>,
    /// The absolute directory of a place on a local disk.
    root: Option<Arc<FilePath>>,
    /// Whether blobs may be read from their files there, beside the store.
    direct: bool,
    part_size: usize,
    /// Turns at what blocks a thread while its disk works.
    turns: Turns,
    /// What was read from it, on this machine.
    cache: Option<Cache>,
    /// The only file, whatever blob is requested; see [`Outside`](crate::Outside).
    only: Option<Path>,
}

/// A blob stored in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    /// Its id.
    pub id: BlobId,
    /// Its length in bytes.
    pub size: u64,
    /// When it was finished, by the place's own clock.
    pub modified: SystemTime,
}

impl Place {
    /// The place in the directory `dir`, which is created if missing.
    ///
    /// Blocks: all directories that will contain blobs are created and synced here.
    ///
    /// # Errors
    /// [`Error::Settings`] if the directory cannot be created or used.
    pub fn local(name: &str, dir: impl AsRef<FilePath>) -> Result<Self> {
        Self::open_local(name, dir.as_ref()).map_err(|source| Self::settings(name, source))
    }

    fn open_local(name: &str, dir: &FilePath) -> std::result::Result<Self, Source> {
        disk::prepare(dir)?;
        let root = dir.canonicalize()?;
        let store = LocalFileSystem::new_with_prefix(&root)?.with_fsync(true);
        let place = Self::over(name, Arc::new(store), LOCAL_PART);
        Ok(Self { root: Some(root.into()), direct: true, ..place })
    }

    /// A place in memory, which is dropped with its last clone.
    pub fn memory(name: &str) -> Self {
        Self::over(name, Arc::new(InMemory::new()), LOCAL_PART)
    }

    /// The place at `url`: `file:///dir`, `memory:///`, `s3://bucket/prefix`, `gs://…`, `az://…` and any other that
    /// [`object_store::parse_url_opts`] supports, with the options named there.
    ///
    /// A writer into a bucket uploads parts of 8 MiB, of which S3 accepts 10,000: a blob there has at most 78 GiB.
    /// Uploads left unfinished by a crash are removed by the bucket's own lifecycle rule, not by this crate.
    ///
    /// # Errors
    /// [`Error::Settings`] for an unsupported URL or option. Whether a bucket can be reached is only checked when it
    /// is first used.
    pub fn from_url<O>(name: &str, url: &str, options: O) -> Result<Self>
    where
        O: IntoIterator<Item = (String, String)>,
    {
        Self::open_url(name, url, options).map_err(|source| Self::settings(name, source))
    }

    /// The directory that [`Place::from_url`] would store contents in; `None` if they would be stored elsewhere, or
    /// the URL is not supported.
    pub fn local_directory(url: &str) -> Option<PathBuf> {
        let url = Url::parse(url).ok().filter(|url| url.scheme() == "file")?;
        url.to_file_path().ok()
    }

    fn open_url<O>(name: &str, url: &str, options: O) -> std::result::Result<Self, Source>
    where
        O: IntoIterator<Item = (String, String)>,
    {
        let url = Url::parse(url)?;
        match url.scheme() {
            "file" => {
                let dir = url.to_file_path().map_err(|()| format!("{url} names no directory"))?;
                Self::open_local(name, &dir)
            }
            "memory" => Ok(Self::memory(name)),
            _ => {
                // If the process has already installed another provider, that is fine.
                let _ = rustls::crypto::ring::default_provider().install_default();
                let (store, prefix) = parse_url_opts(&url, options)?;
                Ok(Self::over(name, Arc::new(PrefixStore::new(store, prefix)), REMOTE_PART))
            }
        }
    }

    /// The one file `path`, to which every id resolves.
    pub(crate) fn outside(name: &str, path: &FilePath) -> Result<Self> {
        let only = Path::from_absolute_path(path);
        let only = only.map_err(|source| Self::settings(name, source.into()))?;
        let place = Self::over(name, Arc::new(LocalFileSystem::new()), LOCAL_PART);
        Ok(Self { only: Some(only), ..place })
    }

    fn over(name: &str, store: Arc<dyn ObjectStore>, part_size: usize) -> Self {
        Self {
            name: name.into(),
            store,
            root: None,
            direct: false,
            part_size,
            turns: Turns::default(),
            cache: None,
            only: None,
        }
    }

    /// The same place, of which [`Place::read_cached`] keeps what it reads in files below `dir`, with at most `bytes` bytes together. Of a
    /// place on a local disk nothing is kept. No other process may use the directory at the same time. Blocks.
    ///
    /// # Errors
    /// [`Error::Settings`] if the directory cannot be created or read.
    pub fn with_cache(self, dir: impl AsRef<FilePath>, bytes: u64) -> Result<Self> {
        if self.is_local() {
            return Ok(self);
        }
        match Cache::open(dir.as_ref(), bytes) {
            Ok(cache) => Ok(Self { cache: Some(cache), ..self }),
            Err(error) => Err(Self::settings(&self.name, error.into())),
        }
    }

    /// The same place with its store wrapped by `wrap`: a throttle, a counter, or fault injection for a test.
    pub fn map_store<F>(self, wrap: F) -> Self
    where
        F: FnOnce(Arc<dyn ObjectStore>) -> Arc<dyn ObjectStore>,
    {
        Self { store: wrap(self.store), direct: false, ..self }
    }

    /// The name of this place in the catalog.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A writer of the blob `id`, which computes `digests` besides SHA-256. Nothing is stored before its first full
    /// part or its end.
    pub fn writer(&self, id: BlobId, digests: impl IntoIterator<Item = Algorithm>) -> BlobWriter {
        self.hashing_writer(id, Hasher::new(digests))
    }

    /// The same with a hasher that may continue from earlier bytes.
    pub fn hashing_writer(&self, id: BlobId, hasher: Hasher) -> BlobWriter {
        BlobWriter::new(self.clone(), id, hasher)
    }

    /// The length of the blob `id` in bytes, or `None` if it does not exist.
    pub async fn size(&self, id: BlobId) -> Result<Option<u64>> {
        match self.store.head(&self.path_of(id)).await.map_err(|source| self.error(id, source)) {
            Ok(meta) => Ok(Some(meta.size)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Deletes the blob `id`; it is not an error if it does not exist.
    ///
    /// On a disk, deletions are not synced: a crash may bring the blob back, and the next sweep deletes it again.
    pub async fn delete(&self, id: BlobId) -> Result<()> {
        if let Some(cache) = &self.cache {
            cache.forget(id).await;
        }
        match self.store.delete(&id.path()).await.map_err(|source| self.error(id, source)) {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Every finished blob, in no particular order. Files with other names are skipped.
    pub fn list(&self) -> BoxStream<'static, Result<Stored>> {
        let place = self.clone();
        let found = self.store.list(Some(&Path::from(BLOBS)));
        let blobs = found.try_filter_map(|meta| future::ok(Stored::from_meta(&meta)));
        blobs.map_err(move |source| place.failure(source)).boxed()
    }

    /// Removes staged files that dropped or killed writers left on a disk, if they were last written before `cutoff`,
    /// and returns their number.
    ///
    /// A `cutoff` later than the start of an active writer makes that writer fail.
    pub async fn sweep_staged(&self, cutoff: SystemTime) -> Result<u64> {
        let Some(root) = self.root.clone() else { return Ok(0) };
        let swept = spawn_blocking(move || disk::sweep_staged(&root, cutoff)).await;
        swept.unwrap_or_else(|lost| Err(lost.into())).map_err(|source| self.failure(source))
    }

    /// The file that stores the blob `id`, in a place on a local disk. It exists as long as the blob does; it must
    /// not be written to.
    pub fn local_path(&self, id: BlobId) -> Option<PathBuf> {
        Some(self.root.as_ref()?.join(id.path().as_ref()))
    }

    /// Whether a file is in this place, which may delete it.
    pub fn has_file(&self, file: &FilePath) -> bool {
        let found = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        self.root.as_ref().is_some_and(|root| found.starts_with(&**root))
    }

    /// The bytes that can still be added, if the place is on a local disk and the disk reports it.
    pub fn free_space(&self) -> Option<u64> {
        self.space().map(|space| space.free)
    }

    /// The same, with the size of the disk.
    pub fn space(&self) -> Option<Space> {
        disk::space(self.root.as_ref()?).ok()
    }

    pub(crate) fn cache(&self) -> Option<&Cache> {
        self.cache.as_ref()
    }

    pub(crate) fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }

    /// The path from which the blob `id` is read.
    pub(crate) fn path_of(&self, id: BlobId) -> Path {
        self.only.clone().unwrap_or_else(|| id.path())
    }

    /// The file from which the blob `id` can be read, if it need not be read through the store.
    pub(crate) fn file_of(&self, id: BlobId) -> Option<PathBuf> {
        self.local_path(id).filter(|_| self.direct)
    }

    /// Whether its bytes are on a disk of this machine.
    pub(crate) fn is_local(&self) -> bool {
        self.root.is_some()
    }

    /// Turns at work that blocks a thread, if writing here does.
    pub(crate) fn turns(&self) -> Option<&Turns> {
        self.is_local().then_some(&self.turns)
    }

    pub(crate) fn part_size(&self) -> usize {
        self.part_size
    }

    /// The error for a failed read or deletion of `id`.
    pub(crate) fn error(&self, id: BlobId, source: impl Into<Source>) -> Error {
        Error::classify(&self.name, self.is_local(), Some(id), source.into())
    }

    /// The error for a failure not related to a particular blob, or while writing one.
    pub(crate) fn failure(&self, source: impl Into<Source>) -> Error {
        Error::classify(&self.name, self.is_local(), None, source.into())
    }

    pub(crate) fn damaged(&self, id: BlobId, damage: Damage) -> Error {
        Error::Damaged { place: self.name.to_string(), id, damage }
    }

    fn settings(name: &str, source: Source) -> Error {
        Error::Settings { place: name.to_owned(), source }
    }
}

impl Stored {
    fn from_meta(meta: &ObjectMeta) -> Option<Self> {
        let id = BlobId::from_path(&meta.location)?;
        Some(Self { id, size: meta.size, modified: meta.last_modified.into() })
    }
}
