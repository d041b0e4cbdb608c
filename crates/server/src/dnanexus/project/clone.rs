//! `clone`: objects and folders of a project, also in another one.
//!
//! Invariant: a project has an object once; one that the other project has already is not cloned again, and is reported. An
//! open object or an existing folder refuses all of it, which is one change (`call::whole`).

use std::collections::{BTreeMap, BTreeSet};

use cenote_store::{At, CopyOptions, Kind, Name, Notes, Reading, Stat};
use serde_json::{Value, json};

use super::folders::{children, make_folders};
use super::moves::Named;
use super::{Project, project_note, project_of};
use crate::dnanexus::call::fault::{ErrorType, Fault};
use crate::dnanexus::call::folder::Folder;
use crate::dnanexus::call::question::Call;
use crate::dnanexus::name::with_free_name;
use crate::dnanexus::note::{self, OPENING, ObjectNote, ShownName};
use crate::dnanexus::object::Place;

/// What is to be cloned: folders to create, and objects with their target folders.
#[derive(Default)]
struct Plan {
    folders: BTreeSet<Vec<Name>>,
    objects: BTreeMap<crate::dnanexus::id::ObjectId, (Folder, Place)>,
}

/// `clone`.
pub(crate) fn clone(call: &Call, project: &Project) -> Result<Value, Fault> {
    let input = call.input()?;
    let target = call.project(input.need("project")?)?;
    let destination = Folder::member(input, "destination")?.unwrap_or_default();
    target.require("UPLOAD")?;
    if target.stat.id == project.stat.id {
        return Err(Fault::input("a project cannot be cloned into itself"));
    }
    if !input.is("parents")? {
        target.folder(call, &destination)?;
    }
    let named = Named::of(call, input, project)?;
    let plan = plan(call, project, &target, (named, &destination))?;
    let exists = carry_out(call, &target, (plan, &destination))?;
    Ok(json!({
        "id": project.id().to_string(),
        "project": target.id().to_string(),
        "exists": exists,
    }))
}

fn plan(
    call: &Call,
    project: &Project,
    target: &Project,
    (named, destination): (Named, &Folder),
) -> Result<Plan, Fault> {
    let reading = call.store().reading(&call.caller)?;
    let mut plan = Plan::default();
    for folder in &named.folders {
        let (_, name) = folder.split().ok_or_else(|| Fault::input("the root cannot be cloned"))?;
        let to = destination.join(name.clone());
        if is_there(target.folder(call, &to))? || !plan.folders.insert(to.0.clone()) {
            let message = format!(
                "If cloned, a folder would conflict with the route \"{to}\" of an existing folder"
            );
            return Err(Fault::state(message));
        }
        plan.gather(call, &reading, &project.folder(call, folder)?, &to)?;
    }
    for place in named.objects {
        plan.objects.entry(place.id).or_insert((destination.clone(), place));
    }
    plan.objects.values().try_for_each(|(_, place)| place.require_closed())?;
    Ok(plan)
}

fn is_there(folder: Result<Stat, Fault>) -> Result<bool, Fault> {
    match folder {
        Ok(_) => Ok(true),
        Err(fault) if fault.kind() == ErrorType::ResourceNotFound => Ok(false),
        Err(fault) => Err(fault),
    }
}

impl Plan {
    /// All that is in a folder.
    fn gather(
        &mut self,
        call: &Call,
        reading: &Reading,
        collection: &Stat,
        to: &Folder,
    ) -> Result<(), Fault> {
        let mut rest = vec![(collection.clone(), to.clone())];
        while let Some((collection, to)) = rest.pop() {
            self.folders.insert(to.0.clone());
            for child in children(call, &collection)? {
                if child.resource.kind != Kind::Collection {
                    let place = Place::of(reading, child)?;
                    self.objects.extend(place.map(|place| (place.id, (to.clone(), place))));
                } else if project_note(reading, &child)?.is_none()
                    && let Some(name) = child.name()
                {
                    rest.push((child.clone(), to.join(name.clone())));
                }
            }
        }
        Ok(())
    }
}

/// Clones; returns the ids of the objects that were there already.
fn carry_out(
    call: &Call,
    target: &Project,
    (plan, destination): (Plan, &Folder),
) -> Result<Vec<String>, Fault> {
    make_folders(call, target, destination)?;
    for folder in &plan.folders {
        make_folders(call, target, &Folder(folder.clone()))?;
    }
    let mut exists = Vec::new();
    for (id, (folder, place)) in plan.objects {
        match is_in(call, id, target)? {
            true => exists.push(id.to_string()),
            false => clone_one(call, target, &folder, &place)?,
        }
    }
    Ok(exists)
}

fn is_in(call: &Call, id: crate::dnanexus::id::ObjectId, target: &Project) -> Result<bool, Fault> {
    let reading = call.store().reading(&call.caller)?;
    for place in call.places(&reading, id)? {
        let of = project_of(&reading, &place.stat.path)?;
        if of.is_some_and(|of| of.id == target.stat.id) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Copies a resource, contents shared, with a note that names the object.
fn clone_one(call: &Call, target: &Project, folder: &Folder, place: &Place) -> Result<(), Fault> {
    let to = target.folder(call, folder)?;
    let (store, caller) = (call.store(), &call.caller);
    let created = place.created();
    with_free_name((store, caller, &At::Id(to.id)), place.name(), |free: &Name| {
        let also = |notes: &mut Notes<'_>| {
            let Some(own) = notes.resource() else { return Ok(()) };
            let shown = ShownName::of(place.name(), free.as_str());
            let note = ObjectNote { shown, created: Some(created), ..place.note.clone() };
            note::keep_object(notes, place.id, own, &note)
        };
        let path = to.path.join(free.clone())?;
        store.copy_with(caller, &place.at(), &path, &CopyOptions::default(), (OPENING, also))
    })?;
    Ok(())
}
