//! Hostile requests over a socket: wrong request lines, headers, lengths, chunks, paths, ranges, bodies, and mutated
//! requests. None causes a server error, none hangs, and the data of others is unchanged.
//!
//! `CENOTE_HOSTILE` sets their number; the requests are the same in every run, and a failure prints its request.

use std::time::Duration;

use cenote_server::{Config, Limits, Seconds};
use futures_util::{StreamExt, stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::running::Running;
use crate::support::{ADMIN, USER, basic};

/// The number of requests, unless set by the environment.
const REQUESTS: u64 = 2_500;
/// The number of concurrent requests.
const AT_A_TIME: usize = 32;

/// Random numbers (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

const METHODS: [&str; 16] = [
    "GET", "GET", "PUT", "PUT", "POST", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE",
    "CONNECT", "get", "G\0T", "", "\u{e9}",
];
const ROUTES: [&str; 39] = [
    "/v1/fs/h/a",
    "/v1/fs/h/",
    "/v1/fs",
    "/v1/list",
    "/v1/list/brief",
    "/v1/walk",
    "/v1/stat",
    "/v1/create",
    "/v1/move",
    "/v1/copy",
    "/v1/meta",
    "/v1/graph",
    "/v1/search",
    "/v1/links",
    "/v1/keys",
    "/v1/access",
    "/v1/access/why",
    "/v1/uploads",
    "/v1/uploads/1/0",
    "/v1/versions",
    "/v1/versions/diff",
    "/v1/tickets",
    "/v1/tokens",
    "/v1/batch",
    "/v1/archive",
    "/v1/changes",
    "/v1/past/stat",
    "/v1/past/walk",
    "/v1/past/search",
    "/v1/past/archive",
    "/v1/past/restore",
    "/v1/gsd/index",
    "/v1/gsd/chunk",
    "/v1/du",
    "/v1/replicas",
    "/irods-http-api/0.7.0/collections",
    "/irods-http-api/0.7.0/data-objects",
    "/irods-http-api/0.7.0/query",
    "/irods-rest/0.9.3/stream",
];
const TARGETS: [&str; 16] = [
    "*",
    "/",
    "//",
    "/v1/fs/../../etc/passwd",
    "/v1/fs/%2e%2e/%2e%2e/etc/passwd",
    "/v1/fs/h/%00",
    "/v1/fs/h/%ff%fe",
    "/v1/fs/h/%",
    "/v1/fs/h/%zz",
    "/v1/fs/h/a%2fb",
    "http://other/v1/fs/h/a",
    "x:80",
    "/v1/fs/h/\u{202e}a",
    "/\\..\\..\\",
    "/v1/fs/h/a?%00=%00&&=&a",
    "?",
];
const QUERIES: [&str; 18] = [
    "path=/h/a",
    "path=/h",
    "path=",
    "path=/h/../..",
    "path=%2f%00",
    "path=/h/a&path=/h/b",
    "limit=0",
    "limit=-1",
    "limit=99999999999999999999",
    "path=/h&limit=1&after=%ff",
    "offset=18446744073709551615",
    "parents=maybe",
    "append=true",
    "wait=301",
    "since=-1",
    "op=list&lpath=/tempZone/h",
    "op=read&lpath=/tempZone/h/a&offset=-1&count=-1",
    "op=execute_genquery&query=select%20COLL_NAME%20where%20((((",
];
const VERSIONS: [&str; 10] = [
    "HTTP/1.1",
    "HTTP/1.1",
    "HTTP/1.1",
    "HTTP/1.1",
    "HTTP/1.0",
    "HTTP/0.9",
    "HTTP/2.0",
    "HTTP/9.9",
    "HTTP/1.1 x",
    "",
];
const HEADERS: [&str; 58] = [
    "content-length: -1",
    "content-length: +5",
    "content-length: 5, 6",
    "content-length: 18446744073709551616",
    "content-length: 9223372036854775807",
    "content-length: 0x5",
    "content-length:",
    "content-length: 3\r\ncontent-length: 4",
    "transfer-encoding: chunked",
    "transfer-encoding: chunked\r\ncontent-length: 3",
    "transfer-encoding: chunked, chunked",
    "transfer-encoding: gzip, chunked",
    "transfer-encoding: identity",
    "transfer-encoding: xchunked",
    "transfer-encoding : chunked",
    "transfer-encoding:\x0bchunked",
    "host: a\r\nhost: b",
    "host:",
    "host: a b",
    "host: /\\",
    "range: bytes=0-",
    "range: bytes=-0",
    "range: bytes=9-3",
    "range: bytes=18446744073709551615-",
    "range: bytes=-18446744073709551616",
    "range: lines=1-2",
    "range: bytes=0-0,1-1,2-2,3-3,4-4,5-5,6-6,7-7",
    "range: bytes=,,,",
    "if-match: W/\"",
    "if-match: *, \"a\"",
    "if-none-match: \"\\\"",
    "if-modified-since: never",
    "expect: 200-ok",
    "expect: 100-continue",
    "upgrade: h2c\r\nconnection: upgrade, http2-settings\r\nhttp2-settings: AAMAAABkAAQCAAAAAAIAAAAA",
    "connection: keep-alive, close, x",
    "no colon here",
    ": no name",
    "a\0b: c",
    "x: a\0b",
    "folded: a\r\n b",
    "x: \u{e9}\u{0}",
    "authorization: Basic",
    "authorization: Basic ====",
    "authorization: Basic OjpAOg==",
    "authorization: Bearer \u{7f}",
    "authorization: Digest username=\"a\"",
    "content-type: application/json",
    "content-type: application/json; charset=\"",
    "content-type: multipart/form-data; boundary=",
    "content-type: multipart/form-data; boundary=x",
    "content-type: application/x-tar",
    "content-type: application/x-www-form-urlencoded",
    "content-type: text/turtle",
    "content-digest: sha-256=:AA:",
    "content-digest: sha-256=:",
    "cenote-ticket: \u{e9}",
    "x-request-id: a b",
];
const BODIES: [&str; 30] = [
    "",
    "{",
    "null",
    "[]",
    "{}",
    "{\"path\":1}",
    "{\"path\":\"/h/x\",\"kind\":\"what\"}",
    "{\"path\":\"/h/x\",\"kind\":\"collection\"}",
    "{\"path\":\"\\ud800\"}",
    "{\"path\":\"/h/\\u0000\"}",
    "{\"from\":\"/h/a\",\"to\":\"/h/a/b\"}",
    "{\"a\":1e999}",
    "{\"a\":1,\"a\":2}",
    "NaN",
    "{\"limit\":-1}",
    "{\"path\":\"/h\",\"conditions\":[{\"attribute\":\"\",\"op\":\"<\",\"value\":\"\"}]}",
    "\u{feff}{}",
    "5\r\nhello\r\n0\r\n\r\n",
    "FFFFFFFFFFFFFFFFF\r\n",
    "-5\r\nhello",
    "5;x=\"\r\nhello\r\n0\r\n\r\n",
    "5\nhello\n0\n\n",
    "0\r\na: b\r\n\r\n",
    "0\r\ncontent-length: 5\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    "--x\r\ncontent-disposition: form-data; name=\"op\"\r\n\r\nwrite\r\n--x--\r\n",
    "--x\r\ncontent-disposition: form-data\r\n\r\n\r\n--x",
    "op=write&lpath=/tempZone/h/a&bytes=%00%ff",
    "op=%00&op=list",
    "<a> <b> <c",
    "@prefix : <x:> . : : _:\u{0} .",
];

/// Long ones, which do not fit in a table.
fn long(dice: &mut Dice) -> String {
    match dice.below(7) {
        0 => "[".repeat(100_000),
        1 => "{\"a\":".repeat(50_000),
        2 => format!("x: {}\r\n", "y".repeat(100_000)),
        3 => (0..500).map(|n| format!("h{n}: {n}\r\n")).collect(),
        4 => format!("range: bytes={}0-1\r\n", "0-1,".repeat(2_000)),
        5 => format!("if-none-match: {}\"a\"\r\n", "\"a\",".repeat(2_000)),
        _ => "%2f".repeat(30_000),
    }
}

/// The caller. An administrator sends requests only below `/h`, since they may remove everything.
fn credential(dice: &mut Dice) -> String {
    match dice.below(4) {
        0 => format!("authorization: {}\r\n", basic(USER)),
        1 => "authorization: Bearer anonymous\r\n".to_owned(),
        2 => format!("authorization: {}\r\n", basic(ADMIN)),
        _ => String::new(),
    }
}

fn request(dice: &mut Dice) -> Vec<u8> {
    let mut target = dice.pick(&ROUTES).to_owned();
    match dice.below(4) {
        0 => target = dice.pick(&TARGETS).to_owned(),
        1 => {}
        _ => target = format!("{target}?{}", dice.pick(&QUERIES)),
    }
    let mut headers = format!("host: x\r\n{}", credential(dice));
    if dice.one_in(12) {
        headers.clear();
    }
    for _ in 0..dice.below(4) {
        headers += dice.pick(&HEADERS);
        headers += "\r\n";
    }
    let mut body = dice.pick(&BODIES).to_owned();
    match dice.below(40) {
        0 => headers += &long(dice),
        1 => body = long(dice),
        2 => target += &long(dice),
        _ => {}
    }
    if dice.one_in(2) {
        headers += &format!("content-length: {}\r\n", body.len());
    }
    let end = if dice.one_in(20) { "\n\n" } else { "connection: close\r\n\r\n" };
    let (method, version) = (dice.pick(&METHODS), dice.pick(&VERSIONS));
    let mut bytes = format!("{method} {target} {version}\r\n{headers}{end}{body}").into_bytes();
    if dice.one_in(3) {
        change(dice, &mut bytes);
    }
    bytes
}

/// Changes, removes, repeats and adds bytes.
fn change(dice: &mut Dice, bytes: &mut Vec<u8>) {
    for _ in 0..=dice.below(4) {
        if bytes.is_empty() {
            return;
        }
        let at = dice.below(bytes.len().min(400));
        match dice.below(5) {
            0 => bytes[at] = dice.next() as u8,
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, *dice.pick(&[&b'\r', &b'\n', &0, &b' ', &b':', &0xff])),
            3 => bytes.truncate(at),
            _ => bytes.extend_from_within(at..),
        }
    }
}

