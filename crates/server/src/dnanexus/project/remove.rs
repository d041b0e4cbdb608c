//! `removeObjects` and `destroy`.

use cenote_store::RemoveOptions;
use serde_json::Value;

use super::Project;
use crate::dnanexus::call::fault::{ErrorType, Fault};
use crate::dnanexus::call::question::Call;
use crate::dnanexus::object::change::done;

/// `removeObjects`: this project no longer has them; other projects that do keep them. With `force`, those that are not there
/// are skipped.
pub(crate) fn objects(call: &Call, project: &Project) -> Result<Value, Fault> {
    let input = call.input()?;
    let ids = input.texts("objects")?.ok_or_else(|| Fault::input("\"objects\" is missing"))?;
    let force = input.is("force")?;
    project.require_removal()?;
    let mut places = Vec::new();
    for id in ids {
        match call.object_id(id).and_then(|id| call.object_in(id, project)) {
            Err(fault) if force && fault.kind() == ErrorType::ResourceNotFound => {}
            found => places.push(found?),
        }
    }
    places.dedup_by_key(|place| place.id);
    for place in places {
        let removed = call.store().remove(&call.caller, &place.at(), &RemoveOptions::default());
        match removed {
            // Listed twice, or removed by another caller in the meantime.
            Err(error) if error.kind() == cenote_store::ErrorKind::NotFound => {}
            done => drop(done?),
        }
    }
    Ok(done(project.id()))
}

/// `destroy`: removes the project with all that is in it.
pub(crate) fn destroy(call: &Call, project: &Project) -> Result<Value, Fault> {
    project.require("ADMINISTER")?;
    let options = RemoveOptions { recursive: true, ..RemoveOptions::default() };
    call.store().remove(&call.caller, &project.at(), &options)?;
    Ok(done(project.id()))
}
