//! Over a real socket: both versions of HTTP, TLS, slow and broken clients, a graceful stop.

use std::sync::Arc;
use std::time::Duration;

use crate::running::Running;
use crate::support::{ADMIN, basic, store};
use axum::body::Body;
use axum::http::{Request, Response};
use bytes::Bytes;
use cenote_server::{Config, Limits, Seconds, Server, Tls};
use cenote_store::UploadOptions;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

fn request(method: &str, uri: &str, body: impl Into<Body>) -> Request<Body> {
    let request = Request::builder().method(method).uri(uri);
    let request = request.header("host", "localhost").header("authorization", basic(ADMIN));
    request.body(body.into()).unwrap()
}

async fn whole(response: Response<Incoming>) -> (u16, Bytes) {
    let status = response.status().as_u16();
    (status, response.into_body().collect().await.unwrap().to_bytes())
}

/// Puts and gets over HTTP/2, by prior knowledge or because TLS chose it.
async fn speak_http2(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, scheme: &str) {
    let handshake =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
    let (mut client, connection) = handshake.await.unwrap();
    tokio::spawn(connection);
    let uri = format!("{scheme}://localhost/v1/fs/a");
    let content = Bytes::from(vec![5; 3_000_000]);
    let put = client.send_request(request("PUT", &uri, content.clone())).await.unwrap();
    assert_eq!(whole(put).await.0, 201);
    let (status, body) = whole(client.send_request(request("GET", &uri, "")).await.unwrap()).await;
    assert!(status == 200 && body == content);
}

#[tokio::test]
async fn http1_reuses_a_connection() {
    let server = Running::start(Config::default()).await;
    let stream = TokioIo::new(server.connect().await);
    let (mut client, connection) = hyper::client::conn::http1::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    for (method, status) in [("PUT", 201), ("PUT", 200), ("DELETE", 204), ("GET", 404)] {
        let answer = client.send_request(request(method, "/v1/fs/a", "hello")).await.unwrap();
        assert_eq!(whole(answer).await.0, status, "{method}");
        client.ready().await.unwrap();
    }
}

#[tokio::test]
async fn http2_needs_no_tls() {
    let server = Running::start(Config::default()).await;
    speak_http2(server.connect().await, "http").await;
}

#[tokio::test]
async fn tls_offers_http2() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let tls = Tls { cert: dir.path().join("cert.pem"), key: dir.path().join("key.pem") };
    std::fs::write(&tls.cert, made.cert.pem()).unwrap();
    std::fs::write(&tls.key, made.signing_key.serialize_pem()).unwrap();
    let server = Running::start(Config { tls: Some(tls), ..Config::default() }).await;
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let client = ClientConfig::builder_with_provider(provider);
    let client = client.with_safe_default_protocol_versions().unwrap();
    let mut client = client.with_root_certificates(roots).with_no_client_auth();
    client.alpn_protocols = vec![b"h2".to_vec()];
    let name = ServerName::try_from("localhost").unwrap();
    let connector = TlsConnector::from(Arc::new(client));
    let stream = connector.connect(name, server.connect().await).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    speak_http2(stream, "https").await;
    assert!(!server.raw("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.contains("200 OK"));
}

#[tokio::test]
async fn an_invalid_certificate_is_refused_at_startup() {
    let dir = tempfile::tempdir().unwrap();
    let tls = Tls { cert: dir.path().join("none.pem"), key: dir.path().join("none.pem") };
    let config = Config { listen: ([127, 0, 0, 1], 0).into(), tls: Some(tls), ..Config::default() };
    let error = Server::bind(store(), &config).await.unwrap_err();
    assert!(error.to_string().contains("none.pem"), "{error}");
}

#[tokio::test]
async fn invalid_http_gets_400() {
    let server = Running::start(Config::default()).await;
    assert!(server.raw("nonsense\r\n\r\n").await.starts_with("HTTP/1.1 400"));
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(1 << 20));
    let answer = server.raw(&long).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer:.40}");
}

#[tokio::test]
async fn an_endless_header_is_cut_off() {
    let limits = Limits { header_seconds: Seconds::from_millis(50), ..Limits::default() };
    let server = Running::start(Config { limits, ..Config::default() }).await;
    // The read ends only because the server ends the connection.
    server.raw("GET /healthz HTTP/1.1\r\nhost:").await;
}

