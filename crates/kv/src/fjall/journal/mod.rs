//! The journals of the tree, before fjall reads them.
//!
//! fjall drops what follows the first batch that stops early or has no form, on disk as well; refuses to open if one is
//! complete and has a hole, which is what is left when the pages of writes that were not synced reached the
//! disk out of order; and takes the sequence number of a batch for granted, which no checksum covers. So all are read here
//! first. The newest is cut off at its first fault: the log has what follows, or says that it has not, and then the cut
//! is undone, so that damage is preserved for inspection. Without a log only a damaged batch with nothing after it,
//! which was never acknowledged, is cut off. The older ones were synced when they were left: there a fault is damage.
//!
//! The format is that of fjall 3 (`src/journal/entry.rs` there), integers little-endian:
//! a batch is `1`, items `u32`, sequence `u64`; the items; `3`, XXH3 of the items `u64`,
//! [`TRAILER`]. An item is `2`, kind `u8`, compression `u8`, keyspace `u64`, key length
//! `u16`, value length `u32`, stored length `u32`, key, stored value.

mod shorten;

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use xxhash_rust::xxh3::xxh3_64;

use crate::{Error, Result};

const TRAILER: [u8; 4] = *b"FJL\x03";
const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;

/// A journal is left for the next one beyond this length, in bytes.
const LEFT_AT: usize = 64_000_000;
/// Sequence numbers that batches do not use are few: those of new tables.
const LARGEST_STEP: u64 = 1 << 32;

/// What is in the newest journal; nothing if there is none.
#[derive(Debug, Default)]
pub(super) struct Newest {
    path: PathBuf,
    /// Its bytes up to the first fault.
    batches: Vec<u8>,
    /// The batches in them.
    ends: Vec<End>,
    /// What follows, if that is a fault.
    pub(super) tail: Option<Tail>,
}

/// The sequence number of a batch, and where it ends.
type End = (u64, usize);

/// The end of the newest journal, from its first fault on.
#[derive(Debug)]
pub(super) struct Tail {
    path: PathBuf,
    /// Where it starts, after what is left of the batches.
    at: u64,
    bytes: Vec<u8>,
    /// The length of the file.
    length: u64,
}

impl Tail {
    /// Cuts it off.
    pub(super) fn cut(&self) -> io::Result<()> {
        let file = File::options().write(true).open(&self.path)?;
        file.set_len(self.at)?;
        file.sync_all()
    }

    /// Restores it.
    pub(super) fn put_back(&self) -> io::Result<()> {
        let file = File::options().write(true).open(&self.path)?;
        file.set_len(self.length)?;
        file.write_all_at(&self.bytes, self.at)
    }

    /// It begins this much further to the front, since so much before it was dropped.
    fn moved_forward(&mut self, bytes: u64) {
        self.at -= bytes;
        self.length -= bytes;
    }

    /// Keeps it in a file beside the journal.
    pub(super) fn keep(&self) -> io::Result<()> {
        std::fs::write(self.path.with_extension("damaged"), &self.bytes)
    }

    /// Whether it may be the remains of a single batch that was never acknowledged.
    pub(super) fn is_one_batch(&self) -> bool {
        ends(&self.bytes) <= 1
    }
}

impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has a fault at byte {}", self.path.display(), self.at)
    }
}

/// Reads the journals in `dir`.
pub(super) fn inspect(dir: &Path) -> Result<Newest> {
    let mut paths = all(dir).map_err(super::io)?;
    let Some(path) = paths.pop() else { return Ok(Newest::default()) };
    for path in paths {
        let (bytes, _) = read(&path).map_err(super::io)?;
        let whole = whole_batches(&bytes);
        if whole < LEFT_AT || !is_zero(&bytes[whole..]) {
            return Err(Error::Corrupt(format!("{} has a fault at byte {whole}", path.display())));
        }
    }
    let (mut batches, length) = read(&path).map_err(super::io)?;
    let ends = ends_of_batches(&batches);
    let at = end_of_last(&ends);
    let tail = Tail { path: path.clone(), at: at as u64, bytes: batches.split_off(at), length };
    let tail = (!is_zero(&tail.bytes)).then_some(tail);
    Ok(Newest { path, batches, ends, tail })
}

