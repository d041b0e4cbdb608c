//! `/v1/fs`: bytes in and out, ranges, conditions, digests.

use axum::body::{Body, Bytes};
use futures_util::stream;
use serde_json::{Value, json};

use crate::support::TestServer;

/// The digest of `hello` in the form of `Repr-Digest`.
const HELLO: &str = "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:";

#[tokio::test]
async fn a_content_is_returned_as_it_was_put() {
    let server = TestServer::new();
    let created = server.put("/lab/a.txt", "hello").await;
    let resource = created.expect(201);
    assert_eq!(resource["path"], "/lab/a.txt");
    assert_eq!(resource["size"], 5);
    assert_eq!(resource["owner"], "ada");
    let got = server.get("/lab/a.txt").await;
    assert_eq!((got.status.as_u16(), &got.body[..]), (200, &b"hello"[..]));
    assert_eq!(got.header("etag"), resource["etag"]);
    assert_eq!(got.header("content-length"), "5");
    assert_eq!(got.header("cenote-id"), resource["id"].to_string());
    assert_eq!(got.header("cenote-kind"), "object");
    assert_eq!(got.header("repr-digest"), format!("{HELLO}, crc64nvme=:M3eFcAZSQlc=:"));
    assert_eq!(resource["crc64nvme"], "3377857006524257");
    let again = server.put("/lab/a.txt", "goodbye").await;
    assert_eq!(again.expect(200)["id"], resource["id"]);
}

#[tokio::test]
async fn a_content_of_many_buffers_round_trips() {
    let server = TestServer::new();
    let content: Vec<u8> = (0..5_000_000_u32).map(|i| (i.wrapping_mul(7_919) >> 5) as u8).collect();
    server.put("/big", content.clone()).await.expect(201);
    assert!(server.get("/big").await.body == content);
    let part =
        server.request("GET", "/v1/fs/big").header("range", "bytes=999999-3000000").send().await;
    assert_eq!(part.status, 206);
    assert!(part.body == content[999_999..=3_000_000]);
}

#[tokio::test]
async fn head_returns_the_headers_of_get() {
    let server = TestServer::new();
    server.put("/a", "hello").await.expect(201);
    let (got, head) = (server.get("/a").await, server.request("HEAD", "/v1/fs/a").send().await);
    assert!(head.body.is_empty());
    for name in ["etag", "content-length", "content-type", "repr-digest", "last-modified"] {
        assert_eq!(got.header(name), head.header(name), "{name}");
    }
    assert_eq!(server.request("HEAD", "/v1/fs/none").send().await.status, 404);
}

#[tokio::test]
async fn stored_contents_cannot_run_as_pages_of_the_server() {
    let server = TestServer::new();
    let page = server.request("PUT", "/v1/fs/a.html").header("content-type", "text/html");
    page.body("<script>").send().await.expect(201);
    let got = server.get("/a.html").await;
    assert_eq!(got.header("content-type"), "text/html");
    assert_eq!(got.header("x-content-type-options"), "nosniff");
    assert_eq!(got.header("content-security-policy"), "sandbox");
}

#[tokio::test]
async fn a_range_returns_a_part_and_one_past_the_end_is_refused() {
    let server = TestServer::new();
    server.put("/a", "0123456789").await.expect(201);
    let get =
        async |range: &str| server.request("GET", "/v1/fs/a").header("range", range).send().await;
    let part = get("bytes=2-4").await;
    assert_eq!((part.status.as_u16(), &part.body[..]), (206, &b"234"[..]));
    assert_eq!(part.header("content-range"), "bytes 2-4/10");
    assert_eq!(part.header("content-length"), "3");
    assert_eq!(get("bytes=-3").await.body, "789");
    assert_eq!(get("bytes=0-1,3-4").await.status, 200);
    let outside = get("bytes=10-").await;
    outside.problem(416, "range");
    assert_eq!(outside.header("content-range"), "bytes */10");
}

#[tokio::test]
async fn reads_respect_conditions() {
    let server = TestServer::new();
    let etag = server.put("/a", "hello").await.expect(201)["etag"].clone();
    let etag = etag.as_str().unwrap();
    let get = async |name, value: &str| {
        server.request("GET", "/v1/fs/a").header(name, value).send().await
    };
    let unchanged = get("if-none-match", etag).await;
    assert_eq!((unchanged.status.as_u16(), unchanged.body.len()), (304, 0));
    assert_eq!(unchanged.header("etag"), etag);
    assert_eq!(get("if-none-match", "\"other\"").await.status, 200);
    get("if-match", "\"other\"").await.problem(412, "precondition");
    get("if-match", "no list").await.problem(400, "invalid");
}

