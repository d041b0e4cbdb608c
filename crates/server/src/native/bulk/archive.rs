//! Many resources as one tar stream, the opposite of `batch`: everything below a collection, or
//! given objects.

use std::io;

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use cenote_store::{
    At, Caller, Kind, Opened, ReadOptions, ResourceId, Stat, StorePath, Time, WalkPage,
};
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::io::{AsyncRead, DuplexStream};
use tokio_tar::Builder;
use tokio_util::io::{ReaderStream, StreamReader};
use tracing::Instrument;

use super::archive_entry::{entry_header, extended};
use crate::app::App;
use crate::layer::Reader;
use crate::native::json::{ArchiveQuestion, Target};
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// Bytes between the reader of contents and the client.
const AHEAD: usize = 256 << 10;
/// Resources in one page of the walk.
const PAGE: usize = 1_000;
/// Objects opened in one hop: small ones bring their bytes along.
pub(crate) const OPENED: usize = 64;
/// The maximum number of objects in a request.
pub(crate) const MOST: usize = 1_000;

/// Everything below a collection that may be read, as a POSIX pax archive.
#[utoipa::path(get, path = "/v1/archive", tag = "bytes", params(Target),
    responses((status = 200, body = Vec<u8>, content_type = "application/x-tar")))]
pub(crate) async fn archive(
    State(app): State<App>,
    Reader(caller): Reader,
    at: At,
) -> Result<Response, Problem> {
    let (viewer, top) = (caller.clone(), at.clone());
    let first = app.blocking(move |store| {
        Ok((store.stat(&viewer, &top)?, store.walk(&viewer, &top, None, PAGE)?))
    });
    let (stat, first) = first.await?;
    Ok(answer(async move |builder| {
        let packer = Packer { app, caller, above: stat.path, builder };
        packer.pack_below(at, first).await
    }))
}

/// The contents of objects, in the requested order, as a POSIX pax archive; resources that are not objects, or may not be read, are
/// left out. Paths are below the root. The pax records `CENOTE.id` and `CENOTE.etag` identify an entry.
#[utoipa::path(post, path = "/v1/archive", tag = "bytes", request_body = ArchiveQuestion,
    responses((status = 200, body = Vec<u8>, content_type = "application/x-tar")))]
pub(crate) async fn archive_of(
    State(app): State<App>,
    Reader(caller): Reader,
    Json(question): Json<ArchiveQuestion>,
) -> Result<Response, Problem> {
    if question.ids.len() > MOST {
        return Err(Problem::invalid(format!("more than {MOST} objects in one archive")));
    }
    let ids: Vec<_> = question.ids.into_iter().map(ResourceId).collect();
    Ok(answer(async move |builder| {
        let packer = Packer { app, caller, above: StorePath::root(), builder };
        packer.pack_objects(&ids).await
    }))
}

/// Answers with what `pack` writes, as it comes.
pub(crate) fn answer<P>(pack: impl FnOnce(Builder<DuplexStream>) -> P) -> Response
where
    P: Future<Output = io::Result<()>> + Send + 'static,
{
    let (reader, writer) = tokio::io::duplex(AHEAD);
    let packing = pack(Builder::new_non_terminated(writer));
    let packing = tokio::spawn(packing.in_current_span());
    // An archive that fails midway is truncated; a complete one has its end marker.
    let end = stream::once(packing).filter_map(async |packed| match packed {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(Err(error)),
        Err(lost) => Some(Err(io::Error::other(lost))),
    });
    let bytes = ReaderStream::with_capacity(reader, AHEAD).chain(end);
    ([(header::CONTENT_TYPE, "application/x-tar")], Body::from_stream(bytes)).into_response()
}

/// An archive that is being written.
pub(crate) struct Packer {
    pub(crate) app: App,
    pub(crate) caller: Caller,
    pub(crate) above: StorePath,
    pub(crate) builder: Builder<DuplexStream>,
}

impl Packer {
    async fn pack_below(mut self, at: At, mut page: WalkPage) -> io::Result<()> {
        loop {
            for entries in page.entries.chunks(OPENED) {
                self.add_entries(entries).await?;
            }
            let Some(after) = page.next else { return self.finish().await };
            let (caller, at) = (self.caller.clone(), at.clone());
            let next = self.app.blocking(move |store| store.walk(&caller, &at, Some(&after), PAGE));
            page = next.await.map_err(other)?;
        }
    }

    async fn pack_objects(mut self, ids: &[ResourceId]) -> io::Result<()> {
        for ids in ids.chunks(OPENED) {
            for opened in self.open(ids.to_vec()).await?.into_iter().flatten() {
                let path = opened.stat.path.clone();
                self.add_object(opened, path).await?;
            }
        }
        self.finish().await
    }

    async fn add_entries(&mut self, entries: &[Stat]) -> io::Result<()> {
        let objects = entries.iter().filter(|stat| stat.resource.kind == Kind::Object);
        let opened = self.open(objects.map(|stat| stat.id).collect()).await?;
        let mut opened = opened.into_iter();
        for stat in entries {
            match stat.resource.kind {
                Kind::Description => {}
                Kind::Collection | Kind::Link => {
                    let mtime = self.shown_mtime(stat)?;
                    self.add(stat, mtime, tokio::io::empty()).await?;
                }
                Kind::Object => {
                    if let Some(opened) = opened.next().flatten() {
                        self.add_object(opened, stat.path.clone()).await?;
                    }
                }
            }
        }
        Ok(())
    }

    async fn add_object(&mut self, opened: Opened, path: StorePath) -> io::Result<()> {
        let stat = Stat { path, ..opened.stat.clone() };
        let mtime = self.shown_mtime(&stat)?;
        self.add_content(opened, &stat, mtime).await
    }

    /// Adds a content as the entry of this resource.
    pub(crate) async fn add_content(
        &mut self,
        opened: Opened,
        stat: &Stat,
        mtime: Time,
    ) -> io::Result<()> {
        let size = opened.size();
        let content = opened.bytes(0..size).map_err(io::Error::other)?;
        self.add(stat, mtime, StreamReader::new(content.map_err(io::Error::other))).await
    }

    /// Ends the archive: one that breaks off has no end marker.
    pub(crate) async fn finish(mut self) -> io::Result<()> {
        self.builder.finish().await
    }

    fn shown_mtime(&self, stat: &Stat) -> io::Result<Time> {
        self.app.quick(|store| store.shown_mtime(stat)).map_err(other)
    }

    async fn add(
        &mut self,
        stat: &Stat,
        mtime: Time,
        content: impl AsyncRead + Unpin + Send,
    ) -> io::Result<()> {
        let (header, records) = entry_header(stat, mtime, &self.above)?;
        self.builder.append(&extended(&records)?, &records[..]).await?;
        self.builder.append(&header, content).await
    }

    /// The current contents, in the requested order; none for objects that were removed in the meantime, or may not be read.
    async fn open(&self, ids: Vec<ResourceId>) -> io::Result<Vec<Option<Opened>>> {
        let caller = self.caller.clone();
        let opened = self.app.blocking(move |store| {
            let open = |id| store.open(&caller, &At::Id(id), &ReadOptions::default()).ok();
            Ok(ids.into_iter().map(open).collect())
        });
        opened.await.map_err(other)
    }
}

pub(crate) fn other(problem: Problem) -> io::Error {
    io::Error::other(problem.to_string())
}
