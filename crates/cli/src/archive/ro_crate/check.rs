//! Whether a crate is what it says: its metadata, its root, each file that is described, and each that is there.
//!
//! Invariant: `faults` is the one comparison. An import refuses a crate with files that are missing, or other than it says.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::metadata::{Entity, read};
use super::source::{Bytes, Found, Source};
use super::{BASE, METADATA};
use crate::archive::names::{Names, Place};
use crate::archive::wrong;
use crate::error::{CliError, Kind, Result};

/// What is wrong with a file of a crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Problem {
    /// It cannot be read, or not safely.
    Unreadable,
    /// The root is not a data set.
    Root,
    Missing,
    Size,
    Sha256,
    Undescribed,
}

/// Something that is wrong with a crate.
#[derive(Debug, Serialize)]
pub(crate) struct Fault {
    /// The path in the crate; empty for the crate itself.
    pub(crate) file: String,
    pub(crate) problem: Problem,
    pub(crate) message: String,
}

impl Fault {
    /// As it is shown to people.
    pub(crate) fn line(&self) -> String {
        match self.file.is_empty() {
            true => self.message.clone(),
            false => format!("{}: {}", self.file, self.message),
        }
    }
}

/// What was checked.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Checked {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) faults: u64,
}

/// Checks a crate, and reads all its bytes; blocks.
///
/// # Errors
/// If it is no crate at all, or the disk fails. What is wrong with a crate is no error.
pub(crate) fn check(path: &Path) -> Result<(Checked, Vec<Fault>)> {
    let source = match Source::open(path) {
        Ok(source) => source,
        Err(error) => {
            return Ok((Checked { faults: 1, ..Checked::default() }, vec![unreadable(error)?]));
        }
    };
    let mut faults = Vec::new();
    let found = source.read().or_else(|error| {
        faults.push(unreadable(error)?);
        Ok::<_, CliError>(Found::new())
    })?;
    if faults.is_empty() {
        match described(&source, &found) {
            Ok(entities) => faults.extend(self::faults(&found, &entities)),
            Err(error) => faults.push(unreadable(error)?),
        }
    }
    let files: Vec<_> = found.values().flatten().collect();
    let bytes = files.iter().map(|bytes| bytes.size).sum();
    Ok((Checked { files: files.len() as u64, bytes, faults: faults.len() as u64 }, faults))
}

fn described(source: &Source, found: &Found) -> Result<BTreeMap<Place, Entity>> {
    let names = Names::new(BASE, "/").ok_or_else(|| wrong("no names"))?;
    read(&source.metadata()?, &names, |place| found.contains_key(place))
}

/// A crate that cannot be read has that fault; any other error stays one.
fn unreadable(error: CliError) -> Result<Fault> {
    match error.kind() {
        Kind::Mismatch => Ok(Fault {
            file: String::new(),
            problem: Problem::Unreadable,
            message: error.message().to_owned(),
        }),
        _ => Err(error),
    }
}

/// Where files and metadata differ.
pub(super) fn faults(found: &Found, entities: &BTreeMap<Place, Entity>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |file: &Place, problem, message: &str| {
        faults.push(Fault { file: file.text(), problem, message: message.to_owned() });
    };
    for (place, entity) in entities {
        match found.get(place) {
            None if entity.is_file => fault(place, Problem::Missing, "the file is missing"),
            Some(Some(bytes)) => {
                if let Some(problem) = differs(bytes, entity) {
                    fault(place, problem, "the file is not what the metadata says");
                }
            }
            None | Some(None) => {}
        }
    }
    if !entities.get(&Place::default()).is_some_and(|root| root.is_dataset) {
        fault(&Place::default(), Problem::Root, &format!("{METADATA}: the root is not a Dataset"));
    }
    let files = found.iter().filter(|(_, bytes)| bytes.is_some());
    for (place, _) in files.filter(|(place, _)| !is_described(place, entities)) {
        fault(place, Problem::Undescribed, "the metadata does not mention the file");
    }
    faults
}

fn differs(bytes: &Bytes, entity: &Entity) -> Option<Problem> {
    if entity.size.is_some_and(|size| size != bytes.size) {
        return Some(Problem::Size);
    }
    let other = entity.sha256.as_ref();
    other.is_some_and(|other| !bytes.sha256.eq_ignore_ascii_case(other)).then_some(Problem::Sha256)
}

/// Whether the metadata describe a file, or a directory above it other than the root.
fn is_described(place: &Place, entities: &BTreeMap<Place, Entity>) -> bool {
    let above = std::iter::successors(place.parent(), Place::parent);
    let mut above = above.filter(|above| *above != Place::default());
    entities.contains_key(place)
        || above.any(|above| entities.get(&above).is_some_and(|entity| entity.is_dataset))
}