#[tokio::test]
async fn writes_respect_conditions_and_change_nothing_otherwise() {
    let server = TestServer::new();
    let put = async |name, value: &str, body: &'static str| {
        server.request("PUT", "/v1/fs/a").header(name, value).body(body).send().await
    };
    put("if-match", "*", "one").await.problem(412, "precondition");
    let first = put("if-none-match", "*", "one").await.expect(201);
    put("if-none-match", "*", "two").await.problem(412, "precondition");
    put("if-match", "*", "one").await.expect(200);
    assert_eq!(server.get("/a").await.body, "one");
    let etag = first["etag"].as_str().unwrap();
    let second = put("if-match", etag, "two").await.expect(200);
    put("if-match", etag, "three").await.problem(412, "precondition");
    let state = second["state"].as_str().unwrap();
    put("if-match", state, "three").await.expect(200);
    let remove =
        async |tag: &str| server.request("DELETE", "/v1/fs/a").header("if-match", tag).send().await;
    remove(state).await.problem(412, "precondition");
    assert_eq!(server.get("/a").await.body, "three");
}

#[tokio::test]
async fn bytes_that_do_not_match_their_digest_leave_nothing() {
    let server = TestServer::new();
    let put = async |value: &str| {
        server.request("PUT", "/v1/fs/a").header("repr-digest", value).body("hello").send().await
    };
    put("sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:").await.problem(422, "mismatch");
    put("md5=:AAAAAAAAAAAAAAAAAAAAAA==:").await.problem(422, "mismatch");
    put("sha-256=nonsense").await.problem(400, "invalid");
    server.get("/a").await.problem(404, "not-found");
    let kept = put(&format!("{HELLO}, md5=:XUFAKrxLKna5cZ2REBfFkg==:")).await.expect(201);
    assert_eq!(kept["md5"], "5d41402abc4b2a76b9719d911017c592");
}

#[tokio::test]
async fn a_content_is_changed_in_place() {
    let server = TestServer::new();
    server.put("/a", "hello").await.expect(201);
    let patch = async |query: &str, body: &'static str| {
        server.request("PATCH", &format!("/v1/fs/a?{query}")).body(body).send().await
    };
    assert_eq!(patch("offset=1", "i").await.expect(200)["size"], 5);
    assert_eq!(patch("append=true", " there").await.expect(200)["size"], 11);
    assert_eq!(server.get("/a").await.body, "hillo there");
    assert_eq!(patch("truncate=2", "").await.expect(200)["size"], 2);
    assert_eq!(patch("offset=4", "!").await.expect(200)["size"], 5);
    assert_eq!(server.get("/a").await.body, "hi\0\0!");
    for wrong in ["", "offset=1&append=true", "truncate=1&offset=1", "offset=-1", "append=maybe"] {
        patch(wrong, "").await.problem(400, "invalid");
    }
}

/// A content written by any history of PATCHes, by path or by id, equals the result of the same writes in memory.
#[tokio::test]
async fn patches_in_any_order_are_writes_to_bytes() {
    let server = TestServer::new();
    let id = server.put("/a", "hello").await.expect(201)["id"].clone();
    let mut model = b"hello".to_vec();
    let mut dice = 7_u64;
    let mut roll = |most: u64| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) % most
    };
    for n in 0..200 {
        let bytes = vec![n as u8; roll(9) as usize];
        let query = match roll(4) {
            0 => {
                model.extend_from_slice(&bytes);
                "append=true".to_owned()
            }
            1 => {
                let size = roll(60) as usize;
                model.resize(size, 0);
                format!("truncate={size}")
            }
            // Also beyond the end: the gap is filled with zeros.
            _ => {
                let offset = roll(80) as usize;
                if !bytes.is_empty() {
                    model.resize(model.len().max(offset + bytes.len()), 0);
                    model[offset..offset + bytes.len()].copy_from_slice(&bytes);
                }
                format!("offset={offset}")
            }
        };
        let uri = match roll(2) {
            0 => format!("/v1/fs/a?{query}"),
            _ => format!("/v1/fs?id={id}&{query}"),
        };
        let size =
            server.request("PATCH", &uri).body(bytes).send().await.expect(200)["size"].clone();
        assert_eq!(size, model.len(), "{query}");
        assert_eq!(server.get("/a").await.body, model, "{query}");
    }
}

