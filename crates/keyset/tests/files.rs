//! Replacing a file: all or nothing, with its mode, and never over a concurrent change.
#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use cenote_keyset::WriteError;
use cenote_keyset::file::{FileFault, Snapshot};

fn content(text: &'static str) -> impl FnOnce(&mut dyn Write) -> Result<(), WriteError> {
    move |out| Ok(out.write_all(text.as_bytes())?)
}

fn names(directory: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_missing_file_is_created_with_the_usual_mode() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.quickdump");
    let (bytes, snapshot) = Snapshot::read(&path).unwrap();
    assert_eq!(bytes, None);
    snapshot.replace(content("new")).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    assert_ne!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o400, 0);
    assert_eq!(names(directory.path()), ["keys.quickdump"]);
}

#[test]
fn mode_and_links_are_preserved() {
    let directory = tempfile::tempdir().unwrap();
    let (path, link) = (directory.path().join("a"), directory.path().join("b"));
    std::fs::write(&path, "old").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let (bytes, snapshot) = Snapshot::read(&link).unwrap();
    assert_eq!(bytes.unwrap(), "old");
    snapshot.replace(content("new")).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn concurrent_changes_by_another_program_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    for start in [None, Some("old")] {
        let _ = std::fs::remove_file(&path);
        start.iter().for_each(|text| std::fs::write(&path, text).unwrap());
        let (_, snapshot) = Snapshot::read(&path).unwrap();
        std::fs::write(&path, "theirs").unwrap();
        let error = snapshot.replace(content("ours")).unwrap_err();
        assert!(matches!(error.source, FileFault::Changed), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
    }
    let (_, snapshot) = Snapshot::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    snapshot.replace(content("ours")).unwrap_err();
    assert!(names(directory.path()).is_empty());
}

#[test]
fn of_two_concurrent_replacements_one_succeeds() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    std::fs::write(&path, "old").unwrap();
    let snapshots: Vec<_> = (0..8).map(|_| Snapshot::read(&path).unwrap().1).collect();
    let threads = snapshots
        .into_iter()
        .map(|snapshot| std::thread::spawn(move || snapshot.replace(content("new")).is_ok()));
    let threads: Vec<_> = threads.collect();
    let wins = threads.into_iter().filter_map(|thread| thread.join().unwrap().then_some(()));
    assert_eq!(wins.count(), 1);
}

#[test]
fn a_failed_write_leaves_the_file_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    std::fs::write(&path, "old").unwrap();
    let (_, snapshot) = Snapshot::read(&path).unwrap();
    let refused = snapshot.replace(|out| {
        out.write_all(b"half")?;
        Err(WriteError::OutsideParent("user:/x".into()))
    });
    assert!(matches!(refused.unwrap_err().source, FileFault::Write(_)));
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(names(directory.path()), ["a"]);
}
