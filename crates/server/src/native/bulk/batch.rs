//! Many small files in one request: a tar stream in, many per commit.
//!
//! Invariant: the line of an entry says that it is durable, or why it was refused.

use std::io;

use axum::body::{Body, HttpBody};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use cenote_store::{BatchItem, Caller, PutOptions, Stat, Store, StorePath, TicketUse};
use futures_util::{StreamExt, TryStreamExt};
use http_body_util::Limited;
use tokio::io::AsyncRead;
use tokio_tar::{Archive, Entry};
use tokio_util::io::StreamReader;

use super::batch_entry::{path, read, shown, unreadable};
use super::batch_header::{self, Position};
use crate::app::App;
use crate::layer::{Admission, Viewer};
use crate::native::contents::write::place;
use crate::native::json::{BatchLine, BatchQuery, Names, Outcome, Resource};
use crate::native::request::conditional::write_conditions;
use crate::native::request::extract::require_tar;
use crate::native::request::query::Params;
use crate::problem::{Problem, unanswered};

/// The largest batch, in bytes. Larger trees need several.
const LARGEST: usize = 64 << 20;
/// Entries of one commit.
const ENTRIES: usize = 512;
/// Bytes of one commit.
const COMMIT_BYTES: usize = 8 << 20;
/// Entries of up to this many bytes wait in memory for their commit.
const INLINE: usize = 64 << 10;

/// Puts files, directories and links below a collection. Returns one line per entry, in order. `If-None-Match: *` and `If-Match`
/// apply to each file. A mode or a time that is empty in the header of an entry is not set.
#[utoipa::path(post, path = "/v1/batch", tag = "bytes", params(BatchQuery),
    request_body(content = Vec<u8>, content_type = "application/x-tar"),
    responses((status = 200, body = BatchLine, content_type = "application/x-ndjson")))]
pub(crate) async fn batch(
    State(app): State<App>,
    Viewer(caller): Viewer,
    admission: Admission,
    Params(query): Params<BatchQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    require_tar(&headers)?;
    let under: StorePath = query.path.parse()?;
    let each = PutOptions {
        place: place(&app, &caller, query.place.as_deref())?,
        conditions: write_conditions(&headers)?,
        ..PutOptions::default()
    };
    if body.is_end_stream() {
        return Err(unreadable(&io::ErrorKind::UnexpectedEof.into()));
    }
    let bytes = Body::new(Limited::new(body, LARGEST)).into_data_stream();
    let position = Position::default();
    let bytes = position.counting(StreamReader::new(bytes.map_err(io::Error::other)));
    let mut archive = Archive::new(bytes);
    let mut entries = archive.entries().map_err(|error| unreadable(&error))?;
    let mut batch = Batch::new(app, caller, admission.clone(), (under, each));
    loop {
        let next = admission.aside(entries.next()).await;
        let next = next.and_then(|next| next.transpose().map_err(|error| unreadable(&error)));
        match next {
            Ok(Some(entry)) => {
                position.at_header(batch_header::stored(&entry));
                batch.take(entry).await;
            }
            Ok(None) => break,
            Err(problem) if batch.is_empty() => return Err(problem),
            Err(problem) => {
                batch.pending.push((String::new(), Err(problem)));
                break;
            }
        }
    }
    batch.commit().await;
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], batch.lines).into_response())
}

/// The state of a batch.
struct Batch {
    app: App,
    caller: Caller,
    admission: Admission,
    under: StorePath,
    /// The options for all entries: conditions, and the place for the bytes.
    each: PutOptions,
    /// Entries that wait for their commit, or for their line.
    pending: Vec<(String, Result<BatchItem, Problem>)>,
    /// How many bytes of them are in memory.
    buffered: usize,
    lines: Vec<u8>,
}

