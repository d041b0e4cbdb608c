//! Folders: listing, making, renaming and removing them.

use cenote_store::{
    At, CreateOptions, Draft, ErrorKind, Kind, ListOptions, MoveOptions, Name, Reading,
    RemoveOptions, Stat,
};
use serde_json::{Value, json};

use super::{Project, project_note};
use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::folder::{self, Folder};
use crate::dnanexus::call::question::Call;
use crate::dnanexus::fields::Fields;
use crate::dnanexus::note::OPENING;
use crate::dnanexus::object::Place;
use crate::dnanexus::object::change::{done, relocate};
use crate::dnanexus::object::describe::{DescribedObject, describe_found};

/// The notes about so many resources are read together.
const AHEAD: usize = 250;

/// `listFolder`.
pub(crate) fn list(call: &Call, project: &Project) -> Result<Value, Fault> {
    let input = call.input()?;
    let folder = Folder::member(input, "folder")?.unwrap_or_default();
    let fields = Fields::member(input.value("describe"))?;
    let hidden = input.is("includeHidden")?;
    let (with_folders, with_objects) = match input.text("only")?.unwrap_or("all") {
        "all" => (true, true),
        "folders" => (true, false),
        "objects" => (false, true),
        other => return Err(Fault::input(format!("\"only\" cannot be {other:.64?}"))),
    };
    let collection = project.folder(call, &folder)?;
    let reading = call.store().reading(&call.caller)?;
    let (mut folders, mut objects) = (Vec::new(), Vec::new());
    let children = children(call, &collection)?;
    for (n, stat) in children.iter().enumerate() {
        foresee_notes(&reading, &children, n)?;
        if stat.resource.kind == Kind::Collection {
            if with_folders && project_note(&reading, stat)?.is_none() {
                folders.push(Folder::of(&project.stat.path, &stat.path).to_string());
            }
        } else if with_objects
            && let Some(place) =
                Place::of(&reading, stat.clone())?.filter(|place| hidden || !place.note.hidden)
        {
            objects.push(listed(call, &reading, (project, &place), fields.as_ref())?);
        }
    }
    Ok(json!({ "folders": folders, "objects": objects }))
}

fn listed(
    call: &Call,
    reading: &Reading,
    (project, place): (&Project, &Place),
    fields: Option<&Fields>,
) -> Result<Value, Fault> {
    let mut object = json!({ "id": place.id.to_string() });
    if let Some(fields) = fields {
        let described = DescribedObject { place, project: Some(&project.stat), avus: None };
        object["describe"] = describe_found(call, reading, described, fields)?;
    }
    Ok(object)
}

/// Reads the notes about the next of some resources, before those about the one of this number are needed.
pub(crate) fn foresee_notes(reading: &Reading, of: &[Stat], number: usize) -> Result<(), Fault> {
    match number % AHEAD {
        0 => Ok(reading.foresee_notes_about(OPENING, &of[number..of.len().min(number + AHEAD)])?),
        _ => Ok(()),
    }
}

/// All children of a collection that the caller may see.
pub(crate) fn children(call: &Call, collection: &Stat) -> Result<Vec<Stat>, Fault> {
    let mut children = Vec::new();
    let mut options = ListOptions { after: None, limit: ListOptions::MAX };
    loop {
        let page = call.store().list(&call.caller, &At::Id(collection.id), &options)?;
        children.extend(page.entries);
        options.after = page.next;
        if options.after.is_none() {
            return Ok(children);
        }
    }
}

/// The files in a collection; with `deep`, also in the folders below it.
pub(crate) fn files_below(call: &Call, collection: &Stat, deep: bool) -> Result<Vec<Place>, Fault> {
    let reading = call.store().reading(&call.caller)?;
    let (mut files, mut rest) = (Vec::new(), vec![collection.clone()]);
    while let Some(collection) = rest.pop() {
        let children = children(call, &collection)?;
        for (n, child) in children.iter().enumerate() {
            foresee_notes(&reading, &children, n)?;
            match child.resource.kind {
                Kind::Object => files.extend(Place::of(&reading, child.clone())?),
                Kind::Collection if deep && project_note(&reading, child)?.is_none() => {
                    rest.push(child.clone());
                }
                _ => {}
            }
        }
    }
    Ok(files)
}

/// `newFolder`.
pub(crate) fn new(call: &Call, project: &Project) -> Result<Value, Fault> {
    let input = call.input()?;
    let folder = Folder::need(input, "folder")?;
    project.require("CONTRIBUTE")?;
    if input.is("parents")? {
        make_folders(call, project, &folder)?;
        return Ok(done(project.id()));
    }
    let (above, name) = folder.split().ok_or_else(|| exists(&folder))?;
    let above = project.folder(call, &above)?;
    make(call, &above, name, false).map_err(|fault| fault.unwrap_or_else(|| exists(&folder)))?;
    Ok(done(project.id()))
}

fn exists(folder: &Folder) -> Fault {
    Fault::state(format!("The folder \"{folder}\" already exists"))
}

