//! The files of a cache, each with a piece of a blob.
//!
//! After the piece a file has the length of the blob, and a checksum of both and of its name. It gets its name when it is complete, by a
//! rename, if the blob was not forgotten until then.
//!
//! Invariants: a file whose checksum does not match is never used, so that nothing has to be synced, and whatever a crash leaves is harmless;
//! the files have at most the given number of bytes together; of a blob that was forgotten nothing stays that was being written then.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::SystemTime;

use bytes::Bytes;
use crc_fast::CrcAlgorithm::Crc64Nvme;

use crate::{BlobId, make_private};

/// The length in bytes of a piece; the last one of a blob may be shorter.
pub(super) const PIECE: u64 = 512 << 10;

/// What a file has after its piece: the length of the blob, and the checksum, both big-endian.
const TRAILER: usize = 16;

/// The mark of a file that is not complete.
const NEW: &str = "#new";

/// The pieces of a blob are numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Piece {
    pub(super) id: BlobId,
    pub(super) number: u64,
}

/// A piece that is there, and the length of its blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) bytes: Bytes,
    pub(super) size: u64,
}

#[derive(Debug)]
pub(super) struct Files {
    dir: PathBuf,
    most: u64,
    index: Mutex<Index>,
}

/// The files by piece, each with its length, and in the order of their last use.
#[derive(Debug, Default)]
struct Index {
    pieces: BTreeMap<Piece, (u64, u64)>,
    by_use: BTreeMap<u64, Piece>,
    bytes: u64,
    uses: u64,
    /// Those who are writing.
    turns: Vec<(BlobId, Weak<u8>)>,
}

/// The right to write pieces of a blob, until the blob is forgotten.
#[derive(Debug)]
pub(super) struct Turn {
    files: Arc<Files>,
    /// Listed under the blob as long as that was not forgotten.
    listed: Arc<u8>,
}

impl Piece {
    fn path(self) -> PathBuf {
        let hex = self.id.to_string();
        Path::new(&hex[..2]).join(format!("{}-{}", &hex[2..], self.number))
    }

    fn of(fan: &str, name: &str) -> Option<Self> {
        let (rest, number) = name.split_once('-')?;
        let id = format!("{fan}{rest}").parse().ok()?;
        Some(Self { id, number: number.parse().ok()? })
    }

    fn checksum(self, bytes: &[u8], size: u64) -> u64 {
        let mut digest = crc_fast::Digest::new(Crc64Nvme);
        digest.update(&self.id.to_bytes());
        digest.update(&self.number.to_be_bytes());
        digest.update(bytes);
        digest.update(&size.to_be_bytes());
        digest.finalize()
    }
}