/// The journal in `dir` that is written to.
pub(super) fn newest(dir: &Path) -> io::Result<PathBuf> {
    all(dir)?.pop().ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Whether a journal in `dir` has anything in it.
pub(super) fn is_any_written(dir: &Path) -> io::Result<bool> {
    let mut first = [0];
    for path in all(dir)? {
        let read = File::open(path)?.read_at(&mut first, 0)?;
        if read > 0 && first != [0] {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The journals in `dir`, oldest first.
fn all(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut journals = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_suffix(".jnl")?.parse::<u64>().ok());
        journals.extend(number.map(|number| (number, path)));
    }
    journals.sort();
    Ok(journals.into_iter().map(|(_, path)| path).collect())
}

/// The bytes of a file up to the last that was ever written, and its length.
fn read(path: &Path) -> io::Result<(Vec<u8>, u64)> {
    let file = File::open(path)?;
    let mut end = 0;
    loop {
        match seek(&file, SeekFrom::Data(end)) {
            Ok(data) => end = seek(&file, SeekFrom::Hole(data))?,
            Err(Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        }
    }
    let mut bytes = vec![0; end as usize];
    file.read_exact_at(&mut bytes, 0)?;
    Ok((bytes, file.metadata()?.len()))
}

fn is_zero(bytes: &[u8]) -> bool {
    const ZEROS: [u8; 4_096] = [0; 4_096];
    bytes.chunks(ZEROS.len()).all(|chunk| *chunk == ZEROS[..chunk.len()])
}

/// How many bytes at the start are batches without a fault, one after the other.
fn whole_batches(journal: &[u8]) -> usize {
    end_of_last(&ends_of_batches(journal))
}

fn end_of_last(ends: &[End]) -> usize {
    ends.last().map_or(0, |(_, end)| *end)
}

/// The batches at the start without a fault, one after the other.
fn ends_of_batches(journal: &[u8]) -> Vec<End> {
    let (mut rest, mut ends) = (journal, Vec::<End>::new());
    while let Some((sequence, after)) = batch(rest) {
        if ends.last().is_some_and(|(last, _)| !follows(sequence, *last)) {
            break;
        }
        ends.push((sequence, journal.len() - after.len()));
        rest = after;
    }
    ends
}

fn follows(sequence: u64, last: u64) -> bool {
    sequence > last && sequence - last <= LARGEST_STEP
}

/// The sequence number of the batch at the start, and what follows it, if it has no fault.
fn batch(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let bytes = bytes.strip_prefix(&[START])?;
    let (count, bytes) = bytes.split_first_chunk()?;
    let (sequence, items) = bytes.split_first_chunk()?;
    let after = (0..u32::from_le_bytes(*count)).try_fold(items, |rest, _| item(rest))?;
    let hash = xxh3_64(&items[..items.len() - after.len()]);
    let (checksum, after) = after.strip_prefix(&[END])?.split_first_chunk()?;
    let after = after.strip_prefix(&TRAILER)?;
    (u64::from_le_bytes(*checksum) == hash).then_some((u64::from_le_bytes(*sequence), after))
}

/// What follows the item at the start.
fn item(bytes: &[u8]) -> Option<&[u8]> {
    let bytes = bytes.strip_prefix(&[ITEM])?.get(2 + 8..)?;
    let (key, bytes) = bytes.split_first_chunk()?;
    let (stored, bytes) = bytes.get(4..)?.split_first_chunk()?;
    let length = usize::from(u16::from_le_bytes(*key)) + u32::from_le_bytes(*stored) as usize;
    bytes.get(length..)
}

/// How many batches seem to end in `bytes`: an end marker or what looks like one.
fn ends(bytes: &[u8]) -> usize {
    let marker = 1 + 8 + TRAILER.len();
    bytes.windows(marker).filter(|end| end[0] == END && end[9..] == TRAILER).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(super) fn written(sequence: u64, values: &[&[u8]]) -> Vec<u8> {
        let mut items = Vec::new();
        for value in values {
            let stored = (value.len() as u32).to_le_bytes();
            items.extend([ITEM, 0, 0]);
            items.extend([0; 8]);
            items.extend([1, 0]);
            items.extend(stored.iter().chain(&stored).chain(b"k").chain(value.iter()));
        }
        let mut batch = vec![START];
        batch.extend((values.len() as u32).to_le_bytes());
        batch.extend(sequence.to_le_bytes());
        batch.extend(&items);
        batch.push(END);
        batch.extend(xxh3_64(&items).to_le_bytes());
        batch.extend(TRAILER);
        batch
    }

    #[test]
    fn batches_are_complete_up_to_the_first_fault() {
        let (first, second) = (written(4, &[b"one", b""]), written(7, &[b"two"]));
        let journal = [first.clone(), second].concat();
        assert_eq!(whole_batches(&journal), journal.len());
        for at in first.len()..journal.len() {
            assert_eq!(whole_batches(&journal[..at]), first.len());
        }
        // No checksum covers the sequence number: its lower half may still be between those beside it.
        let checked =
            (first.len()..journal.len()).filter(|at| !(5..9).contains(&(at - first.len())));
        for at in checked {
            let mut damaged = journal.clone();
            damaged[at] ^= 1;
            assert_eq!(whole_batches(&damaged), first.len(), "at {at}");
        }
    }

    #[test]
    fn sequence_numbers_increase_in_small_steps() {
        let whole = |second| {
            let journal = [written(4, &[b"one"]), written(second, &[b"two"])].concat();
            whole_batches(&journal) == journal.len()
        };
        assert!(whole(5) && whole(1_000));
        assert!(!whole(4) && !whole(0) && !whole(1 << 40) && !whole(u64::MAX));
    }

    #[test]
    fn end_markers_are_counted() {
        let batch = written(4, &[b"one"]);
        assert_eq!(ends(&[batch.clone(), batch.clone()].concat()), 2);
        assert_eq!(ends(&batch[..batch.len() - 1]), 0);
        assert_eq!(ends(&[0; 100]), 0);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(0..5u8, 0..200)) {
            prop_assert!(whole_batches(&bytes) <= bytes.len());
            ends(&bytes);
        }
    }
}
