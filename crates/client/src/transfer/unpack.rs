//! Extracts files from a tar archive in memory, as returned by `POST /v1/archive`.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use tar::{Archive, Entry};

use super::download::{open, partial_path, set_attributes};
use super::fetch::{Arrival, Wanted};
use super::file::unwritable;
use super::verification::verify;
use crate::{Resource, Result};

/// Writes the files in the archive that match the request; also returns those that are missing. Blocks.
pub(super) fn unpack(
    archive: &[u8],
    wanted: Vec<Wanted>,
    verified: bool,
) -> (Vec<Arrival>, Vec<Wanted>) {
    let mut missing = HashMap::with_capacity(wanted.len());
    let twice: Vec<Wanted> = wanted
        .into_iter()
        .filter_map(|wanted| missing.insert(wanted.resource.id, wanted))
        .collect();
    let mut arrivals = Vec::with_capacity(missing.len());
    let mut archive = Archive::new(archive);
    // If an archive is truncated, the remaining entries are missing.
    for entry in archive.entries().into_iter().flatten().map_while(io::Result::ok) {
        if let Some((wanted, bytes)) = take(entry, &mut missing, verified) {
            let result = write(&wanted, &bytes);
            arrivals.push(Arrival { wanted, result });
        }
    }
    (arrivals, missing.into_values().chain(twice).collect())
}

/// The requested file and its bytes, if the entry matches its description.
fn take(
    mut entry: Entry<'_, impl Read>,
    missing: &mut HashMap<u64, Wanted>,
    verified: bool,
) -> Option<(Wanted, Vec<u8>)> {
    let (id, etag) = labels(&mut entry)?;
    let resource = &missing.get(&id)?.resource;
    if resource.etag.as_ref() != Some(&etag) || resource.size != Some(entry.size()) {
        return None;
    }
    let mut bytes = Vec::with_capacity(entry.size() as usize);
    entry.read_to_end(&mut bytes).ok()?;
    if verified {
        verify(resource, &bytes).ok()?;
    }
    Some((missing.remove(&id)?, bytes))
}

/// The id and the entity tag of an entry.
pub(crate) fn labels(entry: &mut Entry<'_, impl Read>) -> Option<(u64, String)> {
    let (mut id, mut etag) = (None, None);
    for record in entry.pax_extensions().ok()??.flatten() {
        let value = record.value().ok()?;
        match record.key() {
            Ok("CENOTE.id") => id = value.parse().ok(),
            Ok("CENOTE.etag") => etag = Some(value.to_owned()),
            _ => {}
        }
    }
    Some((id?, etag?))
}

fn write(Wanted { resource, target }: &Wanted, bytes: &[u8]) -> Result<()> {
    let partial = partial_path(target, resource, "cenote-part");
    write_file(resource, &partial, bytes)
        .and_then(|()| fs::rename(&partial, target))
        .map_err(|error| unwritable(target, error))
}

fn write_file(resource: &Resource, partial: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = open(partial, resource)?;
    file.set_len(0)?;
    file.write_all(bytes)?;
    set_attributes(resource, &file)
}