#[tokio::test]
async fn an_interrupted_upload_leaves_nothing() {
    let server = Running::start(Config::default()).await;
    let head = format!(
        "PUT /v1/fs/a HTTP/1.1\r\nhost: x\r\nauthorization: {}\r\ncontent-length: 1000\r\n\r\nhello",
        basic(ADMIN)
    );
    let mut stream = server.connect().await;
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    let admin = server.store.authenticate_password(ADMIN.0, ADMIN.1).unwrap();
    let path: cenote_store::StorePath = "/a".parse().unwrap();
    assert!(server.store.stat(&admin, &path.into()).is_err());
}

#[tokio::test]
async fn shutdown_lets_running_requests_finish() {
    let server = Running::start(Config::default()).await;
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Bytes, std::io::Error>>(1);
    let body = futures_util::stream::unfold(receiver, |mut receiver| async {
        Some((receiver.recv().await?, receiver))
    });
    let stream = TokioIo::new(server.connect().await);
    let (mut client, connection) = hyper::client::conn::http1::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let answer = client.send_request(request("PUT", "/v1/fs/a", Body::from_stream(body)));
    let answer = tokio::spawn(answer);
    sender.send(Ok("one".into())).await.unwrap();
    sender.send(Ok("two".into())).await.unwrap();
    server.stop.send(()).unwrap();
    sender.send(Ok("three".into())).await.unwrap();
    drop(sender);
    assert_eq!(whole(answer.await.unwrap().unwrap()).await.0, 201);
    server.task.await.unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_received_before_a_disconnect_are_kept_on_request() {
    let server = Running::start(Config::default()).await;
    let admin = server.store.authenticate_password(ADMIN.0, ADMIN.1).unwrap();
    let options = UploadOptions { size: Some(1_000_000), ..UploadOptions::default() };
    let path = "/big".parse().unwrap();
    let id = server.store.begin_upload(&admin, &path, &options).unwrap().id;
    let mut stream = server.connect().await;
    let head = format!(
        "PUT /v1/uploads/{id}/0?keep=true HTTP/1.1\r\nhost: x\r\nauthorization: {}\r\ncontent-length: 1000000\r\n\r\n",
        basic(ADMIN)
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&[7; 300_000]).await.unwrap();
    drop(stream);
    let arrived = async {
        loop {
            match server.store.upload(&admin, id).unwrap().parts.first() {
                Some(part) => return part.length,
                None => tokio::task::yield_now().await,
            }
        }
    };
    let length = tokio::time::timeout(Duration::from_secs(60), arrived).await.unwrap();
    assert_eq!(length, 300_000);
}

/// A query of 10^8 rows: the runtime ends only because the query does.
#[test]
fn a_query_stops_when_its_client_disconnects() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let irods = cenote_server::Irods { query_seconds: 3_600, ..Default::default() };
        let server = Running::start(Config { irods, ..Config::default() }).await;
        let admin = server.store.authenticate_password(ADMIN.0, ADMIN.1).unwrap();
        describe_much(&server.store, &admin);
        let login = format!("POST /irods-http-api/0/authenticate HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: {}\r\n\r\n", basic(ADMIN));
        let token = server.raw(&login).await;
        let token = token.rsplit("\r\n").next().unwrap().trim();
        let query = "select%20META_COLL_ATTR_VALUE,META_DATA_ATTR_VALUE";
        let request = format!("GET /irods-http-api/0/query?op=execute_genquery&query={query} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n");
        let mut client = server.connect().await;
        client.write_all(request.as_bytes()).await.unwrap();
        // The request for the number counts, too.
        while !server.raw(&metrics()).await.contains("http_requests_under_way 2") {}
        drop(client);
    });
    drop(runtime);
}

fn metrics() -> String {
    format!(
        "GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: {}\r\n\r\n",
        basic(ADMIN)
    )
}

/// A collection and an object in it, each with 10,000 attributes.
fn describe_much(store: &cenote_store::Store, admin: &cenote_store::Caller) {
    use cenote_store::{
        At, Avu, AvuChange, Conditions, CreateOptions, Draft, Expected, PutOptions, Received,
        StorePath,
    };
    let path = |path: &str| path.parse::<StorePath>().unwrap();
    store.create(admin, &path("/c"), Draft::Collection, CreateOptions::default()).unwrap();
    let bytes = Received::inline(b"x", &Expected::default()).unwrap();
    store.publish(admin, path("/c/o"), &bytes, &PutOptions::default()).unwrap();
    let change =
        |n: usize| AvuChange::Add(Avu { attribute: "n".into(), value: n.to_string(), unit: None });
    let changes: Vec<_> = (0..10_000).map(change).collect();
    for thing in ["/c", "/c/o"] {
        store.change_avus(admin, &At::from(path(thing)), &changes, &Conditions::default()).unwrap();
    }
}
