//! The log: what is acknowledged is on disk here until the tree's journal was synced.
//!
//! A file that grows is dear to sync, because its new length and blocks are metadata, for which the file system keeps
//! a journal of its own. This one has a fixed size and is written over from its beginning again and again: a sync
//! writes the record and nothing else. The tree gets every group as well, without a sync; it is synced before the
//! log starts over.
//!
//! Invariant: what the tree loses in a crash are the newest groups, and these are here. Each record begins at
//! the version at which the one before it ends; the first that does not, or is not whole, is the end.
//!
//! A record, integers little-endian: length of the body `u32`, XXH3 of the body `u64`, the body. A body: version
//! before the group `u64`, version after it `u64`, then its rows, none for a group that was synced into the tree
//! itself. A row: length of the key `u16`, of the value `u32` ([`REMOVED`] for none), key, value.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use bytes::{Buf, Bytes};
use xxhash_rust::xxh3::xxh3_64;

use super::directory::sync_dir;
use crate::Version;

/// The size of the file, in bytes. The tree is synced as often as it is full.
const SIZE: usize = 8 << 20;
/// The file grows by this, in bytes, until it has its size.
const STEP: usize = 256 << 10;
/// Larger groups, in bytes, are not worth writing twice.
pub(super) const LARGEST: usize = 256 << 10;
/// What stands for the length of a value that is not there.
const REMOVED: u32 = u32::MAX;
/// Length and checksum.
const HEAD: usize = 12;
/// The two versions.
const VERSIONS: usize = 16;

/// Keys with what they hold from then on; none if they are removed.
pub(super) type Rows = Vec<(Bytes, Option<Bytes>)>;

/// What one write to the tree did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) before: Version,
    pub(super) after: Version,
    pub(super) rows: Rows,
}

/// The file.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    /// Where the next record goes.
    end: usize,
    /// How much of the file has been written ever.
    grown: usize,
}

impl Group {
    /// How many bytes it writes.
    pub(super) fn size(&self) -> usize {
        let sizes = self.rows.iter();
        sizes.map(|(key, value)| key.len() + value.as_ref().map_or(0, Bytes::len)).sum()
    }

    /// Says that the group is in the tree, durably: nothing of it has to be kept here.
    pub(super) fn settled(&self) -> Self {
        Self { rows: Rows::new(), ..*self }
    }

    pub(super) fn is_settled(&self) -> bool {
        self.rows.is_empty()
    }
}

impl Log {
    /// Opens the log in `dir`, and gives the groups that are in it. The next record is written over them.
    ///
    /// A sync of the file does not keep its name: that is synced here, for as long as nothing was written to it.
    pub(super) fn open(dir: &Path) -> io::Result<(Self, Vec<Group>)> {
        let path = dir.join("log");
        let file =
            File::options().create(true).truncate(false).read(true).write(true).open(path)?;
        let mut bytes = vec![0; (file.metadata()?.len() as usize).min(SIZE)];
        file.read_exact_at(&mut bytes, 0)?;
        let grown = bytes.len();
        if grown == 0 {
            sync_dir(dir)?;
        }
        Ok((Self { file, end: 0, grown }, groups(bytes.into())))
    }

    /// Writes a group; false if there is no room left. Durable after [`Log::sync`].
    pub(super) fn write(&mut self, group: &Group) -> io::Result<bool> {
        let record = record(group);
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

    /// Begins anew: all that is here is in the tree, durably.
    pub(super) fn restart(&mut self) {
        self.end = 0;
    }

    /// Gives the file its blocks some time before they are needed.
    fn grow(&mut self, end: usize) -> io::Result<()> {
        while self.grown < end {
            self.file.write_all_at(&[0; STEP], self.grown as u64)?;
            self.grown += STEP;
        }
        Ok(())
    }
}

fn record(group: &Group) -> Vec<u8> {
    let mut record = vec![0; HEAD];
    record.extend(group.before.to_le_bytes());
    record.extend(group.after.to_le_bytes());
    for (key, value) in &group.rows {
        let length = value.as_ref().map_or(REMOVED, |value| value.len() as u32);
        record.extend((key.len() as u16).to_le_bytes());
        record.extend(length.to_le_bytes());
        record.extend_from_slice(key);
        record.extend_from_slice(value.as_deref().unwrap_or_default());
    }
    let body = &record[HEAD..];
    let (length, hash) = ((body.len() as u32).to_le_bytes(), xxh3_64(body).to_le_bytes());
    record[..4].copy_from_slice(&length);
    record[4..HEAD].copy_from_slice(&hash);
    record
}

/// The records at the start, each a group, as far as one follows from the other.
fn groups(mut bytes: Bytes) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    while let Some(group) = next(&mut bytes) {
        if groups.last().is_some_and(|last| last.after != group.before) {
            break;
        }
        groups.push(group);
    }
    groups
}

