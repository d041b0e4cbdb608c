//! Corruption: files of a catalog with a flipped bit, a lost sector, a truncated end, without content, or missing,
//! after a kill and after a clean shutdown. Acknowledged commits are present unchanged, or the loss is reported when
//! the catalog is opened or read. An older value or none is never returned silently.
//!
//! `CENOTE_CRASH_ROUNDS` sets the number of damages to try per file; one can be repeated with the seed that a failure
//! prints (`CENOTE_CRASH_SEED`).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "disk/dice.rs"]
mod dice;
#[path = "disk/image.rs"]
mod image;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cenote_kv::{Batch, Engine, Error, FjallEngine, FjallOptions, KeyRange, ScanOptions};

use crate::dice::Dice;
use crate::image::{Content, Image};

const SECTOR: usize = 512;

fn try_open(dir: &Path) -> Result<FjallEngine, Error> {
    FjallEngine::open(dir, FjallOptions { reserve: 0, ..FjallOptions::default() })
}

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

/// The disk after a history, and the acknowledged rows.
struct Left {
    name: &'static str,
    image: Image,
    rows: Rows,
}

/// Commits of `sizes`, one row each, with repeated keys.
fn commit(engine: &FjallEngine, rows: &mut Rows, sizes: impl IntoIterator<Item = usize>) {
    for (n, size) in sizes.into_iter().enumerate() {
        let (key, value) = (
            format!("key {}", n % 7).into_bytes(),
            [&n.to_be_bytes()[..], &vec![n as u8; size]].concat(),
        );
        let mut batch = Batch::default();
        batch.put(key.clone(), value.clone());
        engine.commit(batch).unwrap();
        rows.insert(key, value);
    }
}

/// Histories that end with a kill, and ones that end cleanly: with a complete log, of short and of long records, with a
/// commit that bypassed it, with tables, and with a reopened catalog.
fn histories() -> Vec<Left> {
    let small = || (0..40).map(|n| n * 13);
    let long = || (0..40).map(|n| n * 1_300);
    let passing = || small().chain([300_000]).chain(small().take(5));
    // A memtable is 16 MiB; its tables are much smaller, as the values are compressed.
    let flushed = || (0..80).map(|_| 250_000).chain(small());
    let dir = image::scratch();
    let mut left = Vec::new();
    for (name, sizes) in [
        ("small", small().collect::<Vec<_>>()),
        ("long", long().collect()),
        ("passing", passing().collect()),
        ("flushed", flushed().collect()),
    ] {
        let (dir, mut rows) = (dir.path().join(name), Rows::new());
        let engine = try_open(&dir).unwrap();
        commit(&engine, &mut rows, sizes);
        left.push(Left { name, image: Image::of(&dir), rows: rows.clone() });
        drop(engine);
        left.push(Left { name: "closed", image: Image::of(&dir), rows: rows.clone() });
        let engine = try_open(&dir).unwrap();
        commit(&engine, &mut rows, [100, 200, 300]);
        left.push(Left { name: "opened again", image: Image::of(&dir), rows });
    }
    left
}

/// From this kind on, one bit is flipped.
const FLIPPED: u64 = 4;

/// One way to damage a file; `None` if that does not change it.
fn damage(content: &Content, dice: &mut Dice, kind: u64) -> Option<(String, Option<Content>)> {
    let mut damaged = content.clone();
    let used = content.bytes.len() as u64;
    let what = match kind {
        0 => return Some(("deleted".to_owned(), None)),
        1 => {
            damaged.truncate(0);
            "emptied".to_owned()
        }
        2 => {
            let at = dice.below(used.max(1));
            damaged.truncate(at);
            format!("cut off at {at}")
        }
        3 => {
            let at = dice.below(used.max(1)) as usize / SECTOR * SECTOR;
            let end = damaged.bytes.len().min(at + SECTOR);
            damaged.bytes[at..end].fill(0);
            format!("sector at {at} lost")
        }
        _ => {
            let (at, bit) = (dice.below(used.max(1)), dice.below(8));
            *damaged.bytes.get_mut(at as usize)? ^= 1 << bit;
            format!("bit {bit} at {at} flipped")
        }
    };
    let damaged = Content::new(damaged.bytes, damaged.length);
    (damaged != *content).then_some((what, Some(damaged)))
}

/// The outcome of a damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Right,
    Reported,
    Wrong,
}

/// The result of reading the catalog: everything as acknowledged, or an error.
fn judge(dir: &Path, rows: &Rows) -> End {
    let engine = match try_open(dir) {
        Ok(engine) => engine,
        Err(Error::Corrupt(_) | Error::Io(_)) => return End::Reported,
        Err(_) => return End::Wrong,
    };
    let view = engine.snapshot().unwrap();
    let gets = rows.iter().map(|(key, value)| match view.get(key) {
        Ok(found) if found.as_deref() == Some(value) => End::Right,
        Ok(_) => End::Wrong,
        Err(_) => End::Reported,
    });
    let found = view.scan(&KeyRange::all(), ScanOptions::default()).collect::<Result<Vec<_>, _>>();
    let scan = match found {
        Ok(found) if found.len() == rows.len() => End::Right,
        Ok(_) => End::Wrong,
        Err(_) => End::Reported,
    };
    gets.chain([scan]).max().unwrap()
}

/// The kind of a file: its path without numbers.
fn kind(file: &Path) -> String {
    let name = file.to_string_lossy();
    name.chars()
        .map(|letter| if letter.is_ascii_digit() { 'N' } else { letter })
        .collect::<String>()
        .replace("NN", "N")
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn no_damage_of_any_file_is_a_silent_loss() {
    let rounds = number("CENOTE_CRASH_ROUNDS").map_or(5, |rounds| 5 + rounds / 20);
    let seed = number("CENOTE_CRASH_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    let scratch = image::scratch();
    let mut tally: BTreeMap<(String, End), u32> = BTreeMap::new();
    let mut wrong = Vec::new();
    for left in histories() {
        let files: Vec<PathBuf> = left.image.files.keys().cloned().collect();
        for (n, file) in files.iter().enumerate() {
            for round in 0..rounds {
                let mut dice = Dice::new(&[seed, n as u64, round]);
                let Some((what, damaged)) = damage(&left.image.files[file], &mut dice, round)
                else {
                    continue;
                };
                let mut image = left.image.clone();
                match damaged {
                    Some(content) => *image.file(file) = content,
                    None => drop(image.files.remove(file)),
                }
                let dir = scratch.path().join("catalog");
                image.restore(&dir);
                let end = judge(&dir, &left.rows);
                // Every record of the log survives that.
                let is_harmless = file == Path::new("log") && round >= FLIPPED;
                let as_it_is = || Image::of(&dir).files.get(file) == image.files.get(file);
                // fjall removes tables that no set of tables refers to.
                if end == End::Wrong
                    || end != End::Right && is_harmless
                    || end == End::Reported && !file.starts_with("keyspaces") && !as_it_is()
                {
                    wrong.push(format!("{}: {}: {what}: {end:?}", left.name, file.display()));
                }
                *tally.entry((kind(file), end)).or_default() += 1;
            }
        }
    }
    report(&tally);
    assert!(wrong.is_empty(), "seed {seed}:\n{}", wrong.join("\n"));
}

fn report(tally: &BTreeMap<(String, End), u32>) {
    let total: u32 = tally.values().sum();
    println!("{total} damages");
    for ((kind, end), count) in tally {
        println!("{kind:<28} {end:?} {count}");
    }
}
