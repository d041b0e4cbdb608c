//! Objects in several projects.

use serde_json::json;

use super::Platform;

#[tokio::test]
async fn a_clone_is_the_same_object_in_another_project() {
    let platform = Platform::new();
    let ada = platform.ada();
    let (one, other) = (ada.project("one").await, ada.project("other").await);
    let file = ada.file(&one, "/d/empty", "f", b"shared").await;
    ada.call(&file, "addTags", json!({ "project": one, "tags": ["t"] })).await;
    ada.call(&one, "newFolder", json!({ "folder": "/d/e" })).await;
    let input = json!({ "folders": ["/d"], "project": other, "destination": "/" });
    let cloned = ada.call(&one, "clone", input.clone()).await;
    assert_eq!(cloned, json!({ "id": one, "project": other, "exists": [] }));
    let message = ada.refused(&one, "clone", input, "InvalidState").await;
    assert!(message.contains("If cloned, a folder would conflict"), "{message}");
    let again = json!({ "objects": [file], "project": other, "destination": "/" });
    assert_eq!(ada.call(&one, "clone", again).await["exists"], json!([file]));

    let here = ada.call(&file, "describe", json!({ "project": one })).await;
    let there = ada.call(&file, "describe", json!({ "project": other })).await;
    assert_eq!((&here["project"], &there["project"]), (&json!(one), &json!(other)));
    assert_eq!((&here["created"], &there["tags"]), (&there["created"], &json!(["t"])));
    ada.call(&file, "rename", json!({ "project": other, "name": "g" })).await;
    ada.call(&file, "removeTags", json!({ "project": other, "tags": ["t"] })).await;
    let here = ada.call(&file, "describe", json!({ "project": one })).await;
    assert_eq!((&here["name"], &here["tags"]), (&json!("f"), &json!(["t"])), "each its own");

    let projects = ada.call(&file, "listProjects", json!({})).await;
    assert_eq!(projects, json!({ &one: "ADMINISTER", &other: "ADMINISTER" }));
    ada.call(&one, "removeObjects", json!({ "objects": [file] })).await;
    ada.refused(&file, "download", json!({ "project": one }), "ResourceNotFound").await;
    assert_eq!(ada.call(&file, "describe", json!({ "project": one })).await["project"], other);
    assert_eq!(ada.read(&file, None).await.text(), "shared", "as long as any project has it");
    assert_eq!(ada.names(&other, "/d/empty").await, ["g"]);
    ada.call(&other, "removeObjects", json!({ "objects": [file] })).await;
    ada.refused(&file, "describe", json!({}), "ResourceNotFound").await;
}

#[tokio::test]
async fn nothing_is_cloned_if_anything_is_open() {
    let platform = Platform::new();
    let ada = platform.ada();
    let (one, other) = (ada.project("one").await, ada.project("other").await);
    let closed = ada.file(&one, "/d", "f", b"").await;
    let open = ada.id("record", "new", json!({ "project": one, "folder": "/d" })).await;
    for input in [
        json!({ "objects": [closed, open], "project": other, "destination": "/" }),
        json!({ "folders": ["/d"], "project": other, "destination": "/" }),
    ] {
        ada.refused(&one, "clone", input, "InvalidState").await;
    }
    let all = ada.call(&other, "describe", json!({ "folders": true })).await;
    assert_eq!(all["folders"], json!(["/"]));
    assert_eq!(ada.names(&other, "/").await, [""; 0]);
}

#[tokio::test]
async fn a_hidden_project_is_not_listed_among_the_projects_of_a_file() {
    let platform = Platform::new();
    let (ada, grace) = (platform.ada(), platform.grace());
    let (secret, shared) = (ada.project("secret").await, ada.project("shared").await);
    let file = ada.file(&secret, "/", "f", b"bytes").await;
    ada.call(&secret, "clone", json!({ "objects": [file], "project": shared, "destination": "/" }))
        .await;
    ada.call(&shared, "invite", json!({ "invitee": "user-grace", "level": "VIEW" })).await;
    let described = grace.call(&file, "describe", json!({ "project": secret })).await;
    assert_eq!(described["project"], shared);
    assert_eq!(grace.call(&file, "listProjects", json!({})).await, json!({ &shared: "VIEW" }));
    assert_eq!(grace.read(&file, None).await.text(), "bytes");
    grace.refused(&file, "download", json!({ "project": secret }), "ResourceNotFound").await;
}
