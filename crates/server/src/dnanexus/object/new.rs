//! `file/new` and `record/new`.
//!
//! Invariant: a new object and its note are one commit, in which its nonce is kept, too: the same call, repeated, finds the
//! object that the first one made. Tags and properties follow in another commit; where that is refused, the object is removed.

use cenote_store::{
    At, AvuChange, CreateOptions, Draft, Expected, Name, Notes, PutOptions, Received,
    RemoveOptions, Stat,
};
use serde_json::{Value, json};

use super::change::{details, done, require_type};
use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::folder::Folder;
use crate::dnanexus::call::input::Input;
use crate::dnanexus::call::question::Call;
use crate::dnanexus::id::{Class, ObjectId, looks_like};
use crate::dnanexus::name::{self, with_free_name};
use crate::dnanexus::note::{self, OPENING, ObjectNote, Once, ShownName, State};
use crate::dnanexus::project::folders::make_folders;
use crate::dnanexus::words;

/// An object to be created.
struct NewObject {
    class: Class,
    /// Its id, if it has no name.
    name: Option<String>,
    note: ObjectNote,
    words: Vec<AvuChange>,
    media: Option<String>,
    once: Option<Once>,
}

/// Creates an object.
pub(crate) fn create(call: &Call, class: Class) -> Result<Value, Fault> {
    let input = call.input()?;
    let project = call.project(input.need("project")?)?;
    let once = Once::of(call.caller.user().0, class, &call.input)?;
    if let Some(made) = once.as_ref().map(|once| repeated(call, once)).transpose()?.flatten() {
        return Ok(done(made));
    }
    project.require("UPLOAD")?;
    let new = NewObject::read(call, input, class, once)?;
    let folder = Folder::member(input, "folder")?.unwrap_or_default();
    let parents = input.is("parents")?;
    let folder = if parents {
        make_folders(call, &project, &folder)?
    } else {
        project.folder(call, &folder)?
    };
    let stat = match new.put(call, &folder) {
        Err(fault) => {
            // Another call with the nonce was faster.
            let made = new.once.as_ref().map(|once| repeated(call, once)).transpose()?.flatten();
            return made.map(done).ok_or(fault);
        }
        Ok(stat) => stat,
    };
    if let Err(refused) = call.describe_as(stat.id, &new.words) {
        let for_good = RemoveOptions { permanent: true, ..RemoveOptions::default() };
        call.store().remove(&call.caller, &At::Id(stat.id), &for_good)?;
        return Err(refused);
    }
    Ok(done(ObjectId::new(class, stat.id)))
}

