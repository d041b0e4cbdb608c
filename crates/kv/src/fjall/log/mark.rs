//! The mark: up to which version commits were acknowledged, and whether the engine was closed after them.
//!
//! A file of its own, so that a log that was emptied or lost cannot take it along. Each commit writes it; it is synced
//! at the first, now and then, and when the engine is closed. So a process that is killed leaves it exact, and a power
//! cut leaves it behind at most.
//!
//! Invariant: the state that it records was durable elsewhere before it was written.
//!
//! Two slots, in sectors of their own, the first written by each commit, the other only with a sync. A slot,
//! integers little-endian: [`SIGN`], a sequence `u64`, the version `u64`, 1 if the engine was closed or 0 `u64`, XXH3
//! of all this `u64`. The whole slot with the highest sequence counts.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::Version;

const SIGN: [u8; 8] = *b"cen mark";
/// Where the slots are.
const SLOTS: [usize; 2] = [0, 4_096];
/// The length of a slot, in bytes.
const SLOT: usize = 40;
/// Commits until the mark is synced; a sync of each of them would double their cost.
const SYNCED_EACH: u32 = 256;
const NAME: &str = "log.mark";

/// The content of the mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fjall) struct Recorded {
    /// All commits up to this one were acknowledged.
    pub(in crate::fjall) version: Version,
    /// There were no others: the engine was closed, and all is in the tree, durably.
    pub(in crate::fjall) closed: bool,
}

/// What is found where the mark should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fjall) enum Found {
    Missing,
    Unreadable,
    Readable(Recorded),
}

/// The file.
#[derive(Debug)]
pub(in crate::fjall) struct Mark {
    file: File,
    sequence: u64,
    recorded: Recorded,
    /// Commits until the next sync.
    until_sync: u32,
}

/// Reads the mark in `dir`.
pub(in crate::fjall) fn read(dir: &Path) -> io::Result<Found> {
    Ok(match newest(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => Found::Missing,
        newest => newest?.map_or(Found::Unreadable, |(_, recorded)| Found::Readable(recorded)),
    })
}

/// Whether there is a mark, readable or not.
pub(in crate::fjall) fn is_there(dir: &Path) -> bool {
    dir.join(NAME).exists()
}

/// Removes the mark, so that a new one is created.
pub(in crate::fjall) fn remove(dir: &Path) -> io::Result<()> {
    match std::fs::remove_file(dir.join(NAME)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn newest(dir: &Path) -> io::Result<Option<(u64, Recorded)>> {
    let bytes = std::fs::read(dir.join(NAME))?;
    let slots = SLOTS.into_iter().filter_map(|at| parse(bytes.get(at..at + SLOT)?));
    Ok(slots.max_by_key(|(sequence, _)| *sequence))
}

impl Mark {
    /// Opens the mark in `dir`. If none is readable, one is created that records that the engine was closed after
    /// `version`; it is durable except for its name.
    pub(in crate::fjall) fn open(dir: &Path, version: Version) -> io::Result<Self> {
        let path = dir.join(NAME);
        let file = File::options().create(true).truncate(false).write(true).open(path)?;
        let recorded = Recorded { version, closed: true };
        let (sequence, found) = newest(dir)?.unzip();
        let sequence = sequence.unwrap_or(0);
        let mut mark = Self { file, sequence, recorded: found.unwrap_or(recorded), until_sync: 1 };
        if found.is_none() {
            mark.sync(recorded)?;
        }
        mark.until_sync = 1;
        Ok(mark)
    }

    /// Says that all up to `version` was acknowledged.
    pub(in crate::fjall) fn acknowledge(&mut self, version: Version) -> io::Result<()> {
        let recorded = Recorded { version, closed: false };
        self.until_sync -= 1;
        match self.until_sync {
            0 => self.sync(recorded),
            _ => self.write(SLOTS[0], recorded),
        }
    }

    /// Says that the engine is closed after `version`, durably.
    pub(in crate::fjall) fn close(&mut self, version: Version) -> io::Result<()> {
        self.sync(Recorded { version, closed: true })
    }

    /// Whether it already records that the engine is closed.
    pub(in crate::fjall) fn is_closed(&self) -> bool {
        self.recorded.closed
    }

    fn sync(&mut self, recorded: Recorded) -> io::Result<()> {
        SLOTS.into_iter().try_for_each(|at| self.write(at, recorded))?;
        self.until_sync = SYNCED_EACH;
        self.file.sync_data()
    }

    fn write(&mut self, at: usize, recorded: Recorded) -> io::Result<()> {
        (self.sequence, self.recorded) = (self.sequence + 1, recorded);
        self.file.write_all_at(&slot(self.sequence, recorded), at as u64)
    }
}

fn slot(sequence: u64, recorded: Recorded) -> Vec<u8> {
    let mut slot = SIGN.to_vec();
    for part in [sequence, recorded.version, u64::from(recorded.closed)] {
        slot.extend(part.to_le_bytes());
    }
    slot.extend(xxh3_64(&slot).to_le_bytes());
    slot
}

fn parse(found: &[u8]) -> Option<(u64, Recorded)> {
    let part = |at: usize| found.get(at..)?.first_chunk().map(|part| u64::from_le_bytes(*part));
    let recorded = Recorded { version: part(16)?, closed: part(24)? == 1 };
    let sequence = part(8)?;
    (found == slot(sequence, recorded)).then_some((sequence, recorded))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dir: &tempfile::TempDir) -> Found {
        super::read(dir.path()).unwrap()
    }

    fn readable(version: Version, closed: bool) -> Found {
        Found::Readable(Recorded { version, closed })
    }

    #[test]
    fn the_newest_entry_takes_effect() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(&dir), Found::Missing);
        let mut mark = Mark::open(dir.path(), 5).unwrap();
        assert_eq!(read(&dir), readable(5, true));
        for version in 6..1_000 {
            mark.acknowledge(version).unwrap();
            assert_eq!(read(&dir), readable(version, false));
        }
        mark.close(999).unwrap();
        assert!(mark.is_closed());
        let mut mark = Mark::open(dir.path(), 7).unwrap();
        assert_eq!(read(&dir), readable(999, true));
        assert!(mark.is_closed());
        mark.acknowledge(1_000).unwrap();
        assert_eq!(read(&dir), readable(1_000, false));
        assert!(!mark.is_closed());
    }

    #[test]
    fn a_fault_leaves_an_older_entry_or_none() {
        let dir = tempfile::tempdir().unwrap();
        let mut mark = Mark::open(dir.path(), 5).unwrap();
        mark.acknowledge(5).unwrap();
        mark.acknowledge(6).unwrap();
        let path = dir.path().join(NAME);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..SLOT {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            assert_eq!(read(&dir), readable(5, false));
            damaged[SLOTS[1] + at] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            assert_eq!(read(&dir), Found::Unreadable);
        }
        std::fs::write(&path, "").unwrap();
        assert_eq!(read(&dir), Found::Unreadable);
        Mark::open(dir.path(), 7).unwrap();
        assert_eq!(read(&dir), readable(7, true));
    }
}
