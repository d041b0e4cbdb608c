//! The store in a directory: made once, opened by one process at a time.

use std::fs;

use cenote_server::embedded::{OpenError, init_dir, open_dir};

#[test]
fn a_store_is_made_and_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    drop(init_dir(dir.path(), "ada", "secret").unwrap());
    let opened = open_dir(dir.path()).unwrap();
    assert_eq!(opened.store().authenticate_password("ada", "secret").unwrap().name(), "ada");
}

#[test]
fn the_second_to_open_a_store_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let first = init_dir(dir.path(), "ada", "secret").unwrap();
    assert!(matches!(open_dir(dir.path()), Err(OpenError::Locked(_))));
    drop(first);
    open_dir(dir.path()).unwrap();
}

#[test]
fn a_store_is_made_only_where_nothing_else_is() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(open_dir(dir.path()), Err(OpenError::Missing(_))));
    fs::write(dir.path().join("thesis.tex"), "x").unwrap();
    assert!(matches!(init_dir(dir.path(), "ada", "secret"), Err(OpenError::Occupied(_))));
    let inner = dir.path().join("a/b");
    drop(init_dir(&inner, "ada", "secret").unwrap());
    assert!(matches!(init_dir(&inner, "ada", "secret"), Err(OpenError::Exists(_))));
}

#[test]
fn settings_that_are_not_understood_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(init_dir(dir.path(), "ada", "secret").unwrap());
    let settings = dir.path().join("store.toml");
    fs::write(&settings, "format = 99\n").unwrap();
    assert!(matches!(open_dir(dir.path()), Err(OpenError::TooNew { found: 99 })));
    fs::write(&settings, "nonsense").unwrap();
    assert!(matches!(open_dir(dir.path()), Err(OpenError::Settings(..))));
}
