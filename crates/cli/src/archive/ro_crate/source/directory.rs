//! A crate that is a directory.

use std::fs::File;
use std::path::Path;

use walkdir::WalkDir;

use super::{Found, LARGEST, digest, refused};
use crate::archive::names::Place;
use crate::archive::ro_crate::{METADATA, is_about_the_crate};
use crate::archive::wrong;
use crate::error::{CliError, Kind, Result};

const HINT: &str = "give the directory or the zip of an RO-Crate";

pub(super) fn read(directory: &Path) -> Result<Found> {
    let mut found = Found::from([(Place::default(), None)]);
    for entry in WalkDir::new(directory).min_depth(1).follow_links(false) {
        let entry = entry.map_err(|error| wrong(error).hint(HINT))?;
        let below = entry.path().strip_prefix(directory).ok().and_then(Path::to_str);
        let not_a_name = || wrong(format!("{} is not a name in the store", entry.path().display()));
        let place = below.and_then(Place::of).ok_or_else(not_a_name)?;
        let bytes = match entry.file_type() {
            _ if is_about_the_crate(&place) => continue,
            kind if kind.is_dir() => None,
            kind if kind.is_file() => Some(digest(File::open(entry.path())?, u64::MAX)?),
            _ => return Err(refused(&place.text(), "it is neither a file nor a directory")),
        };
        found.insert(place, bytes);
    }
    Ok(found)
}

pub(super) fn metadata(directory: &Path) -> Result<Vec<u8>> {
    let path = directory.join(METADATA);
    let status = path.symlink_metadata().map_err(|_| missing(directory))?;
    match status.is_file() && status.len() <= LARGEST {
        true => Ok(std::fs::read(&path)?),
        false => Err(refused(METADATA, "it is too large, or a link")),
    }
}

/// There is no metadata: it is no crate.
pub(super) fn missing(archive: &Path) -> CliError {
    CliError::new(Kind::Usage, format!("{} has no {METADATA}", archive.display())).hint(HINT)
}
