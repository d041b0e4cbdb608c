//! The cache against the contents themselves, through reopening, damage and a limit.

use std::fs;
use std::ops::Range;
use std::sync::LazyLock;

use bytes::Bytes;
use proptest::prelude::*;

use super::*;

const MIB: u64 = 1 << 20;

fn open(dir: &Path, limit: u64) -> Arc<DiskCache> {
    DiskCache::open(dir, limit, "store".to_owned()).unwrap()
}

/// The bytes of the content with a number: a bit over 1.5 MiB, each different.
fn bytes(number: u64) -> Bytes {
    static ALL: LazyLock<Vec<Bytes>> = LazyLock::new(|| (0..6).map(make).collect());
    ALL[number as usize].clone()
}

fn make(number: u64) -> Bytes {
    let size = MIB + MIB / 2 + number;
    (0..size).map(|at| (at / 7 + number * 31) as u8).collect::<Vec<_>>().into()
}

fn content(cache: &Arc<DiskCache>, number: u64) -> Arc<Cached> {
    cache.content(number, "tag", bytes(number).len() as u64).unwrap()
}

fn keep(cache: &Arc<DiskCache>, number: u64, range: Range<u64>) {
    let (content, offset) = (content(cache, number), range.start);
    let part = bytes(number).slice(range.start as usize..range.end as usize);
    Arrival { content, offset, parts: vec![part] }.write();
}

fn whole(number: u64) -> Range<u64> {
    0..bytes(number).len() as u64
}

fn path(cache: &DiskCache) -> PathBuf {
    fs::read_dir(cache.dir.join("contents")).unwrap().next().unwrap().unwrap().path()
}

#[test]
fn cached_contents_are_available_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path(), 10 * MIB);
    keep(&cache, 1, whole(1));
    keep(&cache, 2, 0..MIB + 7);
    assert_eq!(
        DiskCache::open(dir.path(), 1, String::new()).unwrap_err().kind(),
        io::ErrorKind::WouldBlock
    );
    drop(cache);
    let cache = open(dir.path(), 10 * MIB);
    assert!(content(&cache, 1).read(&whole(1)) == Some(bytes(1)));
    assert_eq!(content(&cache, 1).read(&(5..6)), Some(bytes(1).slice(5..6)));
    assert!(content(&cache, 2).read(&(0..MIB)) == Some(bytes(2).slice(..MIB as usize)));
    assert_eq!(
        content(&cache, 2).read(&(MIB - 1..MIB + 1)),
        None,
        "the second block was not whole"
    );
    assert_eq!(cache.content(1, "other", 100).unwrap().read(&(0..100)), None);
    drop(cache);
    let other = DiskCache::open(dir.path(), 10 * MIB, "another store".to_owned()).unwrap();
    assert_eq!(content(&other, 1).read(&whole(1)), None);
}

#[test]
fn the_complete_file_has_the_bytes_of_the_content() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path(), 10 * MIB);
    keep(&cache, 1, 0..MIB);
    assert!(content(&cache, 1).whole().is_none());
    keep(&cache, 1, MIB..whole(1).end);
    assert!(content(&cache, 1).whole().is_some());
    assert!(fs::read(path(&cache)).unwrap() == bytes(1));
}

#[test]
fn a_complete_file_is_compared_again_after_it_was_written_to() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path(), 10 * MIB);
    keep(&cache, 1, whole(1));
    let file = content(&cache, 1).whole().unwrap();
    let mark = mark::Mark::of(&file).unwrap();
    assert!(mark.is_on(&file), "files below {} cannot have attributes", dir.path().display());
    drop(cache);
    let cache = open(dir.path(), 10 * MIB);
    assert!(content(&cache, 1).whole().is_some());
    let mut held = bytes(1).to_vec();
    held[77] ^= 1;
    let written = file.metadata().unwrap().modified().unwrap();
    fs::write(path(&cache), &held).unwrap();
    // A clock of some milliseconds may not have moved on.
    file.set_modified(written + std::time::Duration::from_secs(1)).unwrap();
    assert!(!mark::Mark::of(&file).unwrap().is_on(&file));
    assert!(content(&cache, 1).whole().is_none());
    assert_eq!(content(&cache, 1).read(&(0..1)), None, "the content is fetched again");
}

