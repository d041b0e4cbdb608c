//! Large ranges are received from the connection itself: from servers that answer in any pieces, end early, or close a connection that was kept.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::BytesMut;
use cenote_client::{Client, Content, HttpTransport, Kind, ReadOptions, Result, Retry};
use futures_util::TryStreamExt;
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const LENGTH: u64 = 1 << 20;

/// What the server sends for one request.
#[derive(Debug, Clone)]
struct Answer {
    bytes: Vec<u8>,
    /// Where it pauses.
    pauses: Vec<usize>,
    /// Whether it closes the connection then.
    closes: bool,
}

fn content() -> Vec<u8> {
    (0..LENGTH as usize).map(|n| (n * 7 + n / 251) as u8).collect()
}

fn head(status: &str, more: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\ncenote-kind: object\r\n{more}\r\n").into_bytes()
}

/// The whole content, with a head.
fn whole() -> Answer {
    let head = head("206 Partial Content", &format!("content-length: {LENGTH}\r\n"));
    Answer { bytes: [head, content()].concat(), pauses: Vec::new(), closes: false }
}

/// A server that sends one answer after the other, and counts its connections.
struct Fake {
    client: Client,
    connections: Arc<AtomicUsize>,
}

impl Fake {
    async fn new(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let transport = HttpTransport::new(&url, None).unwrap();
        let client = Client::new(transport).with_retry(Retry { attempts: 1, ..Retry::default() });
        let connections = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            let mut answers = answers.into_iter();
            while answers.len() > 0 {
                let (stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::Relaxed);
                converse(stream, &mut answers).await;
            }
        });
        Self { client, connections }
    }

    async fn read(&self) -> Result<Content> {
        let options = ReadOptions { length: Some(LENGTH), ..ReadOptions::default() };
        self.client.read("/large", &options).await
    }

    /// Reads the content twice, by both ways.
    async fn check(&self) {
        assert!(filled(self.read().await.unwrap(), 100_000).await.unwrap() == content());
        assert!(streamed(self.read().await.unwrap()).await.unwrap() == content());
    }
}

/// Sends answers until one closes the connection, or the client does.
async fn converse(mut stream: TcpStream, answers: &mut impl Iterator<Item = Answer>) {
    stream.set_nodelay(true).unwrap();
    let mut request = Vec::new();
    while stream.read_buf(&mut request).await.is_ok_and(|read| read > 0) {
        if !request.ends_with(b"\r\n\r\n") {
            continue;
        }
        request.clear();
        let Some(Answer { bytes, pauses, closes }) = answers.next() else { return };
        let mut sent = 0;
        for pause in pauses {
            // The receiver gets its turn in between, which may take what is there.
            let _gone = stream.write_all(&bytes[sent..pause]).await;
            tokio::task::yield_now().await;
            sent = pause;
        }
        if stream.write_all(&bytes[sent..]).await.is_err() || closes {
            return;
        }
    }
}

async fn filled(mut content: Content, room: usize) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let mut bytes = BytesMut::with_capacity(room);
        let read = content.fill(&mut bytes).await?;
        assert_eq!(read, bytes.len());
        all.extend_from_slice(&bytes);
        if read == 0 {
            return Ok(all);
        }
    }
}

async fn streamed(content: Content) -> Result<Vec<u8>> {
    Ok(content.into_stream().try_collect::<Vec<_>>().await?.concat())
}

