//! All that lies below a collection, as one tar stream: the other way of `batch`.

use std::io;

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use cenote_store::{At, Caller, ContentStream, Kind, ReadOptions, Stat, StorePath, WalkPage};
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::io::DuplexStream;
use tokio_tar::Builder;
use tokio_util::io::{ReaderStream, StreamReader};
use tracing::Instrument;

use super::address::at;
use super::archive_entry::{entry_header, extended};
use super::extract::Params;
use super::json::Target;
use crate::app::App;
use crate::layer::Asker;
use crate::problem::Problem;

/// Bytes between the reader of contents and the client.
const AHEAD: usize = 256 << 10;
/// Resources in one page of the walk.
const PAGE: usize = 1_000;

/// What lies below a collection and may be read, as a POSIX pax archive.
#[utoipa::path(get, path = "/v1/archive", tag = "bytes", params(Target),
    responses((status = 200, body = Vec<u8>, content_type = "application/x-tar")))]
pub(super) async fn archive(
    State(app): State<App>,
    Asker(caller): Asker,
    Params(target): Params<Target>,
) -> Result<Response, Problem> {
    let at = at(target.path.as_deref(), target.id)?;
    let (asker, top) = (caller.clone(), at.clone());
    let first = app
        .ask(move |store| Ok((store.stat(&asker, &top)?, store.walk(&asker, &top, None, PAGE)?)));
    let (stat, first) = first.await?;
    let (reader, writer) = tokio::io::duplex(AHEAD);
    let builder = Builder::new_non_terminated(writer);
    let packer = Packer { app, caller, at, above: stat.path, builder };
    let packing = tokio::spawn(packer.pack(first).in_current_span());
    // An archive that fails under way breaks off; one that is whole has its end marker.
    let end = stream::once(packing).filter_map(async |packed| match packed {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(Err(error)),
        Err(lost) => Some(Err(io::Error::other(lost))),
    });
    let bytes = ReaderStream::with_capacity(reader, AHEAD).chain(end);
    Ok(([(header::CONTENT_TYPE, "application/x-tar")], Body::from_stream(bytes)).into_response())
}

/// An archive under way.
struct Packer {
    app: App,
    caller: Caller,
    at: At,
    above: StorePath,
    builder: Builder<DuplexStream>,
}

impl Packer {
    async fn pack(mut self, mut page: WalkPage) -> io::Result<()> {
        loop {
            for entry in &page.entries {
                self.add(entry).await?;
            }
            let Some(after) = page.next else { return self.builder.finish().await };
            let (caller, at) = (self.caller.clone(), self.at.clone());
            let next = self.app.ask(move |store| store.walk(&caller, &at, Some(&after), PAGE));
            page = next.await.map_err(other)?;
        }
    }

    async fn add(&mut self, stat: &Stat) -> io::Result<()> {
        let (stat, content) = match stat.resource.kind {
            Kind::Description => return Ok(()),
            Kind::Object => match self.open(stat).await {
                Some((stat, content)) => (stat, content),
                None => return Ok(()),
            },
            Kind::Collection | Kind::Link => (stat.clone(), stream::empty().boxed()),
        };
        let (header, records) = entry_header(&stat, &self.above)?;
        self.builder.append(&extended(&records)?, &records[..]).await?;
        self.builder.append(&header, StreamReader::new(content.map_err(io::Error::other))).await
    }

    /// The content as it is now; none if it went meanwhile, or may not be read.
    async fn open(&self, stat: &Stat) -> Option<(Stat, ContentStream)> {
        let (caller, at) = (self.caller.clone(), At::Id(stat.id));
        let opened = self.app.ask(move |store| store.open(&caller, &at, &ReadOptions::default()));
        let opened = opened.await.ok()?;
        let (size, stat) = (opened.size(), Stat { path: stat.path.clone(), ..opened.stat.clone() });
        Some((stat, opened.bytes(0..size).ok()?))
    }
}

fn other(problem: Problem) -> io::Error {
    io::Error::other(problem.to_string())
}
