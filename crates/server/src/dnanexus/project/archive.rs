//! `archive` and `unarchive`: the archival states of files.
//!
//! The store has no place that is slower than others, so an archival state is a note of this opening: clients of it cannot read an
//! archived file, and one that is unarchived is live at once, or `unarchiving` for as long as the settings say. A file is `archival` where a project archived it, as long as it is live in
//! another one, and `archived` once it is so in all of them.

use std::collections::BTreeSet;

use cenote_store::Reading;
use serde_json::{Value, json};

use super::folders::files_below;
use super::{Project, project_of};
use crate::dnanexus::call::fault::{ErrorType, Fault};
use crate::dnanexus::call::folder::Folder;
use crate::dnanexus::call::question::{Call, has_level, millis};
use crate::dnanexus::id::{Class, ObjectId};
use crate::dnanexus::object::Place;

/// The most files of a call.
const MOST: usize = 1_000;

/// `archive`: those that are archived already count for nothing.
pub(crate) fn archive(call: &Call, project: &Project) -> Result<Value, Fault> {
    project.require("CONTRIBUTE")?;
    let everywhere = call.input()?.is("allCopies")?;
    let chosen = chosen(call, project)?;
    let now = call.store().now();
    let live: Vec<&Place> = chosen.iter().filter(|place| place.archival(now) == "live").collect();
    for place in &live {
        archive_one(call, place.id, (project, everywhere))?;
    }
    Ok(json!({ "id": project.id().to_string(), "count": live.len() }))
}

fn archive_one(
    call: &Call,
    id: ObjectId,
    (project, everywhere): (&Project, bool),
) -> Result<(), Fault> {
    let reading = call.store().reading(&call.caller)?;
    let places = call.places(&reading, id)?;
    let mut chosen = Vec::new();
    for place in &places {
        let is_here = is_in(&reading, place, project)?;
        if everywhere && !is_here {
            require_administration(call, &reading, place)?;
        }
        chosen.push(is_here || everywhere || is_archived(call, place));
    }
    let state = if chosen.iter().all(|chosen| *chosen) { "archived" } else { "archival" };
    for (place, _) in places.iter().zip(chosen).filter(|(_, chosen)| *chosen) {
        set(call, place, Some((state, None)))?;
    }
    Ok(())
}

/// Whether a project has archived it, and not unarchived it.
fn is_archived(call: &Call, place: &Place) -> bool {
    matches!(place.archival(call.store().now()), "archived" | "archival")
}

fn is_in(reading: &Reading, place: &Place, project: &Project) -> Result<bool, Fault> {
    let of = project_of(reading, &place.stat.path)?;
    Ok(of.is_some_and(|of| of.id == project.stat.id))
}

fn require_administration(call: &Call, reading: &Reading, place: &Place) -> Result<(), Fault> {
    let of = project_of(reading, &place.stat.path)?;
    let rights = of.map(|of| call.rights(of.id)).transpose()?;
    match rights.is_some_and(|rights| has_level(rights, "ADMINISTER")) {
        true => Ok(()),
        false => Err(Fault::denied(
            "all copies can be archived only by an administrator of all their projects",
        )),
    }
}

/// `unarchive`: with `dryRun`, only counts.
pub(crate) fn unarchive(call: &Call, project: &Project) -> Result<Value, Fault> {
    project.require("CONTRIBUTE")?;
    let dry = call.input()?.is("dryRun")?;
    let chosen = chosen(call, project)?;
    let (mut files, mut bytes) = (0, 0);
    for place in chosen.iter().filter(|place| is_archived(call, place)) {
        (files, bytes) = (files + 1, bytes + place.stat.size());
        if !dry {
            unarchive_one(call, place)?;
        }
    }
    let size = bytes as f64 / f64::from(1 << 30);
    Ok(json!({ "id": project.id().to_string(), "files": files, "size": size, "cost": 0 }))
}

/// Where other projects have archived it, it is archived no longer: it is live in one.
fn unarchive_one(call: &Call, place: &Place) -> Result<(), Fault> {
    let takes = call.app.dnanexus().unarchiving_seconds.get();
    let live_from = millis(call.store().now()).saturating_add(takes.as_millis() as i64);
    set(call, place, (!takes.is_zero()).then_some(("unarchiving", Some(live_from))))?;
    let reading = call.store().reading(&call.caller)?;
    for other in call.places(&reading, place.id)? {
        if other.stat.id != place.stat.id && other.archival(call.store().now()) == "archived" {
            set(call, &other, Some(("archival", None)))?;
        }
    }
    Ok(())
}

/// Notes a state and, of one that ends by itself, when; none for `live`.
fn set(call: &Call, place: &Place, state: Option<(&str, Option<i64>)>) -> Result<(), Fault> {
    call.renote(place, |note| {
        note.archival = state.map(|(state, _)| state.to_owned());
        note.live_from = state.and_then(|(_, live_from)| live_from);
        Ok(())
    })
}

/// The files that an input names, or the closed ones in its folder.
fn chosen(call: &Call, project: &Project) -> Result<Vec<Place>, Fault> {
    let input = call.input()?;
    match (input.texts("files")?, Folder::member(input, "folder")?) {
        (Some(ids), None) => named(call, project, &ids),
        (None, Some(folder)) => {
            let deep = input.flag("recurse")?.unwrap_or(true);
            let mut files = files_below(call, &project.folder(call, &folder)?, deep)?;
            files.retain(|place| !place.is_open());
            Ok(files)
        }
        _ => Err(Fault::input("give one of \"files\" and \"folder\"")),
    }
}

fn named(call: &Call, project: &Project, ids: &[&str]) -> Result<Vec<Place>, Fault> {
    if ids.len() > MOST {
        return Err(Fault::input("\"files\" has at most 1000 ids"));
    }
    let mut files = Vec::new();
    for id in ids.iter().collect::<BTreeSet<_>>() {
        let found = call.object_id(id).and_then(|id| call.object_in(id, project));
        let place = found.map_err(|fault| match fault.kind() {
            ErrorType::ResourceNotFound => {
                Fault::input(format!("no file of the project: {id:.64}"))
            }
            _ => fault,
        })?;
        if place.id.class != Class::File {
            return Err(Fault::new(ErrorType::InvalidType, format!("{id} is not a file")));
        }
        place.require_closed()?;
        files.push(place);
    }
    Ok(files)
}
