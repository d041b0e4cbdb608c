//! The journal's tail after a power cut.
//!
//! fjall drops a last batch that stops early, but refuses to open if one is complete
//! and has a hole, which is what is left when the pages of writes that were not synced reached the
//! disk out of order. From there on it is cut off here: the log has what follows, or says that it has not, and then
//! the cut is undone, so that damage stays for a person to look at. Without a log only a damaged batch with nothing
//! after it, which was never acknowledged, is cut off.
//!
//! The format is that of fjall 3 (`src/journal/entry.rs` there), integers little-endian:
//! a batch is `1`, items `u32`, sequence `u64`; the items; `3`, XXH3 of the items `u64`,
//! [`TRAILER`]. An item is `2`, kind `u8`, compression `u8`, keyspace `u64`, key length
//! `u16`, value length `u32`, stored length `u32`, key, stored value.

use std::fs::File;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::io;
use crate::Result;

const TRAILER: [u8; 4] = *b"FJL\x03";
const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;

/// What was cut off, so that it can be put back.
#[derive(Debug)]
pub(super) struct Cut {
    path: PathBuf,
    journal: Vec<u8>,
}

impl Cut {
    /// Puts it back.
    pub(super) fn undo(self) -> Result<()> {
        std::fs::write(&self.path, &self.journal).map_err(io)
    }
}

/// Cuts the newest journal in `dir` off at its first fault, if what follows is in the log or was never acknowledged.
pub(super) fn cut_tail(dir: &Path, logged: bool) -> Result<Option<Cut>> {
    let Some(path) = newest(dir)? else { return Ok(None) };
    let journal = std::fs::read(&path).map_err(io)?;
    let whole = whole_batches(&journal);
    if !logged && ends(&journal[whole..]) > 1 {
        return Ok(None);
    }
    let file = File::options().write(true).open(&path).map_err(io)?;
    file.set_len(whole as u64).and_then(|()| file.sync_all()).map_err(io)?;
    Ok(Some(Cut { path, journal }))
}

/// The journal that was being written; the others were synced when they were left.
fn newest(dir: &Path) -> Result<Option<PathBuf>> {
    let mut newest = None;
    for entry in std::fs::read_dir(dir).map_err(io)? {
        let path = entry.map_err(io)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_suffix(".jnl")?.parse::<u64>().ok());
        newest = newest.max(number.map(|number| (number, path)));
    }
    Ok(newest.map(|(_, path)| path))
}

/// How many bytes at the start are batches without a fault.
fn whole_batches(journal: &[u8]) -> usize {
    let mut rest = journal;
    while let Some(after) = batch(rest) {
        rest = after;
    }
    journal.len() - rest.len()
}

/// What follows the batch at the start, if that has no fault.
fn batch(bytes: &[u8]) -> Option<&[u8]> {
    let bytes = bytes.strip_prefix(&[START])?;
    let (count, bytes) = bytes.split_first_chunk()?;
    let items = bytes.get(8..)?;
    let after = (0..u32::from_le_bytes(*count)).try_fold(items, |rest, _| item(rest))?;
    let hash = xxh3_64(&items[..items.len() - after.len()]);
    let (checksum, after) = after.strip_prefix(&[END])?.split_first_chunk()?;
    let after = after.strip_prefix(&TRAILER)?;
    (u64::from_le_bytes(*checksum) == hash).then_some(after)
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

    fn written(values: &[&[u8]]) -> Vec<u8> {
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
        batch.extend([0; 8]);
        batch.extend(&items);
        batch.push(END);
        batch.extend(xxh3_64(&items).to_le_bytes());
        batch.extend(TRAILER);
        batch
    }

    #[test]
    fn batches_are_whole_up_to_the_first_fault() {
        let (first, second) = (written(&[b"one", b""]), written(&[b"two"]));
        let journal = [first.clone(), second].concat();
        assert_eq!(whole_batches(&journal), journal.len());
        for at in first.len()..journal.len() {
            assert_eq!(whole_batches(&journal[..at]), first.len());
        }
        // The count of items, and everything that the checksum covers or is.
        let checked =
            (first.len()..journal.len()).filter(|at| !(5..13).contains(&(at - first.len())));
        for at in checked {
            let mut damaged = journal.clone();
            damaged[at] ^= 1;
            assert_eq!(whole_batches(&damaged), first.len(), "at {at}");
        }
    }

    #[test]
    fn ends_are_counted() {
        let batch = written(&[b"one"]);
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
