//! The fjall engine: the suite that every engine has to pass, and failures that only an engine with its own directory
//! can have.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "disk/image.rs"]
mod image;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use cenote_kv::conformance::Subject;
use cenote_kv::{Batch, Engine, Error, FjallEngine, FjallOptions, KeyRange, ScanOptions};
use tempfile::TempDir;

use crate::image::{Content, Image};

struct Fjall(TempDir);

impl Subject for Fjall {
    fn open(&self) -> Arc<dyn Engine> {
        Arc::new(open(self.0.path()))
    }
}

fn try_open(dir: &Path) -> Result<FjallEngine, Error> {
    FjallEngine::open(dir, FjallOptions { reserve: 0, ..FjallOptions::default() })
}

fn open(dir: &Path) -> FjallEngine {
    try_open(dir).expect("the directory is free")
}

fn put(key: impl Into<bytes::Bytes>, value: impl Into<bytes::Bytes>) -> Batch {
    let mut batch = Batch::default();
    batch.put(key, value);
    batch
}

cenote_kv::conformance_tests!(Fjall(image::scratch()));

#[test]
fn a_second_engine_on_a_directory_is_refused() {
    let dir = image::scratch();
    let engine = open(dir.path());
    assert!(matches!(try_open(dir.path()), Err(Error::Locked)));
    let view = engine.snapshot().unwrap();
    drop(engine);
    // A snapshot still reads the files.
    assert!(matches!(try_open(dir.path()), Err(Error::Locked)));
    drop(view);
    open(dir.path());
}

#[test]
fn an_interrupted_creation_is_repeated() {
    let reference = image::scratch();
    drop(open(reference.path()));
    // The files that fjall creates before its version marker, and with a part of it, which it writes in two pieces.
    for marker in [None, Some(""), Some("FJL"), Some("\0\0\0\x03")] {
        let dir = image::scratch();
        std::fs::create_dir(dir.path().join("keyspaces")).unwrap();
        std::fs::copy(reference.path().join("lock"), dir.path().join("lock")).unwrap();
        File::create(dir.path().join("0.jnl")).unwrap().set_len(64 << 20).unwrap();
        if let Some(content) = marker {
            std::fs::write(dir.path().join("version"), content).unwrap();
        }
        open(dir.path()).commit(put("a", "1")).unwrap();
        assert_eq!(open(dir.path()).snapshot().unwrap().version(), 1);
    }
}

#[test]
fn a_directory_that_holds_something_else_is_an_error() {
    let dir = image::scratch();
    drop(open(dir.path()));
    std::fs::write(dir.path().join("version"), "not a version").unwrap();
    assert!(matches!(try_open(dir.path()), Err(Error::Corrupt(_))));
    assert!(try_open(&dir.path().join("version")).is_err());
}

/// A store with two commits, which put `a` and then `b`, and the offset of the second in the journal.
fn two_commits(b: Vec<u8>) -> (TempDir, usize) {
    let first = image::scratch();
    open(first.path()).commit(put("a", "kept")).unwrap();
    let dir = image::scratch();
    let engine = open(dir.path());
    engine.commit(put("a", "kept")).unwrap();
    engine.commit(put("b", b)).unwrap();
    (dir, used(&first.path().join("0.jnl")))
}

/// Checks the state after the second commit, or without it, and that commits continue.
fn check_version(dir: &Path, version: u64) {
    let engine = open(dir);
    let view = engine.snapshot().unwrap();
    assert_eq!(view.get(b"a").unwrap().unwrap(), "kept");
    assert_eq!((view.version(), view.get(b"b").unwrap().is_some()), (version, version >= 2));
    drop(view);
    assert_eq!(engine.commit(put("c", "after")).unwrap(), version + 1);
    drop(engine);
    assert_eq!(open(dir).snapshot().unwrap().version(), version + 1);
}

/// A torn tail: the file system kept the length that was allocated, or cut the file.
fn tear(journal: &Path, whole: &[u8], end: usize, length: usize) {
    std::fs::write(journal, &whole[..end]).unwrap();
    File::options().write(true).open(journal).unwrap().set_len(length as u64).unwrap();
}

