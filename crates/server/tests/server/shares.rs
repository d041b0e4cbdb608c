//! The resources that requests share: slots, threads and memory. No caller, authenticated or not, keeps others from
//! their share, and waiting requests use no slot and no thread.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use cenote_server::{Limits, Seconds};
use futures_util::{StreamExt, stream};
use tokio::sync::oneshot;

use crate::batch::archive;
use crate::support::{ADMIN, Answer, TestRequest, TestServer, USER};

#[tokio::test]
async fn anonymous_callers_do_not_use_the_slots_of_others() {
    let server = TestServer::with(Limits { anonymous_requests: 2, ..Limits::default() });
    let nobody = || server.request_as(None, "GET", "/v1/whoami");
    let held = [nobody().begin().await, nobody().begin().await];
    assert!(held.iter().all(|answer| answer.status() == 200));
    let refused = nobody().send().await;
    refused.problem(429, "too-many");
    assert_eq!(refused.header("retry-after"), "1");
    let irods =
        server.request_as(None, "GET", "/irods-http-api/0/collections?op=stat&lpath=/tempZone");
    let irods = irods.header("authorization", "Bearer anonymous").send().await;
    assert_eq!((irods.status.as_u16(), irods.header("retry-after")), (429, "1"));
    assert_eq!(server.request("GET", "/v1/whoami").send().await.status, 200);
    drop(held);
    assert_eq!(nobody().send().await.status, 200);
}

#[tokio::test]
async fn one_caller_does_not_use_the_slots_of_others() {
    let server = TestServer::with(Limits { requests_per_caller: 2, ..Limits::default() });
    let user = || server.request_as(Some(USER), "GET", "/v1/whoami");
    let _held = [user().begin().await, user().begin().await];
    user().send().await.problem(429, "too-many");
    assert_eq!(server.request("GET", "/v1/whoami").send().await.status, 200);
    assert_eq!(server.request_as(None, "GET", "/v1/whoami").send().await.status, 200);
}

/// A body that starts and then stalls.
fn begun(bytes: impl Into<Bytes>) -> Body {
    let begun = stream::iter([Ok::<_, std::io::Error>(bytes.into())]);
    Body::from_stream(begun.chain(stream::pending()))
}

/// Requests that wait for a change, or for their clients.
fn waiting(server: &TestServer) -> Vec<TestRequest<'_>> {
    let json = |route| server.request_as(Some(USER), "POST", route).body(begun("{"));
    let form = server.request_as(Some(USER), "POST", "/irods-http-api/0/collections");
    let tar = server.request_as(Some(USER), "POST", "/v1/batch?path=/").body(begun(vec![0; 100]));
    vec![
        server.request_as(Some(USER), "GET", "/v1/changes?since=now&wait=300"),
        server.request_as(None, "GET", "/v1/changes?since=now&wait=300"),
        json("/v1/create").header("content-type", "application/json"),
        json("/v1/search").header("content-type", "application/json"),
        server
            .request_as(Some(USER), "PUT", "/v1/graph?path=/")
            .body(begun("<"))
            .header("content-type", "text/turtle"),
        tar.header("content-type", "application/x-tar"),
        form.header("content-type", "application/x-www-form-urlencoded").body(begun("op=")),
    ]
}

async fn count(server: &TestServer, name: &str) -> usize {
    let metrics = server.request("GET", "/metrics").send().await;
    let text = String::from_utf8(metrics.body.to_vec()).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().parse().unwrap()
}

#[test]
fn waiting_requests_use_no_slot_and_no_thread() {
    let mut few = tokio::runtime::Builder::new_multi_thread();
    let few = few.worker_threads(1).max_blocking_threads(2).enable_all().build().unwrap();
    few.block_on(async {
        let hour = Seconds::new(3_600);
        let limits =
            Limits { requests: 1, idle_seconds: hour, request_seconds: hour, ..Limits::default() };
        let server = TestServer::with(limits);
        let mut under_way = Vec::new();
        for round in 0..4 {
            for request in waiting(&server) {
                let mut request = Box::pin(request.send());
                let expected = under_way.len() + 1;
                // A form is read before its caller is authenticated: it has no slot yet, and is not counted.
                let counted = expected - expected / 7;
                while count(&server, "cenote_http_requests_waiting ").await < counted {
                    let polled = futures_util::poll!(request.as_mut());
                    assert!(polled.is_pending(), "{round}: {polled:?}");
                }
                assert!(futures_util::poll!(request.as_mut()).is_pending());
                under_way.push(request);
            }
        }
        let bytes = vec![7; 300_000];
        assert_eq!(server.put("/a", bytes.clone()).await.status, 201);
        assert_eq!(server.get("/a").await.body, bytes);
        drop(under_way);
        assert_eq!(count(&server, "cenote_http_requests_waiting ").await, 0);
        assert_eq!(count(&server, "cenote_http_requests_under_way ").await, 1);
    });
}

