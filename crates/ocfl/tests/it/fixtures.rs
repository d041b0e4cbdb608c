//! The fixtures of the specification (github.com/OCFL/fixtures), if `OCFL_FIXTURES` is the path of a copy.

use std::fs;
use std::path::{Path, PathBuf};

use cenote_ocfl::{Faults, Object};

fn fixtures(kind: &str) -> Vec<PathBuf> {
    let Some(root) = std::env::var_os("OCFL_FIXTURES") else { return Vec::new() };
    let directory = |spec: &str| Path::new(&root).join(spec).join(kind);
    let entries = ["1.0", "1.1"].map(|spec| fs::read_dir(directory(spec)).unwrap());
    entries.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

fn check(path: &Path) -> Result<(), Faults> {
    Object::open(path)?.check().map(drop)
}

#[test]
fn good_objects_are_good() {
    for kind in ["good-objects", "warn-objects"] {
        for path in fixtures(kind) {
            if let Err(faults) = check(&path) {
                panic!("{}: {faults}", path.display());
            }
        }
    }
}

#[test]
fn bad_objects_are_bad() {
    let bad = fixtures("bad-objects");
    let good: Vec<_> = bad.iter().filter(|path| check(path).is_ok()).collect();
    assert!(good.is_empty(), "{good:?}");
}
