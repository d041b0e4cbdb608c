//! POST chooses a name that is free when the resource is created (RFC 5023: a `Slug` is a suggestion), and creates nothing but the resource.

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use tokio::sync::oneshot;

use super::Web;
use crate::support::{Answer, USER};

const TYPES: [&str; 2] = ["text/turtle", "text/plain"];
const BODY: &str = "<> <urn:p> <other> .";

async fn post(web: &Web, who: (&str, &str), media_type: &'static str) -> Answer {
    let request = web.request_as(Some(who), "POST", "/c").header("slug", "x");
    request.header("content-type", media_type).body(BODY).send().await
}

/// A body, with a receiver that resolves once the server waits for it, and a sender that lets it arrive.
fn late() -> (Body, oneshot::Receiver<()>, oneshot::Sender<()>) {
    let ((begun, is_begun), (go, gone)) = (oneshot::channel(), oneshot::channel());
    let bytes = async move {
        begun.send(()).unwrap();
        gone.await.unwrap();
        Ok::<_, std::io::Error>(Bytes::from_static(BODY.as_bytes()))
    };
    (Body::from_stream(stream::once(bytes)), is_begun, go)
}

/// The answer to a request during whose body something else happens.
async fn overtaken(
    web: &Web,
    (method, path): (&str, &str),
    media_type: &'static str,
    by: impl Future<Output = ()>,
) -> Answer {
    let (body, begun, go) = late();
    let request = web.request(method, path).header("slug", "x").header("content-type", media_type);
    let other = async {
        begun.await.unwrap();
        by.await;
        go.send(()).unwrap();
    };
    tokio::join!(request.body(body).send(), other).0
}

#[tokio::test]
async fn a_name_that_is_taken_meanwhile_is_not_used() {
    for web in Web::each() {
        for (mine, other) in TYPES.into_iter().flat_map(|one| TYPES.map(|other| (one, other))) {
            web.put("/c", "").await;
            let posted = overtaken(&web, ("POST", "/c"), mine, async {
                let first = post(&web, crate::support::ADMIN, other).await;
                assert_eq!(first.text(), web.address("/c/x"));
            });
            let posted = posted.await;
            assert_eq!(posted.status, 201, "{mine} {other}: {}", posted.text());
            assert_ne!(posted.text(), web.address("/c/x"));
            let path = posted.text().replace(&web.address(""), "");
            assert_eq!(web.get(&path).await.status, 200);
            if mine == "text/turtle" {
                let other = format!("<{}> <urn:p> <{}>", posted.text(), web.address("/c/other"));
                assert_eq!(web.triples(&path).await.contains(&other), web.mount != "/ldp");
            }
            web.request("DELETE", "/c").header("prefer", "no-tombstone").send().await;
        }
    }
}

#[tokio::test]
async fn a_slug_that_is_taken_by_something_hidden_gives_another_name() {
    for web in Web::each() {
        web.share_only("/c", "read_description+list+create").await;
        web.put("/c/x", "").await;
        for media_type in TYPES {
            let posted = post(&web, USER, media_type).await;
            assert_eq!(posted.status, 201, "{media_type}: {}", posted.text());
            assert_ne!(posted.text(), web.address("/c/x"));
        }
    }
}

#[tokio::test]
async fn a_container_that_is_removed_meanwhile_stays_removed() {
    for web in Web::each() {
        for (method, path, media_type, prefer) in [
            ("POST", "/c", "text/turtle", ""),
            ("POST", "/c", "text/plain", "no-tombstone"),
            ("PUT", "/c/x", "text/turtle", ""),
            ("PUT", "/c/x", "text/plain", ""),
            ("PUT", "/c/x", "text/plain", "no-tombstone"),
        ] {
            web.put("/c", "").await;
            let made = overtaken(&web, (method, path), media_type, async {
                let removal = web.request("DELETE", "/c").header("prefer", prefer).send().await;
                assert_eq!(removal.status, 204);
            });
            let expected = if prefer.is_empty() { 410 } else { 404 };
            assert_eq!(made.await.status, expected, "{method} {media_type} {prefer}");
            assert_eq!(web.get("/c").await.status, expected, "{method} {media_type} {prefer}");
            web.request("DELETE", "/c/fcr:tombstone").send().await;
        }
    }
}
