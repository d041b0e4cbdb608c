//! Saving the good frames of a damaged file.
//!
//! A file that does not open, or opens with problems, still has most of its index: entries are
//! 32 bytes of fixed shape, old index blocks stay in the file when the index grows, and every
//! block begins with the same first entry. So each block that can be found is read without trust,
//! and the one with the most good frames is copied.

use std::collections::BTreeMap;

use crate::entry::{ENTRY_SIZE, Entry, Limits, RawEntry};
use crate::error::{Error, Result};
use crate::header::{HEADER_SIZE, Header, NAME_CELL};
use crate::names::Names;
use crate::reader::MAX_NAME_CELLS;
use crate::repack::copy_frame;
use crate::source::Source;
use crate::storage::Storage;
use crate::writer::Writer;

/// Bytes searched at a time for index blocks.
const WINDOW: u64 = 1 << 20;
/// Index blocks tried: an index that doubles reaches its size in fewer.
const CANDIDATES: usize = 64;

/// What [`recover`] saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Frames written to the new file.
    pub frames: u64,
    /// The number, in the damaged file, of each frame that had to be left out. Frames that left
    /// no trace are not known.
    pub lost: Vec<u64>,
    /// Index entries that were impossible.
    pub bad_entries: u64,
}

/// Copies every frame of which all chunks are there from a damaged file into a new one.
///
/// Frames keep their order, and move up where one is lost. If frame 0 is lost, values that later
/// frames inherit from it are lost with it. `progress` is called after each frame with the frames
/// done and the frames there are.
///
/// # Errors
/// [`Error::NotGsd`] and [`Error::UnsupportedVersion`] when not even the header is there,
/// [`Error::Corrupt`] when there is no name list, [`Error::Io`].
pub fn recover<F: Storage>(
    source: &dyn Source,
    storage: F,
    progress: impl FnMut(u64, u64),
) -> Result<(F, Recovery)> {
    let size = source.size()?;
    if size < HEADER_SIZE as u64 {
        return Err(Error::NotGsd("shorter than the 256 bytes of a header"));
    }
    let mut bytes = [0; HEADER_SIZE];
    source.read_at(0, &mut bytes)?;
    let header = Header::decode(&bytes)?;
    let names = read_names(source, size, &header)?;
    let limits = Limits { file: size, frames: u64::MAX, names: names.len() as u64 };
    let mut best = FoundIndex::default();
    for candidate in index_candidates(source, size, &header)? {
        let found = read_index(source, &candidate, &limits)?;
        if found.good_frames() > best.good_frames() {
            best = found;
        }
    }
    write(source, &names, best, Writer::create_with(storage, &header.emptied())?, progress)
}

fn write<F: Storage>(
    source: &dyn Source,
    names: &Names,
    found: FoundIndex,
    mut writer: Writer<F>,
    mut progress: impl FnMut(u64, u64),
) -> Result<(F, Recovery)> {
    let mut recovery = Recovery { bad_entries: found.bad, ..Recovery::default() };
    let frames = found.frames.len() as u64;
    for (done, (frame, entries)) in (1..).zip(found.frames) {
        if let Some(entries) = entries {
            copy_frame(source, names, &entries, &mut writer)?;
            recovery.frames += 1;
        } else {
            recovery.lost.push(frame);
        }
        progress(done, frames);
    }
    Ok((writer.close()?, recovery))
}

/// The name list, cut where it stops being one.
fn read_names(source: &dyn Source, size: u64, header: &Header) -> Result<Names> {
    let (location, cells) = header.name_block();
    let cells = cells.min(MAX_NAME_CELLS);
    let end = (cells * NAME_CELL).saturating_add(location).min(size);
    if end <= location {
        return Err(Error::corrupt(24, "the name list lies outside the file"));
    }
    let mut block = vec![0; (end - location) as usize];
    source.read_at(location, &mut block)?;
    if let Some(last) = block.last_mut() {
        *last = 0;
    }
    Names::decode(&block, header.gsd_version().is_v1(), location)
}

/// Where an index block may be.
struct Candidate {
    location: u64,
    /// More entries than these it does not have.
    entries: u64,
}

/// Where the header says, where a fresh file has it, and wherever its first entry is found again;
/// blocks of known size first, because what follows the others may look like more of them.
fn index_candidates(source: &dyn Source, size: u64, header: &Header) -> Result<Vec<Candidate>> {
    let fresh = HEADER_SIZE as u64;
    let (location, entries) = header.index_block();
    let mut candidates =
        vec![Candidate { location, entries }, Candidate { location: fresh, entries: 128 }];
    let mut elsewhere = vec![location];
    if size >= fresh + ENTRY_SIZE as u64 {
        let mut first = [0; ENTRY_SIZE];
        source.read_at(fresh, &mut first)?;
        if first != [0; ENTRY_SIZE] {
            elsewhere.extend(occurrences(source, size, &first)?);
        }
    }
    let unknown = |location| Candidate { location, entries: u64::MAX };
    candidates.extend(elsewhere.into_iter().map(unknown));
    Ok(candidates)
}

/// The last places in the file where these bytes are.
fn occurrences(source: &dyn Source, size: u64, wanted: &[u8; ENTRY_SIZE]) -> Result<Vec<u64>> {
    let mut found = std::collections::VecDeque::new();
    let mut at = 0;
    while at + (ENTRY_SIZE as u64) <= size {
        let mut window = vec![0; (WINDOW + ENTRY_SIZE as u64 - 1).min(size - at) as usize];
        source.read_at(at, &mut window)?;
        for start in (0..).zip(window.windows(ENTRY_SIZE)).filter(|(_, w)| w == wanted) {
            found.push_back(at + start.0);
            if found.len() > CANDIDATES {
                found.pop_front();
            }
        }
        at += WINDOW;
    }
    Ok(found.into())
}

/// The frames of one index block; `None` where a chunk of the frame is impossible.
#[derive(Debug, Default)]
struct FoundIndex {
    frames: BTreeMap<u64, Option<Vec<Entry>>>,
    bad: u64,
}

impl FoundIndex {
    fn good_frames(&self) -> usize {
        self.frames.values().flatten().count()
    }

    fn add(&mut self, raw: &RawEntry, limits: &Limits) {
        let frame = self.frames.entry(raw.frame).or_insert_with(|| Some(Vec::new()));
        match (raw.check(limits), frame) {
            (Ok(entry), Some(entries)) => entries.push(entry),
            (Ok(_), None) => {}
            (Err(_), frame) => {
                *frame = None;
                self.bad += 1;
            }
        }
    }
}

/// Reads entries until what is there can no longer be an index.
fn read_index(source: &dyn Source, candidate: &Candidate, limits: &Limits) -> Result<FoundIndex> {
    let mut found = FoundIndex::default();
    let mut last_frame = 0;
    let mut suspects = 0;
    let mut at = candidate.location;
    for _ in 0..candidate.entries {
        let inside = at.checked_add(ENTRY_SIZE as u64).is_some_and(|end| end <= limits.file);
        if !inside || suspects == 8 {
            break;
        }
        let mut bytes = [0; ENTRY_SIZE];
        source.read_at(at, &mut bytes)?;
        at += ENTRY_SIZE as u64;
        let raw = RawEntry::decode(&bytes);
        // A hole, or a frame number that cannot follow, is skipped; a run of them is the end.
        if raw.location == 0 || raw.frame < last_frame || raw.frame > last_frame + 1_000_000 {
            suspects += 1;
            found.bad += u64::from(raw.location != 0);
            continue;
        }
        suspects = 0;
        last_frame = raw.frame;
        found.add(&raw, limits);
    }
    Ok(found)
}
