//! One content in the disk cache.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};

use super::mark::Mark;
use super::record::{Block, Record, checksum};
use super::state::Blocks;
use super::{BLOCK, DiskCache, Key, writable};

/// One content, of which the cache may have blocks.
#[derive(Debug)]
pub(crate) struct Cached {
    cache: Arc<DiskCache>,
    key: Key,
    size: u64,
    /// The file, and the generation that it was opened for.
    file: Mutex<Option<(u64, Arc<File>)>>,
}

impl Cached {
    pub(super) fn new(cache: Arc<DiskCache>, key: Key, size: u64) -> Arc<Self> {
        Arc::new(Self { cache, key, size, file: Mutex::default() })
    }

    /// The bytes of a range of the content, if all its blocks are cached and intact.
    pub(crate) fn read(&self, range: &Range<u64>) -> Option<Bytes> {
        let bytes = self.find(range)?;
        self.cache.read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Some(bytes)
    }

    fn find(&self, range: &Range<u64>) -> Option<Bytes> {
        let mut bytes = BytesMut::with_capacity((range.end - range.start) as usize);
        let found = self.blocks(range)?;
        match self.gather(&found, range, &mut bytes) {
            Ok(()) => Some(bytes.freeze()),
            Err(_) => {
                self.forget();
                None
            }
        }
    }

    /// The file, if it has the whole content and each block was intact when it was compared since the machine started.
    pub(crate) fn whole(&self) -> Option<Arc<File>> {
        let (file, blocks) = self.blocks(&(0..self.size))?;
        let mark = Mark::of(&file.1);
        if mark.as_ref().is_some_and(|mark| mark.is_on(&file.1)) {
            return Some(file.1);
        }
        if self.compare(&file, &blocks).is_err() {
            self.forget();
            return None;
        }
        if let Some(mark) = mark {
            mark.set_on(&file.1);
        }
        Some(file.1)
    }

    /// Compares the blocks that were not compared yet with their checksums.
    fn compare(&self, file: &(u64, Arc<File>), blocks: &Blocks) -> io::Result<()> {
        let mut buffer = Vec::new();
        let mut unverified = blocks.iter().filter(|(_, _, verified)| !verified);
        unverified
            .try_for_each(|(number, block, _)| self.verify(file, *number, *block, &mut buffer))
    }

    /// Caches the complete blocks within these bytes of the content, which start at `offset`.
    pub(crate) fn keep(self: &Arc<Self>, offset: u64, parts: Vec<Bytes>) {
        self.cache.keep(vec![Arrival { content: Arc::clone(self), offset, parts }]);
    }

    /// Writes the whole blocks in these bytes.
    fn write(&self, offset: u64, parts: &[Bytes]) -> io::Result<()> {
        let bytes = match parts {
            [one] => one.clone(),
            parts => parts.concat().into(),
        };
        let end = offset + bytes.len() as u64;
        let mut start = offset.next_multiple_of(BLOCK);
        while start < end {
            let next = (start + BLOCK).min(self.size);
            if next > end {
                break;
            }
            self.write_block(start, &bytes[(start - offset) as usize..(next - offset) as usize])?;
            start = next;
        }
        Ok(())
    }

    fn write_block(&self, start: u64, bytes: &[u8]) -> io::Result<()> {
        let (number, block) = ((start / BLOCK) as u32, Block::of(bytes));
        if self.has(number, block) {
            return Ok(());
        }
        let (generation, file) = self.file_to_write()?;
        file.write_all_at(bytes, start)?;
        let mut state = self.cache.lock();
        if state.0.insert(self.key, generation, number, block) {
            self.cache.note(&mut state, Record::Kept(self.key, number, block))?;
            self.cache.make_room(&mut state)?;
        }
        Ok(())
    }

    fn has(&self, number: u32, block: Block) -> bool {
        let found = self.cache.lock().0.blocks(self.key, number..=number);
        found.is_some_and(|(_, blocks)| blocks[0].1 == block)
    }

