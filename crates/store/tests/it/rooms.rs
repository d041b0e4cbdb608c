//! The rooms of the crate: which of them use which others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// None of these may depend on another one that depends on it, be it through others.
const APART: [&str; 4] = ["contents", "metadata", "tree", "versions"];
/// What every room uses, and what uses every room.
const EVERYWHERE: [&str; 4] = ["error", "lib", "reading", "store"];

type Uses = BTreeMap<String, BTreeSet<String>>;

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

/// The code of a file, without comments and without its tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    text.lines().map(|line| line.split("//").next().unwrap().to_owned() + "\n").collect()
}

/// The first names of a list such as `a::{b, c}, D`.
fn first_names(list: &str) -> Vec<String> {
    let (mut depth, mut names, mut name) = (0, Vec::new(), String::new());
    for letter in list.chars().chain([',']) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(std::mem::take(&mut name)),
            _ if depth == 0 => name.push(letter),
            _ => {}
        }
    }
    let first = |name: &String| name.trim().split([':', ' ']).next().unwrap_or_default().to_owned();
    names.iter().map(first).filter(|name| !name.is_empty()).collect()
}

/// What stands between the brace at the start of a text and the one that closes it.
fn within_braces(text: &str) -> &str {
    let mut depth = 0;
    let end = text.char_indices().find(|(_, letter)| {
        depth += match letter {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        depth == 0
    });
    &text[1..end.unwrap().0]
}

/// The names after each `crate::`.
fn names_of_crate(code: &str) -> Vec<String> {
    let used = code.split("crate::").skip(1).flat_map(|rest| match rest.starts_with('{') {
        true => first_names(within_braces(rest)),
        false => {
            vec![rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap().into()]
        }
    });
    used.collect()
}

/// The rooms that export each public name: `pub use room::{Name, …}` in `lib.rs`.
fn exported(lib: &str) -> BTreeMap<String, String> {
    let exports = lib.split("pub use ").skip(1).filter_map(|rest| rest.split_once("::"));
    let names = exports.flat_map(|(room, rest)| {
        let names = match rest.starts_with('{') {
            true => first_names(within_braces(rest)),
            false => vec![rest.split(';').next().unwrap().to_owned()],
        };
        names.into_iter().map(move |name| (name, room.to_owned()))
    });
    names.collect()
}

/// The files of modules that only tests have.
fn test_modules(files: &[PathBuf]) -> BTreeSet<PathBuf> {
    let modules = files.iter().flat_map(|path| {
        let text = fs::read_to_string(path).unwrap();
        let names = text.split("#[cfg(test)]\nmod ").skip(1).filter_map(|rest| {
            let (name, _) = rest.split_once(';')?;
            Some(name.to_owned())
        });
        let dir = match path.ends_with("mod.rs") || path.ends_with("lib.rs") {
            true => path.with_file_name(""),
            false => path.with_extension(""),
        };
        names.map(move |name| dir.join(name + ".rs")).collect::<Vec<_>>()
    });
    modules.collect()
}

fn uses() -> Uses {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let exported = exported(&code(&root.join("lib.rs")));
    let (mut files, mut uses) = (Vec::new(), Uses::new());
    sources(&root, &mut files);
    let room = |path: &Path| {
        let first = path.strip_prefix(&root).unwrap().components().next().unwrap();
        first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
    };
    let rooms: BTreeSet<String> = files.iter().map(|path| room(path)).collect();
    let tests = test_modules(&files);
    for path in files.iter().filter(|path| !tests.contains(*path)) {
        for name in names_of_crate(&code(path)) {
            let used = if rooms.contains(&name) { Some(&name) } else { exported.get(&name) };
            if let Some(used) = used.filter(|used| !EVERYWHERE.contains(&used.as_str())) {
                uses.entry(room(path)).or_default().insert(used.clone());
            }
        }
    }
    uses
}

/// The way from one room to another, if there is any.
fn way(uses: &Uses, from: &str, to: &str) -> Option<Vec<String>> {
    let mut ways = vec![vec![from.to_owned()]];
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop() {
        let nothing = BTreeSet::new();
        for next in uses.get(&way[way.len() - 1]).unwrap_or(&nothing) {
            let longer: Vec<String> = way.iter().cloned().chain([next.clone()]).collect();
            if next == to {
                return Some(longer);
            }
            if !EVERYWHERE.contains(&next.as_str()) && seen.insert(next.clone()) {
                ways.push(longer);
            }
        }
    }
    None
}

#[test]
fn the_large_rooms_do_not_depend_on_each_other_in_circles() {
    let uses = uses();
    assert!(uses["tree"].contains("contents"), "the sources are read: {uses:?}");
    for (n, one) in APART.iter().enumerate() {
        for other in &APART[n + 1..] {
            let ways = way(&uses, one, other).zip(way(&uses, other, one));
            assert!(ways.is_none(), "{ways:?}");
        }
    }
}
