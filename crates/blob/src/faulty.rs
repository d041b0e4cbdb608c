//! Faults on demand: a place whose n-th operation fails in a chosen way, for
//! tests that sweep through every operation of what they test.
//!
//! ```
//! # tokio_test(async {
//! use cenote_blob::faulty::{Fault, Faults};
//! use cenote_blob::{BlobId, Error, Place};
//!
//! let faults = Faults::new();
//! let place = faults.into_place(Place::memory("main"));
//! faults.fail(1, Fault::NoSpace);
//! let writer = place.writer(BlobId::from_bytes([0; 16]), []);
//! assert!(matches!(writer.finish().await, Err(Error::NoSpace { .. })));
//! # });
//! # fn tokio_test(test: impl Future<Output = ()>) {
//! #     tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test);
//! # }
//! ```

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
    UploadPart,
};
use rustix::io::Errno;

use crate::Place;

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It does nothing and reports an input/output error (`EIO`).
    Io,
    /// It does nothing and reports a full disk (`ENOSPC`).
    NoSpace,
    /// It moves only the first half of its bytes and reports success: a lying disk.
    /// An operation that moves no bytes succeeds as ever.
    Short,
    /// The process dies before the operation: it does nothing, every later one
    /// fails, and nothing is cleaned up, until [`Faults::restart`].
    CrashBefore,
    /// The process dies after the operation was done, before the answer came.
    CrashAfter,
}

/// The faults to come in the places made by [`into_place`](Self::into_place).
/// Clones share them.
///
/// Operations are a put, the beginning, each part, the completion and the
/// abortion of a multipart upload, a get, a head, each deletion, and a listing.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<Mutex<Plan>>);

#[derive(Debug, Default)]
struct Plan {
    operations: u64,
    next: Option<(u64, Fault)>,
    crashed: bool,
}

/// What becomes of one operation.
enum Outcome {
    Done,
    Halved,
    NotDone(Errno),
    Unanswered,
}

impl Faults {
    /// No faults: operations are only counted.
    pub fn new() -> Self {
        Self::default()
    }

    /// `place`, with the faults planned here.
    pub fn into_place(&self, place: Place) -> Place {
        place.map_store(|inner| Arc::new(FaultyStore { inner, faults: self.clone() }))
    }

    /// Plans `fault` for the `nth` operation from now, counted from 1, in place of
    /// what was planned.
    pub fn fail(&self, nth: u64, fault: Fault) {
        let mut plan = self.plan();
        plan.next = Some((plan.operations + nth, fault));
    }

    /// The operations begun so far.
    pub fn operations(&self) -> u64 {
        self.plan().operations
    }

    /// Whether the planned fault is still to come: a sweep ends when it is.
    pub fn pending(&self) -> bool {
        self.plan().next.is_some()
    }

    /// Forgets what was planned and lets operations succeed again after a crash.
    pub fn restart(&self) {
        let mut plan = self.plan();
        plan.next = None;
        plan.crashed = false;
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) -> Outcome {
        let mut plan = self.plan();
        plan.operations += 1;
        if plan.crashed {
            return Outcome::NotDone(Errno::IO);
        }
        let operations = plan.operations;
        match plan.next.take_if(|(nth, _)| *nth <= operations) {
            None => Outcome::Done,
            Some((_, fault)) => plan.outcome(fault),
        }
    }

    async fn run<T>(&self, operation: impl Future<Output = Result<T>>) -> Result<T> {
        match self.begin() {
            Outcome::Done | Outcome::Halved => operation.await,
            Outcome::NotDone(errno) => Err(failure(errno)),
            Outcome::Unanswered => {
                operation.await?;
                Err(failure(Errno::IO))
            }
        }
    }
}

impl Plan {
    fn outcome(&mut self, fault: Fault) -> Outcome {
        self.crashed = matches!(fault, Fault::CrashBefore | Fault::CrashAfter);
        match fault {
            Fault::Io | Fault::CrashBefore => Outcome::NotDone(Errno::IO),
            Fault::NoSpace => Outcome::NotDone(Errno::NOSPC),
            Fault::Short => Outcome::Halved,
            Fault::CrashAfter => Outcome::Unanswered,
        }
    }
}

