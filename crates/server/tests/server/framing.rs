//! Requests that a proxy in front could parse differently from the server, sent byte by byte over a socket.

use cenote_server::Config;

use crate::running::Running;
use crate::support::{ADMIN, basic};

/// A change, followed on the same connection by another one, which is smuggled if it is the body of the first.
fn put(headers: &str, body: &str) -> String {
    let behind =
        "PUT /v1/fs/smuggled HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n";
    let by = format!("Authorization: {}\r\n", basic(ADMIN));
    format!("PUT /v1/fs/asked HTTP/1.1\r\n{by}{headers}\r\n{body}{behind}{by}\r\n")
}

/// The statuses received before the server closes the connection.
async fn statuses(server: &Running, request: &str) -> Vec<u16> {
    let text = server.raw(request).await;
    let answers = text.split("HTTP/1.1 ").skip(1);
    answers.filter_map(|answer| answer.get(..3)?.parse().ok()).collect()
}

fn has(server: &Running, name: &str) -> bool {
    let admin = server.store.directory_caller(None).unwrap();
    let path: cenote_store::StorePath = format!("/{name}").parse().unwrap();
    server.store.stat(&admin, &path.into()).is_ok()
}

#[tokio::test]
async fn a_request_has_one_host() {
    let server = Running::start(Config::default()).await;
    for (hosts, status) in [
        ("", 400),
        ("Host: a\r\nHost: a\r\n", 400),
        ("Host: a\r\nHost: b\r\n", 400),
        ("Host: a b\r\n", 400),
        ("Host: a/b\r\n", 400),
        ("Host: ada@a\r\n", 400),
        ("Host: a, b\r\n", 400),
        ("Host: a\r\n", 201),
        ("Host: A:8470\r\n", 200),
        ("Host: [::1]:8470\r\n", 200),
        ("Host:\r\n", 200),
    ] {
        let received = statuses(&server, &put(&format!("{hosts}Content-Length: 0\r\n"), "")).await;
        assert_eq!(received[0], status, "{hosts:?}: {received:?}");
        assert_eq!(has(&server, "asked"), status < 300, "{hosts:?}");
        assert_eq!(received.len(), if status < 300 { 2 } else { 1 }, "{hosts:?}: {received:?}");
    }
    let old = "GET /healthz HTTP/1.0\r\n\r\n";
    assert!(server.raw(old).await.starts_with("HTTP/1.0 200"));
}

#[tokio::test]
async fn a_body_has_either_a_length_or_a_transfer_coding() {
    let chunked = "0\r\n\r\n";
    for (headers, status) in [
        ("Transfer-Encoding: gzip, chunked\r\n", 501),
        ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", 501),
        ("Transfer-Encoding: chunked, chunked\r\n", 501),
        ("Transfer-Encoding: identity, chunked\r\n", 501),
        ("Transfer-Encoding: gzip\r\n", 400),
        ("Transfer-Encoding: xchunked\r\n", 400),
        ("Transfer-Encoding: chunked, identity\r\n", 400),
        ("Content-Length: 5\r\nContent-Length: 6\r\n", 400),
        ("Content-Length: 5, 6\r\n", 400),
        ("Content-Length: +5\r\n", 400),
        ("Content-Length: -1\r\n", 400),
        ("Content-Length : 5\r\n", 400),
        (" Content-Length: 5\r\n", 400),
        ("X: a\r\n Content-Length: 5\r\n", 400),
    ] {
        let server = Running::start(Config::default()).await;
        let received = statuses(&server, &put(&format!("Host: a\r\n{headers}"), chunked)).await;
        assert_eq!(received, [status], "{headers:?}");
        assert!(!has(&server, "asked") && !has(&server, "smuggled"), "{headers:?}");
    }
}

/// RFC 9112, section 6.3: the transfer coding takes precedence, and the connection is closed after the response, so
/// that bytes that a proxy parsed as the body are never parsed as a request.
#[tokio::test]
async fn no_request_is_smuggled_with_a_length_and_a_transfer_coding() {
    for headers in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: Chunked\r\nContent-Length: 300\r\n",
    ] {
        let server = Running::start(Config::default()).await;
        let received = statuses(&server, &put(&format!("Host: a\r\n{headers}"), "0\r\n\r\n")).await;
        assert_eq!(received, [201], "{headers:?}");
        assert!(has(&server, "asked") && !has(&server, "smuggled"), "{headers:?}");
    }
}
