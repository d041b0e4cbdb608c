//! Descriptions of objects.

use std::collections::BTreeSet;

use cenote_store::{Algorithm, Avu, Reading, Stat};
use serde_json::{Map, Value, json};

use super::Place;
use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::question::{Call, millis};
use crate::dnanexus::fields::{Description, Fields};
use crate::dnanexus::id::{Class, ObjectId};
use crate::dnanexus::note::PartsNote;
use crate::dnanexus::project::project_of;
use crate::dnanexus::words;

/// An object, and the project that has it; with its attributes, if they were read.
#[derive(Debug)]
pub(crate) struct DescribedObject<'a> {
    pub(crate) place: &'a Place,
    /// None if it is in no project that the caller may see.
    pub(crate) project: Option<&'a Stat>,
    pub(crate) avus: Option<Vec<Avu>>,
}

/// Describes an object wherever it is.
pub(crate) fn describe(
    call: &Call,
    reading: &Reading,
    place: &Place,
    fields: &Fields,
) -> Result<Value, Fault> {
    let project = project_of(reading, &place.stat.path)?;
    let described = DescribedObject { place, project: project.as_ref(), avus: None };
    describe_found(call, reading, described, fields)
}

/// Describes what a search found.
pub(crate) fn describe_found(
    call: &Call,
    reading: &Reading,
    described: DescribedObject<'_>,
    fields: &Fields,
) -> Result<Value, Fault> {
    let DescribedObject { place, project, avus } = described;
    let (resource, note) = (&place.stat.resource, &place.note);
    let mut shown = Description::new(fields, place.id);
    shown.usual("project", project.map(|project| ObjectId::project(project.id).to_string()));
    shown.usual("class", place.id.class.as_str());
    shown.usual("sponsored", false);
    shown.usual("name", place.name());
    shown.usual("types", note.types.clone());
    shown.usual("state", note.state.as_str());
    shown.usual("hidden", note.hidden);
    if shown.shows("links") {
        shown.usual("links", note.details.as_ref().map(links).unwrap_or_default());
    }
    let folder = project.map(|project| place.folder(&project.path).to_string());
    shown.usual("folder", folder.unwrap_or_else(|| "/".to_owned()));
    shown.usual("created", place.created());
    shown.usual("modified", millis(resource.modified));
    if shown.shows("createdBy") {
        let user = call.store().person_name(resource.created_by)?;
        shown.usual("createdBy", json!({ "user": format!("user-{user}") }));
    }
    if place.id.class == Class::File {
        describe_file(call, place, &mut shown)?;
    }
    if shown.shows("tags") || shown.wants("properties") {
        let avus = avus.map_or_else(|| reading.avus(place.stat.id.0), Ok)?;
        shown.usual("tags", words::tags(&avus));
        shown.special("properties", || Ok(json!(words::properties(&avus))))?;
    }
    // Not part of the protocol: needed by programs that also use the native opening.
    shown.special("resource", || Ok(json!(place.stat.id.0)))?;
    shown.special("knownAs", || Ok(json!(note.known)))?;
    shown.special("details", || Ok(note.details.clone().unwrap_or_else(|| json!({}))))?;
    Ok(shown.finish())
}

fn describe_file(call: &Call, place: &Place, shown: &mut Description<'_>) -> Result<(), Fault> {
    let content = place.stat.resource.content.as_ref();
    let media = content.and_then(|content| content.media_type.as_deref());
    shown.usual("media", media.unwrap_or("application/octet-stream"));
    shown.usual("archivalState", place.archival(call.store().now()));
    shown.usual("cloudAccount", "cloudaccount-dnanexus");
    if !place.is_open() {
        shown.usual("size", place.stat.size());
    }
    shown.special("parts", || Ok(parts(call, place)))
}

/// The parts of a closed file. A file of another opening has a single part, with the MD5 once that is known.
fn parts(call: &Call, place: &Place) -> Value {
    let Some(content) = &place.stat.resource.content else { return json!({}) };
    let sent = place.note.parts.as_ref().filter(|parts| parts.are_of(content));
    if let Some(PartsNote { parts, .. }) = sent {
        let shown = |(number, size, md5): &(u64, u64, String)| {
            (number.to_string(), json!({ "size": size, "md5": md5, "state": "complete" }))
        };
        return Value::Object(parts.iter().map(shown).collect());
    }
    let mut whole = Map::from_iter([("size".to_owned(), json!(content.size))]);
    whole.insert("state".to_owned(), json!("complete"));
    match content.digests.get(Algorithm::Md5) {
        Some(md5) => drop(whole.insert("md5".to_owned(), hex::encode(md5).into())),
        None if place.is_open() => {}
        None => call.unhashed.note(&place.stat),
    }
    json!({ "1": whole })
}

/// The ids that details link to, each once, in order.
pub(crate) fn links(details: &Value) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut rest = vec![details];
    while let Some(value) = rest.pop() {
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(members) => match members.get("$dnanexus_link") {
                Some(Value::String(id)) => drop(found.insert(id.clone())),
                Some(Value::Object(link)) => {
                    let id = link.get("id").and_then(Value::as_str);
                    found.extend(id.map(str::to_owned));
                }
                _ => rest.extend(members.values()),
            },
            _ => {}
        }
    }
    found.into_iter().collect()
}
