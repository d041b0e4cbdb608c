//! Leases of local files over HTTP.

use cenote_server::{Config, Limits};
use serde_json::{Value, json};

use crate::support::{ADMIN, Answer, TestServer, USER};

fn server() -> TestServer {
    TestServer::configured(&Config {
        limits: Limits { local_file_leases: 4, ..Limits::default() },
        ..Config::default()
    })
}

async fn lease(server: &TestServer, who: (&str, &str), question: Value) -> Answer {
    server.ask_as(Some(who), "POST", "/v1/leases").json(&question).send().await
}

#[tokio::test]
async fn a_server_leases_files_only_if_configured_to() {
    let server = TestServer::new();
    server.put("/a", "x").await.expect(201);
    for question in [json!({"path": "/a"}), json!({"path": "/none"})] {
        lease(&server, ADMIN, question).await.problem(403, "denied");
    }
    let none = format!("/v1/leases/{}", "0".repeat(32));
    server.ask("PUT", &none).send().await.problem(403, "denied");
    server.ask("DELETE", &none).send().await.problem(403, "denied");
}

#[tokio::test]
async fn a_reader_can_create_renew_and_end_a_lease() {
    let server = server();
    let id = server.put("/a", "small").await.expect(201)["id"].clone();
    let made = lease(&server, ADMIN, json!({"id": id, "seconds": 5})).await.expect(201);
    assert_eq!((&made["id"], &made["size"]), (&id, &json!(5)));
    assert_eq!(made["pieces"], json!([{"offset": 0, "length": 5, "in": "server"}]));
    assert_eq!(made["etag"], server.get("/a").await.header("etag"));
    let uri = format!("/v1/leases/{}", made["lease"].as_str().unwrap());
    server.ask_as(Some(USER), "DELETE", &uri).send().await.problem(404, "not-found");
    let renewed = server.ask("PUT", &format!("{uri}?seconds=600")).send().await.expect(200);
    assert!(renewed["until"].as_str() > made["until"].as_str());
    server.ask("PUT", &format!("{uri}?seconds=601")).send().await.problem(400, "invalid");
    assert_eq!(server.ask("DELETE", &uri).send().await.status, 204);
    server.ask("DELETE", &uri).send().await.problem(404, "not-found");
    server.ask("PUT", &uri).send().await.problem(404, "not-found");
    lease(&server, USER, json!({"path": "/a"})).await.problem(404, "not-found");
    lease(&server, ADMIN, json!({"path": "/"})).await.problem(409, "wrong-kind");
    lease(&server, ADMIN, json!({"path": "/a", "seconds": 0})).await.problem(400, "invalid");
    let forwarded = server.ask("POST", "/v1/leases").header("x-forwarded-for", "192.0.2.1");
    forwarded.json(&json!({"path": "/a"})).send().await.problem(403, "denied");
    let anonymous = server.ask_as(None, "POST", "/v1/leases").json(&json!({"path": "/a"}));
    anonymous.send().await.problem(403, "denied");
}
