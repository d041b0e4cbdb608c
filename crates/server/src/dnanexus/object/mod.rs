//! Objects: files and records, and the places where projects have them.
//!
//! An object may be in several projects: a clone is a resource of its own there, with contents that it shares, and a note that
//! names the object. All that the protocol calls shared by the projects (details, types, state) cannot change once there is
//! more than one place, since only closed objects are cloned.

pub(crate) mod change;
pub(crate) mod describe;
pub(crate) mod new;

use cenote_store::{At, Foreseen, Kind, Reading, Stat, StorePath, Time};

use super::call::fault::{ErrorType, Fault};
use super::call::folder::Folder;
use super::call::question::{Call, millis};
use super::id::{Class, ObjectId, is_class, looks_like};
use super::note::{self, OPENING, ObjectNote, State};
use super::project::{Project, project_of};

/// An object where one project has it.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) stat: Stat,
    pub(crate) id: ObjectId,
    pub(crate) note: ObjectNote,
}

/// The maximum number of places of an object that are examined.
const PLACES: usize = 10_000;

impl Place {
    /// The class of a resource here; none for other resources than objects.
    pub(crate) fn of(reading: &Reading, stat: Stat) -> Result<Option<Self>, Fault> {
        if stat.resource.kind == Kind::Collection {
            return Ok(None);
        }
        let notes = reading.notes_about(OPENING, &stat)?;
        Ok(note::object_of(&notes, &stat).map(|(id, note)| Self { stat, id, note }))
    }

    pub(crate) fn at(&self) -> At {
        At::Id(self.stat.id)
    }

    pub(crate) fn name(&self) -> &str {
        note::shown(self.note.shown.as_ref(), &self.stat)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.note.state == State::Open
    }

    /// Milliseconds since 1970.
    pub(crate) fn created(&self) -> i64 {
        self.note.created.unwrap_or_else(|| millis(self.stat.resource.created))
    }

    /// The archival state at a time.
    pub(crate) fn archival(&self, now: Time) -> &str {
        match self.note.live_from.is_some_and(|from| from <= millis(now)) {
            true => "live",
            false => self.note.archival.as_deref().unwrap_or("live"),
        }
    }

    /// The folder of the project that it is in.
    pub(crate) fn folder(&self, project: &StorePath) -> Folder {
        let above = self.stat.path.split_last().map(|(above, _)| above);
        Folder::of(project, &above.unwrap_or_default())
    }

    /// Refuses unless it is open.
    pub(crate) fn require_open(&self) -> Result<(), Fault> {
        match self.is_open() {
            true => Ok(()),
            false => Err(Fault::state(format!("\"{}\" is not in the open state", self.id))),
        }
    }

    /// Refuses unless it is closed.
    pub(crate) fn require_closed(&self) -> Result<(), Fault> {
        match self.is_open() {
            false => Ok(()),
            true => Err(Fault::state(format!("\"{}\" is not in the closed state", self.id))),
        }
    }
}

impl Call {
    /// The id of an object in a text.
    pub(crate) fn object_id(&self, text: &str) -> Result<ObjectId, Fault> {
        let class = text.split_once('-').map(|(class, _)| class);
        if !class.is_some_and(is_class) {
            return Err(Fault::input(format!("not the id of an object: {text:.64?}")));
        }
        let id = match text.parse::<ObjectId>() {
            Ok(id) => id,
            Err(_) => self.object_by_former_id(text)?.ok_or_else(|| Fault::no_object(text))?,
        };
        match id.class {
            Class::Project => {
                Err(Fault::new(ErrorType::InvalidType, "a project is not a data object"))
            }
            _ => Ok(id),
        }
    }

    /// The object that had an id where it was brought from.
    pub(crate) fn object_by_former_id(&self, text: &str) -> Result<Option<ObjectId>, Fault> {
        let class = text.split_once('-').map_or("", |(class, _)| class);
        if !looks_like(class, text) {
            return Ok(None);
        }
        let reading = self.store().reading(&self.caller)?;
        for (stat, _) in reading.named(OPENING, &note::former_id_prefix(text), PLACES)? {
            let place = Place::of(&reading, stat)?;
            if let Some(place) = place.filter(|place| place.id.class.as_str() == class) {
                return Ok(Some(place.id));
            }
        }
        Ok(None)
    }

    /// The state of the store, for an answer about an object or a project.
    pub(crate) fn reading_of(&self, id: ObjectId) -> Result<Reading, Fault> {
        let named = note::places(id);
        let foreseen =
            Foreseen { notes: Some(OPENING), named: Some(&named), ..Foreseen::default() };
        Ok(self.store().reading_of(&self.caller, &At::Id(id.resource), &foreseen)?)
    }

    /// All places of an object that the caller may see, that of its own resource first.
    pub(crate) fn places(&self, reading: &Reading, id: ObjectId) -> Result<Vec<Place>, Fault> {
        let own = reading.stat(&At::Id(id.resource))?;
        let own = own.filter(|stat| stat.resource.kind == id.class.kind());
        let noted = reading.named(OPENING, &note::places(id), PLACES)?;
        let others = noted.into_iter().map(|(stat, _)| stat).filter(|stat| stat.id != id.resource);
        let mut places = Vec::new();
        for stat in own.into_iter().chain(others) {
            places.extend(Place::of(reading, stat)?.filter(|place| place.id == id));
        }
        Ok(places)
    }

    /// An object: where this project has it, or one that has it if none is named.
    pub(crate) fn object(&self, id: ObjectId, hint: Option<&str>) -> Result<Place, Fault> {
        let places = self.places(&self.reading_of(id)?, id)?;
        let hinted = hint.map(|hint| self.project(hint)).transpose();
        match hinted {
            Ok(Some(project)) => {
                let (inside, others): (Vec<_>, Vec<_>) = self.split(places, &project)?;
                inside.into_iter().chain(others).next()
            }
            Ok(None) | Err(_) => places.into_iter().next(),
        }
        .ok_or_else(|| Fault::no_object(id))
    }

    /// An object where this project has it.
    pub(crate) fn object_in(&self, id: ObjectId, project: &Project) -> Result<Place, Fault> {
        let places = self.places(&self.reading_of(id)?, id)?;
        let (mut inside, _) = self.split(places, project)?;
        match inside.is_empty() {
            true => Err(Fault::not_in(id, project.id())),
            false => Ok(inside.swap_remove(0)),
        }
    }

    /// Those in a project, and the others.
    fn split(
        &self,
        places: Vec<Place>,
        project: &Project,
    ) -> Result<(Vec<Place>, Vec<Place>), Fault> {
        let reading = self.store().reading(&self.caller)?;
        let (mut inside, mut others) = (Vec::new(), Vec::new());
        for place in places {
            let of = project_of(&reading, &place.stat.path)?;
            let is_inside = of.is_some_and(|of| of.id == project.stat.id);
            if is_inside { inside.push(place) } else { others.push(place) }
        }
        Ok((inside, others))
    }
}
