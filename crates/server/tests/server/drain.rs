//! A refusal reaches a client that sends its whole body before it reads the response, in every opening.

use axum::body::Body;
use axum::http::Request;
use bytes::Bytes;
use cenote_blob::Place;
use cenote_blob::faulty::{Fault, Faults};
use cenote_server::{Config, Limits};
use futures_util::stream;
use http_body_util::BodyExt;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::running::Running;
use crate::support::{ADMIN, USER, basic, store_with};

/// More than the socket buffers of a connection.
const LARGE: usize = 12 << 20;

/// An upload that is refused.
struct Refused {
    method: &'static str,
    uri: String,
    headers: Vec<(&'static str, String)>,
    /// The start of the body.
    start: &'static str,
    /// The required start of the response, after `HTTP/1.1 `.
    status: u16,
    /// A text in the body of the response.
    detail: &'static str,
}

fn refused(
    who: (&str, &str),
    method: &'static str,
    uri: &str,
    status: u16,
    detail: &'static str,
) -> Refused {
    let headers = vec![("authorization", basic(who))];
    Refused { method, uri: uri.to_owned(), headers, start: "", status, detail }
}

impl Refused {
    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.to_owned()));
        self
    }

    fn head(&self, framing: &str) -> String {
        let line = |(name, value): &(&str, String)| format!("{name}: {value}\r\n");
        let headers: String = self.headers.iter().map(line).collect();
        format!("{} {} HTTP/1.1\r\nhost: x\r\n{headers}{framing}\r\n\r\n", self.method, self.uri)
    }

    fn body(&self) -> Vec<u8> {
        let mut body = self.start.as_bytes().to_vec();
        body.resize(LARGE, b'7');
        body
    }
}

/// The start of a form whose last part is the bytes.
const PARTS: &str = "--x\r\nContent-Disposition: form-data; name=\"op\"\r\n\r\nwrite\r\n\
    --x\r\nContent-Disposition: form-data; name=\"lpath\"\r\n\r\n/tempZone/c/a\r\n\
    --x\r\nContent-Disposition: form-data; name=\"bytes\"\r\n\r\n";

/// Every way to be refused while bytes are being sent: before the first of them, or in the middle.
async fn refusals(server: &Running) -> Vec<Refused> {
    let token = |answer: String| format!("Bearer {}", answer.rsplit("\r\n").next().unwrap());
    let log_in = async |who: (&str, &str)| {
        let head = format!(
            "POST /irods-http-api/0.7.0/authenticate HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
             authorization: {}\r\ncontent-length: 0\r\n\r\n",
            basic(who)
        );
        token(server.raw(&head).await)
    };
    let grace = log_in(USER).await;
    let write = "irods-api-request-op";
    let multipart = "multipart/form-data; boundary=x";
    let objects = "/irods-http-api/0.7.0/data-objects";
    let stream = "/irods-rest/0.9.3/stream?logical-path=/tempZone/c/a";
    vec![
        refused(USER, "PUT", "/v1/fs/a", 403, "denied"),
        refused(("ada", "wrong"), "PUT", "/v1/fs/a", 401, "unauthenticated"),
        refused(ADMIN, "PUT", "/v1/fs/no/such/parent", 404, "not-found"),
        refused(ADMIN, "PUT", "/v1/fs/a?place=nowhere", 404, "not-found"),
        refused(ADMIN, "PUT", "/v1/fs/c/a", 412, "precondition").with("if-none-match", "*"),
        refused(ADMIN, "PUT", "/v1/fs/big", 413, "too-large"),
        refused(ADMIN, "PATCH", "/v1/fs/c/a", 400, "invalid"),
        refused(USER, "PATCH", "/v1/fs/c/a?append=true", 404, "not-found"),
        refused(ADMIN, "PUT", "/v1/uploads/1/0", 404, "not-found"),
        refused(ADMIN, "POST", "/v1/batch?path=/", 415, "media-type"),
        refused(ADMIN, "POST", "/v1/batch?path=/", 400, "invalid")
            .with("content-type", "application/x-tar"),
        refused(ADMIN, "POST", "/v1/create", 413, "too-large")
            .with("content-type", "application/json"),
        refused(ADMIN, "POST", "/v1/none", 404, "no-route"),
        refused(ADMIN, "DELETE", "/v1/stat", 405, "method"),
        refused(USER, "POST", objects, 200, "-818000")
            .with("authorization", &grace)
            .with(write, "write")
            .with("irods-api-request-lpath", "/tempZone/c/a"),
        refused(USER, "POST", objects, 401, "")
            .with("authorization", "Bearer none")
            .with(write, "write"),
        Refused {
            start: PARTS,
            ..refused(USER, "POST", objects, 200, "-818000")
                .with("authorization", &grace)
                .with("content-type", multipart)
        },
        refused(USER, "POST", "/irods-http-api/0.7.0/nothing", 404, ""),
        refused(USER, "PUT", stream, 400, "error_code").with("authorization", &grace),
    ]
}

async fn start() -> Running {
    let limits = Limits { content_bytes: Some(LARGE as u64 - 1), ..Limits::default() };
    let server = Running::start(Config { limits, ..Config::default() }).await;
    put(&server, "/v1/fs/c/a?parents=true").await;
    server
}

async fn put(server: &Running, uri: &str) {
    let framing = "content-length: 1\r\nconnection: close";
    let head = refused(ADMIN, "PUT", uri, 201, "").head(framing);
    assert!(server.raw(&(head + "x")).await.starts_with("HTTP/1.1 201"));
}

