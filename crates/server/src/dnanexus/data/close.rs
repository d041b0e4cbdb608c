//! `close` of a file: its parts become its content, in the commit that closes it.
//!
//! Invariant: once `close` returns, the file is closed and durable; there is no state in between. Closing a closed file
//! changes nothing, so that a client may repeat a call whose answer it did not get.

use cenote_store::{Completion, Error, ErrorKind, Notes, Part, UploadId};
use serde_json::Value;

use super::upload::number;
use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::question::Call;
use crate::dnanexus::id::ObjectId;
use crate::dnanexus::note::{self, OPENING, PartsNote, State};
use crate::dnanexus::object::Place;
use crate::dnanexus::object::change::{current, done};

pub(crate) async fn close(call: Call, id: ObjectId) -> Result<Value, Fault> {
    let place = call.blocking(move |call| call.object(id, None)).await?;
    if !place.is_open() {
        return Ok(done(id));
    }
    match complete(&call, place).await {
        Ok(()) => Ok(done(id)),
        Err(fault) => {
            // A concurrent call may have closed it at any step.
            let now = call.blocking(move |call| call.object(id, None)).await?;
            if now.is_open() { Err(fault) } else { Ok(done(id)) }
        }
    }
}

async fn complete(call: &Call, place: Place) -> Result<(), Fault> {
    let id = place.id;
    let upload = call.clone().blocking(move |call| sent(call, id)).await?;
    let how = Completion { in_order: true, ..Completion::default() };
    let also = move |notes: &mut Notes<'_>, parts: &[Part]| settle(notes, &place, parts);
    call.store().complete_upload_with(&call.caller, upload, how, OPENING, also).await?;
    Ok(())
}

/// The upload of a file, of which a part has come.
fn sent(call: &Call, id: ObjectId) -> Result<UploadId, Fault> {
    let none =
        || Fault::state(format!("\"{id}\" has no parts: upload at least one before closing it"));
    let place = call.object(id, None)?;
    let upload: UploadId = place.note.upload.as_ref().ok_or_else(none)?.parse()?;
    let parts = call.store().upload(&call.caller, upload).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Fault::state(format!(
            "\"{id}\" is being uploaded by somebody else, or was not closed in time"
        )),
        _ => error.into(),
    })?;
    if parts.parts.is_empty() { Err(none()) } else { Ok(upload) }
}

fn settle(notes: &mut Notes<'_>, place: &Place, parts: &[Part]) -> cenote_store::Result<()> {
    let mut note = current(notes, place)?;
    if note.state != State::Open {
        let message = format!("\"{}\" is not in the open state", place.id);
        return Err(Error::new(ErrorKind::Precondition, message));
    }
    note.state = State::Closed;
    note.upload = None;
    note.parts = Some(PartsNote::of(parts.iter().map(|part| (number(part.offset), part))));
    note::forget_nonces(notes, place.stat.id)?;
    note::keep_object(notes, place.id, place.stat.id, &note)
}
