//! The documents match the code: the tests of each promise exist, and each table of the catalog is described.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn document(name: &str) -> String {
    fs::read_to_string(crates().parent().unwrap().join("docs").join(name)).unwrap()
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|extension| extension == "rs") => {
                found.push(path)
            }
            false => {}
        }
    }
}

/// Whether a file is a module, or the root of one that is a folder.
fn is_of_module(file: &Path, module: &str) -> bool {
    let folder = file.parent().unwrap();
    let named = if file.ends_with("mod.rs") { folder.file_name() } else { file.file_stem() };
    named.is_some_and(|named| named == module)
}

#[test]
fn every_promise_names_tests_that_exist() {
    let mut files = Vec::new();
    for room in fs::read_dir(crates()).unwrap() {
        sources(&room.unwrap().path(), &mut files);
    }
    let semantics = document("SEMANTICS.md");
    let names = Regex::new("`(?:[a-z_0-9]+::)*([a-z_0-9]+)::([a-z_0-9]+)`").unwrap();
    let missing: Vec<_> = names
        .captures_iter(&semantics)
        .filter(|name| {
            let test = format!("fn {}(", &name[2]);
            let mut named = files.iter().filter(|path| is_of_module(path, &name[1]));
            !named.any(|path| fs::read_to_string(path).unwrap().contains(&test))
        })
        .map(|name| name[0].to_owned())
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(names.captures_iter(&semantics).count() > 50);
}

/// A source without its comments.
fn code_of(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The modules of the operations, in the order of `ARCHITECTURE.md`: each depends only on those before it.
#[test]
fn modules_depend_only_on_lower_ones() {
    let rooms = ["resources", "metadata", "versions", "describe", "contents", "tree"];
    let mut upward = Vec::new();
    for (n, room) in rooms.iter().enumerate() {
        let mut files = Vec::new();
        sources(&crates().join("store/src").join(room), &mut files);
        let above = rooms[n + 1..].join("|");
        let import = Regex::new(&format!(r"crate::(\{{[^}}]*\b)?({above})\b")).unwrap();
        let is_upward = |file: &PathBuf| n + 1 < rooms.len() && import.is_match(&code_of(file));
        upward.extend(files.into_iter().filter(is_upward));
    }
    assert!(upward.is_empty(), "{upward:#?}");
}

fn tables(text: &str, row: &str) -> BTreeSet<char> {
    let row = Regex::new(row).unwrap();
    row.captures_iter(text).map(|row| row[1].chars().next().unwrap()).collect()
}

#[test]
fn every_table_of_the_catalog_is_described() {
    let files = fs::read_dir(crates().join("store/src/catalog/keys")).unwrap();
    let texts = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let keys = texts.collect::<String>();
    let used = tables(&keys, r"Key::new\(b'(.)'\)");
    assert_eq!(tables(&keys, r"(?m)^//! \| `(.)`"), used);
    assert_eq!(tables(&document("format.md"), r"(?m)^\| `(.)`"), used);
}

/// `docs/format.md` read literally: an entry of a collection.
#[test]
fn rows_conform_to_the_documented_format() {
    let world = crate::world::world();
    let id = world.put("/name", b"").id.0;
    let key = [&b"C"[..], &1u64.to_be_bytes(), b"name"].concat();
    let value = world.rows().into_iter().find(|row| row.0 == key).unwrap().1;
    // An array of two: the id, in two bytes, and the kind of an object.
    let [high, low] = u16::try_from(id).unwrap().to_be_bytes();
    let record = [0x82, 0x19, high, low, 1];
    let frame = [&[1][..], &crc32c::crc32c(&record).to_le_bytes(), &record].concat();
    assert_eq!(value, frame);
}
