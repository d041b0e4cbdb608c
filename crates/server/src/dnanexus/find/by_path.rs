//! `system/findFolder`, which is no method of the protocol: the project and the folder that a path of the store is. Programs that know
//! both names need it.

use cenote_store::{At, Kind, StorePath};
use serde_json::{Value, json};

use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::folder::Folder;
use crate::dnanexus::call::question::Call;
use crate::dnanexus::id::ObjectId;
use crate::dnanexus::project::project_of;

pub(crate) fn find(call: &Call) -> Result<Value, Fault> {
    let text = call.input()?.need("path")?;
    let missing = || Fault::missing(format!("there is no folder of a project at {text:.256}"));
    let path: StorePath = text.parse()?;
    let reading = call.store().reading(&call.caller)?;
    let stat =
        reading.stat(&At::from(&path))?.filter(|stat| stat.resource.kind == Kind::Collection);
    let stat = stat.ok_or_else(missing)?;
    let project = project_of(&reading, &stat.path)?.ok_or_else(missing)?;
    let id = ObjectId::project(project.id);
    let folder = Folder::of(&call.project(&id.to_string())?.stat.path, &stat.path);
    Ok(json!({ "project": id.to_string(), "folder": folder.to_string() }))
}