/// The result of an earlier call with the nonce.
fn repeated(call: &Call, once: &Once) -> Result<Option<ObjectId>, Fault> {
    let (stat, digest) = match call.store().named_by(&call.caller, OPENING, once.name()) {
        Err(error) if error.kind() == cenote_store::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    match once.is_same(&digest) {
        true => Ok(Class::of(stat.resource.kind).map(|class| ObjectId::new(class, stat.id))),
        false => Err(Fault::input("the nonce was used before with another input")),
    }
}

impl NewObject {
    fn read(
        call: &Call,
        input: Input<'_>,
        class: Class,
        once: Option<Once>,
    ) -> Result<Self, Fault> {
        let name = input.text("name")?.map(name::checked).transpose()?;
        let is_closed = class == Class::Record && input.is("close")?;
        let types = input.all_texts("types")?;
        types.iter().try_for_each(|word| require_type(word))?;
        let mut note = ObjectNote {
            state: if is_closed { State::Closed } else { State::Open },
            hidden: input.is("hidden")?,
            types: types.into_iter().map(str::to_owned).collect(),
            details: input.value("details").map(details).transpose()?,
            known: former_id(input, class)?,
            ..ObjectNote::default()
        };
        if note.known.is_some() {
            note.created = input.integer("created")?;
        }
        let media = input.text("media")?.map(str::to_owned);
        let mut new = Self {
            class,
            name: name.map(str::to_owned),
            words: words::initial(input)?,
            media,
            once,
            note: std::mem::take(&mut note),
        };
        if let Some(from) = input.object("initializeFrom")? {
            new.initialize(call, input, from)?;
        }
        Ok(new)
    }

    /// Copies fields missing in the input from another object.
    fn initialize(&mut self, call: &Call, input: Input<'_>, from: Input<'_>) -> Result<(), Fault> {
        let source = call.object(call.object_id(from.need("id")?)?, from.text("project")?)?;
        if self.name.is_none() {
            self.name = Some(source.name().to_owned());
        }
        if input.value("types").is_none() {
            self.note.types = source.note.types.clone();
        }
        if input.value("details").is_none() {
            self.note.details = source.note.details.clone();
        }
        if input.value("hidden").is_none() {
            self.note.hidden = source.note.hidden;
        }
        let avus = call.store().avus(&call.caller, &source.at())?;
        let of_tags = |avu: &cenote_store::Avu| avu.attribute == words::TAG;
        let has = |key| input.value(key).is_some();
        let wanted =
            |avu: &cenote_store::Avu| !has(if of_tags(avu) { "tags" } else { "properties" });
        self.words.extend(avus.into_iter().filter(wanted).map(AvuChange::Add));
        Ok(())
    }

    /// Creates the resource with its note.
    fn put(&self, call: &Call, folder: &Stat) -> Result<Stat, Fault> {
        let unnamed = format!("unnamed {}", self.class.as_str());
        let name = self.name.as_deref().unwrap_or(&unnamed);
        let at = At::Id(folder.id);
        let attempt = |free: &Name| self.put_as(call, folder, free);
        Ok(with_free_name((call.store(), &call.caller, &at), name, attempt)?)
    }

    fn put_as(&self, call: &Call, folder: &Stat, free: &Name) -> cenote_store::Result<Stat> {
        let also = |notes: &mut Notes<'_>| self.note_in(notes, free);
        let (store, caller, path) = (call.store(), &call.caller, folder.path.join(free.clone())?);
        match self.class {
            Class::File => {
                let nothing = Received::inline(b"", &Expected::default())?;
                let mut options =
                    PutOptions { media_type: self.media.clone(), ..PutOptions::default() };
                options.conditions.if_absent = true;
                let put = store.publish_with(caller, path, &nothing, &options, (OPENING, also));
                put.map_err(|error| match error.kind() {
                    // A resource exists there.
                    cenote_store::ErrorKind::Precondition | cenote_store::ErrorKind::WrongKind => {
                        cenote_store::Error::new(cenote_store::ErrorKind::Exists, error.to_string())
                    }
                    _ => error,
                })
            }
            _ => {
                let options = CreateOptions::default();
                store.create_with(caller, &path, Draft::Description, options, (OPENING, also))
            }
        }
    }

    fn note_in(&self, notes: &mut Notes<'_>, free: &Name) -> cenote_store::Result<()> {
        let Some(own) = notes.resource() else { return Ok(()) };
        let id = ObjectId::new(self.class, own);
        let shown = self.name.clone().unwrap_or_else(|| id.to_string());
        let shown = ShownName::of(&shown, free.as_str());
        if let Some(once) = &self.once {
            once.keep(notes, own)?;
        }
        note::keep_object(notes, id, own, &ObjectNote { shown, ..self.note.clone() })
    }
}

/// The id that it had on the server that it is brought from.
pub(crate) fn former_id(input: Input<'_>, class: Class) -> Result<Option<String>, Fault> {
    let Some(id) = input.text("knownAs")? else { return Ok(None) };
    match looks_like(class.as_str(), id) {
        true => Ok(Some(id.to_owned())),
        false => Err(Fault::input(format!("not the id of a {}: {id:.64?}", class.as_str()))),
    }
}

/// The description of nothing: what methods about apps and jobs answer that list them.
pub(crate) fn no_results() -> Value {
    json!({ "results": [], "next": null })
}