/// Creates a folder and its missing parents; returns it.
pub(crate) fn make_folders(call: &Call, project: &Project, folder: &Folder) -> Result<Stat, Fault> {
    let mut at = project.stat.clone();
    for name in &folder.0 {
        at =
            make(call, &at, name, true).map_err(|fault| fault.unwrap_or_else(|| exists(folder)))?;
    }
    // A project inside this one is not one of its folders.
    project.folder(call, folder)
}

/// Creates a collection; an existing one is not an error if allowed, otherwise `None`. An object with the name gets another one in
/// the tree.
fn make(call: &Call, above: &Stat, name: &Name, exist_ok: bool) -> Result<Stat, Option<Fault>> {
    let fault = |fault: Fault| Some(fault);
    let path = above.path.join(name.clone()).map_err(|error| fault(error.into()))?;
    let options = CreateOptions { exist_ok, ..CreateOptions::default() };
    let (store, caller) = (call.store(), &call.caller);
    match store.create(caller, &path, Draft::Collection, options) {
        Err(error) if error.kind() == ErrorKind::Exists => {}
        made => return made.map_err(|error| fault(error.into())),
    }
    let there = store.stat(caller, &At::from(&path)).map_err(|error| fault(error.into()))?;
    if there.resource.kind == Kind::Collection {
        return Err(None);
    }
    step_aside(call, there).map_err(fault)?;
    store.create(caller, &path, Draft::Collection, options).map_err(|error| fault(error.into()))
}

/// Renames an object in the tree whose name a folder needs. It is shown under the same name.
fn step_aside(call: &Call, stat: Stat) -> Result<(), Fault> {
    let reading = call.store().reading(&call.caller)?;
    let folder = At::Id(stat.resource.parent);
    let Some(place) = Place::of(&reading, stat)? else { return Ok(()) };
    let name = place.name().to_owned();
    relocate(call, &place, folder, &name)
}

/// `renameFolder`: another name in the same folder, or another path.
pub(crate) fn rename(call: &Call, project: &Project) -> Result<Value, Fault> {
    let input = call.input()?;
    let from = Folder::need(input, "folder")?;
    let (above, _) = from.split().ok_or_else(|| Fault::input("the root has no name"))?;
    let to = match (input.text("name")?, Folder::member(input, "newpath")?) {
        (Some(text), None) => above.join(folder::name(text)?),
        (None, Some(path)) => path,
        _ => return Err(Fault::input("give one of \"name\" and \"newpath\"")),
    };
    move_folder(call, project, &from, &to)?;
    Ok(done(project.id()))
}

/// Moves a folder to a path of the same project.
pub(crate) fn move_folder(
    call: &Call,
    project: &Project,
    from: &Folder,
    to: &Folder,
) -> Result<(), Fault> {
    let moved = project.folder(call, from)?;
    let (above, name) = to.split().ok_or_else(|| Fault::state("the root already exists"))?;
    if from.contains(to) && from != to {
        return Err(Fault::input(format!("\"{from}\" cannot be moved into itself")));
    }
    let above = project.folder(call, &above)?;
    let target = At::Child(above.id, name.clone());
    let (store, caller) = (call.store(), &call.caller);
    let attempt = || store.relocate(caller, &At::Id(moved.id), &target, MoveOptions::default());
    match attempt() {
        Err(error) if error.kind() == ErrorKind::Exists => {
            let there = store.stat(caller, &target)?;
            if there.resource.kind == Kind::Collection {
                return Err(exists(to));
            }
            step_aside(call, there)?;
            attempt()?;
        }
        done => drop(done?),
    }
    Ok(())
}

/// `removeFolder`. With `partial`, the answer says whether it is complete: always, here.
pub(crate) fn remove(call: &Call, project: &Project) -> Result<Value, Fault> {
    let input = call.input()?;
    let folder = Folder::need(input, "folder")?;
    let (recurse, force) = (input.is("recurse")?, input.is("force")?);
    project.require_removal()?;
    if folder.is_root() {
        if !recurse {
            return Err(Fault::input("the root cannot be removed"));
        }
        return empty(call, project);
    }
    let stat = match project.folder(call, &folder) {
        Err(fault)
            if force
                && fault.kind() == crate::dnanexus::call::fault::ErrorType::ResourceNotFound =>
        {
            return Ok(removed(project));
        }
        found => found?,
    };
    let options = RemoveOptions { recursive: recurse, ..RemoveOptions::default() };
    call.store().remove(&call.caller, &At::Id(stat.id), &options).map_err(|error| {
        match error.kind() {
            ErrorKind::NotEmpty => Fault::state(format!("The folder \"{folder}\" is not empty")),
            _ => error.into(),
        }
    })?;
    Ok(removed(project))
}

/// Removes all that is in the root of a project.
fn empty(call: &Call, project: &Project) -> Result<Value, Fault> {
    let reading = call.store().reading(&call.caller)?;
    let options = RemoveOptions { recursive: true, ..RemoveOptions::default() };
    for child in children(call, &project.stat)? {
        if project_note(&reading, &child)?.is_none() {
            call.store().remove(&call.caller, &At::Id(child.id), &options)?;
        }
    }
    Ok(removed(project))
}

fn removed(project: &Project) -> Value {
    json!({ "id": project.id().to_string(), "completed": true })
}
