//! Archival states of files.

use std::sync::Arc;
use std::time::Duration;

use cenote_server::{Dnanexus, Seconds};
use cenote_store::Clock;
use serde_json::{Value, json};

use super::{Client, Platform};
use crate::support::{ManualClock, store_at};

async fn state(client: &Client<'_>, file: &str, project: &str) -> String {
    let input = json!({ "project": project, "fields": { "archivalState": true } });
    super::text(&client.call(file, "describe", input).await["archivalState"])
}

#[tokio::test]
async fn an_archived_file_is_not_read_until_it_is_live_again() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    let (one, other) = (
        ada.file(&project, "/", "one", b"abc").await,
        ada.file(&project, "/d", "other", b"def").await,
    );
    let archived = ada.call(&project, "archive", json!({ "files": [one] })).await;
    assert_eq!(archived, json!({ "id": project, "count": 1 }));
    assert_eq!(state(&ada, &one, &project).await, "archived");
    assert_eq!(state(&ada, &other, &project).await, "live");
    ada.refused(&one, "download", json!({}), "InvalidState").await;
    let find = json!({ "scope": { "project": project }, "archivalState": "archived" });
    let found = ada.call("system", "findDataObjects", find).await;
    assert_eq!(found["results"].as_array().unwrap().len(), 1);
    let counted = json!({ "files": [one], "dryRun": true });
    let answer = ada.call(&project, "unarchive", counted).await;
    assert_eq!((&answer["files"], &answer["cost"]), (&json!(1), &json!(0)));
    assert_eq!(state(&ada, &one, &project).await, "archived");
    ada.call(&project, "unarchive", json!({ "files": [one] })).await;
    assert_eq!(state(&ada, &one, &project).await, "live");
    assert_eq!(ada.read(&one, None).await.text(), "abc");
}

#[tokio::test]
async fn a_folder_is_archived_with_or_without_those_below() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    let mut files = Vec::new();
    for folder in ["/", "/d", "/d/e"] {
        files.push(ada.file(&project, folder, "f", b"abc").await);
    }
    let open = ada.id("file", "new", json!({ "project": project, "folder": "/d" })).await;
    let flat = json!({ "folder": "/d", "recurse": false });
    assert_eq!(ada.call(&project, "archive", flat).await["count"], 1);
    assert_eq!(ada.call(&project, "archive", json!({ "folder": "/d" })).await["count"], 1);
    let mut states = Vec::new();
    for file in files.iter().chain([&open]) {
        states.push(state(&ada, file, &project).await);
    }
    assert_eq!(states, ["live", "archived", "archived", "live"]);
    assert_eq!(ada.call(&project, "unarchive", json!({ "folder": "/" })).await["files"], 2);
}

#[tokio::test]
async fn a_file_is_archived_once_all_its_projects_have_done_so() {
    let platform = Platform::new();
    let (ada, grace) = (platform.ada(), platform.grace());
    let (one, other) = (ada.project("one").await, ada.project("other").await);
    let file = ada.file(&one, "/", "f", b"abc").await;
    let clone = json!({ "objects": [file], "project": other, "destination": "/" });
    ada.call(&one, "clone", clone).await;
    ada.call(&one, "archive", json!({ "files": [file] })).await;
    let states = [state(&ada, &file, &one).await, state(&ada, &file, &other).await];
    assert_eq!(states, ["archival", "live"]);
    ada.call(&other, "archive", json!({ "files": [file] })).await;
    let states = [state(&ada, &file, &one).await, state(&ada, &file, &other).await];
    assert_eq!(states, ["archived", "archived"]);
    ada.call(&one, "unarchive", json!({ "files": [file] })).await;
    let states = [state(&ada, &file, &one).await, state(&ada, &file, &other).await];
    assert_eq!(states, ["live", "archival"]);

    ada.call(&one, "invite", json!({ "invitee": "user-grace", "level": "CONTRIBUTE" })).await;
    ada.call(&other, "invite", json!({ "invitee": "user-grace", "level": "VIEW" })).await;
    let all = json!({ "files": [file], "allCopies": true });
    grace.refused(&one, "archive", all.clone(), "PermissionDenied").await;
    assert_eq!(state(&ada, &file, &one).await, "live");
    ada.call(&one, "archive", all).await;
    assert_eq!(state(&ada, &file, &other).await, "archived");
}

#[tokio::test]
async fn objects_that_cannot_be_archived_are_refused_without_changes() {
    let platform = Platform::new();
    let (ada, grace) = (platform.ada(), platform.grace());
    let project = ada.project("p").await;
    let file = ada.file(&project, "/", "f", b"abc").await;
    let record = ada.id("record", "new", json!({ "project": project, "close": true })).await;
    let open = ada.id("file", "new", json!({ "project": project })).await;
    let nothing = format!("file-B{}", "0".repeat(23));
    for (input, kind) in [
        (json!({}), "InvalidInput"),
        (json!({ "files": [file], "folder": "/" }), "InvalidInput"),
        (json!({ "files": [file, nothing] }), "InvalidInput"),
        (json!({ "files": [file, record] }), "InvalidType"),
        (json!({ "files": [file, open] }), "InvalidState"),
        (json!({ "files": [file, 1] }), "InvalidInput"),
        (json!({ "folder": "/none" }), "ResourceNotFound"),
    ] {
        for method in ["archive", "unarchive"] {
            ada.refused(&project, method, input.clone(), kind).await;
        }
    }
    ada.call(&project, "invite", json!({ "invitee": "user-grace", "level": "UPLOAD" })).await;
    grace.refused(&project, "archive", json!({ "files": [file] }), "PermissionDenied").await;
    assert_eq!(state(&ada, &file, &project).await, "live");
    let found: Value = ada.call(&project, "archive", json!({ "files": [file, file] })).await;
    assert_eq!(found["count"], 1, "named twice");
}

#[tokio::test]
async fn a_file_is_unarchiving_for_the_configured_time() {
    let clock = Arc::new(ManualClock::new());
    let slow = Dnanexus { unarchiving_seconds: Seconds::new(60), ..Dnanexus::default() };
    let platform = Platform::configured(store_at(clock.clone()), slow);
    let ada = platform.ada();
    let project = ada.project("p").await;
    let file = ada.file(&project, "/", "f", b"abc").await;
    let all = json!({ "folder": "/" });
    ada.call(&project, "archive", all.clone()).await;
    assert_eq!(ada.call(&project, "unarchive", all.clone()).await["files"], 1);
    for _ in 0..2 {
        assert_eq!(state(&ada, &file, &project).await, "unarchiving");
        ada.refused(&file, "download", json!({}), "InvalidState").await;
        assert_eq!(
            ada.call(&project, "unarchive", all.clone()).await["files"],
            0,
            "it is on its way"
        );
        assert_eq!(ada.call(&project, "archive", all.clone()).await["count"], 0);
        clock.sleep(Duration::from_secs(29));
    }
    clock.sleep(Duration::from_secs(2));
    assert_eq!(state(&ada, &file, &project).await, "live");
    assert_eq!(ada.read(&file, None).await.text(), "abc");
    assert_eq!(ada.call(&project, "archive", all).await["count"], 1);
    assert_eq!(state(&ada, &file, &project).await, "archived");
}
