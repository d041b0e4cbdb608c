//! Uploads in parts, through the native opening.

use axum::body::Body;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::sync::oneshot;

use super::support::{Answer, TestServer, USER};

/// A server with a collection in which the user may create objects.
async fn server() -> TestServer {
    let server = TestServer::new();
    let drop = json!({"path": "/drop", "kind": "collection"});
    server.post("/v1/create", drop).await.expect(201);
    grant(&server, "create_object").await;
    server
}

async fn grant(server: &TestServer, level: &str) {
    let operations = json!([{"name": USER.0, "level": level}]);
    server.post("/v1/access", json!({"path": "/drop", "operations": operations})).await.expect(200);
}

async fn post(server: &TestServer, uri: &str, body: serde_json::Value) -> Answer {
    server.request_as(Some(USER), "POST", uri).json(&body).send().await
}

async fn part(server: &TestServer, uri: &str, bytes: impl Into<Body>) -> Answer {
    server.request_as(Some(USER), "PUT", uri).body(bytes).send().await
}

/// A body that reports when its first byte is read, and continues when told to.
fn halting() -> (Body, oneshot::Receiver<()>, oneshot::Sender<()>) {
    let ((read, is_read), (go, gone)) = (oneshot::channel(), oneshot::channel());
    let first = async move {
        read.send(()).unwrap();
        Ok::<_, std::io::Error>(Bytes::from_static(b"d"))
    };
    let rest = async move {
        gone.await.unwrap();
        Ok(Bytes::from_static(b"ef"))
    };
    (Body::from_stream(stream::once(first).chain(stream::once(rest))), is_read, go)
}

#[tokio::test]
async fn a_part_is_refused_while_the_right_to_write_is_lost() {
    let server = server().await;
    let begun = post(&server, "/v1/uploads", json!({"path": "/drop/a"})).await.expect(201);
    let upload = format!("/v1/uploads/{}", begun["id"].as_str().unwrap());
    part(&server, &format!("{upload}/0"), "abc").await.expect(200);
    for (level, refusal) in [("null", (404, "not-found")), ("read_object", (403, "denied"))] {
        grant(&server, level).await;
        for keep in ["", "?keep=true"] {
            let refused = part(&server, &format!("{upload}/3{keep}"), "def").await;
            refused.problem(refusal.0, refusal.1);
        }
    }
    grant(&server, "create_object").await;
    let (body, is_read, go) = halting();
    let uri = format!("{upload}/3");
    let (refused, ()) = tokio::join!(part(&server, &uri, body), async {
        is_read.await.unwrap();
        grant(&server, "read_object").await;
        go.send(()).unwrap();
    });
    refused.problem(403, "denied");
    let arrived = server.request_as(Some(USER), "GET", &upload).send().await.expect(200);
    assert_eq!(arrived["parts"].as_array().unwrap().len(), 1, "nothing of it was kept");
    grant(&server, "create_object").await;
    part(&server, &uri, "def").await.expect(200);
    post(&server, &format!("{upload}/complete"), json!({})).await.expect(200);
    assert_eq!(server.get("/drop/a").await.body, "abcdef");
}
