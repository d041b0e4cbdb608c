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
    server.request_as(Some(who), "POST", "/v1/leases").json(&question).send().await
}

#[tokio::test]
async fn a_server_leases_files_only_if_configured_to() {
    let server = TestServer::new();
    server.put("/a", "x").await.expect(201);
    for question in [json!({"path": "/a"}), json!({"path": "/none"})] {
        lease(&server, ADMIN, question).await.problem(403, "denied");
    }
    let none = format!("/v1/leases/{}", "0".repeat(32));
    server.request("PUT", &none).send().await.problem(404, "not-found");
    server.request("DELETE", &none).send().await.problem(404, "not-found");
}

#[tokio::test]
async fn a_leased_content_is_read_after_the_object_was_replaced_and_removed() {
    let server = TestServer::new();
    let before = "0123456789".repeat(20_000);
    let id = server.put("/a", before.clone()).await.expect(201)["id"].clone();
    let tag = server.get("/a").await.header("etag").to_owned();
    let question = json!({"id": id, "files": false, "if_match": tag, "seconds": 600});
    // As a client that is not on this machine.
    let made = server.request("POST", "/v1/leases").header("x-forwarded-for", "192.0.2.1");
    let made = made.json(&question).send().await.expect(201);
    assert_eq!((&made["size"], &made["etag"]), (&json!(200_000), &json!(tag)));
    assert_eq!(made["pieces"], json!([]));
    let uri = format!("/v1/leases/{}", made["lease"].as_str().unwrap());
    let content = format!("{uri}/content");
    server.put("/a", "another").await.expect(200);
    for step in 0..3 {
        let whole = server.request("GET", &content).send().await;
        assert_eq!((whole.status.as_u16(), whole.header("etag")), (200, &*tag), "{step}");
        assert_eq!(whole.body, before.as_bytes());
        let part = server.request("GET", &content).header("range", "bytes=199998-").send().await;
        assert_eq!((part.status.as_u16(), &part.body[..]), (206, &b"89"[..]));
        match step {
            0 => drop(server.request("DELETE", "/v1/fs/a").send().await),
            _ => {
                drop(server.request("PUT", &format!("{uri}?seconds=600")).send().await.expect(200))
            }
        }
    }
    server.request_as(Some(USER), "GET", &content).send().await.problem(404, "not-found");
    assert_eq!(server.request("DELETE", &uri).send().await.status, 204);
    server.request("GET", &content).send().await.problem(404, "not-found");
}

#[tokio::test]
async fn a_lease_of_a_content_is_refused_for_what_is_not_there_any_more() {
    let server = TestServer::new();
    server.put("/a", "one").await.expect(201);
    let tag = server.get("/a").await.header("etag").to_owned();
    server.put("/a", "two").await.expect(200);
    for (question, status, problem) in [
        (json!({"path": "/a", "files": false, "if_match": tag}), 412, "precondition"),
        (json!({"path": "/none", "files": false}), 404, "not-found"),
        (json!({"path": "/", "files": false}), 409, "wrong-kind"),
        (json!({"path": "/a", "files": false, "version": 1}), 400, "invalid"),
        (json!({"path": "/a", "files": false, "seconds": 601}), 400, "invalid"),
    ] {
        lease(&server, ADMIN, question).await.problem(status, problem);
    }
    let anonymous = server.request_as(None, "POST", "/v1/leases");
    let anonymous = anonymous.json(&json!({"path": "/a", "files": false})).send().await;
    anonymous.problem(403, "denied");
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
    server.request_as(Some(USER), "DELETE", &uri).send().await.problem(404, "not-found");
    let renewed = server.request("PUT", &format!("{uri}?seconds=600")).send().await.expect(200);
    assert!(renewed["until"].as_str() > made["until"].as_str());
    server.request("PUT", &format!("{uri}?seconds=601")).send().await.problem(400, "invalid");
    assert_eq!(server.request("DELETE", &uri).send().await.status, 204);
    server.request("DELETE", &uri).send().await.problem(404, "not-found");
    server.request("PUT", &uri).send().await.problem(404, "not-found");
    lease(&server, USER, json!({"path": "/a"})).await.problem(404, "not-found");
    lease(&server, ADMIN, json!({"path": "/"})).await.problem(409, "wrong-kind");
    lease(&server, ADMIN, json!({"path": "/a", "seconds": 0})).await.problem(400, "invalid");
    let forwarded = server.request("POST", "/v1/leases").header("x-forwarded-for", "192.0.2.1");
    forwarded.json(&json!({"path": "/a"})).send().await.problem(403, "denied");
    let anonymous = server.request_as(None, "POST", "/v1/leases").json(&json!({"path": "/a"}));
    anonymous.send().await.problem(403, "denied");
}
