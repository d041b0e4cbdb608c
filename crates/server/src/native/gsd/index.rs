//! The structure of a trajectory: the program that wrote it, its names, and the chunks of one frame.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use cenote_gsd::Entry;

use super::content::{StoreReader, examine, refused};
use super::frame_number;
use crate::app::App;
use crate::layer::Reader;
use crate::native::json::{FrameQuery, GsdIndex, GsdItem, Target};
use crate::native::request::address::About;
use crate::native::request::conditional::{Verdict, judge_read, validators};
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// The structure of a GSD trajectory, and the type and shape of each chunk of one frame.
#[utoipa::path(get, path = "/v1/gsd", tag = "formats", params(Target, FrameQuery), responses(
    (status = 200, body = GsdIndex),
    (status = 304, description = "The client has the current state"),
))]
pub(in crate::native) async fn index(
    State(app): State<App>,
    Reader(caller): Reader,
    About(at, query): About<FrameQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let examined = examine(&app, caller, at, query.version, move |reader| {
        let inherit = query.inherit.unwrap_or_else(|| reader.is_hoomd());
        describe(reader, query.frame, inherit)
    });
    let (opened, index) = examined.await?;
    let (tag, modified) = (opened.head.tag(), opened.stat.resource.written());
    let described = validators(&tag, modified);
    match judge_read(&headers, &tag, modified)? {
        Verdict::NotModified => Ok((StatusCode::NOT_MODIFIED, described).into_response()),
        Verdict::Proceed { .. } => Ok((described, Json(index)).into_response()),
    }
}

fn describe(reader: &StoreReader, frame: i64, inherit: bool) -> Result<GsdIndex, Problem> {
    let header = reader.header();
    // A file without any frame still has metadata.
    let frame = match (reader.frames(), frame) {
        (0, 0) => None,
        _ => Some(frame_number(reader, frame)?),
    };
    let items = frame.map(|frame| items(reader, frame, inherit)).transpose().map_err(refused)?;
    Ok(GsdIndex {
        application: text(header.application()),
        schema: text(header.schema()),
        schema_version: header.schema_version().to_string(),
        gsd_version: header.gsd_version().to_string(),
        frames: reader.frames(),
        chunks: reader.chunks(),
        names: reader.names().iter().map(text).collect(),
        frame,
        items: items.unwrap_or_default(),
    })
}

/// The chunks of a frame by name, with those of frame 0 that it inherits.
fn items(reader: &StoreReader, frame: u64, inherit: bool) -> cenote_gsd::Result<Vec<GsdItem>> {
    let mut found: BTreeMap<u16, Entry> = entries(reader, frame)?;
    if inherit && frame > 0 {
        let inheritance = reader.inheritance(frame)?;
        for (id, entry) in entries(reader, 0)? {
            if reader.names().get(id).is_some_and(|name| inheritance.covers(name)) {
                found.entry(id).or_insert(entry);
            }
        }
    }
    Ok(found.into_values().map(|entry| item(reader, &entry)).collect())
}

fn entries(reader: &StoreReader, frame: u64) -> cenote_gsd::Result<BTreeMap<u16, Entry>> {
    let entries = reader.frame(frame)?.into_iter().map(|entry| (entry.name_id(), entry));
    Ok(entries.collect())
}

fn item(reader: &StoreReader, entry: &Entry) -> GsdItem {
    GsdItem {
        name: text(reader.names().get(entry.name_id()).unwrap_or_default()),
        r#type: entry.chunk_type().name(),
        shape: [entry.rows(), entry.columns().into()],
        frame: entry.frame(),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
