//! Ids that objects and projects had on the server from which they were migrated.

use serde_json::json;

use super::Platform;

#[tokio::test]
async fn migrated_objects_are_found_by_their_former_ids() {
    let platform = Platform::new();
    let (ada, grace) = (platform.ada(), platform.grace());
    let (one, other) = (ada.project("one").await, ada.project("other").await);
    let had = format!("file-{}", "A".repeat(24));
    let new =
        json!({ "project": one, "name": "f", "knownAs": had, "created": 1_700_000_000_000_i64 });
    let file = ada.id("file", "new", new).await;
    ada.part(&had, 1, b"brought").await.expect(200);
    ada.call(&had, "close", json!({})).await;
    let described = ada.call(&had, "describe", json!({})).await;
    assert_eq!(
        (&described["id"], &described["created"]),
        (&json!(file), &json!(1_700_000_000_000_i64))
    );
    ada.call(&had, "addTags", json!({ "project": one, "tags": ["t"] })).await;
    let found = ada.call("system", "findDataObjects", json!({ "id": [had] })).await;
    assert_eq!(found["results"], json!([{ "id": file, "project": one }]));
    assert_eq!(ada.read(&had, None).await.text(), "brought");

    ada.call(&one, "clone", json!({ "objects": [had], "project": other, "destination": "/" }))
        .await;
    ada.call(&one, "removeObjects", json!({ "objects": [had] })).await;
    assert_eq!(ada.read(&had, None).await.text(), "brought", "from the project that still has it");
    grace.refused(&had, "describe", json!({}), "ResourceNotFound").await;
    ada.refused(&had.replace("file", "record"), "describe", json!({}), "ResourceNotFound").await;
    for wrong in ["file-1", &had.replace("file", "record"), &one] {
        let new = json!({ "project": other, "knownAs": wrong });
        ada.refused("file", "new", new, "InvalidInput").await;
    }
}

#[tokio::test]
async fn migrated_projects_are_found_by_their_former_ids() {
    let platform = Platform::new();
    let (ada, grace) = (platform.ada(), platform.grace());
    let project = ada.project("p").await;
    let had = format!("project-{}", "B".repeat(24));
    ada.call(&project, "update", json!({ "knownAs": had })).await;
    ada.call(&project, "update", json!({ "name": "renamed" })).await;
    assert_eq!(ada.call(&had, "describe", json!({})).await["id"], project);
    grace.refused(&had, "describe", json!({}), "ResourceNotFound").await;
    ada.call(&had, "destroy", json!({})).await;
    ada.refused(&had, "describe", json!({}), "ResourceNotFound").await;
}

#[tokio::test]
async fn a_path_of_the_store_is_a_folder_of_a_project() {
    let platform = Platform::new();
    let (ada, grace) = (platform.ada(), platform.grace());
    platform.server.put("/lab/runs/a.txt", "x").await.expect(201);
    let lab =
        ada.call("system", "findProjects", json!({ "name": "lab" })).await["results"][0]["id"]
            .clone();
    let find = async |path: &str| ada.call("system", "findFolder", json!({ "path": path })).await;
    assert_eq!(find("/lab/runs").await, json!({ "project": lab, "folder": "/runs" }));
    assert_eq!(find("/lab").await, json!({ "project": lab, "folder": "/" }));
    for path in ["/lab/runs/a.txt", "/none", "/"] {
        ada.refused("system", "findFolder", json!({ "path": path }), "ResourceNotFound").await;
    }
    ada.refused("system", "findFolder", json!({ "path": "lab" }), "InvalidInput").await;
    grace.refused("system", "findFolder", json!({ "path": "/lab" }), "ResourceNotFound").await;
}
