//! Storage roots.

use std::fs;

use cenote_ocfl::Root;

use crate::support::Sample;

#[test]
fn only_an_empty_directory_becomes_a_root() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("precious"), "").unwrap();
    assert_eq!(Root::create(dir.path()).unwrap_err().code, "E069");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    let new = dir.path().join("a/b");
    Root::create(&new).unwrap();
    // A root interrupted before its declaration was written is completed.
    fs::remove_file(new.join("0=ocfl_1.0")).unwrap();
    assert_eq!(Root::open(&new).unwrap_err().code, "E069");
    assert!(Root::create(&new).unwrap().objects().unwrap().is_empty());
}

#[test]
fn a_root_contains_only_objects() {
    for (name, code) in [("abc/file", "E072"), ("abc/empty/", "E073")] {
        let sample = Sample::new();
        let path = sample.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if name.ends_with('/') {
            fs::create_dir_all(&path).unwrap();
        } else {
            fs::write(&path, "").unwrap();
        }
        let faults = Root::open(sample.root()).unwrap().objects().unwrap_err();
        assert!(faults.has(code), "{name}: {faults}");
    }
}

#[cfg(unix)]
#[test]
fn links_in_a_root_are_refused() {
    let sample = Sample::new();
    std::os::unix::fs::symlink("/", sample.root().join("more")).unwrap();
    let faults = Root::open(sample.root()).unwrap().objects().unwrap_err();
    assert!(faults.has("E090"), "{faults}");
}

#[test]
fn declarations_have_a_known_version() {
    for (name, text, code) in [
        ("0=ocfl_1.1", "ocfl_1.0\n", "E080"),
        ("0=ocfl_2.0", "ocfl_2.0\n", "E069"),
        ("0=ocfl_1.0", "ocfl_1.0\n", "E076"),
    ] {
        let sample = Sample::new();
        fs::write(sample.root().join(name), text).unwrap();
        assert_eq!(Root::open(sample.root()).unwrap_err().code, code, "{name}");
    }
}

#[test]
fn objects_are_found_in_any_layout_and_added_in_those_that_are_known() {
    let sample = Sample::new();
    let layout = sample.root().join("ocfl_layout.json");
    fs::write(&layout, r#"{"extension":"0999-other","description":""}"#).unwrap();
    let root = Root::open(sample.root()).unwrap();
    assert_eq!(root.objects().unwrap().len(), 1);
    assert_eq!(root.place("urn:x").unwrap_err().code, "E070");
    fs::write(&layout, r#"{"extension":"0002-flat-direct-storage-layout"}"#).unwrap();
    let root = Root::open(sample.root()).unwrap();
    assert_eq!(root.place("urn:x").unwrap(), sample.root().join("urn:x"));
    for id in ["a/b", "..", "", "extensions"] {
        assert_eq!(root.place(id).unwrap_err().code, "E070", "{id}");
    }
    fs::write(&layout, "[").unwrap();
    assert_eq!(Root::open(sample.root()).unwrap_err().code, "E070");
}