fn next(bytes: &mut Bytes) -> Option<Group> {
    let length = bytes.try_get_u32_le().ok()? as usize;
    let hash = bytes.try_get_u64_le().ok()?;
    if length < VERSIONS || length > bytes.len() {
        return None;
    }
    let mut body = bytes.split_to(length);
    (xxh3_64(&body) == hash).then_some(())?;
    let (before, after) = (body.get_u64_le(), body.get_u64_le());
    let mut rows = Rows::new();
    while !body.is_empty() {
        rows.push(row(&mut body)?);
    }
    Some(Group { before, after, rows })
}

fn row(body: &mut Bytes) -> Option<(Bytes, Option<Bytes>)> {
    let key = usize::from(body.try_get_u16_le().ok()?);
    let value = body.try_get_u32_le().ok()?;
    let key = take(body, key)?;
    match value {
        REMOVED => Some((key, None)),
        length => Some((key, Some(take(body, length as usize)?))),
    }
}

fn take(body: &mut Bytes, length: usize) -> Option<Bytes> {
    (length <= body.len()).then(|| body.split_to(length))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn group(before: Version, value: &[u8]) -> Group {
        let put = (Bytes::from_static(b"k"), Some(Bytes::copy_from_slice(value)));
        let removed = (Bytes::from_static(b"gone"), None);
        Group { before, after: before + 1, rows: vec![put, removed] }
    }

    fn reopen(dir: &tempfile::TempDir) -> Vec<Group> {
        Log::open(dir.path()).unwrap().1
    }

    #[test]
    fn what_was_appended_is_read_up_to_the_first_fault() {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, empty) = Log::open(dir.path()).unwrap();
        assert!(empty.is_empty());
        let written: Vec<Group> = (5..9).map(|version| group(version, b"value")).collect();
        for group in &written {
            assert!(log.write(group).unwrap());
        }
        assert_eq!(reopen(&dir), written);
        let last = log.end - record(&written[3]).len();
        for at in [last, last + 5, log.end - 1] {
            let path = dir.path().join("log");
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[at] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(reopen(&dir), written[..3], "at {at}");
            bytes[at] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
        }
    }

    #[test]
    fn records_of_an_earlier_round_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, _) = Log::open(dir.path()).unwrap();
        let rounds = [[1, 2, 3], [4, 5, 6]].map(|round| round.map(|version| group(version, b"v")));
        for group in &rounds[0] {
            assert!(log.write(group).unwrap());
        }
        log.restart();
        assert!(log.write(&rounds[1][0].settled()).unwrap());
        assert!(log.write(&rounds[1][1]).unwrap());
        let found = reopen(&dir);
        assert_eq!(found, [rounds[1][0].settled(), rounds[1][1].clone()]);
        assert!(found[0].is_settled() && !found[1].is_settled());
    }

    #[test]
    fn a_full_log_says_so_and_has_a_fixed_size() {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, _) = Log::open(dir.path()).unwrap();
        let large = vec![7; LARGEST];
        let fitting = (0..).take_while(|version| log.write(&group(*version, &large)).unwrap());
        assert_eq!(fitting.count(), SIZE / (LARGEST + 64));
        assert_eq!(dir.path().join("log").metadata().unwrap().len(), SIZE as u64);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in vec(0..9u8, 0..200)) {
            groups(bytes.into());
        }

        #[test]
        fn any_group_reads_back(rows in vec((vec(any::<u8>(), 0..40), any::<Option<Vec<u8>>>()), 0..9)) {
            let rows = rows.into_iter().map(|(key, value)| (key.into(), value.map(Bytes::from)));
            let group = Group { before: 1, after: 9, rows: rows.collect() };
            prop_assert_eq!(groups(record(&group).into()), [group]);
        }
    }
}