/// Sends everything, and only then reads.
async fn send(server: &Running, head: &str, body: &[u8]) -> String {
    let mut stream = server.connect().await;
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body).await.expect("the server takes the rest of the body");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.expect("the connection ends in order");
    String::from_utf8(answer).unwrap()
}

fn assert_refused(case: &Refused, answer: &str) {
    let Refused { method, uri, status, detail, .. } = case;
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {uri}: {answer}");
    assert!(answer.contains(detail), "{method} {uri}: {answer}");
}

#[tokio::test]
async fn a_refusal_reaches_a_client_that_sends_first_over_http1() {
    let server = start().await;
    for case in refusals(&server).await {
        let head = case.head(&format!("content-length: {LARGE}"));
        assert_refused(&case, &send(&server, &head, &case.body()).await);
    }
}

#[tokio::test]
async fn a_refusal_reaches_a_client_that_sends_chunks() {
    let server = start().await;
    for case in refusals(&server).await {
        let head = case.head("transfer-encoding: chunked");
        let body = [format!("{LARGE:x}\r\n").as_bytes(), &case.body(), b"\r\n0\r\n\r\n"].concat();
        assert_refused(&case, &send(&server, &head, &body).await);
    }
}

#[tokio::test]
async fn a_refusal_reaches_a_client_over_http2() {
    let server = start().await;
    for case in refusals(&server).await {
        let stream = TokioIo::new(server.connect().await);
        let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream);
        let (mut client, connection) = handshake.await.unwrap();
        tokio::spawn(connection);
        let uri = format!("http://localhost{}", case.uri);
        let request = Request::builder().method(case.method).uri(uri);
        let with = |request: axum::http::request::Builder, (name, value): &(&str, String)| {
            request.header(*name, value)
        };
        let request = case.headers.iter().fold(request, with);
        let chunks: Vec<_> = case.body().chunks(1 << 16).map(Bytes::copy_from_slice).collect();
        let chunks = stream::iter(chunks.into_iter().map(Ok::<_, std::io::Error>));
        let request = request.body(Body::from_stream(chunks)).unwrap();
        let answer = client.send_request(request).await.unwrap();
        assert_eq!(answer.status().as_u16(), case.status, "{} {}", case.method, case.uri);
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert!(String::from_utf8_lossy(&body).contains(case.detail), "{}", case.uri);
    }
}

#[tokio::test]
async fn a_full_disk_is_reported_during_the_upload() {
    let faults = Faults::new();
    let store = store_with(faults.into_place(Place::memory("main")));
    let server = Running::with_store(store, Config::default()).await;
    let case = refused(ADMIN, "PUT", "/v1/fs/a", 507, "no-space");
    let head = case.head(&format!("content-length: {LARGE}"));
    for operation in 1..=2 {
        let refused = async {
            // The store's upkeep may hit the fault first.
            loop {
                faults.fail(operation, Fault::NoSpace);
                let answer = send(&server, &head, &case.body()).await;
                if !answer.starts_with("HTTP/1.1 20") {
                    return answer;
                }
            }
        };
        assert_refused(&case, &refused.await);
    }
}

#[tokio::test]
async fn an_endless_body_is_cut_off() {
    let limits = Limits { refused_bytes: 1 << 20, ..Limits::default() };
    let server = Running::start(Config { limits, ..Config::default() }).await;
    let head =
        refused(USER, "PUT", "/v1/fs/a", 403, "").head(&format!("content-length: {}", 1u64 << 40));
    let mut stream = server.connect().await;
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut sent = 0;
    while stream.write_all(&[7; 1 << 16]).await.is_ok() {
        sent += 1 << 16;
        assert!(sent < 256 << 20, "nobody ends it");
    }
}

/// Reads one response with a length from a connection that stays open.
async fn one_answer(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    while !answer.ends_with(b"}") {
        answer.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn a_small_unread_body_keeps_the_connection() {
    let server = Running::start(Config::default()).await;
    let case = refused(ADMIN, "POST", "/v1/none", 404, "no-route");
    let mut stream = server.connect().await;
    for _ in 0..3 {
        stream.write_all(case.head("content-length: 40000").as_bytes()).await.unwrap();
        stream.write_all(&[7; 20_000]).await.unwrap();
        let answer = one_answer(&mut stream).await;
        assert_refused(&case, &answer);
        assert!(!answer.contains("connection: close"), "{answer}");
        stream.write_all(&[7; 20_000]).await.unwrap();
    }
}

#[tokio::test]
async fn no_100_continue_is_sent_for_unneeded_bytes() {
    let server = Running::start(Config::default()).await;
    let case = refused(USER, "PUT", "/v1/fs/a", 403, "denied").with("expect", "100-continue");
    let mut stream = server.connect().await;
    let head = case.head(&format!("content-length: {LARGE}"));
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = one_answer(&mut stream).await;
    assert_refused(&case, &answer);
    assert!(answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn shutdown_does_not_wait_for_discarded_bodies() {
    let server = Running::start(Config::default()).await;
    let case = refused(USER, "PUT", "/v1/fs/a", 403, "denied");
    let mut stream = server.connect().await;
    stream.write_all(case.head(&format!("content-length: {LARGE}")).as_bytes()).await.unwrap();
    assert_refused(&case, &one_answer(&mut stream).await);
    server.stop.send(()).unwrap();
    server.task.await.unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert!(rest.is_empty());
}
