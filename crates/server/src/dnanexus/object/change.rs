//! Methods that change one object.

use cenote_store::{At, MoveOptions, Name, Notes};
use serde_json::{Value, json};

use super::Place;
use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::question::Call;
use crate::dnanexus::id::ObjectId;
use crate::dnanexus::name::{self, with_free_name};
use crate::dnanexus::note::{self, OPENING, ObjectNote, ShownName, State};
use crate::dnanexus::words;

/// What every method that changes an object answers.
pub(crate) fn done(id: ObjectId) -> Value {
    json!({ "id": id.to_string() })
}

impl Call {
    /// The object where the project of the input has it; where it is, if the input names none.
    pub(crate) fn object_of_input(&self, id: ObjectId) -> Result<Place, Fault> {
        match self.input()?.text("project")? {
            Some(project) => self.object_in(id, &self.project(project)?),
            None => self.object(id, None),
        }
    }

    /// Changes the note of an object's place.
    pub(crate) fn renote(
        &self,
        place: &Place,
        change: impl Fn(&mut ObjectNote) -> cenote_store::Result<()>,
    ) -> Result<(), Fault> {
        let (id, own) = (place.id, place.stat.id);
        let also = |notes: &mut Notes<'_>| {
            let mut kept = current(notes, place)?;
            change(&mut kept)?;
            note::keep_object(notes, id, own, &kept)
        };
        Ok(self.store().change_notes_about(&self.caller, &place.at(), OPENING, also)?)
    }
}

/// The note of an object's place, as it is in a commit.
pub(crate) fn current(notes: &Notes<'_>, place: &Place) -> cenote_store::Result<ObjectNote> {
    let about = notes.about(place.stat.id)?;
    Ok(note::object_of(&about, &place.stat).map(|(_, note)| note).unwrap_or_default())
}

/// `addTags` and `removeTags`.
pub(crate) fn tag(call: &Call, id: ObjectId, add: bool) -> Result<Value, Fault> {
    let input = call.input()?;
    let changes = if add { words::add_tags(input)? } else { words::remove_tags(input)? };
    call.describe_as(call.object_of_input(id)?.stat.id, &changes)?;
    Ok(done(id))
}

/// `setProperties`.
pub(crate) fn set_properties(call: &Call, id: ObjectId) -> Result<Value, Fault> {
    let changes = words::set_properties(call.input()?)?;
    call.describe_as(call.object_of_input(id)?.stat.id, &changes)?;
    Ok(done(id))
}

/// `rename`: the resource gets the name, or a numbered one.
pub(crate) fn rename(call: &Call, id: ObjectId) -> Result<Value, Fault> {
    let to = name::checked(call.input()?.need("name")?)?;
    let place = call.object_of_input(id)?;
    if place.name() != to {
        relocate(call, &place, At::Id(place.stat.resource.parent), to)?;
    }
    Ok(done(id))
}

/// Moves an object to a folder, under a name that is shown.
pub(crate) fn relocate(call: &Call, place: &Place, folder: At, name: &str) -> Result<(), Fault> {
    let collection = call.store().stat(&call.caller, &folder)?;
    let (store, caller) = (call.store(), &call.caller);
    let attempt = |free: &Name| {
        let also = |notes: &mut Notes<'_>| {
            let mut kept = current(notes, place)?;
            kept.shown = ShownName::of(name, free.as_str());
            note::keep_object(notes, place.id, place.stat.id, &kept)
        };
        let to = At::Child(collection.id, free.clone());
        store.relocate_with(caller, &place.at(), &to, MoveOptions::default(), (OPENING, also))
    };
    with_free_name((store, caller, &folder), name, attempt)?;
    Ok(())
}

/// `setDetails`: the input is the details.
pub(crate) fn set_details(call: &Call, id: ObjectId) -> Result<Value, Fault> {
    let details = details(&call.input)?;
    let place = call.object(id, None)?;
    change_open(call, &place, |note| note.details = Some(details.clone()))
}

