//! Every kind of credential through the DNAnexus opening, which only accepts those of accounts.

use cenote_store::{NewToken, Rights};
use serde_json::{Value, json};

use super::{Accounts, Shown, TABLE, lab};
use crate::support::{ADMIN, Answer, sha256};

/// The token in a header that this opening accepts.
fn token(shown: &Shown) -> Option<&str> {
    match shown {
        Shown::Header("authorization", value) => value.strip_prefix("Bearer "),
        _ => None,
    }
}

async fn send(accounts: &Accounts, shown: &Shown, call: &str, input: Value) -> Answer {
    let request = accounts.server.request_as(None, "POST", &format!("/{call}"));
    shown.with(request).json(&input).send().await
}

fn kind(answer: &Answer) -> String {
    answer.json()["error"]["type"].as_str().unwrap_or("none").to_owned()
}

async fn project(accounts: &Accounts, shown: &Shown) -> Value {
    let found = send(accounts, shown, "system/findProjects", json!({ "name": "lab" })).await;
    found.expect(200)["results"][0]["id"].clone()
}

#[tokio::test]
async fn each_credential_permits_the_operations_in_its_row() {
    for (account, credential, _) in TABLE {
        let accounts = Accounts::new();
        let shown = accounts.shown(account, credential).await;
        let row = format!("{account:?}, {credential}");
        let whoami = send(&accounts, &shown, "system/whoami", json!({})).await;
        let Some((name, _)) = account else {
            assert_eq!(kind(&whoami), "InvalidAuthentication", "{row}: {whoami:?}");
            continue;
        };
        assert_eq!(whoami.expect(200)["id"], format!("user-{name}"), "{row}");
        let lab = project(&accounts, &shown).await;
        let record = send(&accounts, &shown, "record/new", json!({ "project": lab })).await;
        assert_eq!(record.status.is_success(), credential != "read", "{row}: {record:?}");
        let made = send(&accounts, &shown, "project/new", json!({ "name": "mine" })).await;
        let anywhere = !["read", "within"].contains(&credential);
        assert_eq!(made.status.is_success(), anywhere, "{row}: {made:?}");
        assert!(made.status.is_success() || made.status.is_client_error(), "{row}: {made:?}");
        let Some(token) = token(&shown) else { continue };
        let end = json!({ "tokenSignature": hex::encode(sha256(token)) });
        send(&accounts, &shown, "system/destroyAuthToken", end).await.expect(200);
        let ended = send(&accounts, &shown, "system/whoami", json!({})).await;
        assert_eq!(kind(&ended), "InvalidAuthentication", "{row}");
    }
}

/// Methods that change something about a file or its project.
fn changes(project: &Value, file: &Value) -> Vec<(String, Value)> {
    let of = |id: &Value, method: &str| format!("{}/{method}", id.as_str().unwrap());
    let tags = json!({ "project": project, "tags": ["t"] });
    let properties = json!({ "project": project, "properties": { "k": "v" } });
    vec![
        (of(file, "addTags"), tags.clone()),
        (of(file, "removeTags"), json!({ "project": project, "tags": ["kept"] })),
        (of(file, "setProperties"), properties.clone()),
        (of(file, "rename"), json!({ "project": project, "name": "other" })),
        (of(project, "addTags"), tags),
        (of(project, "setProperties"), properties),
        (of(project, "newFolder"), json!({ "folder": "/d" })),
        (of(project, "renameFolder"), json!({ "folder": "/f", "name": "g" })),
        (of(project, "move"), json!({ "objects": [file], "destination": "/f" })),
        (
            of(project, "clone"),
            json!({ "objects": [file], "project": project, "destination": "/" }),
        ),
        (of(project, "archive"), json!({ "files": [file] })),
        (of(project, "update"), json!({ "description": "x" })),
        (of(project, "invite"), json!({ "invitee": "user-grace", "level": "VIEW" })),
        (of(project, "removeFolder"), json!({ "folder": "/f" })),
        (of(project, "removeObjects"), json!({ "objects": [file] })),
        (of(project, "destroy"), json!({})),
        ("file/new".to_owned(), json!({ "project": project, "name": "n" })),
        ("record/new".to_owned(), json!({ "project": project, "name": "n" })),
        ("project/new".to_owned(), json!({ "name": "n" })),
    ]
}

#[tokio::test]
async fn a_read_token_of_an_administrator_changes_nothing() {
    let accounts = Accounts::new();
    let admin = accounts.shown(Some(ADMIN), "token").await;
    accounts.server.put("/lab/x", "x").await.expect(201);
    let lab = project(&accounts, &admin).await;
    let folder = json!({ "folder": "/f" });
    let new = format!("{}/newFolder", lab.as_str().unwrap());
    send(&accounts, &admin, &new, folder).await.expect(200);
    let find = json!({ "scope": { "project": lab }, "name": "x" });
    let found = send(&accounts, &admin, "system/findDataObjects", find).await.expect(200);
    let file = found["results"][0]["id"].clone();
    let tag = json!({ "project": lab, "tags": ["kept"] });
    let add = format!("{}/addTags", file.as_str().unwrap());
    send(&accounts, &admin, &add, tag).await.expect(200);
    let read = accounts.shown(Some(ADMIN), "read").await;
    let now = async || accounts.server.request("GET", "/v1/walk?path=/").send().await.body;
    let before = now().await;
    for (call, input) in changes(&lab, &file) {
        let answer = send(&accounts, &read, &call, input).await;
        assert!(answer.status.is_client_error(), "{call}: {answer:?}");
        assert!(now().await == before, "{call} changed something");
    }
    let download = format!("{}/download", file.as_str().unwrap());
    send(&accounts, &read, &download, json!({})).await.expect(200);
}

#[tokio::test]
async fn a_token_for_a_subtree_shows_only_that_project() {
    let accounts = Accounts::new();
    accounts.server.put("/other/x", "x").await.expect(201);
    let within = NewToken {
        label: "lab".to_owned(),
        rights: Rights::OWN,
        within: Some(lab().into()),
        ..NewToken::default()
    };
    let shown = super::bearer(&accounts.token(ADMIN.0, &within).0);
    let found = send(&accounts, &shown, "system/findProjects", json!({ "describe": true })).await;
    let found = found.expect(200);
    let names: Vec<_> = found["results"].as_array().unwrap().iter().collect();
    assert_eq!(names.len(), 1, "{found}");
    assert_eq!(names[0]["describe"]["name"], "lab");
}