#[test]
fn damage_is_detected_and_repaired_by_caching_again() {
    let dir = tempfile::tempdir().unwrap();
    for damage in [
        (|path: &Path| {
            let mut held = fs::read(path).unwrap();
            held[77] ^= 1;
            fs::write(path, held).unwrap();
        }) as fn(&Path),
        |path| fs::write(path, b"short").unwrap(),
        |path| fs::remove_file(path).unwrap(),
    ] {
        let cache = open(dir.path(), 10 * MIB);
        keep(&cache, 1, whole(1));
        damage(&path(&cache));
        drop(cache);
        let cache = open(dir.path(), 10 * MIB);
        assert_eq!(content(&cache, 1).read(&(70..80)), None);
        keep(&cache, 1, whole(1));
        assert!(content(&cache, 1).read(&whole(1)) == Some(bytes(1)));
    }
}

#[test]
fn the_least_recently_used_content_is_evicted() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path(), 5 * MIB);
    (1..=3).for_each(|number| keep(&cache, number, whole(number)));
    assert!(content(&cache, 1).read(&(0..1)).is_some());
    keep(&cache, 4, whole(4));
    let there = [1, 2, 3, 4].map(|number| content(&cache, number).read(&whole(number)).is_some());
    assert_eq!(there, [true, false, true, true]);
    assert!(cache.usage().bytes.used <= 5 * MIB);
    assert!(cache.content(5, "tag", 3 * MIB).is_none(), "more than half of the cache");
    drop(cache);
    assert!(open(dir.path(), 2 * MIB).usage().bytes.used <= 2 * MIB);
}

#[test]
fn a_file_without_a_record_is_removed_and_a_torn_record_is_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path(), 10 * MIB);
    keep(&cache, 1, whole(1));
    drop(cache);
    fs::write(dir.path().join("contents/stray"), "x").unwrap();
    let log = dir.path().join("log");
    let held = fs::read(&log).unwrap();
    fs::write(&log, &held[..held.len() - 1]).unwrap();
    let cache = open(dir.path(), 10 * MIB);
    assert!(!dir.path().join("contents/stray").exists());
    assert!(content(&cache, 1).read(&(0..MIB)) == Some(bytes(1).slice(..MIB as usize)));
    assert_eq!(content(&cache, 1).read(&whole(1)), None);
}

#[derive(Debug, Clone)]
enum Step {
    Keep(u64, u64, u64),
    Read(u64, u64, u64),
    Reopen,
    Damage(usize),
    TearLog(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let range = || (1..5_u64, 0..2 * MIB, 0..2 * MIB);
    prop_oneof![
        4 => range().prop_map(|(number, from, length)| Step::Keep(number, from, length)),
        6 => range().prop_map(|(number, from, length)| Step::Read(number, from, length)),
        1 => Just(Step::Reopen),
        1 => any::<usize>().prop_map(Step::Damage),
        1 => any::<usize>().prop_map(Step::TearLog),
    ]
}

fn cut(number: u64, from: u64, length: u64) -> Range<u64> {
    let end = whole(number).end;
    let from = from.min(end - 1);
    from..(from + length).clamp(from + 1, end)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn no_other_bytes_are_ever_returned(steps in proptest::collection::vec(step(), 1..40)) {
        let dir = tempfile::tempdir().unwrap();
        let mut cache = open(dir.path(), 5 * MIB);
        for step in steps {
            match step {
                Step::Keep(number, from, length) => keep(&cache, number, cut(number, from, length)),
                Step::Read(number, from, length) => {
                    let range = cut(number, from, length);
                    if let Some(read) = content(&cache, number).read(&range) {
                        prop_assert!(read == bytes(number).slice(range.start as usize..range.end as usize));
                    }
                }
                Step::Reopen => {
                    drop(cache);
                    cache = open(dir.path(), 5 * MIB);
                }
                // Damage while it is closed: what was verified is trusted until then.
                Step::Damage(at) => {
                    drop(cache);
                    damage(dir.path(), at);
                    cache = open(dir.path(), 5 * MIB);
                }
                Step::TearLog(at) => {
                    drop(cache);
                    let log = dir.path().join("log");
                    let held = fs::read(&log).unwrap();
                    fs::write(&log, &held[..at % (held.len() + 1)]).unwrap();
                    cache = open(dir.path(), 5 * MIB);
                }
            }
            prop_assert!(cache.usage().bytes.used <= 5 * MIB);
        }
    }
}

/// Flips a bit of a file of the cache.
fn damage(dir: &Path, at: usize) {
    let files = fs::read_dir(dir.join("contents")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.chain([dir.join("log")]).collect();
    files.sort();
    let file = &files[at % files.len()];
    let mut held = fs::read(file).unwrap();
    if let Some(byte) = (!held.is_empty()).then(|| at % held.len()) {
        held[byte] ^= 1 << (at % 8);
        fs::write(file, held).unwrap();
    }
}
