//! `project/new` and `update`.

use cenote_store::{At, CreateOptions, Draft, ErrorKind, MoveOptions, Name, Notes, StorePath};
use serde_json::{Map, Value, json};

use super::describe::settings;
use super::{Project, home};
use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::input::Input;
use crate::dnanexus::call::question::Call;
use crate::dnanexus::id::{Class, ObjectId};
use crate::dnanexus::name::{self, with_free_name};
use crate::dnanexus::note::{self, OPENING, ProjectNote, ShownName};
use crate::dnanexus::object::change::done;
use crate::dnanexus::object::new::former_id;
use crate::dnanexus::words;

/// `project/new`: a collection in the caller's home.
pub(crate) fn create(call: &Call) -> Result<Value, Fault> {
    let input = call.input()?;
    let name = name::checked(input.need("name")?)?;
    let words = words::initial(input)?;
    let settings = changed(Map::new(), input)?;
    require_possible(call, input, call.caller.name())?;
    let region = region(call, input)?;
    let home = home_of(call)?;
    let (store, caller, at) = (call.store(), &call.caller, At::from(&home));
    let stat = with_free_name((store, caller, &at), name, |free: &Name| {
        let also = |notes: &mut Notes<'_>| {
            let Some(own) = notes.resource() else { return Ok(()) };
            let shown = ShownName::of(name, free.as_str());
            note::keep_project(
                notes,
                own,
                &ProjectNote {
                    shown,
                    settings: settings.clone(),
                    region: region.clone(),
                    known: None,
                },
            )
        };
        let path = home.join(free.clone())?;
        store.create_with(
            caller,
            &path,
            Draft::Collection,
            CreateOptions::default(),
            (OPENING, also),
        )
    })?;
    call.describe_as(stat.id, &words)?;
    Ok(done(ObjectId::project(stat.id)))
}

/// The caller's home, which is created if it is missing.
fn home_of(call: &Call) -> Result<StorePath, Fault> {
    let name = Name::new(call.caller.name())?;
    let path = StorePath::root().join(home())?.join(name)?;
    match call.store().stat(&call.caller, &At::from(&path)) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            call.store().make_home(&call.caller, call.caller.name())?;
        }
        Err(error) => return Err(error.into()),
    }
    Ok(path)
}

/// `update`: the name and the settings.
pub(crate) fn update(call: &Call, project: &Project) -> Result<Value, Fault> {
    let input = call.input()?;
    let name = input.text("name")?.map(name::checked).transpose()?;
    let settings = changed(project.note.settings.clone(), input)?;
    project.require("ADMINISTER")?;
    let owner = call.store().person_name(project.stat.resource.owner)?;
    require_possible(call, input, &owner)?;
    if input.text("region")?.is_some_and(|region| region != project.region(call)) {
        return Err(Fault::input("a project stays in its region"));
    }
    let known = former_id(input, Class::Project)?.or(project.note.known.clone());
    let (store, caller, own) = (call.store(), &call.caller, project.stat.id);
    let keep = |notes: &mut Notes<'_>, shown: Option<ShownName>| {
        let region = project.note.region.clone();
        let note = ProjectNote { shown, settings: settings.clone(), region, known: known.clone() };
        note::keep_project(notes, own, &note)
    };
    let Some(name) = name.filter(|name| *name != project.name()) else {
        let shown = project.note.shown.clone();
        store.change_notes_about(caller, &project.at(), OPENING, |notes| {
            keep(notes, shown.clone())
        })?;
        return Ok(done(project.id()));
    };
    let above = At::Id(project.stat.resource.parent);
    with_free_name((store, caller, &above), name, |free: &Name| {
        let to = At::Child(project.stat.resource.parent, free.clone());
        let also = |notes: &mut Notes<'_>| keep(notes, ShownName::of(name, free.as_str()));
        store.relocate_with(caller, &project.at(), &to, MoveOptions::default(), (OPENING, also))
    })?;
    Ok(done(project.id()))
}

/// The region of a new project; none where it is the usual one.
fn region(call: &Call, input: Input<'_>) -> Result<Option<String>, Fault> {
    let Some(region) = input.text("region")? else { return Ok(None) };
    match call.regions().iter().position(|known| known == region) {
        Some(usual) => Ok((usual > 0).then(|| region.to_owned())),
        None => Err(Fault::input(format!("there is no region {region:.64?}"))),
    }
}

/// Refuses what no project has here: another account that pays, and data of patients under special protection.
fn require_possible(call: &Call, input: Input<'_>, owner: &str) -> Result<(), Fault> {
    let pays = format!("user-{owner}");
    if let Some(other) = input.text("billTo")?.filter(|other| **other != pays) {
        return Err(Fault::input(format!("{pays} is billed for the project, not {other:.64?}")));
    }
    match input.is("containsPHI")? {
        true => {
            let name = call.caller.name();
            Err(Fault::denied(format!("PHI features must be enabled for user-{name}")))
        }
        false => Ok(()),
    }
}

/// Settings with those that an input changes. Other types than they have are refused.
fn changed(mut kept: Map<String, Value>, input: Input<'_>) -> Result<Map<String, Value>, Fault> {
    for (key, initial) in settings() {
        let Some(value) = input.members().get(key) else { continue };
        let is_of_type = match &initial {
            Value::Bool(_) => value.is_boolean(),
            Value::String(_) => value.as_str().is_some_and(|text| text.len() <= 65_536),
            _ => value.to_string().len() <= 65_536,
        };
        if !is_of_type {
            return Err(Fault::input(format!("\"{key}\" has the wrong type, or is too long")));
        }
        kept.insert(key.to_owned(), value.clone());
    }
    restrict_previews(&mut kept, input)?;
    Ok(kept)
}

/// Where downloads are restricted, previews are, too, until that is taken back by itself.
fn restrict_previews(kept: &mut Map<String, Value>, input: Input<'_>) -> Result<(), Fault> {
    let previews = input.flag("previewViewerRestricted")?;
    let was = kept.get("previewViewerRestricted") == Some(&json!(true));
    match input.flag("downloadRestricted")? {
        Some(true) if previews.is_none() => {
            kept.insert("previewViewerRestricted".to_owned(), json!(true));
            Ok(())
        }
        Some(false) if was && previews != Some(false) => {
            Err(Fault::input("unset \"previewViewerRestricted\" first"))
        }
        _ => Ok(()),
    }
}

/// `addTags` and `removeTags` of a project.
pub(crate) fn tag(call: &Call, project: &Project, add: bool) -> Result<Value, Fault> {
    let input = call.input()?;
    let changes = if add { words::add_tags(input)? } else { words::remove_tags(input)? };
    call.describe_as(project.stat.id, &changes)?;
    Ok(done(project.id()))
}

/// `setProperties` of a project.
pub(crate) fn set_properties(call: &Call, project: &Project) -> Result<Value, Fault> {
    call.describe_as(project.stat.id, &words::set_properties(call.input()?)?)?;
    Ok(done(project.id()))
}
