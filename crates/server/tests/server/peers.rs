//! Peers that send nothing, or too little, or do not read the response: the server closes each of them, whatever
//! phase the connection is in; and others are served meanwhile.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use bytes::Bytes;
use cenote_server::{Config, Limits, Seconds, Tls};
use futures_util::stream;
use http_body_util::BodyExt;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::running::Running;
use crate::support::{ADMIN, basic};

/// Long enough for a busy machine to send the initial bytes of each peer.
fn strict() -> Limits {
    Limits {
        header_seconds: Seconds::from_millis(400),
        idle_seconds: Seconds::from_millis(500),
        body_rate: 1 << 20,
        ..Limits::default()
    }
}

/// Limits that are not reached.
fn patient() -> Limits {
    let hour = Seconds::new(3_600);
    Limits { header_seconds: hour, idle_seconds: hour, ..Limits::default() }
}

async fn start(limits: Limits) -> Running {
    Running::start(Config { limits, ..Config::default() }).await
}

const HEALTH: &str = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";
const PREFACE: &str = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// An empty SETTINGS frame.
const SETTINGS: &str = "\0\0\0\x04\0\0\0\0\0";

fn put(framing: &str) -> String {
    let user = basic(ADMIN);
    format!("PUT /v1/fs/a HTTP/1.1\r\nhost: x\r\nauthorization: {user}\r\n{framing}\r\n\r\n")
}

/// The bytes that a peer sends before it falls silent, and the reason that the server counts for the end of its
/// connection; none if it responds with 408 first.
fn silences() -> Vec<(&'static str, String, Option<&'static str>)> {
    vec![
        ("nothing", String::new(), Some("header")),
        ("half a preface of HTTP/2", PREFACE[..10].to_owned(), Some("header")),
        ("no request over HTTP/2", format!("{PREFACE}{SETTINGS}"), Some("header")),
        ("half a request line", "GET /hea".to_owned(), Some("header")),
        ("half a header", HEALTH[..30].to_owned(), Some("header")),
        ("nothing after an answer", HEALTH.to_owned(), Some("idle")),
        ("half a header after an answer", format!("{HEALTH}{}", &HEALTH[..30]), Some("idle")),
        ("half a body", put("content-length: 10") + "hello", None),
        ("no body", put("content-length: 10"), None),
        ("half a chunk", put("transfer-encoding: chunked") + "5\r\nhel", None),
        ("half a chunk's length", put("transfer-encoding: chunked") + "5", None),
    ]
}

/// Reads until the server closes the connection.
async fn all_of(mut stream: impl AsyncRead + Unpin) -> String {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

/// How many connections were closed for this reason.
async fn closed(server: &Running, reason: &str) -> usize {
    counted(server, &format!("cenote_http_connections_closed_total{{reason=\"{reason}\"}} ")).await
}

async fn counted(server: &Running, name: &str) -> usize {
    let request = "GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let metrics = server.raw(request).await;
    let line = metrics.lines().find_map(|line| line.strip_prefix(name));
    line.map_or(0, |count| count.trim().parse().unwrap())
}

/// The end of a connection is counted after its peer sees it.
async fn is_closed(server: &Running, reason: &str, count: usize) {
    while closed(server, reason).await != count {
        tokio::task::yield_now().await;
    }
}

fn is_answered_408(answer: &str, case: &str) {
    assert!(answer.starts_with("HTTP/1.1 408 "), "{case}: {answer}");
    assert!(answer.contains("urn:cenote:problem:timeout"), "{case}: {answer}");
}

#[tokio::test]
async fn a_silent_connection_is_closed_in_every_phase() {
    let server = start(strict()).await;
    let silences = silences();
    let answers = silences.iter().map(|(_, sent, _)| server.raw(sent));
    let answers = futures_util::future::join_all(answers).await;
    for ((case, _, reason), answer) in silences.iter().zip(answers) {
        if reason.is_none() {
            is_answered_408(&answer, case);
        }
    }
    for reason in ["header", "idle"] {
        let expected = silences.iter().filter(|(_, _, closed)| *closed == Some(reason)).count();
        is_closed(&server, reason, expected).await;
    }
}

/// A server with TLS, and a client that trusts it.
async fn start_with_tls() -> (Running, TlsConnector) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let tls = Tls { cert: dir.path().join("cert.pem"), key: dir.path().join("key.pem") };
    std::fs::write(&tls.cert, made.cert.pem()).unwrap();
    std::fs::write(&tls.key, made.signing_key.serialize_pem()).unwrap();
    let config = Config { tls: Some(tls), limits: strict(), ..Config::default() };
    let server = Running::start(config).await;
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let client = ClientConfig::builder_with_provider(provider);
    let client = client.with_safe_default_protocol_versions().unwrap();
    let client = client.with_root_certificates(roots).with_no_client_auth();
    (server, TlsConnector::from(Arc::new(client)))
}

async fn secure((server, connector): &(Running, TlsConnector)) -> TlsStream<tokio::net::TcpStream> {
    let name = ServerName::try_from("localhost").unwrap();
    connector.connect(name, server.connect().await).await.unwrap()
}

#[tokio::test]
async fn a_silent_connection_is_closed_in_every_phase_of_tls() {
    let tls = start_with_tls().await;
    for handshake in ["", "\x16\x03\x01\x02"] {
        assert_eq!(tls.0.raw(handshake).await, "");
    }
    let silent = silences().into_iter().map(|(case, sent, reason)| {
        let tls = &tls;
        async move {
            let mut stream = secure(tls).await;
            stream.write_all(sent.as_bytes()).await.unwrap();
            let answer = all_of(stream).await;
            if reason.is_none() {
                is_answered_408(&answer, case);
            }
        }
    });
    futures_util::future::join_all(silent).await;
    let mut stream = secure(&tls).await;
    let request = "GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let metrics = all_of(stream).await;
    assert!(metrics.contains("closed_total{reason=\"handshake\"} 2"), "{metrics}");
}