/// Turns it into a store of an earlier version without log and mark: removes the batch that records that both exist,
/// which is as long as the whole journal of an empty catalog.
fn forget_log(dir: &Path) -> usize {
    let empty = image::scratch();
    drop(open(empty.path()));
    let recorded = used(&empty.path().join("0.jnl"));
    for file in ["log", "log.mark"] {
        std::fs::remove_file(dir.join(file)).unwrap();
    }
    let journal = dir.join("0.jnl");
    let mut bytes = std::fs::read(&journal).unwrap();
    bytes.drain(..recorded);
    std::fs::write(&journal, bytes).unwrap();
    recorded
}

#[test]
fn a_torn_tail_of_the_journal_loses_nothing() {
    let (dir, kept) = two_commits(vec![b'x'; 1_000]);
    let image = Image::of(dir.path());
    let path = dir.path().join("0.jnl");
    let (journal, whole) = (std::fs::read(&path).unwrap(), used(&path));
    for end in [0, kept / 2, kept, kept + 1, (kept + whole) / 2, whole - 1] {
        for length in [journal.len(), end] {
            image.restore(dir.path());
            tear(&path, &journal, end, length);
            check_version(dir.path(), 2);
        }
    }
}

#[test]
fn a_torn_tail_without_a_log_loses_only_the_unacknowledged_batch() {
    let (dir, kept) = two_commits(vec![b'x'; 1_000]);
    let kept = kept - forget_log(dir.path());
    let image = Image::of(dir.path());
    let path = dir.path().join("0.jnl");
    let (journal, whole) = (std::fs::read(&path).unwrap(), used(&path));
    for end in [kept + 1, kept + 30, (kept + whole) / 2, whole - 1] {
        for length in [journal.len(), end] {
            image.restore(dir.path());
            tear(&path, &journal, end, length);
            check_version(dir.path(), 1);
        }
    }
}

/// Bytes that do not repeat, with a lost page in the middle.
fn make_hole(journal: &Path, after: usize) {
    let mut bytes = std::fs::read(journal).unwrap();
    bytes[after + 10_000..after + 14_096].fill(0);
    std::fs::write(journal, &bytes).unwrap();
}

fn pages() -> Vec<u8> {
    (0..40_000u32).map(|at| (at.wrapping_mul(at) >> 7) as u8).collect()
}

#[test]
fn a_hole_in_the_journal_is_filled_from_the_log() {
    let (_, kept) = two_commits(pages());
    let dir = image::scratch();
    let engine = open(dir.path());
    for (key, value) in [("a", b"kept".to_vec()), ("b", pages()), ("d", vec![1])] {
        engine.commit(put(key, value)).unwrap();
    }
    drop(engine);
    make_hole(&dir.path().join("0.jnl"), kept);
    check_version(dir.path(), 3);
}

#[test]
fn a_hole_in_the_last_batch_loses_only_that_batch() {
    let (dir, kept) = two_commits(pages());
    make_hole(&dir.path().join("0.jnl"), kept);
    forget_log(dir.path());
    check_version(dir.path(), 1);
}

#[test]
fn a_fault_that_the_log_cannot_repair_is_damage_and_is_left_unchanged() {
    let large = vec![7; 1 << 20];
    for logged in [false, true] {
        let dir = image::scratch();
        let journal = dir.path().join("0.jnl");
        let engine = open(dir.path());
        engine.commit(put("a", (0..2_000u32).map(|at| at as u8).collect::<Vec<_>>())).unwrap();
        // Synced into the tree itself, with everything before it.
        engine.commit(put("b", large.clone())).unwrap();
        engine.commit(put("c", "acknowledged")).unwrap();
        drop(engine);
        if !logged {
            forget_log(dir.path());
        }
        let mut bytes = std::fs::read(&journal).unwrap();
        bytes[1_000] ^= 1;
        std::fs::write(&journal, &bytes).unwrap();
        assert!(matches!(try_open(dir.path()), Err(Error::Corrupt(_))));
        assert!(std::fs::read(&journal).unwrap() == bytes, "damage is left as it is");
    }
}