impl Files {
    /// Those that are in `dir`, which is created if missing; the oldest are removed if they are more than `most` bytes. Blocks.
    pub(super) fn open(dir: &Path, most: u64) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        make_private(dir)?;
        let files = Self { dir: dir.to_owned(), most, index: Mutex::default() };
        let mut found = files.scan()?;
        found.sort();
        for (_, piece, length) in found {
            let mut index = files.index();
            index.bytes += length;
            index.note(piece, length);
        }
        files.reserve(0);
        Ok(files)
    }

    /// The pieces that are there, with the time when they were written and their lengths. What is incomplete is removed.
    fn scan(&self) -> io::Result<Vec<(SystemTime, Piece, u64)>> {
        let mut found = Vec::new();
        for fan in fs::read_dir(&self.dir)? {
            let fan = fan?;
            for file in fs::read_dir(fan.path())? {
                let file = file?;
                let (fan, name) = (fan.file_name(), file.file_name());
                let piece = fan.to_str().zip(name.to_str());
                let piece = piece.and_then(|(fan, name)| Piece::of(fan, name));
                match (piece, file.metadata()) {
                    (Some(piece), Ok(meta)) => found.push((meta.modified()?, piece, meta.len())),
                    _ => drop(fs::remove_file(file.path())),
                }
            }
        }
        Ok(found)
    }

    /// A piece, if it is there and whole. Blocks.
    pub(super) fn read(&self, piece: Piece) -> Option<Found> {
        if !self.index().touch(piece) {
            return None;
        }
        let found = fs::read(self.dir.join(piece.path())).ok();
        let found = found.and_then(|file| whole(piece, file));
        if found.is_none() {
            self.remove(piece);
        }
        found
    }

    /// Whether a piece seems to be there.
    pub(super) fn has(&self, piece: Piece) -> bool {
        self.index().pieces.contains_key(&piece)
    }

    pub(super) fn turn(self: &Arc<Self>, id: BlobId) -> Turn {
        // Not of a type without a size, so that no two have the same address.
        let listed = Arc::new(0);
        let turns = &mut self.index().turns;
        turns.retain(|(_, turn)| turn.strong_count() > 0);
        turns.push((id, Arc::downgrade(&listed)));
        Turn { files: self.clone(), listed }
    }

    /// Writes a file that has no name of a piece yet.
    fn put(&self, piece: Piece, found: &Found, new: &Path) -> io::Result<()> {
        let checksum = piece.checksum(&found.bytes, found.size).to_be_bytes();
        let file = [&found.bytes[..], &found.size.to_be_bytes(), &checksum].concat();
        fs::create_dir_all(new.parent().unwrap_or(&self.dir))?;
        fs::write(new, file)
    }

    /// Removes all pieces of a blob, also those that are being written. Blocks.
    pub(super) fn forget(&self, id: BlobId) {
        self.index().turns.retain(|(other, _)| *other != id);
        let all = Piece { id, number: 0 }..=Piece { id, number: u64::MAX };
        let pieces: Vec<_> = self.index().pieces.range(all).map(|(piece, _)| *piece).collect();
        pieces.into_iter().for_each(|piece| self.remove(piece));
    }

    /// Counts bytes that are going to be written, for which what was not used for the longest time makes room; false if there is none.
    fn reserve(&self, more: u64) -> bool {
        let mut index = self.index();
        while index.bytes + more > self.most {
            let Some((_, piece)) = index.by_use.first_key_value() else { return false };
            let piece = *piece;
            index.forget(piece);
            // Not later: then there would be more bytes than are counted.
            let _ = fs::remove_file(self.dir.join(piece.path()));
        }
        index.bytes += more;
        true
    }

    fn remove(&self, piece: Piece) {
        self.index().forget(piece);
        let _ = fs::remove_file(self.dir.join(piece.path()));
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Keeps a piece, if that is possible: a cache that cannot be written to has fewer pieces. Blocks.
    pub(super) fn write(&self, piece: Piece, found: &Found) {
        let files = &self.files;
        let length = (found.bytes.len() + TRAILER) as u64;
        if length > files.most || files.has(piece) || !files.reserve(length) {
            return;
        }
        let path = files.dir.join(piece.path());
        // Others may be writing the same piece.
        let new = path.with_extension(format!("{:p}{NEW}", Arc::as_ptr(&self.listed)));
        let put = files.put(piece, found, &new);
        let mut index = files.index();
        if put.is_ok() && self.is_listed() && fs::rename(&new, path).is_ok() {
            return index.note(piece, length);
        }
        index.bytes -= length;
        let _ = fs::remove_file(new);
    }

    fn is_listed(&self) -> bool {
        Arc::weak_count(&self.listed) > 0
    }
}

impl Index {
    /// Notes a use; false if it is not there.
    fn touch(&mut self, piece: Piece) -> bool {
        let Some((_, used)) = self.pieces.get_mut(&piece) else { return false };
        self.uses += 1;
        self.by_use.remove(&std::mem::replace(used, self.uses));
        self.by_use.insert(self.uses, piece);
        true
    }

    /// Its bytes were counted before.
    fn note(&mut self, piece: Piece, length: u64) {
        self.forget(piece);
        self.uses += 1;
        self.pieces.insert(piece, (length, self.uses));
        self.by_use.insert(self.uses, piece);
    }

    fn forget(&mut self, piece: Piece) {
        if let Some((length, used)) = self.pieces.remove(&piece) {
            self.by_use.remove(&used);
            self.bytes -= length;
        }
    }
}