/// The status of the first response, if there is one.
async fn status(server: &Running, request: &[u8]) -> Option<u16> {
    let mut stream = server.connect().await;
    // A server may refuse before the request is complete.
    let _ = stream.write_all(request).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let line = answer.strip_prefix(b"HTTP/1.1 ").or_else(|| answer.strip_prefix(b"HTTP/1.0 "))?;
    std::str::from_utf8(line.get(..3)?).ok()?.parse().ok()
}

async fn send(server: &Running, line: &str, body: &str) -> String {
    let (user, length) = (basic(ADMIN), body.len());
    let head = format!(
        "host: x\r\nconnection: close\r\nauthorization: {user}\r\ncontent-length: {length}"
    );
    server.raw(&format!("{line} HTTP/1.1\r\n{head}\r\n\r\n{body}")).await
}

#[tokio::test]
async fn hostile_requests_are_refused_and_the_server_keeps_running() {
    let short = Seconds::from_millis(500);
    let limits = Limits { header_seconds: short, idle_seconds: short, ..Limits::default() };
    let server = Running::start(Config { limits, ..Config::default() }).await;
    for path in ["/v1/fs/kept/a", "/v1/fs/h/a"] {
        let put = send(&server, &format!("PUT {path}?parents=true"), "kept").await;
        assert!(put.starts_with("HTTP/1.1 201"), "{put}");
    }
    let count = std::env::var("CENOTE_HOSTILE").map_or(REQUESTS, |count| count.parse().unwrap());
    let requests = stream::iter((0..count).map(|n| request(&mut Dice(n))));
    let kept = &server;
    let answered = requests.map(|request| async move {
        let status = tokio::time::timeout(Duration::from_secs(60), status(kept, &request)).await;
        let shown = String::from_utf8_lossy(&request[..request.len().min(600)]).into_owned();
        let status = status.unwrap_or_else(|_| panic!("no end of the answer to {shown:?}"));
        let is_fault =
            status.is_some_and(|status| status >= 500 && ![501, 503, 505].contains(&status));
        assert!(!is_fault, "{status:?} for {shown:?}");
        usize::from(status.is_some())
    });
    let answered: usize =
        answered.buffer_unordered(AT_A_TIME).fold(0, async |sum, one| sum + one).await;
    println!("{count} hostile requests, {answered} of them answered");
    assert!(answered as u64 > count / 2, "{answered} of {count}");
    assert!(send(&server, "GET /v1/fs/kept/a", "").await.ends_with("kept"));
    assert!(send(&server, "PUT /v1/fs/kept/b", "new").await.starts_with("HTTP/1.1 201"));
    let ready = send(&server, "GET /readyz", "").await;
    assert!(ready.starts_with("HTTP/1.1 200"), "{ready}");
}
