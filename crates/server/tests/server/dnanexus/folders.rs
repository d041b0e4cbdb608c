//! Folders: listing, creating, renaming, moving, removing.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{Client, Platform, text};

async fn folders(client: &Client<'_>, project: &str, folder: &str) -> Value {
    client.call(project, "listFolder", json!({ "folder": folder })).await["folders"].clone()
}

#[tokio::test]
async fn folders_are_created_listed_and_removed() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    ada.refused(&project, "newFolder", json!({ "folder": "/a/b" }), "ResourceNotFound").await;
    ada.call(&project, "newFolder", json!({ "folder": "/a/b/c", "parents": true })).await;
    ada.call(&project, "newFolder", json!({ "folder": "/a/b/c", "parents": true })).await;
    ada.refused(&project, "newFolder", json!({ "folder": "/a/b" }), "InvalidState").await;
    assert_eq!(folders(&ada, &project, "//a/").await, json!(["/a/b"]));
    let all = ada.call(&project, "describe", json!({ "folders": true })).await;
    assert_eq!(all["folders"], json!(["/", "/a", "/a/b", "/a/b/c"]));
    let message =
        ada.refused(&project, "listFolder", json!({ "folder": "/x" }), "ResourceNotFound").await;
    assert_eq!(message, format!("Folder \"/x\" does not exist in project \"{project}\""));
    ada.refused(&project, "removeFolder", json!({ "folder": "/a" }), "InvalidState").await;
    let removed =
        ada.call(&project, "removeFolder", json!({ "folder": "/a", "recurse": true })).await;
    assert_eq!(removed["completed"], true);
    assert_eq!(folders(&ada, &project, "/").await, json!([]));
}

#[tokio::test]
async fn folders_are_renamed_and_moved() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    for folder in ["/a/x", "/b"] {
        ada.call(&project, "newFolder", json!({ "folder": folder, "parents": true })).await;
    }
    ada.call(&project, "renameFolder", json!({ "folder": "/a/x", "name": "y" })).await;
    ada.call(&project, "renameFolder", json!({ "folder": "/a/y", "newpath": "/b/z" })).await;
    assert_eq!(folders(&ada, &project, "/b").await, json!(["/b/z"]));
    ada.refused(&project, "renameFolder", json!({ "folder": "/a", "name": "b" }), "InvalidState")
        .await;
    ada.refused(&project, "renameFolder", json!({ "folder": "/", "name": "b" }), "InvalidInput")
        .await;
    let into_itself = json!({ "folders": ["/b"], "destination": "/b/z" });
    ada.refused(&project, "move", into_itself, "InvalidInput").await;
    ada.call(
        &project,
        "move",
        json!({ "folders": ["/b/z"], "objects": null, "destination": "/a" }),
    )
    .await;
    assert_eq!(folders(&ada, &project, "/a").await, json!(["/a/z"]));
}

#[tokio::test]
async fn a_move_with_a_missing_source_moves_nothing() {
    let platform = Platform::new();
    let ada = platform.ada();
    let (project, other) = (ada.project("p").await, ada.project("q").await);
    let here = ada.file(&project, "/", "here", b"").await;
    let there = ada.file(&other, "/", "there", b"").await;
    ada.call(&project, "newFolder", json!({ "folder": "/to" })).await;
    for input in [
        json!({ "objects": [here, there], "destination": "/to" }),
        json!({ "objects": [here], "folders": ["/none"], "destination": "/to" }),
        json!({ "objects": [here], "destination": "/none" }),
    ] {
        ada.refused(&project, "move", input, "ResourceNotFound").await;
    }
    assert_eq!(ada.names(&project, "/").await, ["here"]);
}