impl Batch {
    fn new(
        app: App,
        caller: Caller,
        admission: Admission,
        (under, each): (StorePath, PutOptions),
    ) -> Self {
        let (pending, lines) = (Vec::new(), Vec::new());
        Self { app, caller, admission, under, each, pending, buffered: 0, lines }
    }

    fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.lines.is_empty()
    }

    async fn take<R: AsyncRead + Unpin + Send>(&mut self, entry: Entry<R>) {
        self.make_room(&entry).await;
        let name = entry.path_bytes().map(|name| name.into_owned()).unwrap_or_default();
        let (shown, item) = match path(&self.under, &name) {
            Ok(path) => (path.to_string(), self.read(path, entry).await),
            Err(problem) => (shown(&name), Err(problem)),
        };
        self.pending.push((shown, item));
        if self.pending.len() >= ENTRIES {
            self.commit().await;
        }
    }

    /// Commits what waits, where its bytes and those of the next entry would be too many.
    async fn make_room<R: AsyncRead + Unpin>(&mut self, next: &Entry<R>) {
        if self.buffered + self.in_memory(next) > COMMIT_BYTES {
            self.commit().await;
        }
    }

    /// How much memory an entry takes until it is committed: none if it is written to a file.
    fn in_memory<R: AsyncRead + Unpin>(&self, entry: &Entry<R>) -> usize {
        match usize::try_from(entry.effective_size()) {
            Ok(size) if size <= INLINE && self.each.place.is_none() => size,
            _ => 0,
        }
    }

    /// Reads an entry; each is a use of the ticket.
    async fn read<R: AsyncRead + Unpin + Send>(
        &mut self,
        path: StorePath,
        entry: Entry<R>,
    ) -> Result<BatchItem, Problem> {
        let what = TicketUse::Write(entry.effective_size());
        self.app.store().count_use(&self.caller, what)?;
        let size = self.in_memory(&entry);
        let read = read(self.app.store(), &self.caller, (path, &self.each), entry);
        if size == 0 {
            // It keeps a file open while it is received, and its slot for that.
            return read.await;
        }
        self.admission.keep(size)?;
        self.buffered += size;
        self.admission.aside(read).await?
    }

    /// Puts what waits in one commit, and writes its lines.
    async fn commit(&mut self) {
        let (mut paths, mut ready, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for (path, item) in std::mem::take(&mut self.pending) {
            paths.push(path);
            refused.push(item.map(|item| ready.push(item)).err());
        }
        let stats = self.app.store().put_many(&self.caller, ready).await;
        self.admission.forget();
        self.buffered = 0;
        let outcomes = self.app.blocking(move |store| Ok(outcomes(store, refused, stats))).await;
        let mut outcomes = outcomes.map(Vec::into_iter);
        for path in paths {
            let outcome = match &mut outcomes {
                Ok(outcomes) => outcomes.next().expect("each item has its outcome"),
                Err(problem) => Outcome::Problem(problem.body(None)),
            };
            let line = BatchLine { path, outcome };
            serde_json::to_writer(&mut self.lines, &line).expect("a line is JSON");
            self.lines.push(b'\n');
        }
    }
}

/// The outcome of each entry: it was refused before, or has the next answer of the commit.
fn outcomes(
    store: &Store,
    refused: Vec<Option<Problem>>,
    stats: cenote_store::Result<Vec<cenote_store::Result<Stat>>>,
) -> Vec<Outcome> {
    let mut names = Names::new(store);
    let mut stats = stats.map(Vec::into_iter);
    let mut published = || -> Result<Resource, Problem> {
        let stat: Stat = match &mut stats {
            Ok(stats) => stats.next().expect("each item has its answer")?,
            Err(error) => return Err(Problem::from(&*error)),
        };
        Ok(Resource::of(&stat, &mut names).map_err(unanswered)?)
    };
    let outcome = |refused: Option<Problem>| match refused {
        Some(problem) => Err(problem).into(),
        None => published().into(),
    };
    refused.into_iter().map(outcome).collect()
}
