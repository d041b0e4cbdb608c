//! The log: acknowledged commits are on disk here until the tree's journal is synced.
//!
//! Syncing a growing file is expensive, because its new length and blocks are metadata, for which the file system has
//! its own journal. This one has a fixed size and is repeatedly overwritten from its start: a sync writes the record
//! and nothing else. The tree gets every group as well, without a sync; it is synced before the log starts over.
//!
//! Invariant: a crash loses only the newest groups of the tree, and these are here, each in a form that survives one
//! fault ([`record`]). How far they must reach is recorded in a separate file ([`mark`]); whether they do is decided
//! when the engine is opened ([`verdict`]).
//!
//! The file begins with two copies of a header, in sectors of their own: a record of the first layout that makes
//! programs which know only that one refuse the catalog, the layout's sign, the seed of the checksums `u64`, XXH3 of
//! the header up to there `u64`. Records begin at [`START`]. A log of the second layout has all records twice, one of
//! the first no header, and single records.

mod long;
pub(super) mod mark;
mod record;
pub(super) mod verdict;

use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::BuildHasher;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::SeekFrom;
use xxhash_rust::xxh3::xxh3_64;

pub(super) use self::record::{Group, Rows};
use super::directory::sync_dir;
use crate::Version;

/// A layout that has a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Second,
    Third,
}

/// Where the copies of the header are.
const HEADERS: [usize; 2] = [0, 4_096];
/// Where the records start.
const START: usize = 8_192;
/// The size of the file, in bytes. The tree is synced as often as it is full.
const SIZE: usize = START + (8 << 20);
/// Blocks of the file are written by this many bytes, until it has all of them.
const STEP: usize = 256 << 10;
/// Larger groups, in bytes, are not worth writing so often.
pub(super) const LARGEST: usize = 256 << 10;

/// What is found where the log should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// No file.
    Missing,
    /// A log without a header: one of the first layout, or one that was emptied, cut off, or has lost its header. The groups are those of the first layout.
    Headless(Vec<Group>),
    /// A log of this layout or the second, with its groups in the order of the file, of whatever round.
    Whole(Vec<Group>),
}

/// The file.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    seed: u64,
    /// Where the next record goes.
    end: usize,
    /// How much of the file has its blocks.
    grown: usize,
}

/// Reads the log in `dir`.
pub(super) fn read(dir: &Path) -> io::Result<Found> {
    let bytes = match std::fs::read(dir.join(NAME)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Missing),
        bytes => bytes?,
    };
    Ok(match layout_and_seed(&bytes) {
        Some((layout, seed)) => {
            Found::Whole(record::all(&bytes.into(), seed, layout.limit_of_short_records()))
        }
        None => Found::Headless(record::of_first_layout(bytes.into())),
    })
}

/// Whether there is a log with anything in it.
pub(super) fn is_written(dir: &Path) -> bool {
    dir.join(NAME).metadata().is_ok_and(|log| log.len() > 0)
}