fn failure(errno: Errno) -> object_store::Error {
    object_store::Error::Generic { store: "FaultyStore", source: io::Error::from(errno).into() }
}

fn first_half(payload: &PutPayload) -> PutPayload {
    let mut left = payload.content_length() / 2;
    let halves = payload.iter().map(|run| {
        let kept = run.slice(..left.min(run.len()));
        left -= kept.len();
        kept
    });
    halves.collect()
}

/// A store in which operations fail as planned.
#[derive(Debug)]
struct FaultyStore {
    inner: Arc<dyn ObjectStore>,
    faults: Faults,
}

impl fmt::Display for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FaultyStore({})", self.inner)
    }
}

#[async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(
        &self,
        path: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        match self.faults.begin() {
            Outcome::Done => self.inner.put_opts(path, payload, options).await,
            Outcome::Halved => self.inner.put_opts(path, first_half(&payload), options).await,
            Outcome::NotDone(errno) => Err(failure(errno)),
            Outcome::Unanswered => {
                self.inner.put_opts(path, payload, options).await?;
                Err(failure(Errno::IO))
            }
        }
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let begun = async {
            let inner = self.inner.put_multipart_opts(path, options).await?;
            Ok(FaultyUpload { inner: Some(inner), faults: self.faults.clone() })
        };
        Ok(Box::new(self.faults.run(begun).await?))
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        match self.faults.begin() {
            Outcome::Done => self.inner.get_opts(path, options).await,
            Outcome::Halved => first_half_of(self.inner.get_opts(path, options).await?).await,
            Outcome::NotDone(errno) => Err(failure(errno)),
            Outcome::Unanswered => Err(failure(Errno::IO)),
        }
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let (inner, faults) = (self.inner.clone(), self.faults.clone());
        let deleted = paths.then(move |path| {
            let (inner, faults) = (inner.clone(), faults.clone());
            async move {
                let path = path?;
                faults.run(inner.delete(&path)).await?;
                Ok(path)
            }
        });
        deleted.boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.faults.begin() {
            Outcome::Done | Outcome::Halved => self.inner.list(prefix),
            Outcome::NotDone(errno) => stream::iter([Err(failure(errno))]).boxed(),
            Outcome::Unanswered => stream::iter([Err(failure(Errno::IO))]).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.faults.run(self.inner.list_with_delimiter(prefix)).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.faults.run(self.inner.copy_opts(from, to, options)).await
    }
}

async fn first_half_of(got: GetResult) -> Result<GetResult> {
    let range = got.range.start..got.range.start + (got.range.end - got.range.start) / 2;
    let (meta, attributes) = (got.meta.clone(), got.attributes.clone());
    let extensions = got.extensions.clone();
    let half = got.bytes().await?.slice(..(range.end - range.start) as usize);
    let payload = GetResultPayload::Stream(stream::iter([Ok(half)]).boxed());
    Ok(GetResult { payload, meta, range, attributes, extensions })
}

#[derive(Debug)]
struct FaultyUpload {
    /// Empty only while it is dropped.
    inner: Option<Box<dyn MultipartUpload>>,
    faults: Faults,
}

impl FaultyUpload {
    fn inner(&mut self) -> &mut Box<dyn MultipartUpload> {
        self.inner.as_mut().expect("only drop empties it")
    }
}

#[async_trait]
impl MultipartUpload for FaultyUpload {
    fn put_part(&mut self, payload: PutPayload) -> UploadPart {
        match self.faults.begin() {
            Outcome::Done => self.inner().put_part(payload),
            Outcome::Halved => self.inner().put_part(first_half(&payload)),
            Outcome::NotDone(errno) => async move { Err(failure(errno)) }.boxed(),
            Outcome::Unanswered => {
                let done = self.inner().put_part(payload);
                done.map(|done| done.and(Err(failure(Errno::IO)))).boxed()
            }
        }
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let faults = self.faults.clone();
        faults.run(self.inner().complete()).await
    }

    async fn abort(&mut self) -> Result<()> {
        let faults = self.faults.clone();
        faults.run(self.inner().abort()).await
    }
}

impl Drop for FaultyUpload {
    fn drop(&mut self) {
        if self.faults.plan().crashed {
            // A dead process does not clean up: what it staged stays.
            std::mem::forget(self.inner.take());
        }
    }
}
