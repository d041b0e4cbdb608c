//! The contents that many objects had, as one tar stream.

use axum::extract::State;
use axum::response::Response;
use cenote_store::{Opened, Past, PastReader, Stat, StorePath, Time};

use crate::app::App;
use crate::layer::Reader;
use crate::native::bulk::archive::{MOST, OPENED, Packer, answer, other};
use crate::native::json::PastArchiveQuestion;
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// The contents that objects had at a moment, in the requested order, as a POSIX pax archive; resources that were not objects, were not kept, or may not be
/// read, are left out. Paths are below the root. The pax records `CENOTE.id` and `CENOTE.etag` identify an entry.
#[utoipa::path(post, path = "/v1/past/archive", tag = "past", request_body = PastArchiveQuestion,
    responses((status = 200, body = Vec<u8>, content_type = "application/x-tar")))]
pub(crate) async fn archive(
    State(app): State<App>,
    Reader(caller): Reader,
    Json(question): Json<PastArchiveQuestion>,
) -> Result<Response, Problem> {
    if question.paths.len() > MOST {
        return Err(Problem::invalid(format!("more than {MOST} objects in one archive")));
    }
    let paths: Result<Vec<StorePath>, _> = question.paths.iter().map(|path| path.parse()).collect();
    let (paths, viewer, moment) = (paths?, caller.clone(), question.as_of.0);
    let reader = app.blocking(move |store| store.at_moment(&viewer, moment)).await?;
    Ok(answer(async move |builder| {
        let packer = Packer { app, caller, above: StorePath::root(), builder };
        pack(packer, reader, &paths).await
    }))
}

async fn pack(
    mut packer: Packer,
    mut reader: PastReader,
    paths: &[StorePath],
) -> std::io::Result<()> {
    for paths in paths.chunks(OPENED) {
        let paths = paths.to_vec();
        let opened = packer.app.blocking(move |store| {
            let opened = store.open_at(&mut reader, &paths)?;
            Ok((opened, reader))
        });
        let (found, behind) = opened.await.map_err(other)?;
        reader = behind;
        for (past, opened) in found.into_iter().flatten() {
            let (stat, mtime) = as_it_was(&past, &opened);
            packer.add_content(opened, &stat, mtime).await?;
        }
    }
    packer.finish().await
}

/// The entry that the object would have had at the moment.
fn as_it_was(past: &Past, opened: &Opened) -> (Stat, Time) {
    let (mut stat, was) = (opened.stat.clone(), past.attributes.as_ref());
    stat.resource.content = Some(opened.head.clone());
    stat.resource.mode = was.and_then(|was| was.mode);
    let written = was.map_or_else(|| stat.resource.written(), |was| was.written);
    (stat, was.and_then(|was| was.mtime).unwrap_or(written))
}
