//! `move`: objects and folders to another folder of the same project.
//!
//! All of it is one change (`call::whole`).

use cenote_store::At;
use serde_json::Value;

use super::Project;
use super::folders::move_folder;
use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::folder::Folder;
use crate::dnanexus::call::input::Input;
use crate::dnanexus::call::question::Call;
use crate::dnanexus::object::Place;
use crate::dnanexus::object::change::{done, relocate};

/// The objects and folders that an input names, all of which are in the project.
pub(crate) struct Named {
    pub(crate) objects: Vec<Place>,
    pub(crate) folders: Vec<Folder>,
}

impl Named {
    pub(crate) fn of(call: &Call, input: Input<'_>, project: &Project) -> Result<Self, Fault> {
        let mut objects: Vec<Place> = Vec::new();
        for id in input.all_texts("objects")? {
            let place = call.object_in(call.object_id(id)?, project)?;
            if !objects.iter().any(|known| known.id == place.id) {
                objects.push(place);
            }
        }
        let mut folders = Vec::new();
        for text in input.all_texts("folders")? {
            let folder = Folder::parse(text)?;
            project.folder(call, &folder)?;
            if folder.is_root() {
                return Err(Fault::input("the root cannot be moved or cloned"));
            }
            folders.push(folder);
        }
        Ok(Self { objects, folders })
    }
}

/// `move`.
pub(crate) fn relocate_all(call: &Call, project: &Project) -> Result<Value, Fault> {
    let input = call.input()?;
    let destination = Folder::need(input, "destination")?;
    project.require("CONTRIBUTE")?;
    let to = project.folder(call, &destination)?;
    let named = Named::of(call, input, project)?;
    let targets = targets(&named.folders, &destination)?;
    for (folder, target) in targets {
        if folder != &target {
            move_folder(call, project, folder, &target)?;
        }
    }
    for place in &named.objects {
        if place.stat.resource.parent != to.id {
            let name = place.name().to_owned();
            relocate(call, place, At::Id(to.id), &name)?;
        }
    }
    Ok(done(project.id()))
}

/// Each folder with its path in the destination; refused if two would have the same, or one would be in itself.
fn targets<'a>(
    folders: &'a [Folder],
    destination: &Folder,
) -> Result<Vec<(&'a Folder, Folder)>, Fault> {
    let mut targets: Vec<(&Folder, Folder)> = Vec::new();
    for folder in folders {
        let (_, name) = folder.split().ok_or_else(|| Fault::input("the root cannot be moved"))?;
        let target = destination.join(name.clone());
        if folder.contains(destination) {
            return Err(Fault::input(format!("\"{folder}\" cannot be moved into itself")));
        }
        if targets.iter().any(|(_, other)| *other == target) {
            return Err(Fault::state(format!("two folders would be \"{target}\"")));
        }
        targets.push((folder, target));
    }
    Ok(targets)
}
