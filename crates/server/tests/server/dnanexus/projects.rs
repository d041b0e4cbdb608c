//! Projects: creating, describing, updating, sharing and destroying them.

use cenote_server::Dnanexus;
use serde_json::json;

use super::{Platform, text};
use crate::support::store;

#[tokio::test]
async fn a_project_is_described_as_created_and_updated() {
    let platform = Platform::new();
    let ada = platform.ada();
    let input = json!({
        "name": "p", "summary": "s", "tags": ["b", "a"], "properties": { "k": "v" }, "protected": true,
    });
    let project = ada.id("project", "new", input).await;
    let described = ada.call(&project, "describe", json!({ "properties": true })).await;
    for (key, value) in [
        ("id", json!(project)),
        ("class", json!("project")),
        ("name", json!("p")),
        ("summary", json!("s")),
        ("tags", json!(["a", "b"])),
        ("properties", json!({ "k": "v" })),
        ("protected", json!(true)),
        ("level", json!("ADMINISTER")),
        ("billTo", json!("user-ada")),
        ("description", json!("")),
    ] {
        assert_eq!(described[key], value, "{key}");
    }
    assert!(described["version"].is_u64() && described["created"].is_i64());
    ada.call(&project, "update", json!({ "name": "q", "protected": false })).await;
    let fields =
        json!({ "fields": { "name": true, "fileUploadParameters": true, "dataUsage": true } });
    let described = ada.call(&project, "describe", fields).await;
    assert_eq!(described["name"], "q");
    assert_eq!(described["fileUploadParameters"]["emptyLastPartAllowed"], true);
    assert_eq!(described.as_object().unwrap().len(), 4, "only what was named, and the id");
    ada.call(&project, "destroy", json!({ "terminateJobs": true })).await;
    ada.refused(&project, "describe", json!({}), "ResourceNotFound").await;
}

#[tokio::test]
async fn projects_of_the_same_name_are_distinct() {
    let platform = Platform::new();
    let ada = platform.ada();
    let (one, other) = (ada.project("p").await, ada.project("p").await);
    assert_ne!(one, other);
    let found = ada.call("system", "findProjects", json!({ "name": "p", "describe": true })).await;
    let names: Vec<_> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| text(&one["describe"]["name"]))
        .collect();
    assert_eq!(names, ["p", "p"]);
    ada.call(&other, "update", json!({ "name": "a/b" })).await;
    assert_eq!(ada.call(&other, "describe", json!({})).await["name"], "a/b");
}

#[tokio::test]
async fn a_level_permits_the_documented_calls() {
    let platform = Platform::new();
    let (ada, grace) = (platform.ada(), platform.grace());
    let project = ada.project("p").await;
    let file = ada.file(&project, "/", "f", b"bytes").await;
    for (id, method) in [(&project, "describe"), (&file, "describe"), (&file, "download")] {
        grace.refused(id, method, json!({}), "ResourceNotFound").await;
    }
    let level = |level: &str| json!({ "invitee": "user-grace", "level": level });
    ada.call(&project, "invite", level("VIEW")).await;
    assert_eq!(grace.call(&project, "describe", json!({})).await["level"], "VIEW");
    assert_eq!(grace.read(&file, None).await.text(), "bytes");
    let new = json!({ "project": project, "name": "g" });
    grace.refused("file", "new", new.clone(), "PermissionDenied").await;
    grace.refused(&project, "newFolder", json!({ "folder": "/d" }), "PermissionDenied").await;
    grace
        .refused(&file, "addTags", json!({ "project": project, "tags": ["t"] }), "PermissionDenied")
        .await;
    grace.refused(&project, "invite", level("ADMINISTER"), "PermissionDenied").await;

    ada.call(&project, "invite", level("UPLOAD")).await;
    let own = grace.id("file", "new", new).await;
    grace.part(&own, 1, b"mine").await.expect(200);
    grace.call(&own, "close", json!({})).await;
    assert_eq!(ada.read(&own, None).await.text(), "mine");
    let remove = json!({ "objects": [file] });
    grace.refused(&project, "removeObjects", remove.clone(), "PermissionDenied").await;

    ada.call(&project, "invite", level("CONTRIBUTE")).await;
    ada.call(&project, "update", json!({ "protected": true })).await;
    grace.refused(&project, "removeObjects", remove.clone(), "PermissionDenied").await;
    ada.call(&project, "update", json!({ "protected": false })).await;
    ada.call(&project, "invite", level("VIEW")).await;
    assert_eq!(
        grace.call(&project, "describe", json!({})).await["level"],
        "CONTRIBUTE",
        "not less"
    );
    grace.call(&project, "removeObjects", remove).await;
    grace.refused(&project, "destroy", json!({}), "PermissionDenied").await;
    let permissions =
        ada.call(&project, "describe", json!({ "fields": { "permissions": true } })).await;
    assert_eq!(permissions["permissions"]["user-grace"], "CONTRIBUTE");

    ada.call(&project, "decreasePermissions", json!({ "user-grace": "VIEW" })).await;
    assert_eq!(grace.call(&project, "describe", json!({})).await["level"], "VIEW");
    ada.call(&project, "decreasePermissions", json!({ "user-grace": null })).await;
    grace.refused(&project, "describe", json!({}), "ResourceNotFound").await;
}

