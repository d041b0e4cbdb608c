//! The store in a directory: created once, opened by one process at a time.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cenote_server::embedded::{OpenError, init_dir, open_dir};
use cenote_server::{Config, LocalCaller};
use serde_json::json;

use crate::support::TestServer;

#[test]
fn a_store_is_created_and_reopened() {
    let dir = tempfile::tempdir().unwrap();
    drop(init_dir(dir.path(), "ada", "secret").unwrap());
    let opened = open_dir(dir.path()).unwrap();
    assert_eq!(opened.store().authenticate_password("ada", "secret").unwrap().name(), "ada");
}

#[test]
fn a_store_cannot_be_opened_twice() {
    let dir = tempfile::tempdir().unwrap();
    let first = init_dir(dir.path(), "ada", "secret").unwrap();
    assert!(matches!(open_dir(dir.path()), Err(OpenError::Locked(_))));
    drop(first);
    open_dir(dir.path()).unwrap();
}

#[test]
fn a_store_is_created_only_in_an_empty_directory() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(open_dir(dir.path()), Err(OpenError::Missing(_))));
    fs::write(dir.path().join("thesis.tex"), "x").unwrap();
    assert!(matches!(init_dir(dir.path(), "ada", "secret"), Err(OpenError::Occupied(_))));
    let inner = dir.path().join("a/b");
    drop(init_dir(&inner, "ada", "secret").unwrap());
    assert!(matches!(init_dir(&inner, "ada", "secret"), Err(OpenError::Exists(_))));
}

#[test]
fn unknown_settings_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(init_dir(dir.path(), "ada", "secret").unwrap());
    let settings = dir.path().join("store.toml");
    fs::write(&settings, "format = 99\n").unwrap();
    assert!(matches!(open_dir(dir.path()), Err(OpenError::TooNew { found: 99 })));
    fs::write(&settings, "nonsense").unwrap();
    assert!(matches!(open_dir(dir.path()), Err(OpenError::Settings(..))));
}

/// Everything in a directory that is accessible to others than its owner.
fn open_to_others(dir: &Path, found: &mut Vec<String>) {
    let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    found.extend((mode(dir) != 0o700).then(|| format!("{:o} {}", mode(dir), dir.display())));
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            open_to_others(&path, found);
        } else if mode(&path) != 0o600 {
            found.push(format!("{:o} {}", mode(&path), path.display()));
        }
    }
}

/// Puts contents of all sizes, in the main place and in an added one, and an upload; enough for tables of the
/// catalog.
async fn work(dir: &Path, vault: &Path) {
    let opened = open_dir(dir).unwrap();
    let store = opened.store();
    let server = TestServer { router: cenote_server::router(store.clone(), &Config::default()) };
    let admin = LocalCaller::administrator(store).unwrap();
    let request = |method, uri: &str| server.request_as(None, method, uri).extension(admin.clone());
    if !vault.exists() {
        let place = json!({"name": "vault", "address": format!("file://{}", vault.display())});
        request("POST", "/v1/places").json(&place).send().await.expect(201);
    }
    for (n, size) in [0, 10, 60_000, 100_000, 1_000_000].into_iter().enumerate() {
        for place in ["", "?place=vault"] {
            let uri = format!("/v1/fs/{n}{}{place}", place.len());
            let put = request("PUT", &uri).body(vec![7; size]).send().await;
            assert!(put.status.is_success(), "{put:?}");
        }
    }
    let begun =
        request("POST", "/v1/uploads").json(&json!({"path": "/up"})).send().await.expect(201);
    let part = format!("/v1/uploads/{}/0", begun["id"].as_str().unwrap());
    request("PUT", &part).body(vec![7; 200_000]).send().await.expect(200);
    drop(request("GET", "/v1/stats").send().await.expect(200));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_owner_can_read_the_files_of_a_store() {
    let outer = tempfile::tempdir().unwrap();
    let (dir, vault) = (outer.path().join("store"), outer.path().join("vault"));
    let mut found = Vec::new();
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(&dir, Permissions::from_mode(0o755)).unwrap();
    drop(init_dir(&dir, "ada", "secret").unwrap());
    work(&dir, &vault).await;
    open_to_others(&dir, &mut found);
    open_to_others(&vault, &mut found);
    assert!(found.is_empty(), "{found:#?}");
}

/// As created by an earlier version, with the usual umask.
fn open_up(dir: &Path) {
    fs::set_permissions(dir, Permissions::from_mode(0o755)).unwrap();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => open_up(&path),
            false => fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap(),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_readable_by_others_is_made_private_when_opened() {
    let outer = tempfile::tempdir().unwrap();
    let (dir, vault) = (outer.path().join("store"), outer.path().join("vault"));
    drop(init_dir(&dir, "ada", "secret").unwrap());
    work(&dir, &vault).await;
    let registered = outer.path().join("registered");
    fs::write(&registered, "x").unwrap();
    open_up(&dir);
    open_up(&vault);
    fs::set_permissions(&registered, Permissions::from_mode(0o644)).unwrap();
    std::os::unix::fs::symlink(&registered, dir.join("catalog/link")).unwrap();
    work(&dir, &vault).await;
    fs::remove_file(dir.join("catalog/link")).unwrap();
    let mut found = Vec::new();
    open_to_others(&dir, &mut found);
    open_to_others(&vault.join("blobs"), &mut found);
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!(fs::metadata(&registered).unwrap().permissions().mode() & 0o777, 0o644);
}
