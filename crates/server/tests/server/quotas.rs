//! Quotas over HTTP, and their errors through each opening.

use serde_json::{Value, json};

use crate::irods::Irods;
use crate::support::{TestServer, USER};

async fn set(server: &TestServer, quota: Value) -> crate::support::Answer {
    server.request("PUT", "/v1/quotas").json(&quota).send().await
}

#[tokio::test]
async fn a_quota_is_set_shown_enforced_and_removed() {
    let server = TestServer::new();
    server.put("/lab/a", vec![0; 60]).await;
    let made = set(&server, json!({"path": "/lab", "hard": {"bytes": 100}})).await.expect(200);
    assert_eq!(made["total"], json!({"bytes": 60, "resources": 1}));
    assert_eq!((&made["path"], &made["until"]), (&json!("/lab"), &Value::Null));
    let refused = server.put("/lab/b", vec![0; 41]).await.problem(507, "quota");
    assert_eq!(
        [&refused["quota"], &refused["measure"], &refused["limit"], &refused["total"]],
        [&json!("/lab"), &json!("bytes"), &json!(100), &json!(60)]
    );
    assert!(refused["hint"].is_string());
    let listed = server.request("GET", "/v1/quotas?path=/lab/a").send().await.expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    assert_eq!(listed["items"][0]["hard"], json!({"bytes": 100, "resources": null}));
    let over = json!({"path": "/lab", "soft": {"bytes": 50}, "grace": 60});
    set(&server, over).await.expect(200);
    server.put("/lab/b", vec![0; 41]).await.expect(201);
    let listed = server.request("GET", "/v1/quotas").send().await.expect(200);
    assert!(listed["items"][0]["until"].is_string(), "{listed}");
    let remove = async || server.request("DELETE", "/v1/quotas?path=/lab").send().await;
    assert_eq!(remove().await.status, 204);
    remove().await.problem(404, "not-found");
}

#[tokio::test]
async fn invalid_quotas_are_refused_with_a_hint() {
    let server = TestServer::new();
    server.put("/object", vec![0; 1]).await;
    let bytes = |path: &str, most: Value| json!({"path": path, "hard": {"bytes": most}});
    for (quota, status, kind) in [
        (bytes("/", json!(-1)), 400, "invalid"),
        (bytes("/", json!(u64::MAX)), 400, "invalid"),
        (json!({"path": "/"}), 400, "invalid"),
        (json!({"path": "/", "hard": {"bytes": 1}, "soft": {"bytes": 2}}), 400, "invalid"),
        (json!({"path": "/", "hard": {"bytes": 1}, "grace": 5}), 400, "invalid"),
        (json!({"hard": {"bytes": 1}}), 400, "invalid"),
        (json!({"path": "/", "user": USER.0, "hard": {"bytes": 1}}), 400, "invalid"),
        (json!({"user": "nobody", "hard": {"bytes": 1}}), 404, "not-found"),
        (json!({"group": "public", "hard": {"bytes": 1}}), 400, "invalid"),
        (bytes("/object", json!(1)), 409, "wrong-kind"),
        (bytes("/nothing", json!(1)), 404, "not-found"),
    ] {
        let problem = set(&server, quota.clone()).await.problem(status, kind);
        assert!(problem["hint"].is_string(), "{quota}: {problem}");
    }
    let none = server.request("GET", "/v1/quotas").send().await.expect(200);
    assert_eq!(none["items"], json!([]));
}

/// The error number of iRODS, and nothing is written.
#[tokio::test]
async fn a_quota_is_available_through_irods() {
    let irods = Irods::new().await;
    irods.write("full", "0123456789").await;
    let home = irods.path("");
    let home = home.trim_end_matches('/').trim_start_matches("/tempZone");
    set(&irods.server, json!({"path": home, "hard": {"bytes": 10}})).await.expect(200);
    let path = irods.path("more");
    let form = [("op", "write"), ("lpath", path.as_str()), ("bytes", "x")];
    let answer = irods.post("data-objects", &form).await;
    assert_eq!(answer.json()["irods_response"]["status_code"], -110_000);
    irods.server.get(&format!("{home}/more")).await.problem(404, "not-found");
}