#[tokio::test]
async fn a_folder_and_objects_may_share_a_name_and_every_other_opening_sees_each_once() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    for bytes in ["1", "2", "3"] {
        ada.file(&project, "/", "X.txt", bytes.as_bytes()).await;
    }
    ada.file(&project, "/", "same", b"object").await;
    ada.call(&project, "newFolder", json!({ "folder": "/same" })).await;
    ada.file(&project, "/", "a/b.txt", b"").await;
    assert_eq!(ada.names(&project, "/").await, ["X.txt", "X.txt", "X.txt", "a/b.txt", "same"]);
    assert_eq!(folders(&ada, &project, "/").await, json!(["/same"]));
    let listed =
        platform.server.request("GET", "/v1/list?path=/home/ada/p").send().await.expect(200);
    let mut names: Vec<_> =
        listed["entries"].as_array().unwrap().iter().map(|entry| text(&entry["name"])).collect();
    names.sort();
    assert_eq!(names, ["X (2).txt", "X (3).txt", "X.txt", "a___b.txt", "same", "same (2)"]);
}

#[tokio::test]
async fn a_name_given_by_another_opening_is_shown() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    ada.file(&project, "/", "f", b"1").await;
    ada.file(&project, "/", "f", b"2").await;
    let input = json!({ "from": { "path": "/home/ada/p/f (2)" }, "to": "/home/ada/p/g" });
    platform.server.post("/v1/move", input).await.expect(200);
    assert_eq!(ada.names(&project, "/").await, ["f", "g"]);
}

#[tokio::test]
async fn a_project_in_a_home_is_not_a_folder_of_it() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("inner").await;
    let file = ada.file(&project, "/", "f", b"").await;
    let found = ada.call("system", "findProjects", json!({ "name": "ada" })).await;
    let home = text(&found["results"][0]["id"]);
    assert_eq!(folders(&ada, &home, "/").await, json!([]));
    assert_eq!(
        ada.call(&home, "describe", json!({ "folders": true })).await["folders"],
        json!(["/"])
    );
    ada.refused(&home, "listFolder", json!({ "folder": "/inner" }), "ResourceNotFound").await;
    let outside = json!({ "scope": { "project": home } });
    assert_eq!(ada.call("system", "findDataObjects", outside).await["results"], json!([]));
    let everywhere = ada.call("system", "findDataObjects", json!({})).await;
    assert_eq!(everywhere["results"], json!([{ "id": file, "project": project }]));
}

#[tokio::test]
async fn many_objects_are_moved_together_or_not_at_all() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    for folder in ["/a", "/b", "/to/b"] {
        ada.call(&project, "newFolder", json!({ "folder": folder, "parents": true })).await;
    }
    let file = ada.file(&project, "/a", "f", b"abc").await;
    let input = json!({ "objects": [file], "folders": ["/a", "/b"], "destination": "/to" });
    let before =
        ada.call(&project, "describe", json!({ "folders": true })).await["folders"].clone();
    ada.refused(&project, "move", input.clone(), "InvalidState").await;
    let after = ada.call(&project, "describe", json!({ "folders": true })).await["folders"].clone();
    assert_eq!(before, after, "nothing was moved");
    ada.call(&project, "removeFolder", json!({ "folder": "/to/b" })).await;
    ada.call(&project, "move", input).await;
    let after = ada.call(&project, "describe", json!({ "folders": true })).await["folders"].clone();
    assert_eq!(after, json!(["/", "/to", "/to/a", "/to/b"]));
    assert_eq!(ada.names(&project, "/to").await, ["f"]);
}

#[tokio::test]
async fn concurrent_moves_of_many_objects_all_succeed() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    ada.call(&project, "newFolder", json!({ "folder": "/to" })).await;
    let mut calls = Vec::new();
    for n in 0..4 {
        let mut objects = Vec::new();
        for k in 0..3 {
            objects.push(ada.file(&project, "/", &format!("f{n}{k}"), b"").await);
        }
        calls.push(json!({ "objects": objects, "destination": "/to" }));
    }
    let moved = join_all(calls.iter().map(|input| ada.try_call(&project, "move", input))).await;
    moved.iter().for_each(|answer| drop(answer.expect(200)));
    assert_eq!(ada.names(&project, "/to").await.len(), 12);
    assert_eq!(ada.names(&project, "/").await, [""; 0]);
}