/// Details, if they may be kept.
pub(crate) fn details(value: &Value) -> Result<Value, Fault> {
    match value {
        Value::Object(_) | Value::Array(_) if value.to_string().len() <= MAX_DETAILS => {
            Ok(value.clone())
        }
        Value::Object(_) | Value::Array(_) => Err(Fault::input("details have at most 768 KiB")),
        _ => Err(Fault::input("details are an object or an array")),
    }
}

/// The largest details, in bytes: they are kept in a note.
const MAX_DETAILS: usize = 768 << 10;

/// `getDetails`.
pub(crate) fn get_details(call: &Call, id: ObjectId) -> Result<Value, Fault> {
    let place = call.object(id, None)?;
    Ok(place.note.details.unwrap_or_else(|| json!({})))
}

/// `setVisibility`.
pub(crate) fn set_visibility(call: &Call, id: ObjectId) -> Result<Value, Fault> {
    let hidden = call.input()?.flag("hidden")?;
    let hidden = hidden.ok_or_else(|| Fault::input("\"hidden\" is missing"))?;
    change_open(call, &call.object(id, None)?, |note| note.hidden = hidden)
}

/// `addTypes` and `removeTypes`.
pub(crate) fn change_types(call: &Call, id: ObjectId, add: bool) -> Result<Value, Fault> {
    let types = call.input()?.texts("types")?;
    let types = types.ok_or_else(|| Fault::input("\"types\" is missing"))?;
    if add {
        types.iter().try_for_each(|word| require_type(word))?;
    }
    change_open(call, &call.object(id, None)?, |note| {
        note.types.retain(|known| !types.contains(&known.as_str()));
        if add {
            note.types.extend(types.iter().map(|word| (*word).to_owned()));
        }
    })
}

/// Refuses what the protocol does not take for the name of a type.
pub(crate) fn require_type(word: &str) -> Result<(), Fault> {
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    match !word.is_empty() && word.len() <= 255 && word.bytes().all(letters) {
        true => Ok(()),
        false => {
            let rule = "letters, digits, underscores, periods and hyphens";
            Err(Fault::input(format!(
                "\"types\" must be an array of valid strings for a type name, which has {rule}: {word:.64?}"
            )))
        }
    }
}

/// Changes attributes that are fixed once an object is closed.
fn change_open(
    call: &Call,
    place: &Place,
    change: impl Fn(&mut ObjectNote),
) -> Result<Value, Fault> {
    place.require_open()?;
    call.renote(place, |note| {
        if note.state != State::Open {
            return Err(cenote_store::Error::new(
                cenote_store::ErrorKind::Precondition,
                format!("\"{}\" is not in the open state", place.id),
            ));
        }
        change(note);
        Ok(())
    })?;
    Ok(done(place.id))
}

/// `close` of a record. One that is closed stays so.
pub(crate) fn close_record(call: &Call, id: ObjectId) -> Result<Value, Fault> {
    let place = call.object(id, None)?;
    if place.is_open() {
        let (store, own) = (call.store(), place.stat.id);
        let also = |notes: &mut Notes<'_>| {
            let mut kept = current(notes, &place)?;
            kept.state = State::Closed;
            note::forget_nonces(notes, own)?;
            note::keep_object(notes, id, own, &kept)
        };
        store.change_notes_about(&call.caller, &place.at(), OPENING, also)?;
    }
    Ok(done(id))
}

/// `listProjects`: the level in each project that has it.
pub(crate) fn list_projects(call: &Call, id: ObjectId) -> Result<Value, Fault> {
    let reading = call.store().reading(&call.caller)?;
    let places = call.places(&reading, id)?;
    let mut levels = serde_json::Map::new();
    for place in &places {
        if let Some(project) = crate::dnanexus::project::project_of(&reading, &place.stat.path)? {
            let level = crate::dnanexus::call::question::level(call.rights(project.id)?);
            levels.insert(ObjectId::project(project.id).to_string(), level.into());
        }
    }
    match places.is_empty() {
        true => Err(Fault::no_object(id)),
        false => Ok(Value::Object(levels)),
    }
}
