//! The shared suite against every place that needs only this machine.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cenote_blob::{Place, conformance};
use tempfile::tempdir;

#[tokio::test]
async fn memory_conforms() {
    conformance::all(&Place::memory("main")).await;
}

#[tokio::test]
async fn a_local_disk_conforms() {
    let dir = tempdir().unwrap();
    conformance::all(&Place::local("main", dir.path()).unwrap()).await;
}

#[tokio::test]
async fn a_file_url_conforms() {
    let dir = tempdir().unwrap();
    let url = format!("file://{}/made%20here/and%20here", dir.path().display());
    let place = Place::from_url("main", &url, []).unwrap();
    conformance::all(&place).await;
    assert!(dir.path().join("made here/and here/blobs/ff").is_dir());
}
