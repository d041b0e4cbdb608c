//! A root with objects that were written by the crate itself.

use std::fs;
use std::path::{Path, PathBuf};

use cenote_ocfl::{Algorithm, Draft, Faults, Object, Root, Stamp, User};
use serde_json::Value;

pub(crate) fn stamp(second: i64) -> Stamp {
    let user = Some(User { name: "ada".to_owned(), address: None });
    let created = jiff::Timestamp::from_second(second).unwrap();
    Stamp { created, message: Some(format!("at {second}")), user }
}

/// A root with one object of three versions: `a.txt` changes once, `b/c.txt` is added and removed.
pub(crate) struct Sample {
    dir: tempfile::TempDir,
    pub(crate) object: PathBuf,
}

impl Sample {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        // Of OCFL 1.1, which has more rules than what is written by default; its objects are, too.
        Root::create(dir.path()).unwrap();
        fs::remove_file(dir.path().join("0=ocfl_1.0")).unwrap();
        fs::write(dir.path().join("0=ocfl_1.1"), "ocfl_1.1\n").unwrap();
        let root = Root::open(dir.path()).unwrap();
        let mut draft = Draft::new(&root, "urn:sample").unwrap();
        let states: [&[(&str, &str)]; 3] =
            [&[("a.txt", "one")], &[("a.txt", "two"), ("b/c.txt", "one")], &[("a.txt", "two")]];
        for (second, state) in (1..).zip(states) {
            for (path, text) in state {
                draft.add_bytes(path, text.as_bytes()).unwrap();
            }
            draft.end_version(stamp(second)).unwrap();
        }
        draft.publish().unwrap();
        root.tidy().unwrap();
        let object = root.place("urn:sample").unwrap();
        Self { dir, object }
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.object.join(name)
    }

    /// Changes the inventory of the object and of its head, and updates both sidecars.
    pub(crate) fn edit(&self, change: impl FnOnce(&mut Value)) {
        let text = fs::read(self.path("inventory.json")).unwrap();
        let mut inventory: Value = serde_json::from_slice(&text).unwrap();
        change(&mut inventory);
        self.replace_inventory(&inventory.to_string());
    }

    /// Replaces the inventory of the object and of its head.
    pub(crate) fn replace_inventory(&self, text: &str) {
        for directory in [self.object.clone(), self.path("v3")] {
            write_inventory(&directory, text);
        }
    }

    pub(crate) fn check(&self) -> Result<(), Faults> {
        Object::open(&self.object)?.check().map(drop)
    }
}

pub(crate) fn write_inventory(directory: &Path, text: &str) {
    fs::write(directory.join("inventory.json"), text).unwrap();
    let sidecar = format!("{} inventory.json\n", Algorithm::Sha512.of(text.as_bytes()));
    fs::write(directory.join("inventory.json.sha512"), sidecar).unwrap();
}
