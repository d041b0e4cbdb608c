//! Every method treats hidden objects as missing ones.

use serde_json::{Value, json};

use super::Platform;

/// Every method of a project and of an object, with an input that is effective for permitted callers. `$P`, `$F` and
/// `$R` stand for a project, a file and a record.
fn calls() -> Vec<(&'static str, &'static str, Value)> {
    let mut calls = vec![
        ("$P", "describe", json!({})),
        ("$P", "listFolder", json!({ "folder": "/" })),
        ("$P", "newFolder", json!({ "folder": "/d", "parents": true })),
        ("$P", "renameFolder", json!({ "folder": "/d", "name": "e" })),
        ("$P", "removeFolder", json!({ "folder": "/d", "recurse": true, "force": true })),
        ("$P", "move", json!({ "objects": ["$F"], "destination": "/" })),
        ("$P", "clone", json!({ "objects": ["$F"], "project": "$P", "destination": "/" })),
        ("$P", "removeObjects", json!({ "objects": ["$F"], "force": true })),
        ("$P", "update", json!({ "name": "mine" })),
        ("$P", "invite", json!({ "invitee": "user-grace", "level": "ADMINISTER" })),
        ("$P", "decreasePermissions", json!({ "user-ada": null })),
        ("$P", "leave", json!({})),
        ("$P", "addTags", json!({ "tags": ["t"] })),
        ("$P", "removeTags", json!({ "tags": ["t"] })),
        ("$P", "setProperties", json!({ "properties": { "k": "v" } })),
        ("$P", "destroy", json!({})),
        ("file", "new", json!({ "project": "$P", "name": "n" })),
        ("record", "new", json!({ "project": "$P", "name": "n", "folder": "/x", "parents": true })),
        ("system", "findDataObjects", json!({ "scope": { "project": "$P" } })),
        ("system", "findDataObjects", json!({ "id": ["$F", "$R"] })),
        ("system", "resolveDataObjects", json!({ "project": "$P", "objects": [{ "name": "f" }] })),
        ("system", "describeDataObjects", json!({ "objects": ["$F", "$R", "$P"] })),
    ];
    for id in ["$F", "$R"] {
        for (method, input) in [
            ("describe", json!({})),
            ("describe", json!({ "project": "$P" })),
            ("addTags", json!({ "project": "$P", "tags": ["t"] })),
            ("removeTags", json!({ "project": "$P", "tags": ["t"] })),
            ("setProperties", json!({ "project": "$P", "properties": { "k": "v" } })),
            ("rename", json!({ "project": "$P", "name": "mine" })),
            ("setDetails", json!({})),
            ("getDetails", json!({})),
            ("setVisibility", json!({ "hidden": true })),
            ("addTypes", json!({ "types": ["t"] })),
            ("removeTypes", json!({ "types": ["t"] })),
            ("listProjects", json!({})),
            ("close", json!({})),
            ("upload", json!({ "index": 1 })),
            ("download", json!({ "preauthenticated": true })),
        ] {
            calls.push((id, method, input));
        }
    }
    calls
}

/// Ids of existing and former resources, which an outsider must not be able to distinguish from missing ones.
struct Ids([String; 3]);

impl Ids {
    fn put(&self, text: &str) -> String {
        let names = ["$P", "$F", "$R"];
        names.iter().zip(&self.0).fold(text.to_owned(), |text, (name, id)| text.replace(name, id))
    }

    /// The inverse, so that two responses can be compared.
    fn without(&self, text: &str) -> String {
        let names = ["$P", "$F", "$R"];
        names.iter().zip(&self.0).fold(text.to_owned(), |text, (name, id)| text.replace(id, name))
    }
}

#[tokio::test]
async fn every_method_treats_hidden_objects_as_missing() {
    let platform = Platform::new();
    let (ada, grace) = (platform.ada(), platform.grace());
    let mut worlds = Vec::new();
    for name in ["there", "removed"] {
        let project = ada.project(name).await;
        let file = ada.file(&project, "/", "f", b"secret").await;
        let record = ada.id("record", "new", json!({ "project": project, "name": "r" })).await;
        worlds.push(Ids([project, file, record]));
    }
    let [there, removed] = &worlds[..] else { unreachable!("there are two") };
    ada.call(&removed.0[0], "destroy", json!({})).await;
    let before = ada.call(&there.0[0], "listFolder", json!({ "describe": true })).await;
    for (resource, method, input) in calls() {
        let mut answers = Vec::new();
        for ids in [there, removed] {
            let input = serde_json::from_str(&ids.put(&input.to_string())).unwrap();
            let answer = grace.try_call(&ids.put(resource), method, &input).await;
            answers.push((answer.status, ids.without(&answer.text())));
        }
        assert_eq!(answers[0], answers[1], "{resource} {method} {input}");
    }
    let after = ada.call(&there.0[0], "listFolder", json!({ "describe": true })).await;
    assert_eq!(before, after);
}
