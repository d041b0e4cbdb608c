//! Projects: collections of the store.
//!
//! A collection is a project if it was created as one here, or by its place: each collection in `/`, and each home, so that
//! what other openings store is in a project at once. A project in another one is not a folder of that.
//!
//! Invariant: an object is in one project: the nearest collection above it that is one.

pub(crate) mod archive;
pub(crate) mod clone;
pub(crate) mod describe;
pub(crate) mod folders;
pub(crate) mod moves;
pub(crate) mod new;
pub(crate) mod people;
pub(crate) mod remove;

use std::collections::BTreeMap;

use cenote_store::{At, ErrorKind, Kind, Reading, ResourceId, Rights, Stat, StorePath};
use serde_json::Value;

use super::call::fault::Fault;
use super::call::folder::Folder;
use super::call::question::{Call, has_level, level};
use super::id::{Class, ObjectId, looks_like};
use super::note::{self, OPENING, ProjectNote};

/// A project that the caller may at least view.
#[derive(Debug, Clone)]
pub(crate) struct Project {
    pub(crate) stat: Stat,
    pub(crate) note: ProjectNote,
    pub(crate) rights: Rights,
}

/// The collections that contain projects without being ones.
const HOME: &str = "home";
const TRASH: &str = "trash";

/// Whether the place of a collection makes it a project.
fn is_project_by_place(path: &StorePath) -> bool {
    match path.names() {
        [name] => name.as_str() != HOME && name.as_str() != TRASH,
        [above, _] => above.as_str() == HOME,
        _ => false,
    }
}

/// The note of a collection that is a project.
pub(crate) fn project_note(reading: &Reading, stat: &Stat) -> Result<Option<ProjectNote>, Fault> {
    if stat.resource.kind != Kind::Collection {
        return Ok(None);
    }
    let noted = note::project_of(&reading.notes_about(OPENING, stat)?);
    Ok(noted.or_else(|| is_project_by_place(&stat.path).then(ProjectNote::default)))
}

/// The maximum number of projects with a former id that are examined.
const MOST_BY_FORMER_ID: usize = 1_000;

impl Project {
    pub(crate) fn id(&self) -> ObjectId {
        ObjectId::project(self.stat.id)
    }

    pub(crate) fn name(&self) -> &str {
        note::shown(self.note.shown.as_ref(), &self.stat)
    }

    pub(crate) fn region<'a>(&'a self, call: &'a Call) -> &'a str {
        region(&self.note, call)
    }

    pub(crate) fn level(&self) -> &'static str {
        level(self.rights)
    }

    pub(crate) fn at(&self) -> At {
        At::Id(self.stat.id)
    }

    /// Refuses below a level.
    pub(crate) fn require(&self, level: &str) -> Result<(), Fault> {
        match has_level(self.rights, level) {
            true => Ok(()),
            false => {
                let message = format!("{level} permission is required in {}", self.id());
                Err(Fault::denied(message))
            }
        }
    }

    /// Refuses those who may not remove anything: in a protected project, all who do not administer it.
    pub(crate) fn require_removal(&self) -> Result<(), Fault> {
        match self.note.settings.get("protected") == Some(&Value::Bool(true)) {
            true => self.require("ADMINISTER"),
            false => self.require("CONTRIBUTE"),
        }
    }

    /// The path of a folder in the store.
    pub(crate) fn path(&self, folder: &Folder) -> Result<StorePath, Fault> {
        folder.below(&self.stat.path)
    }

    /// The collection of a folder.
    pub(crate) fn folder(&self, call: &Call, folder: &Folder) -> Result<Stat, Fault> {
        let missing = || {
            Fault::missing(format!(
                "Folder \"{folder}\" does not exist in project \"{}\"",
                self.id()
            ))
        };
        if folder.is_root() {
            return Ok(self.stat.clone());
        }
        let found = call.store().stat(&call.caller, &self.path(folder)?.into());
        let found = found.map_err(|error| match error.kind() {
            ErrorKind::NotFound => missing(),
            _ => error.into(),
        })?;
        let reading = call.store().reading(&call.caller)?;
        let is_folder = found.resource.kind == Kind::Collection
            && project_of(&reading, &found.path)?.is_some_and(|above| above.id == self.stat.id);
        if is_folder { Ok(found) } else { Err(missing()) }
    }
}

/// The project of the resource at a path, as far as the caller may see it.
pub(crate) fn project_of(reading: &Reading, path: &StorePath) -> Result<Option<Stat>, Fault> {
    reading.foresee_notes_above(OPENING, path)?;
    let mut at = Some(path.clone());
    while let Some(path) = at.filter(|path| !path.names().is_empty()) {
        if let Some(stat) = reading.stat(&At::from(&path))?
            && project_note(reading, &stat)?.is_some()
        {
            return Ok(Some(stat));
        }
        at = path.split_last().map(|(above, _)| above);
    }
    Ok(None)
}

/// The region that a project is shown in.
pub(crate) fn region<'a>(note: &'a ProjectNote, call: &'a Call) -> &'a str {
    note.region.as_deref().or(call.regions().first().map(String::as_str)).unwrap_or_default()
}

impl Call {
    /// The regions that a project can be created in, the usual one first.
    pub(crate) fn regions(&self) -> &[String] {
        &self.app.dnanexus().regions
    }

    /// The project of an id, which the caller may at least view.
    pub(crate) fn project(&self, id: &str) -> Result<Project, Fault> {
        if !looks_like("project", id) && !looks_like("container", id) {
            return Err(Fault::input(format!("not the id of a project: {id:.64?}")));
        }
        let missing = || Fault::no_object(id);
        let (reading, stat) = match id.parse::<ObjectId>() {
            Ok(parsed) => {
                let reading = self.reading_of(parsed)?;
                let stat = reading.stat(&At::Id(parsed.resource))?;
                (reading, stat.filter(|_| parsed.class == Class::Project))
            }
            Err(_) => {
                let reading = self.store().reading(&self.caller)?;
                let known =
                    reading.named(OPENING, &note::former_id_prefix(id), MOST_BY_FORMER_ID)?.pop();
                (reading, known.map(|(stat, _)| stat))
            }
        };
        let stat = stat.ok_or_else(missing)?;
        let note = project_note(&reading, &stat)?.ok_or_else(missing)?;
        self.viewed(stat, note)?.ok_or_else(missing)
    }

    fn viewed(&self, stat: Stat, note: ProjectNote) -> Result<Option<Project>, Fault> {
        let rights = self.rights(stat.id)?;
        Ok(has_level(rights, "VIEW").then_some(Project { stat, note, rights }))
    }

    /// All projects that the caller may view, by id.
    pub(crate) fn projects(&self) -> Result<Vec<Project>, Fault> {
        let reading = self.store().reading(&self.caller)?;
        let mut found: BTreeMap<ResourceId, Stat> = BTreeMap::new();
        for top in [StorePath::root(), StorePath::root().join(home())?] {
            for child in reading.children(&At::from(top))? {
                found.extend(child?.map(|stat| (stat.id, stat)));
            }
        }
        let noted = reading.named(OPENING, note::PROJECTS, usize::MAX)?;
        found.extend(noted.into_iter().map(|(stat, _)| (stat.id, stat)));
        let mut projects = Vec::new();
        for stat in found.into_values() {
            if let Some(note) = project_note(&reading, &stat)? {
                projects.extend(self.viewed(stat, note)?);
            }
        }
        Ok(projects)
    }
}

pub(crate) fn home() -> cenote_store::Name {
    cenote_store::Name::new(HOME).expect("a plain word is a name")
}
