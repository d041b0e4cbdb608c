//! Random bit errors in the files of a closed store, of every kind: afterwards each result is correct or an error, no
//! name is silently missing, and the check reports what reading reported.
//!
//! `CENOTE_ROT_ROUNDS` sets the number of damages to try; a history can be repeated with the number that a failure
//! prints.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use cenote_blob::Place;
use cenote_kv::{FjallEngine, FjallOptions};
use cenote_store::{CheckOptions, ListOptions, Parts, ReadOptions, Store};
use futures_util::StreamExt;

use crate::world::{ADMIN, World, at, noise, path, run, world_on};

/// The damages of `make test`.
const ROUNDS: u64 = 60;

/// Objects of up to 64 KiB are stored in the catalog; with this many of them it has tables and value files.
const SMALL: u64 = 420;

/// The expected contents of each object.
type Objects = BTreeMap<String, Vec<u8>>;

fn open(dir: &Path) -> Result<(Store, Parts), String> {
    let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
    let engine = FjallEngine::open(dir.join("catalog"), options).map_err(|e| e.to_string())?;
    let place = Place::local("main", dir.join("contents")).map_err(|e| e.to_string())?;
    let parts = Parts::new(engine, place);
    let store = Store::open_existing(parts.clone()).map_err(|error| error.to_string())?;
    Ok((store, parts))
}

/// A closed store with contents of every size in it.
fn filled(dir: &Path) -> Objects {
    let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
    let engine = FjallEngine::open(dir.join("catalog"), options).unwrap();
    let mut world = world_on(engine, Place::local("main", dir.join("contents")).unwrap());
    world.parts.limits = cenote_store::Limits::default();
    let world = world.reopened();
    let mut objects = Objects::new();
    for n in 0..SMALL {
        // Values up to 4 KiB are in tables, larger ones in separate files.
        let size = if n % 3 == 0 { n * 7 } else { 65_000 - n };
        put(&world, &mut objects, &format!("/small-{n:03}"), size as usize);
    }
    for n in 0..6 {
        put(&world, &mut objects, &format!("/large-{n}"), 70_000 + n * 400_000);
    }
    objects
}

fn put(world: &World, objects: &mut Objects, name: &str, size: usize) {
    let bytes = noise(size, objects.len() as u64);
    world.put(name, &bytes);
    objects.insert(name.to_owned(), bytes);
}