#[tokio::test]
async fn a_connection_is_used_again_once_its_body_was_read() {
    let fake = Fake::new(vec![whole(); 4]).await;
    fake.check().await;
    fake.check().await;
    assert_eq!(fake.connections.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_body_that_is_not_read_ends_its_connection() {
    let fake = Fake::new(vec![whole(); 3]).await;
    drop(fake.read().await.unwrap());
    fake.check().await;
    assert_eq!(fake.connections.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_kept_connection_that_the_server_closed_is_replaced() {
    let fake = Fake::new(vec![Answer { closes: true, ..whole() }; 2]).await;
    fake.check().await;
    assert_eq!(fake.connections.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_connection_is_kept_unless_the_server_will_close_it() {
    for (connection, closes) in [("close", true), ("TE, Close", true), ("keep-alive", false)] {
        let more = format!("connection: {connection}\r\ncontent-length: {LENGTH}\r\n");
        let bytes = [head("200 OK", &more), content()].concat();
        let fake = Fake::new(vec![Answer { bytes, closes, ..whole() }; 2]).await;
        fake.check().await;
        let connections = if closes { 2 } else { 1 };
        assert_eq!(fake.connections.load(Ordering::Relaxed), connections, "{connection}");
    }
}

#[tokio::test]
async fn a_body_that_ends_early_is_an_error() {
    let mut short = whole();
    short.bytes.pop();
    let fake = Fake::new(vec![Answer { closes: true, ..short }; 2]).await;
    let error = filled(fake.read().await.unwrap(), 1 << 20).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Unreachable, "{error}");
    let error = streamed(fake.read().await.unwrap()).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Unreachable, "{error}");
}

#[tokio::test]
async fn more_than_was_announced_is_not_part_of_the_next_answer() {
    let head = head("200 OK", "content-length: 4\r\n");
    let bytes = [head, b"headHTTP/1.1 200 OK\r\n\r\n".to_vec()].concat();
    let fake = Fake::new(vec![Answer { bytes, ..whole() }, whole(), whole()]).await;
    match fake.read().await {
        // The rest came in time to be noticed, or later.
        Err(error) => assert_eq!(error.kind(), Kind::Unreachable, "{error}"),
        Ok(content) => assert_eq!(filled(content, 10).await.unwrap(), b"head"),
    }
    fake.check().await;
}

#[tokio::test]
async fn bodies_of_unknown_length_arrive_as_well() {
    let head = head("200 OK", "transfer-encoding: chunked\r\n");
    let chunk = format!("{LENGTH:x}\r\n").into_bytes();
    let bytes = [head, chunk, content(), b"\r\n0\r\n\r\n".to_vec()].concat();
    let fake = Fake::new(vec![Answer { bytes, closes: true, ..whole() }; 2]).await;
    fake.check().await;
}

#[tokio::test]
async fn refusals_are_errors_with_their_reason() {
    let body = br#"{"type":"urn:cenote:problem:not-found","title":"not found","detail":"nothing is at /large"}"#;
    let head = head("404 Not Found", &format!("content-length: {}\r\n", body.len()));
    let bytes = [head, body.to_vec()].concat();
    let fake = Fake::new(vec![Answer { bytes, closes: true, ..whole() }]).await;
    let error = fake.read().await.unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound, "{error}");
    assert!(error.to_string().contains("nothing is at /large"), "{error}");
}

#[tokio::test]
async fn without_a_server_nothing_was_sent() {
    let closed = tokio::net::TcpSocket::new_v4().unwrap();
    closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    let once = Retry { attempts: 1, ..Retry::default() };
    let client = Client::new(HttpTransport::new(&url, None).unwrap()).with_retry(once);
    let options = ReadOptions { length: Some(LENGTH), ..ReadOptions::default() };
    let error = client.read("/large", &options).await.unwrap_err();
    assert!(error.kind() == Kind::Unreachable && error.is_unsent(), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_body_is_the_same_however_it_arrives(
        mut pauses in proptest::collection::vec(0..200_usize, 0..4),
        later in proptest::collection::vec(200..LENGTH as usize, 0..4),
        room in 1_000..300_000_usize,
    ) {
        pauses.extend(later);
        pauses.sort_unstable();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (by_fill, by_stream) = runtime.block_on(async {
            let fake = Fake::new(vec![Answer { pauses, ..whole() }; 2]).await;
            let by_fill = filled(fake.read().await.unwrap(), room).await.unwrap();
            (by_fill, streamed(fake.read().await.unwrap()).await.unwrap())
        });
        prop_assert!(by_fill == content());
        prop_assert!(by_stream == content());
    }
}
