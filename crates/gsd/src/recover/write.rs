//! Writes the new file.

use super::names::FoundNames;
use super::sound::FoundFrames;
use super::{Damaged, Recovery};
use crate::entry::Entry;
use crate::error::Result;
use crate::header::{Header, Version};
use crate::storage::Storage;
use crate::writer::Writer;

/// The schema whose names are known, and a version that every reader accepts.
const HOOMD: (&[u8], Version) = (b"hoomd", Version::new(1, 4));

pub(super) fn write<F: Storage>(
    file: &Damaged<'_>,
    names: &FoundNames,
    found: FoundFrames,
    storage: F,
    mut progress: impl FnMut(u64, u64),
) -> Result<(F, Recovery)> {
    let mut recovery = Recovery {
        header: file.header.damaged,
        cut: found.cut,
        unclaimed: found.unclaimed,
        bad_entries: found.bad_entries,
        rebuilt: found.rebuilt.into_iter().collect(),
        ..Recovery::default()
    };
    let (saved, lost) = (found.saved, found.lost);
    let end = |last: Option<&u64>| last.map_or(0, |last| last + 1);
    let saved_end = end(saved.keys().next_back()).max(u64::from(lost.contains(&0)));
    let all = saved_end.max(end(lost.last()));
    let chunks = saved.values().map(|entries| entries.len() as u64).sum::<u64>();
    let header = header(file, names).with_room(chunks.max(saved_end), names.bytes());
    let mut writer = Writer::create_with(storage, &header)?;
    // Frames that are neither recovered nor lost have no chunks.
    for frame in 0..saved_end {
        if frame == 0 || !lost.contains(&frame) {
            for entry in saved.get(&frame).into_iter().flatten() {
                copy(file, names, entry, &mut writer, &mut recovery)?;
            }
            writer.end_frame()?;
            recovery.frames += 1;
        }
        progress(frame + 1, all);
    }
    if saved_end < all {
        progress(all, all);
    }
    recovery.lost = lost.into_iter().collect();
    recovery.lost_names.sort_unstable();
    Ok((writer.close()?, recovery))
}

fn copy<F: Storage>(
    file: &Damaged<'_>,
    names: &FoundNames,
    entry: &Entry,
    writer: &mut Writer<F>,
    recovery: &mut Recovery,
) -> Result<()> {
    if let Some(name) = names.get(entry.id) {
        return writer.copy_chunk(file.source, entry, name);
    }
    if !recovery.lost_names.contains(&entry.id) {
        recovery.lost_names.push(entry.id);
    }
    writer.copy_chunk(file.source, entry, format!("lost/{}", entry.id).as_bytes())
}

/// The header of the new file, with the schema inferred from the names if the header has none.
fn header(file: &Damaged<'_>, names: &FoundNames) -> Header {
    let header = &file.header.header;
    let is_hoomd = names
        .iter()
        .any(|name| name.starts_with(b"particles/") || name.starts_with(b"configuration/"));
    if !file.header.damaged || !header.schema().is_empty() || !is_hoomd {
        return header.emptied();
    }
    let (schema, version) = HOOMD;
    Header::fresh(header.application(), schema, version)
}