/// Renames the log, so that it is kept when a new one is created.
pub(super) fn keep(dir: &Path) -> io::Result<()> {
    match std::fs::rename(dir.join(NAME), dir.join("log.damaged")) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

const NAME: &str = "log";
const NEW: &str = "log.new";

impl Log {
    /// Opens the log in `dir` to overwrite it from its start. Unless it is `whole` and of this layout, a new one is
    /// created, durably.
    pub(super) fn open(dir: &Path, whole: bool) -> io::Result<Self> {
        let found = if whole { Self::open_existing(dir)? } else { None };
        match found {
            Some(log) => Ok(log),
            None => {
                create(dir)?;
                Ok(Self::open_existing(dir)?.ok_or(ErrorKind::InvalidData)?)
            }
        }
    }

    /// None if it has another layout.
    fn open_existing(dir: &Path) -> io::Result<Option<Self>> {
        let file = File::options().read(true).write(true).open(dir.join(NAME))?;
        let mut header = vec![0; START];
        file.read_exact_at(&mut header, 0)?;
        header.resize(SIZE, 0);
        let Some((Layout::Third, seed)) = layout_and_seed(&header) else { return Ok(None) };
        let grown = rustix::fs::seek(&file, SeekFrom::Hole(0)).map_or(START, |hole| hole as usize);
        Ok(Some(Self { file, seed, end: START, grown: grown.clamp(START, SIZE) }))
    }

    /// Writes a group; false if there is no space left. Durable after [`Log::sync`].
    pub(super) fn write(&mut self, group: &Group) -> io::Result<bool> {
        let record = record::record(group, self.seed);
        let end = self.end + record.len();
        if end > SIZE {
            return Ok(false);
        }
        self.grow(end)?;
        self.file.write_all_at(&record, self.end as u64)?;
        self.end = end;
        Ok(true)
    }

    /// Makes what was written durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Where the next record goes.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Starts over: everything in the log is in the tree, durably.
    pub(super) fn restart(&mut self) {
        self.end = START;
    }

    /// Gives the file its blocks some time before they are needed.
    fn grow(&mut self, end: usize) -> io::Result<()> {
        while self.grown < end {
            let step = STEP.min(SIZE - self.grown);
            self.file.write_all_at(&vec![0; step], self.grown as u64)?;
            self.grown += step;
        }
        Ok(())
    }
}

/// Makes a log without records, all at once.
fn create(dir: &Path) -> io::Result<()> {
    // The seed does not affect the contents of the log; it only has to be unpredictable for writers of values.
    let header = header(Layout::Third, RandomState::new().hash_one(NEW));
    let file = File::create(dir.join(NEW))?;
    let mut start = vec![0; START];
    for at in HEADERS {
        start[at..at + header.len()].copy_from_slice(&header);
    }
    file.write_all_at(&start, 0)?;
    file.set_len(SIZE as u64)?;
    file.sync_all()?;
    std::fs::rename(dir.join(NEW), dir.join(NAME))?;
    sync_dir(dir)
}

impl Layout {
    fn sign(self) -> [u8; 12] {
        *match self {
            Self::Second => b"cenote log 2",
            Self::Third => b"cenote log 3",
        }
    }

    /// Longer bodies are never written twice.
    fn limit_of_short_records(self) -> usize {
        match self {
            Self::Second => usize::MAX,
            Self::Third => long::SHORTEST,
        }
    }
}

fn header(layout: Layout, seed: u64) -> Vec<u8> {
    let mut header = record::settled_of_first_layout(Version::MAX - 1, Version::MAX);
    header.extend(layout.sign());
    header.extend(seed.to_le_bytes());
    header.extend(xxh3_64(&header).to_le_bytes());
    header
}

/// The layout and the seed of a log that has its size and one of its headers.
fn layout_and_seed(log: &[u8]) -> Option<(Layout, u64)> {
    let length = header(Layout::Third, 0).len();
    let found_at = |at: usize| {
        let found = log.get(at..at + length)?;
        let seed = u64::from_le_bytes(*found[..length - 8].last_chunk()?);
        let layouts = [Layout::Third, Layout::Second].into_iter();
        layouts.map(|layout| (layout, seed)).find(|(layout, seed)| found == header(*layout, *seed))
    };
    HEADERS.into_iter().find_map(found_at).filter(|_| log.len() == SIZE)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn group(before: Version, value: &[u8]) -> Group {
        let put = (Bytes::from_static(b"k"), Some(Bytes::copy_from_slice(value)));
        Group { before, after: before + 1, rows: vec![put] }
    }

    fn groups(dir: &Path) -> Vec<Group> {
        match read(dir).unwrap() {
            Found::Whole(groups) => groups,
            found => panic!("{found:?}"),
        }
    }

    #[test]
    fn records_of_every_round_are_read() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()).unwrap(), Found::Missing);
        let mut log = Log::open(dir.path(), false).unwrap();
        assert!(groups(dir.path()).is_empty());
        for version in 1..=3 {
            assert!(log.write(&group(version, b"first")).unwrap());
        }
        let mut log = Log::open(dir.path(), true).unwrap();
        assert!(log.write(&group(4, b"second")).unwrap());
        let found: Vec<_> = groups(dir.path()).iter().map(|group| group.before).collect();
        assert!(found == [4, 2, 3] || found == [4, 3], "{found:?}");
    }

    #[test]
    fn a_log_with_a_wrong_size_or_without_headers_is_incomplete() {
        let dir = tempfile::tempdir().unwrap();
        Log::open(dir.path(), false).unwrap().write(&group(1, b"v")).unwrap();
        let path = dir.path().join(NAME);
        let whole = std::fs::read(&path).unwrap();
        let is_whole = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            matches!(read(dir.path()).unwrap(), Found::Whole(_))
        };
        for length in [0, 20, START, SIZE - 1] {
            assert!(!is_whole(&whole[..length]), "{length}");
        }
        let mut damaged = whole.clone();
        damaged[30] ^= 1;
        assert!(is_whole(&damaged));
        damaged[HEADERS[1] + 41] ^= 1;
        assert!(!is_whole(&damaged));
    }

    #[test]
    fn a_log_of_the_second_layout_is_read_and_replaced() {
        let dir = tempfile::tempdir().unwrap();
        Log::open(dir.path(), false).unwrap();
        let path = dir.path().join(NAME);
        let mut log = std::fs::read(&path).unwrap();
        for at in HEADERS {
            let header = header(Layout::Second, 7);
            log[at..at + header.len()].copy_from_slice(&header);
        }
        let written = [group(1, b"short"), group(2, &[2; 60_000])];
        let records: Vec<u8> = written.iter().flat_map(|group| record::twice(group, 7)).collect();
        log[START..START + records.len()].copy_from_slice(&records);
        std::fs::write(&path, &log).unwrap();
        assert_eq!(groups(dir.path()), written);
        let mut log = Log::open(dir.path(), true).unwrap();
        assert!(groups(dir.path()).is_empty());
        assert!(log.write(&written[1]).unwrap());
        assert_eq!(groups(dir.path()), written[1..]);
    }

    #[test]
    fn programs_of_the_first_layout_refuse_the_log() {
        let found = record::of_first_layout(header(Layout::Third, 7).into());
        assert_eq!(found.len(), 1);
        assert!(found[0].is_settled() && found[0].after == Version::MAX);
    }

    #[test]
    fn a_full_log_is_reported_and_has_a_fixed_size() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::open(dir.path(), false).unwrap();
        let large = vec![7; LARGEST];
        let fitting = (0..).take_while(|version| log.write(&group(*version, &large)).unwrap());
        assert_eq!(fitting.count(), 30, "each takes 5 % more than its value");
        assert_eq!(dir.path().join(NAME).metadata().unwrap().len(), SIZE as u64);
    }
}