#[tokio::test]
async fn bodies_in_memory_have_a_total_limit() {
    let server = TestServer::with(Limits { buffer_bytes: 192 << 10, ..Limits::default() });
    let create = |who, body: Body| {
        let request = server.request_as(Some(who), "POST", "/v1/create");
        request.header("content-type", "application/json").body(body)
    };
    let large = " ".repeat(60_000);
    for who in [USER, ADMIN] {
        // Once they are authenticated, one poll is enough to read what has been received.
        server.request_as(Some(who), "GET", "/v1/whoami").send().await.expect(200);
    }
    let mut held = Box::pin(create(USER, begun(large.clone())).send());
    assert!(futures_util::poll!(held.as_mut()).is_pending());
    let mut second = Box::pin(create(USER, begun(large.clone())).send());
    second.as_mut().await.problem(429, "too-many");
    let whole = large + r#"{"path":"/c","kind":"collection"}"#;
    create(ADMIN, whole.clone().into()).send().await.expect(201);
    drop(held);
    create(USER, whole.into()).send().await.problem(403, "denied");
}

#[tokio::test]
async fn a_batch_commits_before_it_uses_too_much_memory() {
    // Enough for one commit, and not for the whole of the batch.
    let server = TestServer::with(Limits { buffer_bytes: 20 << 20, ..Limits::default() });
    let names: Vec<String> = (0..400).map(|n| format!("f{n}")).collect();
    let bytes = vec![7; 60_000];
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), bytes.as_slice())).collect();
    let batch =
        server.request("POST", "/v1/batch?path=/").header("content-type", "application/x-tar");
    let answer = batch.body(archive(&files).await).send().await;
    let lines = String::from_utf8(answer.body.to_vec()).unwrap();
    assert_eq!(
        lines.lines().filter(|line| line.contains("\"size\":60000")).count(),
        400,
        "{lines}"
    );
    assert_eq!(server.get("/f399").await.body, bytes);
}

/// A refusal in the form of each iRODS interface, with the same meaning.
#[track_caller]
fn refused_in_protocol(answers: [Answer; 2], status: u16) {
    let members = [["irods_response", "status_code"], ["", "error_code"]];
    for (answer, [outer, code]) in answers.iter().zip(members) {
        assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (status, "1"));
        assert_eq!(answer.header("content-type"), "application/json");
        let body = answer.json();
        let body = if outer.is_empty() { &body } else { &body[outer] };
        assert_eq!(body[code], -9_000, "{answer:?}");
        let message = body["status_message"].as_str().or(body["error_message"].as_str());
        assert!(message.unwrap().contains("too many requests"), "{answer:?}");
    }
}

#[tokio::test]
async fn an_overloaded_server_reports_it_in_the_form_of_each_protocol() {
    let limits = Limits { requests: 2, requests_per_caller: 1, ..Limits::default() };
    let server = TestServer::with(limits);
    let log_in = server.request_as(Some(USER), "POST", "/irods-http-api/0.7.0/authenticate");
    let token = String::from_utf8(log_in.send().await.body.to_vec()).unwrap();
    let request = async |uri: &str| {
        let request =
            server.request_as(None, "GET", uri).header("authorization", &format!("Bearer {token}"));
        request.send().await
    };
    let both = async || {
        let list = "logical-path=%2FtempZone&stat=0&permissions=0&metadata=0&offset=0&limit=0";
        [
            request("/irods-http-api/0.7.0/collections?op=stat&lpath=/tempZone").await,
            request(&format!("/irods-rest/0.9.3/list?{list}")).await,
        ]
    };
    assert!(both().await.iter().all(|answer| answer.status == 200), "there is room");
    let own = server.request_as(Some(USER), "GET", "/v1/whoami").begin().await;
    refused_in_protocol(both().await, 429);
    drop(own);
    let _held = [
        server.request("GET", "/v1/whoami").begin().await,
        server.request_as(None, "GET", "/v1/whoami").begin().await,
    ];
    refused_in_protocol(both().await, 503);
}

#[tokio::test]
async fn a_body_at_the_required_rate_is_not_cut_off_by_the_request_timeout() {
    let limit = Duration::from_secs(1);
    let server = TestServer::with(Limits { request_seconds: Seconds::new(1), ..Limits::default() });
    let (go, gone) = oneshot::channel();
    let begin = stream::iter([Ok::<_, std::io::Error>(Bytes::from(r#"{"path":"/c","#))]);
    let rest = async move {
        gone.await.unwrap();
        Ok(Bytes::from(r#""kind":"collection"}"#))
    };
    let body = Body::from_stream(begin.chain(stream::once(rest)));
    let create = server.request("POST", "/v1/create").header("content-type", "application/json");
    let mut answer = Box::pin(create.body(body).send());
    let early = tokio::time::timeout(limit + limit / 2, answer.as_mut()).await;
    assert!(early.is_err(), "it was cut: {early:?}");
    go.send(()).unwrap();
    answer.await.expect(201);
}