/// A catalog after a kill, with commits that are only in the log.
fn killed() -> (TempDir, Image) {
    let dir = image::scratch();
    let engine = open(dir.path());
    for n in 1..=5 {
        engine.commit(put(format!("k{n}"), "acknowledged")).unwrap();
    }
    let image = Image::of(dir.path());
    drop(engine);
    (dir, image)
}

fn version(dir: &Path) -> Result<u64, String> {
    match try_open(dir) {
        Ok(engine) => Ok(engine.snapshot().unwrap().version()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn a_lost_log_after_a_kill_is_damage_until_the_loss_is_accepted() {
    let (dir, mut image) = killed();
    image.files.remove(Path::new("log")).unwrap();
    image.restore(dir.path());
    for _ in 0..2 {
        let refused = version(dir.path()).unwrap_err();
        assert!(refused.contains("commits 1 to 5 are lost"), "{refused}");
    }
    let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
    let (engine, lost) = FjallEngine::salvage(dir.path(), options).unwrap();
    assert_eq!(lost.unwrap(), "commits 1 to 5 are lost");
    assert!(engine.snapshot().unwrap().get(b"k1").unwrap().is_none());
    assert_eq!(engine.commit(put("k6", "after")).unwrap(), 6, "no version is given twice");
    drop(engine);
    assert_eq!(version(dir.path()), Ok(6));
    let (_, lost) = FjallEngine::salvage(dir.path(), options).unwrap();
    assert!(lost.is_none(), "nothing else is lost");
}

#[test]
fn unusable_parts_of_a_damaged_catalog_are_kept() {
    let (dir, mut image) = killed();
    // Both headers: then the checksums of the records are unknown.
    for at in [40, 4_096 + 40] {
        image.file("log").bytes[at] ^= 1;
    }
    image.restore(dir.path());
    assert!(version(dir.path()).is_err());
    let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
    FjallEngine::salvage(dir.path(), options).unwrap();
    let kept = Image::of(dir.path()).file("log.damaged").clone();
    assert!(kept == *image.file("log"));
}

#[test]
fn a_closed_catalog_needs_no_log() {
    let (dir, _) = killed();
    let mut image = Image::of(dir.path());
    image.file("log").truncate(0);
    image.restore(dir.path());
    assert_eq!(version(dir.path()), Ok(5));
    image.files.remove(Path::new("log")).unwrap();
    image.restore(dir.path());
    assert_eq!(version(dir.path()), Ok(5));
}

#[test]
fn no_catalog_is_recreated_if_it_had_commits() {
    let (dir, image) = killed();
    let essential = ["version", "keyspaces/0/current", "keyspaces/1/current"];
    for file in essential {
        for emptied in [true, false] {
            // Also if the log and the mark are missing: the journal is not empty.
            for others in [false, true] {
                let mut image = image.clone();
                match emptied {
                    true => image.file(file).truncate(0),
                    false => drop(image.files.remove(Path::new(file)).unwrap()),
                }
                if others {
                    image.files.retain(|file, _| {
                        !file.starts_with("log") && !file.starts_with("log.mark")
                    });
                    // Data that was still buffered when the process was killed.
                    *image.file("0.jnl") = Content::new(vec![1, 1], 64 << 20);
                }
                image.restore(dir.path());
                let refused = version(dir.path()).unwrap_err();
                assert!(refused.contains(&format!("{file} is missing or empty")), "{refused}");
                assert!(
                    Image::of(dir.path()).files == {
                        let mut files = image.files.clone();
                        files.entry("engine.lock".into()).or_default();
                        files
                    },
                    "{file}: nothing was changed"
                );
            }
        }
    }
}

#[test]
fn a_program_that_supports_only_the_first_layout_refuses_the_log() {
    let (dir, _) = killed();
    let log = std::fs::read(dir.path().join("log")).unwrap();
    let (length, body) = (u32::from_le_bytes(*log.first_chunk().unwrap()), &log[12..28]);
    assert_eq!(length as usize, body.len(), "a record without rows");
    assert_eq!(
        u64::from_le_bytes(*body.last_chunk().unwrap()),
        u64::MAX,
        "of a commit that nobody has"
    );
}

#[test]
fn commits_continue_over_many_rounds_of_the_log() {
    let dir = image::scratch();
    let value = |round: u64| vec![round as u8; 100_000];
    for part in 0..3 {
        let engine = open(dir.path());
        for round in part * 100..(part + 1) * 100 {
            assert_eq!(engine.commit(put(format!("k{round}"), value(round))).unwrap(), round + 1);
        }
    }
    let view = open(dir.path()).snapshot().unwrap();
    for round in 0..300 {
        assert_eq!(view.get(format!("k{round}").as_bytes()).unwrap().unwrap(), value(round));
    }
}

/// Values stored separately and replaced often, so that their files are rewritten.
#[test]
fn large_values_survive_being_replaced_and_merged() {
    let dir = image::scratch();
    let value = |key: u32, round: u32| {
        let line = format!("line of key {key} in round {round}, which compresses well\n");
        line.repeat(1_000 + (key % 50) as usize * 40)
    };
    for round in 0..12 {
        let engine = open(dir.path());
        let mut batch = Batch::default();
        // Each key is replaced in a different number of rounds; some are removed at last.
        for key in (0..300).filter(|key| key % (1 + round) == 0) {
            batch.put(format!("{key:03}"), value(key, round));
        }
        engine.commit(batch).unwrap();
    }
    let view = open(dir.path()).snapshot().unwrap();
    for key in 0..300 {
        let last = (0..12).rev().find(|round| key % (1 + round) == 0).unwrap();
        let found = view.get(format!("{key:03}").as_bytes()).unwrap().unwrap();
        assert!(found == value(key, last), "key {key}");
    }
}

/// The bytes of a preallocated journal up to the last one that is not zero.
fn used(journal: &Path) -> usize {
    image::used(&std::fs::read(journal).expect("the journal is there"))
}

/// All rows.
fn rows(engine: &FjallEngine) -> Vec<(bytes::Bytes, bytes::Bytes)> {
    let view = engine.snapshot().unwrap();
    view.scan(&KeyRange::all(), ScanOptions::default()).collect::<Result<_, _>>().unwrap()
}

/// The number of commits of [`killed_after_a_flush`] that tables have.
const IN_TABLES: u64 = 600;

/// A killed catalog whose tables have all but the last of its commits, and its rows. Many commits replace or remove
/// what earlier ones wrote, and some values are kept apart from their keys.
fn killed_after_a_flush(after: u64) -> (Image, Vec<(bytes::Bytes, bytes::Bytes)>) {
    let dir = image::scratch();
    let engine = open(dir.path());
    for round in 0..IN_TABLES + after {
        let mut batch = put(format!("k{}", round % 150), noise(size(round), round));
        batch.delete(format!("k{}", round * 7 % 150)).append("log/", round.to_string());
        engine.commit(batch).unwrap();
        if [IN_TABLES / 2, IN_TABLES].contains(&(round + 1)) {
            engine.flush().unwrap();
        }
    }
    (Image::of(dir.path()), rows(&engine))
}

#[test]
fn the_journal_of_a_killed_catalog_is_shortened_to_what_tables_lack() {
    for after in [0, 1, 30] {
        let (image, expected) = killed_after_a_flush(after);
        let dir = image::scratch();
        image.restore(dir.path());
        let journal = dir.path().join("0.jnl");
        let before = used(&journal);
        for more in 0..3 {
            let engine = open(dir.path());
            assert_eq!(rows(&engine)[..expected.len()], expected);
            assert_eq!(engine.commit(put("zz", "after")).unwrap(), IN_TABLES + 1 + after + more);
        }
        let (left, most) = (used(&journal), before / 600 * (after as usize + 40));
        assert!(left > 0 && left < most, "{left} of {before} bytes are left of the journal");
    }
}

#[test]
fn an_interrupted_shortening_of_the_journal_is_repeated() {
    let (image, expected) = killed_after_a_flush(3);
    let whole = &image.files[Path::new("0.jnl")];
    for written in [0, 1, whole.bytes.len() / 2, whole.bytes.len()] {
        let dir = image::scratch();
        image.restore(dir.path());
        std::fs::write(dir.path().join("0.shorter"), &whole.bytes[..written]).unwrap();
        assert!(rows(&open(dir.path())) == expected);
        assert!(!dir.path().join("0.shorter").exists());
    }
}

#[test]
fn damage_after_a_shortened_journal_is_kept() {
    let (mut image, expected) = killed_after_a_flush(3);
    // Both headers of the log: then it has nothing.
    for at in [40, 4_096 + 40] {
        image.file("log").bytes[at] ^= 1;
    }
    let journal = image.file("0.jnl");
    let before = journal.bytes.len();
    journal.bytes.extend(b"damaged");
    let dir = image::scratch();
    image.restore(dir.path());
    for _ in 0..2 {
        let refused = version(dir.path()).unwrap_err();
        assert!(refused.contains("lost"), "{refused}");
        let bytes = std::fs::read(dir.path().join("0.jnl")).unwrap();
        let used = image::used(&bytes);
        assert!(used < before / 2 && bytes[..used].ends_with(b"damaged"), "{used} of {before}");
    }
    let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
    let (engine, lost) = FjallEngine::salvage(dir.path(), options).unwrap();
    assert!(lost.is_some());
    let rows = rows(&engine);
    assert!(expected.iter().filter(|row| rows.contains(row)).count() > expected.len() - 10);
    let kept = std::fs::read(dir.path().join("0.damaged")).unwrap();
    assert!(kept[..image::used(&kept)].ends_with(b"damaged"));
}

#[test]
fn snapshots_hold_while_tables_are_flushed_and_merged() {
    let dir = image::scratch();
    let engine = open(dir.path());
    for key in 0..200u32 {
        engine.commit(put(format!("k{key:03}"), "old")).unwrap();
    }
    let view = engine.snapshot().unwrap();
    // Several memtables' worth of changes to the same keys, and every other key removed.
    for round in 0..40u32 {
        let mut batch = Batch::default();
        for key in 0..200u32 {
            match key % 2 {
                0 => batch.put(format!("k{key:03}"), vec![round as u8; 16_000]),
                _ => batch.delete(format!("k{key:03}")),
            };
        }
        engine.commit(batch).unwrap();
    }
    let rows: Result<Vec<_>, _> = view.scan(&KeyRange::all(), ScanOptions::default()).collect();
    let rows = rows.unwrap();
    assert_eq!(rows.len(), 200);
    assert!(rows.iter().all(|(_, value)| value == "old"));
    assert!((0..200).all(|key| view.get(format!("k{key:03}").as_bytes()).unwrap().is_some()));
}

#[test]
fn a_reserve_is_kept_over_a_restart() {
    let dir = image::scratch();
    let options = FjallOptions { reserve: 1 << 20, ..FjallOptions::default() };
    for _ in 0..2 {
        let engine = FjallEngine::open(dir.path(), options).unwrap();
        engine.commit(put("a", "1")).unwrap();
        assert_eq!(std::fs::metadata(dir.path().join("reserve")).unwrap().len(), 1 << 20);
    }
}

/// The size on disk of the files below a directory.
fn on_disk(dir: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = std::fs::read_dir(dir).unwrap().flatten();
    let bytes = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => on_disk(&entry.path()),
        found => found.map_or(0, |found| found.blocks() * 512),
    };
    entries.map(bytes).sum()
}

/// Bytes that do not compress.
fn noise(size: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        Some((state >> 56) as u8)
    };
    std::iter::from_fn(next).take(size).collect()
}

/// The size of row `n`: some values are stored with their keys, some separately.
fn size(n: u64) -> usize {
    if n.is_multiple_of(2) { 8_000 } else { 500 }
}

/// Puts rows, removes all but each `keep`th, and returns the size of the tree on disk before.
fn fill_and_remove(engine: &FjallEngine, dir: &Path, rows: u64, keep: u64) -> u64 {
    for step in (0..rows).step_by(500) {
        let mut batch = Batch::default();
        for n in step..step + 500 {
            batch.put(n.to_be_bytes().to_vec(), noise(size(n), n));
        }
        engine.commit(batch).unwrap();
    }
    engine.flush().unwrap();
    let before = on_disk(&dir.join("keyspaces"));
    for step in (0..rows).step_by(500) {
        let mut batch = Batch::default();
        for n in (step..step + 500).filter(|n| !n.is_multiple_of(keep)) {
            batch.delete(n.to_be_bytes().to_vec());
        }
        engine.commit(batch).unwrap();
    }
    before
}

/// The same, followed by merges; returns the size of the tree before and after.
fn emptied(engine: &FjallEngine, dir: &Path, rows: u64, keep: u64) -> (u64, u64) {
    let before = fill_and_remove(engine, dir, rows, keep);
    // A check may be skipped after a merge that reclaimed little.
    (0..4).for_each(|_| _ = engine.reclaim().unwrap());
    let view = engine.snapshot().unwrap();
    let found = view.scan(&KeyRange::all(), ScanOptions::default()).map(Result::unwrap);
    let left = (0..rows).filter(|n| n.is_multiple_of(keep));
    assert!(found.map(|(_, value)| value).eq(left.map(|n| noise(size(n), n))));
    (before, on_disk(&dir.join("keyspaces")))
}

#[test]
fn removing_most_values_reclaims_their_space() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let (before, after) = emptied(&engine, dir.path(), 6_000, 10);
    assert!(before > 8 << 20, "{before} bytes");
    // A tenth is left; of values stored separately, files of which a quarter or more was removed are deleted.
    assert!(after < 6 << 20, "{after} bytes of {before}");
    drop(engine);
    assert!(open(dir.path()).snapshot().unwrap().get(&0u64.to_be_bytes()).unwrap().is_some());
}

