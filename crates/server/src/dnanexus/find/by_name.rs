//! `system/resolveDataObjects`: objects by their names and folders.

use serde_json::{Value, json};

use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::folder::Folder;
use crate::dnanexus::call::input::Input;
use crate::dnanexus::call::question::Call;
use crate::dnanexus::name::taken;
use crate::dnanexus::object::Place;

/// The most names of a call.
const MOST: usize = 1_000;

pub(crate) fn resolve(call: &Call) -> Result<Value, Fault> {
    let input = call.input()?;
    let named = input.list("objects")?.ok_or_else(|| Fault::input("\"objects\" is missing"))?;
    if named.len() > MOST {
        return Err(Fault::input("\"objects\" has at most 1000 names"));
    }
    let results = named.iter().map(|one| found(call, input, Input::of(one)?));
    Ok(json!({ "results": results.collect::<Result<Vec<_>, _>>()? }))
}

/// The objects of a name; none where there is no such folder.
fn found(call: &Call, all: Input<'_>, one: Input<'_>) -> Result<Vec<Value>, Fault> {
    let name = one.need("name")?;
    let project = one.text("project")?.or(all.text("project")?);
    let project = call.project(project.ok_or_else(|| Fault::input("\"project\" is missing"))?)?;
    let folder = Folder::member(one, "folder")?.or(Folder::member(all, "folder")?);
    let folder = match project.folder(call, &folder.unwrap_or_default()) {
        Err(fault) if fault.kind() == crate::dnanexus::call::fault::ErrorType::ResourceNotFound => {
            return Ok(Vec::new());
        }
        found => found?,
    };
    let reading = call.store().reading(&call.caller)?;
    let mut objects = Vec::new();
    for stat in taken(call.store(), &call.caller, &cenote_store::At::Id(folder.id), name)? {
        let place = Place::of(&reading, stat)?.filter(|place| place.name() == name);
        let of = project.id().to_string();
        objects.extend(place.map(|place| json!({ "project": of, "id": place.id.to_string() })));
    }
    Ok(objects)
}
