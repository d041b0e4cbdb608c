//! Records, and the attributes of all objects: details, types, tags, properties.

use serde_json::{Value, json};

use super::Platform;

#[tokio::test]
async fn a_record_is_described_as_created() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    let first = ada.id("record", "new", json!({ "project": project, "close": true })).await;
    assert_eq!(ada.call(&first, "describe", json!({})).await["state"], "closed");
    let input = json!({
        "project": project, "name": "r", "folder": "/a", "parents": true, "hidden": true,
        "types": ["z", "a"], "tags": ["t"], "properties": { "k": "v" },
        "details": { "in": [{ "$dnanexus_link": first }, { "$dnanexus_link": { "id": first, "project": project } }] },
    });
    let record = ada.id("record", "new", input.clone()).await;
    let described =
        ada.call(&record, "describe", json!({ "properties": true, "details": true })).await;
    for key in ["name", "folder", "hidden", "types", "tags", "properties", "details"] {
        assert_eq!(described[key], input[key], "{key}");
    }
    assert_eq!(described["links"], json!([first]));
    assert_eq!(described["createdBy"], json!({ "user": "user-ada" }));
    assert_eq!(described.get("size"), None);
    let from = json!({ "project": project, "types": ["b"], "initializeFrom": { "id": record, "project": project } });
    let copy = ada.id("record", "new", from).await;
    let copied = ada.call(&copy, "describe", json!({ "properties": true, "details": true })).await;
    assert_eq!((&copied["name"], &copied["types"]), (&json!("r"), &json!(["b"])));
    for key in ["tags", "properties", "details", "hidden"] {
        assert_eq!(copied[key], input[key], "{key}");
    }
    assert_eq!(ada.call(&record, "getDetails", json!({})).await, input["details"]);
}

#[tokio::test]
async fn values_of_the_wrong_type_are_refused_without_changes() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    let record = ada.id("record", "new", json!({ "project": project })).await;
    let before =
        ada.call(&record, "describe", json!({ "properties": true, "details": true })).await;
    let long = "x".repeat(800 << 10);
    for (method, input) in [
        ("addTags", json!({ "project": project })),
        ("addTags", json!({ "project": project, "tags": "t" })),
        ("addTags", json!({ "project": project, "tags": ["ok", 1] })),
        ("addTags", json!({ "project": project, "tags": [""] })),
        ("setProperties", json!({ "project": project, "properties": { "ok": "v", "k": 1 } })),
        ("setProperties", json!({ "project": project, "properties": { "cenote:tag": "v" } })),
        ("setDetails", json!("text")),
        ("setDetails", json!([long])),
        ("setVisibility", json!({ "hidden": "yes" })),
        ("addTypes", json!({ "types": [1] })),
        ("rename", json!({ "project": project, "name": "" })),
        ("rename", json!({ "project": project })),
        ("describe", json!({ "fields": ["id"] })),
        ("describe", json!([])),
    ] {
        ada.refused(&record, method, input, "InvalidInput").await;
    }
    for (class, input) in [
        ("record", json!({ "project": project, "tags": ["t"], "properties": { "k": 1 } })),
        ("record", json!({ "project": "lab" })),
        ("record", json!({})),
        ("record", json!({ "project": project, "folder": "relative" })),
        ("file", json!({ "project": project, "nonce": 7 })),
    ] {
        ada.refused(class, "new", input, "InvalidInput").await;
    }
    ada.refused(&record, "upload", json!({}), "InvalidType").await;
    let after = ada.call(&record, "describe", json!({ "properties": true, "details": true })).await;
    assert_eq!(before, after);
    assert_eq!(ada.names(&project, "/").await.len(), 1);
}

#[tokio::test]
async fn tags_and_properties_are_the_description_shown_by_every_opening() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    let file = ada.file(&project, "/", "f", b"").await;
    let input = json!({ "project": project, "properties": { "k": "v", "l": "w" } });
    ada.call(&file, "setProperties", input).await;
    ada.call(&file, "addTags", json!({ "project": project, "tags": ["t"] })).await;
    let body = json!({ "path": "/home/ada/p/f", "operations": [{ "op": "set", "attribute": "k", "value": "native" }] });
    let changed = platform.server.post("/v1/meta", body).await;
    assert!(changed.status.is_success(), "{changed:?}");
    ada.call(&file, "setProperties", json!({ "project": project, "properties": { "l": null } }))
        .await;
    let described = ada.call(&file, "describe", json!({ "properties": true })).await;
    assert_eq!(described["properties"], json!({ "k": "native" }));
    assert_eq!(described["tags"], json!(["t"]));
}

#[tokio::test]
async fn a_removed_object_stays_removed_from_its_project() {
    let platform = Platform::new();
    let ada = platform.ada();
    let (one, other) = (ada.project("one").await, ada.project("other").await);
    let file = ada.file(&one, "/", "f", b"").await;
    let remove = |force: bool| json!({ "objects": [file], "force": force });
    ada.refused(&other, "removeObjects", remove(false), "ResourceNotFound").await;
    ada.call(&other, "removeObjects", remove(true)).await;
    assert_eq!(ada.names(&one, "/").await, ["f"]);
    ada.call(&one, "removeObjects", remove(false)).await;
    assert_eq!(ada.names(&one, "/").await, [""; 0]);
}

#[tokio::test]
async fn many_objects_are_described_in_one_response_each_with_its_own_error() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    let file = ada.file(&project, "/", "f", b"").await;
    let input = json!({ "objects": [file, "file-000000000000000000000000", { "id": file, "describe": { "fields": { "name": true } } }, project, 7] });
    let results = ada.call("system", "describeDataObjects", input).await["results"].clone();
    let kinds: Vec<Value> =
        results.as_array().unwrap().iter().map(|one| one["error"]["type"].clone()).collect();
    assert_eq!(
        kinds,
        [Value::Null, json!("ResourceNotFound"), Value::Null, Value::Null, json!("InvalidInput")]
    );
    assert_eq!(results[2]["describe"], json!({ "id": file, "name": "f" }));
    assert_eq!(results[3]["describe"]["class"], "project");
}