#[test]
fn an_emptied_catalog_takes_next_to_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let (before, after) = emptied(&engine, dir.path(), 6_000, u64::MAX);
    assert!(before > 8 << 20 && after < 2 << 20, "{after} bytes of {before}");
}

/// Merged files are kept while they are being read; afterwards there may be no commit that would delete them.
#[test]
fn tables_in_use_at_the_end_of_a_merge_are_reclaimed_later() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let before = fill_and_remove(&engine, dir.path(), 6_000, u64::MAX);
    let reader = engine.snapshot().unwrap();
    assert!(engine.reclaim().unwrap());
    let tree = dir.path().join("keyspaces");
    assert!(on_disk(&tree) >= before, "its files are held");
    drop(reader);
    (0..3).for_each(|_| assert!(!engine.reclaim().unwrap(), "there is nothing left to merge"));
    let after = on_disk(&tree);
    assert!(after < 2 << 20, "{after} bytes of {before}");
}

/// The number of descriptors of this process for files below a directory.
fn descriptors(dir: &Path) -> usize {
    let links = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let files = links.filter_map(|link| std::fs::read_link(link.path()).ok());
    files.filter(|file| file.starts_with(dir)).count()
}

#[test]
fn a_catalog_of_many_files_keeps_few_of_them_open() {
    const ROWS: u64 = 60;
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let options = FjallOptions { reserve: 0, files: 10, ..FjallOptions::default() };
    let engine = FjallEngine::open(&dir, options).unwrap();
    for n in 0..ROWS {
        engine.commit(put(n.to_be_bytes().to_vec(), noise(5_000, n))).unwrap();
        engine.flush().unwrap();
    }
    let most = |engine: &FjallEngine| {
        let view = engine.snapshot().unwrap();
        let after = |n: u64| {
            assert_eq!(view.get(&n.to_be_bytes()).unwrap().unwrap(), noise(5_000, n));
            descriptors(&dir)
        };
        (0..ROWS).map(after).max().unwrap()
    };
    // In addition to the lock, journal, log and similar files.
    let before = most(&engine);
    drop(engine);
    let reopened = most(&FjallEngine::open(&dir, options).unwrap());
    let files = std::fs::read_dir(dir.join("keyspaces/1/blobs")).unwrap().count();
    assert!(files >= ROWS as usize, "{files} files of values");
    assert!(before <= 24 && reopened <= 24, "{before} and {reopened} descriptors");
}