pub(crate) fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(files_below(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

/// The kind of a file: its path without numbers.
fn kind(file: &Path) -> String {
    let path = file.to_str().unwrap();
    match path.contains("contents/") {
        true => "contents/blobs".to_owned(),
        false => path.replace(|c: char| c.is_ascii_digit(), ""),
    }
}

/// All non-empty files, by kind. The log of the catalog has its own tests.
fn kinds(dir: &Path) -> BTreeMap<String, Vec<PathBuf>> {
    let mut kinds = BTreeMap::<String, Vec<PathBuf>>::new();
    for file in files_below(dir) {
        let inside = file.strip_prefix(dir).unwrap().to_owned();
        let skipped = inside == Path::new("catalog/log") || fs::metadata(&file).unwrap().len() == 0;
        if !skipped {
            kinds.entry(kind(&inside)).or_default().push(inside);
        }
    }
    kinds
}

/// In memory if there is such a directory: each round opens a store, which syncs often.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Files that are never written in place are hard-linked.
fn copy(from: &Path, to: &Path) {
    for file in files_below(from) {
        let inside = file.strip_prefix(from).unwrap();
        let target = to.join(inside);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        let text = inside.to_str().unwrap();
        match ["contents/", "/tables/", "/blobs/"].iter().any(|part| text.contains(part)) {
            true => fs::hard_link(&file, target).unwrap(),
            false => drop(fs::copy(&file, target).unwrap()),
        }
    }
}

/// A pseudo-random number.
fn dice(seed: u64) -> u64 {
    u64::from_le_bytes(noise(8, seed).try_into().unwrap())
}

/// Flips one bit, or in each fourth round every bit of up to 512 bytes.
fn damage(file: &Path, round: u64) -> String {
    let mut bytes = fs::read(file).unwrap();
    let at = dice(round * 3 + 1) as usize % bytes.len();
    let length = if round % 4 == 3 { 512 } else { 1 };
    let end = bytes.len().min(at + length);
    let bits = if length == 1 { 1 << (dice(round * 3 + 2) % 8) } else { 0xff };
    bytes[at..end].iter_mut().for_each(|byte| *byte ^= bits);
    fs::remove_file(file).unwrap();
    fs::write(file, &bytes).unwrap();
    format!("{at}..{end} of {}", bytes.len())
}

/// The behaviour of a store after damage.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Behaviour {
    /// It could not be opened.
    NotOpened,
    /// Some results were errors, and the check found damage.
    Answers,
    /// All results were correct, and the check found damage.
    Check,
    /// The damaged bytes were not read, or were repaired.
    Nothing,
    /// A failure: wrong bytes, a missing name, a panic, or an error that the check does not report.
    Wrong(String),
}

fn look(dir: &Path, objects: &Objects) -> Behaviour {
    match catch_unwind(AssertUnwindSafe(|| answers(dir, objects))) {
        Ok(behaviour) => behaviour,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or(panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Behaviour::Wrong(format!("a panic: {}", text.unwrap_or_default()))
        }
    }
}

fn answers(dir: &Path, objects: &Objects) -> Behaviour {
    let Ok((store, _parts)) = open(dir) else { return Behaviour::NotOpened };
    let who = store.person_named(ADMIN).and_then(|(id, _)| store.caller_for(id));
    let mut errors = 0;
    let listed = who.as_ref().ok().map(|admin| names(&store, admin));
    let names = match &listed {
        Some(Ok(names)) => names.clone(),
        _ => BTreeSet::new(),
    };
    errors += usize::from(!matches!(listed, Some(Ok(_))));
    let mut missing = Vec::new();
    for (name, bytes) in objects {
        if errors == 0 && !names.contains(&name[1..]) {
            missing.push(name);
        }
        let Ok(admin) = &who else { break };
        let read = store
            .open(admin, &at(name), &ReadOptions::default())
            .and_then(|opened| run(opened.read_all()));
        match read {
            Ok(read) if read == bytes[..] => {}
            Ok(_) => return Behaviour::Wrong(format!("other bytes in {name}")),
            Err(_) => errors += 1,
        }
    }
    let found = run(async { store.check(CheckOptions::default()).collect::<Vec<_>>().await });
    match (errors, found.is_empty(), missing.first()) {
        (_, true, Some(name)) => {
            Behaviour::Wrong(format!("{name} is not listed, and nothing says so"))
        }
        (1.., true, _) => Behaviour::Wrong("errors that the check does not find".to_owned()),
        (0, true, None) => Behaviour::Nothing,
        (0, false, None) => Behaviour::Check,
        (_, false, _) => Behaviour::Answers,
    }
}

fn names(store: &Store, admin: &cenote_store::Caller) -> cenote_store::Result<BTreeSet<String>> {
    let mut options = ListOptions { limit: 1_000, ..ListOptions::default() };
    let mut names = BTreeSet::new();
    loop {
        let page = store.list(admin, &cenote_store::At::Path(path("/")), &options)?;
        names.extend(page.entries.iter().map(|entry| entry.resource.name.clone()));
        match page.next {
            Some(next) => options.after = Some(next),
            None => return Ok(names),
        }
    }
}

#[test]
fn every_corrupt_file_is_reported_and_never_served() {
    let rounds = std::env::var("CENOTE_ROT_ROUNDS").ok().map_or(ROUNDS, |n| n.parse().unwrap());
    let whole = directory();
    let objects = filled(whole.path());
    assert_eq!(look(whole.path(), &objects), Behaviour::Nothing);
    let kinds = kinds(whole.path());
    let of_values = kinds.keys().any(|kind| kind.contains("/blobs/"));
    assert!(of_values, "values lie in files of their own: {:?}", kinds.keys());
    let mut counts = BTreeMap::<(&str, String), u64>::new();
    let mut wrong = Vec::new();
    for round in 0..rounds {
        let (kind, files) = kinds.iter().nth((round % kinds.len() as u64) as usize).unwrap();
        let file = &files[dice(round * 3) as usize % files.len()];
        let dir = directory();
        copy(whole.path(), dir.path());
        let what = damage(&dir.path().join(file), round);
        let behaviour = look(dir.path(), &objects);
        let outcome = match behaviour {
            Behaviour::Wrong(fault) => {
                wrong.push(format!("round {round}, {what} of {}: {fault}", file.display()));
                "wrong".to_owned()
            }
            behaviour => format!("{behaviour:?}"),
        };
        *counts.entry((kind, outcome)).or_default() += 1;
    }
    counts.iter().for_each(|((kind, behaviour), n)| println!("{n:6} {kind}: {behaviour}"));
    assert!(wrong.is_empty(), "{} of {rounds}:\n{}", wrong.len(), wrong.join("\n"));
}