    fn file_to_write(&self) -> io::Result<(u64, Arc<File>)> {
        let mut state = self.cache.lock();
        let is_new = !state.0.has(self.key);
        let generation = state.0.touch(self.key);
        if is_new {
            // Files of an earlier generation.
            let _missing = fs::remove_file(self.cache.file(self.key));
        }
        let file = self.opened(generation, || {
            let file = writable(&self.cache.file(self.key))?;
            file.set_len(self.size)?;
            Ok(file)
        })?;
        Ok((generation, file))
    }

    /// The blocks of a range, if all of them are cached, and the file.
    fn blocks(&self, range: &Range<u64>) -> Option<Found> {
        let last = range.end.checked_sub(1).filter(|last| *last >= range.start)?;
        let numbers = (range.start / BLOCK) as u32..=(last / BLOCK) as u32;
        let mut state = self.cache.lock();
        let (generation, blocks) = state.0.blocks(self.key, numbers)?;
        // Opened while it cannot be removed.
        let path = self.cache.file(self.key);
        let open = || OpenOptions::new().read(true).write(true).open(path);
        match self.opened(generation, open) {
            Ok(file) => Some(((generation, file), blocks)),
            Err(_) => {
                // The file has been removed by something else.
                let _unwritable = self.cache.remove(&mut state, self.key);
                None
            }
        }
    }

    fn opened(
        &self,
        generation: u64,
        open: impl FnOnce() -> io::Result<File>,
    ) -> io::Result<Arc<File>> {
        let mut slot = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, file)) = &*slot
            && *of == generation
        {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(open()?);
        *slot = Some((generation, Arc::clone(&file)));
        Ok(file)
    }

    fn gather(
        &self,
        (file, blocks): &Found,
        range: &Range<u64>,
        into: &mut BytesMut,
    ) -> io::Result<()> {
        let mut bytes = Vec::new();
        for (number, block, verified) in blocks {
            let start = u64::from(*number) * BLOCK;
            let part = range.start.max(start)..range.end.min(start + u64::from(block.length));
            if *verified {
                let at = into.len();
                into.resize(at + (part.end - part.start) as usize, 0);
                file.1.read_exact_at(&mut into[at..], part.start)?;
            } else {
                self.verify(file, *number, *block, &mut bytes)?;
                let part = (part.start - start) as usize..(part.end - start) as usize;
                into.extend_from_slice(&bytes[part]);
            }
        }
        match into.len() as u64 == range.end - range.start {
            true => Ok(()),
            false => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Reads a block into `bytes`, whose former content is dropped, and compares it with its checksum.
    fn verify(
        &self,
        (generation, file): &(u64, Arc<File>),
        number: u32,
        block: Block,
        bytes: &mut Vec<u8>,
    ) -> io::Result<()> {
        let start = u64::from(number) * BLOCK;
        // The log may contain an impossible block length.
        let length = u64::from(block.length).min(self.size.saturating_sub(start)).min(BLOCK);
        bytes.resize(length as usize, 0);
        file.read_exact_at(bytes, start)?;
        if length != u64::from(block.length) || checksum(bytes) != block.sum {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.cache.lock().0.verified(self.key, *generation, number);
        Ok(())
    }

    /// Drops the content after a disk error or damage: it is fetched again.
    fn forget(&self) {
        let mut state = self.cache.lock();
        // A cache that cannot be written counts as empty.
        let _unwritable = self.cache.remove(&mut state, self.key);
    }
}

/// Bytes of a content received from the server.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) content: Arc<Cached>,
    pub(crate) offset: u64,
    pub(crate) parts: Vec<Bytes>,
}

impl Arrival {
    pub(super) fn write(self) {
        if self.content.write(self.offset, &self.parts).is_err() {
            self.content.forget();
        }
    }
}

/// A file with its generation, and blocks of it.
type Found = ((u64, Arc<File>), Blocks);
