//! `download`: an address of a content.

use std::time::Duration;

use percent_encoding::utf8_percent_encode;
use serde_json::{Value, json};

use super::{SEGMENT, SHARED};
use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::question::{Call, millis};
use crate::dnanexus::id::{Class, ObjectId};
use crate::dnanexus::object::Place;

/// The default and maximum validity of an address, in seconds.
const USUAL: u64 = 24 * 3_600;
const LONGEST: u64 = 366 * 24 * 3_600;

pub(crate) fn address(call: &Call, id: ObjectId) -> Result<Value, Fault> {
    let input = call.input()?;
    let duration = input.count("duration")?.unwrap_or(USUAL);
    if duration == 0 || duration > LONGEST {
        return Err(Fault::input("\"duration\" is from 1 second to a year"));
    }
    let place = call.object_of_input(id)?;
    if id.class != Class::File {
        return Err(Fault::input("only a file has a content"));
    }
    readable(call, &place)?;
    let name = input.text("filename")?.unwrap_or(place.name());
    let name = utf8_percent_encode(name, SEGMENT);
    let expires = millis(call.store().now().plus(Duration::from_secs(duration)));
    if !input.is("preauthenticated")? {
        let url = format!("{}/dnanexus/files/{id}/{name}", call.origin);
        let headers = json!({ "Authorization": call.authorization() });
        return Ok(json!({ "url": url, "headers": headers, "expires": expires }));
    }
    let lifetime = Duration::from_secs(duration);
    let (ticket, _) = call.store().add_reading_ticket(&call.caller, &place.at(), lifetime)?;
    let url = format!("{}{SHARED}{ticket}/{id}/{name}", call.origin);
    Ok(json!({ "url": url, "headers": {}, "expires": expires }))
}

/// Refuses what has no content to read.
pub(crate) fn readable(call: &Call, place: &Place) -> Result<(), Fault> {
    place.require_closed()?;
    match place.archival(call.store().now()) {
        "live" => Ok(()),
        state => Err(Fault::state(format!("\"{}\" is in the archival state {state}", place.id))),
    }
}
