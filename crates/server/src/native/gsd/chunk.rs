//! One chunk of one frame, or some of its rows.

use std::ops::Range;

use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cenote_gsd::Entry;
use cenote_store::{ErrorKind, Opened};
use futures_util::{StreamExt, stream};

use super::content::{StoreReader, examine, refused};
use super::{frame_number, not_found};
use crate::app::App;
use crate::layer::Reader;
use crate::native::json::{ChunkQuery, FrameQuery, GsdChunk, GsdData, Target};
use crate::native::request::accept::prefers_json;
use crate::native::request::address::About;
use crate::native::request::conditional::{Verdict, judge_read, validators};
use crate::native::request::extract::Json;
use crate::native::request::query::And;
use crate::problem::{Problem, ProblemKind};

/// Bytes of a chunk that are answered as JSON at most; it is written out in memory.
const JSON_MOST: u64 = 1 << 20;

/// One chunk of one frame, as a file for `numpy.load` or as JSON.
#[utoipa::path(get, path = "/v1/gsd/chunk", tag = "formats", params(Target, FrameQuery, ChunkQuery), responses(
    (status = 200, content((Vec<u8> = "application/x-npy"), (GsdChunk = "application/json"))),
    (status = 304, description = "The client has the current state"),
))]
pub(in crate::native) async fn chunk(
    State(app): State<App>,
    Reader(caller): Reader,
    About(at, And(query, wanted)): About<And<FrameQuery, ChunkQuery>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let json = prefers_json(&headers, "application/x-npy");
    let examined = examine(&app, caller, at, query.version, move |reader| {
        let part = Part::find(reader, &query, &wanted)?;
        Ok(if json { Answer::Json(part.read(reader, wanted.name)?) } else { Answer::Npy(part) })
    });
    let (opened, answer) = examined.await?;
    let form = if json { "json" } else { "npy" };
    let (tag, modified) = (format!("{}.{form}", opened.head.tag()), opened.stat.resource.written());
    let mut described = validators(&tag, modified);
    described.insert(header::VARY, HeaderValue::from_static("accept"));
    match judge_read(&headers, &tag, modified)? {
        Verdict::NotModified => Ok((StatusCode::NOT_MODIFIED, described).into_response()),
        Verdict::Proceed { .. } => Ok((described, answer.content(opened)?).into_response()),
    }
}

/// The form that the client prefers.
enum Answer {
    Npy(Part),
    Json(GsdChunk),
}

impl Answer {
    fn content(self, opened: Opened) -> Result<Response, Problem> {
        match self {
            Self::Npy(part) => part.npy(opened),
            Self::Json(chunk) => Ok(Json(chunk).into_response()),
        }
    }
}

/// Rows of a chunk.
struct Part {
    entry: Entry,
    rows: Range<u64>,
}

impl Part {
    fn find(
        reader: &StoreReader,
        query: &FrameQuery,
        wanted: &ChunkQuery,
    ) -> Result<Self, Problem> {
        let frame = frame_number(reader, query.frame)?;
        let inherit = query.inherit.unwrap_or_else(|| reader.is_hoomd());
        let name = wanted.name.as_bytes();
        let found = match inherit {
            true => reader.find_inherited(frame, name),
            false => reader.find(frame, name),
        };
        let entry = found.map_err(refused)?.ok_or_else(|| {
            not_found(format!("frame {frame} has no {}", wanted.name))
                .with_hint("`/v1/gsd` lists the chunks of a frame")
        })?;
        let rows = wanted.rows.as_ref().map_or(0..entry.rows(), |rows| rows.0.clone());
        if rows.end > entry.rows() {
            let kind = ProblemKind::Store(ErrorKind::Range);
            return Err(Problem::new(kind, format!("it has {} rows", entry.rows())));
        }
        Ok(Self { entry, rows })
    }

    fn bytes(&self) -> u64 {
        (self.rows.end - self.rows.start) * self.entry.row_size()
    }

    /// The elements as they are in the file, after the header of the format: a stream that fails
    /// under way breaks off before the length it announced.
    fn npy(&self, opened: Opened) -> Result<Response, Problem> {
        let header = self.entry.npy_header(self.rows.end - self.rows.start);
        let length = header.len() as u64 + self.bytes();
        let start = self.entry.location() + self.rows.start * self.entry.row_size();
        let data = opened.bytes(start..start + self.bytes())?;
        let data = data.inspect(|chunk| {
            if let Err(error) = chunk {
                tracing::error!(%error, "reading failed");
            }
        });
        let body = stream::once(async { Ok(Bytes::from(header)) }).chain(data);
        let headers = [
            (header::CONTENT_TYPE, HeaderValue::from_static("application/x-npy")),
            (header::CONTENT_LENGTH, length.into()),
        ];
        Ok((headers, Body::from_stream(body)).into_response())
    }

    fn read(&self, reader: &StoreReader, name: String) -> Result<GsdChunk, Problem> {
        if self.bytes() > JSON_MOST {
            let kind = ProblemKind::Store(ErrorKind::TooLarge);
            let detail =
                format!("{} bytes are more than the {JSON_MOST} answered as JSON", self.bytes());
            return Err(
                Problem::new(kind, detail).with_hint("ask for fewer `rows`, or for the .npy file")
            );
        }
        let mut data = vec![0; self.bytes() as usize];
        reader.read_rows(&self.entry, self.rows.clone(), &mut data).map_err(refused)?;
        Ok(GsdChunk {
            frame: self.entry.frame(),
            name,
            r#type: self.entry.chunk_type().name(),
            shape: [self.rows.end - self.rows.start, self.entry.columns().into()],
            data: GsdData::of(&self.entry, data),
        })
    }
}
