//! The object store that fails: each operation asks the plan for its outcome.

use std::fmt;
use std::sync::Arc;

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

use super::{Faults, Outcome, failure};

/// A store in which operations fail as planned.
#[derive(Debug)]
pub(super) struct FaultyStore {
    inner: Arc<dyn ObjectStore>,
    faults: Faults,
}

impl FaultyStore {
    pub(super) fn new(inner: Arc<dyn ObjectStore>, faults: Faults) -> Self {
        Self { inner, faults }
    }
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

fn first_half(payload: &PutPayload) -> PutPayload {
    let mut left = payload.content_length() / 2;
    let halves = payload.iter().map(|run| {
        let kept = run.slice(..left.min(run.len()));
        left -= kept.len();
        kept
    });
    halves.collect()
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
    /// `None` only while it is being dropped.
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
        if self.faults.crashed() {
            // A dead process does not clean up: what it staged remains.
            std::mem::forget(self.inner.take());
        }
    }
}