/// Sends a byte occasionally until the server closes the connection.
async fn drip(server: &Running, sent: &str) -> String {
    let stream = server.connect().await;
    let (reader, mut writer) = stream.into_split();
    let dripping = async {
        writer.write_all(sent.as_bytes()).await.unwrap();
        let mut pace = tokio::time::interval(Duration::from_millis(5));
        while writer.write_all(b"1").await.is_ok() {
            pace.tick().await;
        }
    };
    tokio::select! {
        answer = all_of(reader) => answer,
        () = dripping => String::new(),
    }
}

#[tokio::test]
async fn a_trickling_connection_is_closed() {
    let server = start(strict()).await;
    for sent in ["", "GET /", "GET / HTTP/1.1\r\nx: "] {
        drip(&server, sent).await;
    }
    is_closed(&server, "header", 3).await;
    let json = "POST /v1/create HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
    let user = format!("authorization: {}\r\ncontent-length: 1000000\r\n\r\n", basic(ADMIN));
    let batch = "POST /v1/batch?path=/ HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-tar\r\n";
    for sent in [put("content-length: 1000000"), json.to_owned() + &user, batch.to_owned() + &user]
    {
        let answer = drip(&server, &sent).await;
        assert!(answer.starts_with("HTTP/1.1 408 ") || answer.is_empty(), "{sent}: {answer}");
    }
    while counted(
        &server,
        "cenote_http_requests_total{route=\"/v1/batch\",method=\"POST\",status=\"408\"} ",
    )
    .await
        != 1
    {}
}

/// Larger than the socket buffers of a connection.
const LARGE: usize = 24 << 20;

async fn put_large(server: &Running) {
    let mut stream = server.connect().await;
    let head = put(&format!("connection: close\r\ncontent-length: {LARGE}"));
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![7; LARGE]).await.unwrap();
    assert!(all_of(stream).await.starts_with("HTTP/1.1 201 "));
}

#[tokio::test]
async fn a_connection_that_does_not_read_its_response_is_closed() {
    let server = start(strict()).await;
    put_large(&server).await;
    let user = basic(ADMIN);
    let request = format!("GET /v1/fs/a HTTP/1.1\r\nhost: x\r\nauthorization: {user}\r\n\r\n");
    let mut http1 = server.connect().await;
    http1.write_all(request.as_bytes()).await.unwrap();
    is_closed(&server, "unread", 1).await;
    let mut http2 = http2_client(server.connect().await, 1).await;
    let request = Request::get("http://x/v1/fs/a").header("authorization", &user);
    let answer = http2.send_request(request.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(answer.status(), 200);
    is_closed(&server, "unread", 2).await;
}

async fn http2_client(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    window: u32,
) -> SendRequest<Body> {
    let mut client = http2::Builder::new(TokioExecutor::new());
    let client = client.initial_stream_window_size(window).handshake(TokioIo::new(stream));
    let (client, connection) = client.await.unwrap();
    tokio::spawn(connection);
    client
}

#[tokio::test]
async fn a_silent_http2_stream_gets_a_response_and_its_connection_is_closed() {
    let server = start(strict()).await;
    let mut client = http2_client(server.connect().await, 1 << 16).await;
    let silent = Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>());
    let put = Request::put("http://x/v1/fs/a").header("authorization", basic(ADMIN));
    let answer = client.send_request(put.body(silent).unwrap()).await.unwrap();
    assert_eq!(answer.status(), 408);
    is_closed(&server, "idle", 1).await;
    assert!(client.ready().await.is_err());
}

#[tokio::test]
async fn a_full_server_accepts_new_connections_by_closing_silent_ones() {
    let server = start(Limits { connections: 4, ..patient() }).await;
    let mut silent = Vec::new();
    for round in 0..20 {
        silent.push(server.connect().await);
        let framing = "connection: close\r\ncontent-length: 5";
        let answer = server.raw(&(put(framing) + "hello")).await;
        assert!(answer.starts_with("HTTP/1.1 20"), "{round}: {answer}");
    }
    assert!(closed(&server, "room").await >= 17);
}

#[tokio::test]
async fn a_caller_with_a_login_does_not_make_room() {
    let server = start(Limits { connections: 2, ..patient() }).await;
    let mut upload = server.connect().await;
    upload.write_all((put("content-length: 10") + "hello").as_bytes()).await.unwrap();
    while counted(&server, "cenote_http_requests_under_way ").await != 2 {}
    for _ in 0..20 {
        drop(server.connect().await);
        assert!(
            server
                .raw(&HEALTH.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n"))
                .await
                .contains("200 OK")
        );
    }
    upload.write_all(b"world").await.unwrap();
    let mut answer = [0; 12];
    upload.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 201");
}

#[tokio::test]
async fn streams_beyond_the_limit_of_a_connection_wait() {
    let server = start(patient()).await;
    let client = http2_client(server.connect().await, 1 << 16).await;
    let requests = (0..500).map(|_| {
        let mut client = client.clone();
        let request = Request::get("http://x/healthz").body(Body::empty()).unwrap();
        async move {
            client.ready().await.unwrap();
            let answer = client.send_request(request).await.unwrap();
            (answer.status(), answer.into_body().collect().await.unwrap().to_bytes())
        }
    });
    for (status, body) in futures_util::future::join_all(requests).await {
        assert!(status == 200 && body == "ok\n");
    }
}