/// Conditions and digests of a PATCH, each by path and by id: a failed one changes nothing.
#[tokio::test]
async fn a_patch_respects_conditions_and_digests() {
    let server = TestServer::new();
    let first = server.put("/a", "hello").await.expect(201);
    let (id, old) = (first["id"].clone(), first["etag"].as_str().unwrap().to_owned());
    let new = server.put("/a", "other").await.expect(200)["etag"].clone();
    for about in ["/v1/fs/a?".to_owned(), format!("/v1/fs?id={id}&")] {
        let patch = async |query: &str, header: (&'static str, &str)| {
            let request = server.request("PATCH", &format!("{about}{query}"));
            request.header(header.0, header.1).body("hello").send().await
        };
        for query in ["offset=0", "append=true", "truncate=2", "offset=1000"] {
            patch(query, ("if-match", &old)).await.problem(412, "precondition");
            patch(query, ("if-none-match", "*")).await.problem(412, "precondition");
            patch(query, ("if-match", "W/\"x\"")).await.problem(412, "precondition");
        }
        let zeros = "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:";
        patch("offset=0", ("repr-digest", zeros)).await.problem(422, "mismatch");
        patch("append=true", ("repr-digest", "sha-256=x")).await.problem(400, "invalid");
        assert_eq!(server.get("/a").await.body, "other");
        assert_eq!(server.get("/a").await.header("etag"), new);
    }
    let tag = new.as_str().unwrap();
    let good = server.request("PATCH", "/v1/fs/a?offset=0").header("if-match", tag);
    let good = good.header("repr-digest", HELLO).body("hello").send().await.expect(200);
    assert_ne!(good["etag"], new);
    server
        .request("PATCH", "/v1/fs/none?append=true")
        .body("x")
        .send()
        .await
        .problem(404, "not-found");
    server.post("/v1/create", json!({"path": "/c", "kind": "collection"})).await.expect(201);
    server
        .request("PATCH", "/v1/fs/c?append=true")
        .body("x")
        .send()
        .await
        .problem(409, "wrong-kind");
    let vast = format!("/v1/fs/a?truncate={}", u64::MAX);
    server.request("PATCH", &vast).send().await.problem(413, "too-large");
    let vast = format!("/v1/fs/a?offset={}", u64::MAX);
    server.request("PATCH", &vast).body("xy").send().await.problem(413, "too-large");
}

/// A PATCH is a stage of one write: what a client sends before the connection breaks is not visible, and what was there
/// before a complete one is one version. The sizes are those at which bytes are stored differently.
#[tokio::test]
async fn a_patch_is_one_version_or_nothing() {
    const SENT: usize = 50_000;
    let server = TestServer::new();
    let keep = json!({"path": "/", "versioning": "each-change"});
    server.request("PATCH", "/v1/attributes").json(&keep).send().await.expect(200);
    let listed = |answer: Value| answer["items"].as_array().unwrap().len();
    for size in [10, 64 << 10, (64 << 10) + 1, 512 << 10, (8 << 20) + 1] {
        let path = format!("/{size}");
        let mut model = vec![1; size];
        server.put(&path, model.clone()).await.expect(201);
        let versions = async || {
            let uri = format!("/v1/versions?path={path}");
            listed(server.request("GET", &uri).send().await.expect(200))
        };
        let patch = async |bytes: Body| {
            let uri = format!("/v1/fs{path}?offset={}", size / 2);
            server.request("PATCH", &uri).body(bytes).send().await
        };
        let mut chunks: Vec<_> =
            vec![2; size].chunks(SENT).map(|it| Ok(it.to_vec().into())).collect();
        chunks.push(Err(std::io::Error::other("reset")));
        let broken: Vec<Result<Bytes, std::io::Error>> = chunks;
        patch(Body::from_stream(stream::iter(broken))).await.problem(422, "mismatch");
        assert_eq!((server.get(&path).await.body, versions().await), (model.clone().into(), 0));
        patch(vec![3; size].into()).await.expect(200);
        model.resize(size / 2 + size, 0);
        model[size / 2..].fill(3);
        assert_eq!((server.get(&path).await.body, versions().await), (model.into(), 1));
    }
}

#[tokio::test]
async fn a_name_may_be_any_text_but_a_path() {
    let server = TestServer::new();
    for name in ["a%20b", "%C3%BC", "%25", "%3F", "%23", "a+b", "%0A", "~", "%22"] {
        server.put(&format!("/n/{name}"), name).await.expect(201);
        assert_eq!(server.get(&format!("/n/{name}")).await.body, name);
    }
    for name in ["..", "%2E", "a//b", "%00", &"x".repeat(1_025), "%FF"] {
        server.put(&format!("/n/{name}"), "x").await.problem(400, "invalid");
    }
}

#[tokio::test]
async fn the_attributes_of_a_put_are_stored() {
    let server = TestServer::new();
    let uri = "/v1/fs/a?mode=420&mtime=2026-01-02T03:04:05.000000006Z";
    let put = server.request("PUT", uri).header("content-type", "text/csv").body("x").send().await;
    let put = put.expect(201);
    assert_eq!(put["media_type"], "text/csv");
    assert_eq!(
        (&put["mode"], &put["mtime"]),
        (&json!(420), &json!("2026-01-02T03:04:05.000000006Z"))
    );
    server.request("PUT", "/v1/fs/a?mode=4096").send().await.problem(400, "invalid");
    server.request("PUT", "/v1/fs/a?mtime=now").send().await.problem(400, "invalid");
    server.request("PUT", "/v1/fs/a?modes=1").send().await.problem(400, "invalid");
    server.request("PUT", "/v1/fs/none/a").send().await.problem(404, "not-found");
}