#[tokio::test]
async fn a_project_is_described_as_dx_shows_it() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    ada.file(&project, "/", "f", &[0; 1 << 20]).await;
    let shown = ada.call(&project, "describe", json!({ "properties": true })).await;
    assert_eq!(shown["dataUsage"].as_f64(), Some(1.0 / 1_024.0));
    assert_eq!((&shown["storageCost"], &shown["sponsoredDataUsage"]), (&json!(0.0), &json!(0.0)));
    let usual = ada.call(&project, "describe", json!({})).await;
    assert_eq!(usual.get("dataUsage"), None, "it is counted only where it is shown");
}

#[tokio::test]
async fn an_invalid_project_is_not_created() {
    let platform = Platform::new();
    let ada = platform.ada();
    for (more, kind) in [
        (json!({ "region": "aws:not-a-region" }), "InvalidInput"),
        (json!({ "billTo": "user-grace" }), "InvalidInput"),
        (json!({ "billTo": "org-none" }), "InvalidInput"),
        (json!({ "containsPHI": true }), "PermissionDenied"),
    ] {
        let mut input = more.clone();
        input["name"] = json!("refused");
        ada.refused("project", "new", input, kind).await;
        let project = ada.project("kept").await;
        ada.refused(&project, "update", more, kind).await;
    }
    let found = ada.call("system", "findProjects", json!({ "name": "refused" })).await;
    assert_eq!(found["results"], json!([]));
    let input = json!({ "name": "x", "region": "aws:us-east-1", "billTo": "user-ada", "containsPHI": false });
    ada.call("project", "new", input).await;
}

#[tokio::test]
async fn a_project_is_in_the_region_that_it_was_created_in() {
    let regions = ["aws:us-east-1", "azure:westus"].map(str::to_owned).to_vec();
    let platform = Platform::configured(store(), Dnanexus { regions, ..Dnanexus::default() });
    let ada = platform.ada();
    let usual = ada.project("usual").await;
    let input = json!({ "name": "west", "region": "azure:westus" });
    let west = text(&ada.call("project", "new", input).await["id"]);
    let record = ada.id("record", "new", json!({ "project": west })).await;
    for (project, region) in [(&usual, "aws:us-east-1"), (&west, "azure:westus")] {
        assert_eq!(ada.call(project, "describe", json!({})).await["region"], region);
        let found = ada.call("system", "findProjects", json!({ "region": region })).await;
        let found: Vec<_> =
            found["results"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
        assert!(found.contains(&&json!(project)), "{region}: {found:?}");
        let here = json!(project == &west);
        for more in [json!({}), json!({ "id": [record] })] {
            let mut input = more;
            input["region"] = json!([region]);
            let found = ada.call("system", "findDataObjects", input).await;
            assert_eq!(json!(!found["results"].as_array().unwrap().is_empty()), here, "{region}");
        }
    }
    ada.call(&west, "update", json!({ "name": "renamed", "region": "azure:westus" })).await;
    assert_eq!(ada.call(&west, "describe", json!({})).await["region"], "azure:westus");
    ada.refused(&west, "update", json!({ "region": "aws:us-east-1" }), "InvalidInput").await;
    ada.refused("system", "findProjects", json!({ "region": 1 }), "InvalidInput").await;
}

#[tokio::test]
async fn calls_about_billing_and_jobs_are_refused_with_an_explanation() {
    let platform = Platform::new();
    let (ada, grace) = (platform.ada(), platform.grace());
    let project = ada.project("p").await;
    let to = json!({ "invitee": "user-grace" });
    let message = ada.refused(&project, "transfer", to.clone(), "PermissionDenied").await;
    assert!(message.contains("invite somebody"), "{message}");
    ada.refused(&project, "acceptTransfer", json!({ "billTo": "user-ada" }), "PermissionDenied")
        .await;
    grace.refused(&project, "transfer", to, "ResourceNotFound").await;
    for name in ["user-ada", "user-nobody"] {
        let message = ada
            .refused(name, "update", json!({ "sshPublicKey": "ssh-rsa x" }), "PermissionDenied")
            .await;
        assert!(message.contains("nothing runs here"), "{message}");
    }
}