/// What a file has, if its checksum matches.
fn whole(piece: Piece, file: Vec<u8>) -> Option<Found> {
    let file = Bytes::from(file);
    let bytes = file.slice(..file.len().checked_sub(TRAILER)?);
    let trailer = file[bytes.len()..].split_at(TRAILER / 2);
    let size = u64::from_be_bytes(trailer.0.try_into().ok()?);
    let checksum = u64::from_be_bytes(trailer.1.try_into().ok()?);
    (piece.checksum(&bytes, size) == checksum).then_some(Found { bytes, size })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(number: u64) -> Piece {
        Piece { id: BlobId::from_bytes([7; 16]), number }
    }

    fn open(dir: &Path, most: u64) -> Arc<Files> {
        Arc::new(Files::open(dir, most).unwrap())
    }

    fn write(files: &Arc<Files>, piece: Piece, found: &Found) {
        files.turn(piece.id).write(piece, found);
    }

    fn found(byte: u8) -> Found {
        Found { bytes: vec![byte; 84].into(), size: 1_000 }
    }

    #[test]
    fn the_pieces_that_were_not_used_for_longest_make_room() {
        let dir = tempfile::tempdir().unwrap();
        let files = open(dir.path(), 300);
        (0..3).for_each(|number| write(&files, piece(number), &found(number as u8)));
        assert_eq!(files.read(piece(0)), Some(found(0)));
        write(&files, piece(3), &found(3));
        let there = |files: &Files| [0, 1, 2, 3].map(|number| files.read(piece(number)).is_some());
        assert_eq!(there(&files), [true, false, true, true]);
        assert_eq!(there(&open(dir.path(), 300)), [true, false, true, true]);
        let smaller = open(dir.path(), 150);
        assert_eq!(there(&smaller).iter().filter(|there| **there).count(), 1);
        assert_eq!(smaller.index().bytes, 100);
    }

    #[test]
    fn pieces_are_kept_in_a_relative_directory_too() {
        let here = std::env::current_dir().unwrap();
        let dir = tempfile::tempdir_in(&here).unwrap();
        let files = open(dir.path().strip_prefix(here).unwrap(), 1_000);
        write(&files, piece(1), &found(1));
        assert_eq!(files.read(piece(1)), Some(found(1)));
    }

    #[test]
    fn whatever_is_not_what_was_written_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        for (what, damage) in [
            ("cut", &(|file: &mut Vec<u8>| file.truncate(50)) as &dyn Fn(&mut Vec<u8>)),
            ("empty", &|file| file.clear()),
            ("a wrong bit", &|file| file[20] ^= 1),
            ("zeros", &|file| file.fill(0)),
            ("another piece", &|file| {
                let other = open(&dir.path().join("other"), 1_000);
                write(&other, piece(9), &found(1));
                *file = fs::read(dir.path().join("other").join(piece(9).path())).unwrap();
            }),
        ] {
            let files = open(&dir.path().join("cache"), 1_000);
            write(&files, piece(1), &found(1));
            let path = dir.path().join("cache").join(piece(1).path());
            let mut file = fs::read(&path).unwrap();
            damage(&mut file);
            fs::write(&path, file).unwrap();
            assert_eq!(files.read(piece(1)), None, "{what}");
            assert!(!path.exists(), "{what}");
        }
    }

    #[test]
    fn what_a_crash_left_incomplete_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let files = open(dir.path(), 1_000);
        write(&files, piece(1), &found(1));
        let left = dir.path().join(piece(2).path()).with_extension(NEW);
        fs::write(&left, "half").unwrap();
        let files = open(dir.path(), 1_000);
        assert!(!left.exists() && files.read(piece(1)).is_some());
    }

    #[test]
    fn all_pieces_of_a_blob_are_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let files = open(dir.path(), 1_000);
        let other = Piece { id: BlobId::from_bytes([8; 16]), number: 0 };
        [piece(0), piece(5), other].iter().for_each(|piece| write(&files, *piece, &found(1)));
        files.forget(piece(0).id);
        let there = [piece(0), piece(5), other].map(|piece| files.read(piece).is_some());
        assert_eq!(there, [false, false, true]);
    }

    #[test]
    fn what_was_forgotten_while_it_was_written_does_not_stay() {
        let dir = tempfile::tempdir().unwrap();
        let files = open(dir.path(), 1_000);
        let (before, other) = (files.turn(piece(1).id), BlobId::from_bytes([8; 16]));
        files.forget(other);
        before.write(piece(0), &found(1));
        assert!(files.has(piece(0)));
        files.forget(piece(1).id);
        before.write(piece(1), &found(1));
        assert!(!files.has(piece(0)) && !files.has(piece(1)));
        assert!(!dir.path().join(piece(1).path()).exists());
        write(&files, piece(1), &found(1));
        assert_eq!(files.read(piece(1)), Some(found(1)));
    }
}
