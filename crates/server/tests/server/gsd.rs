//! `/v1/gsd`: the index of a trajectory, and single chunks.

use cenote_gsd::{Chunk, ChunkType, Reader, Version, Writer};
use serde_json::{Value, json};

use crate::support::{Answer, TestServer, USER};

/// Five frames with everything that the HOOMD schema knows, written by the reference library.
const FULL: &[u8] = include_bytes!("../../../gsd/tests/fixtures/files/g5_hoomd_full.gsd");
/// Strings, and no schema of HOOMD-blue.
const STRING: &[u8] = include_bytes!("../../../gsd/tests/fixtures/files/g5_string.gsd");

async fn full() -> TestServer {
    let server = TestServer::new();
    server.put("/traj.gsd", FULL).await.expect(201);
    server
}

async fn index(server: &TestServer, query: &str) -> Answer {
    server.request("GET", &format!("/v1/gsd?path=/traj.gsd{query}")).send().await
}

async fn chunk(server: &TestServer, query: &str) -> Answer {
    server.request("GET", &format!("/v1/gsd/chunk?path=/traj.gsd&{query}")).send().await
}

async fn json_chunk(server: &TestServer, query: &str) -> Answer {
    let request = server.request("GET", &format!("/v1/gsd/chunk?path=/traj.gsd&{query}"));
    request.header("accept", "application/json").send().await
}

/// The item of this name.
fn item<'a>(index: &'a Value, name: &str) -> &'a Value {
    let mut items = index["items"].as_array().unwrap().iter();
    items.find(|item| item["name"] == name).unwrap_or(&Value::Null)
}

/// A file in memory of one frame with one chunk.
fn file(schema: &str, kind: ChunkType, columns: u32, data: &[u8]) -> Vec<u8> {
    let mut writer = Writer::create_in(Vec::new(), "test", schema, Version::new(1, 4)).unwrap();
    let rows = data.len() as u64 / (u64::from(columns) * kind.size());
    writer.write_chunk(&Chunk { name: b"x", kind, rows, columns, data }).unwrap();
    writer.end_frame().unwrap();
    writer.close().unwrap()
}

#[tokio::test]
async fn the_index_lists_the_chunks_of_a_frame() {
    let server = full().await;
    let first = index(&server, "").await.expect(200);
    assert_eq!((&first["schema"], &first["frames"]), (&json!("hoomd"), &json!(5)));
    assert_eq!((&first["gsd_version"], &first["chunks"]), (&json!("2.1"), &json!(73)));
    assert_eq!((first["names"].as_array().unwrap().len(), &first["frame"]), (42, &json!(0)));
    let position =
        json!({"name": "particles/position", "type": "float32", "shape": [2, 3], "frame": 0});
    assert_eq!(item(&first, "particles/position"), &position);
    let last = index(&server, "&frame=-1").await.expect(200);
    assert_eq!(last["frame"], 4);
    assert_eq!(item(&last, "log/value")["frame"], 4);
    assert_eq!(item(&last, "particles/mass")["frame"], 0);
    let alone = index(&server, "&frame=4&inherit=false").await.expect(200);
    assert_eq!(alone["items"].as_array().unwrap().len(), 3);
    let resized = index(&server, "&frame=2").await.expect(200);
    assert_eq!(item(&resized, "particles/position")["shape"], json!([3, 3]));
    assert_eq!(item(&resized, "particles/mass"), &Value::Null);
}

#[tokio::test]
async fn a_file_without_frames_has_metadata() {
    let server = TestServer::new();
    let empty = Writer::create_in(Vec::new(), "test", "none", Version::new(1, 0)).unwrap();
    server.put("/traj.gsd", empty.close().unwrap()).await.expect(201);
    let answer = index(&server, "").await.expect(200);
    assert_eq!((&answer["frame"], &answer["items"]), (&Value::Null, &json!([])));
    index(&server, "&frame=1").await.problem(404, "not-found");
    chunk(&server, "name=x").await.problem(404, "not-found");
}

#[tokio::test]
async fn a_chunk_is_returned_as_an_npy_file() {
    let server = full().await;
    let reader = Reader::open(FULL.to_vec()).unwrap();
    let entry = reader.find(2, b"particles/position").unwrap().unwrap();
    let data = reader.read_vec(&entry).unwrap();
    let whole = chunk(&server, "frame=2&name=particles/position").await;
    assert_eq!(whole.status, 200);
    assert_eq!(whole.header("content-type"), "application/x-npy");
    assert_eq!(whole.header("content-length"), whole.body.len().to_string());
    assert_eq!(whole.body, [entry.npy_header(3), data.clone()].concat());
    let rows = chunk(&server, "frame=2&name=particles/position&rows=1:2").await;
    assert_eq!(rows.body, [entry.npy_header(1), data[12..24].to_vec()].concat());
    let none = chunk(&server, "frame=2&name=particles/position&rows=3:3").await;
    assert_eq!(none.body, entry.npy_header(0));
}

#[tokio::test]
async fn a_chunk_is_returned_as_json_on_request() {
    let server = full().await;
    let answer = json_chunk(&server, "frame=2&name=particles/position&rows=1:3").await;
    assert_eq!(answer.header("content-type"), "application/json");
    let expected = json!({"name": "particles/position", "type": "float32", "shape": [2, 3],
        "frame": 2, "data": [[3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]});
    assert_eq!(answer.expect(200), expected);
    let step = json_chunk(&server, "frame=2&name=configuration/step").await.expect(200);
    assert_eq!((&step["data"], &step["shape"]), (&json!([20]), &json!([1, 1])));
    server.put("/traj.gsd", STRING).await.expect(200);
    let text = json_chunk(&server, "name=s").await.expect(200);
    assert_eq!((&text["type"], &text["data"]), (&json!("str"), &json!("hello")));
    let special = [f64::NAN, f64::INFINITY, 1e300].map(f64::to_le_bytes).concat();
    server.put("/traj.gsd", file("none", ChunkType::F64, 1, &special)).await.expect(200);
    let special = json_chunk(&server, "name=x").await.expect(200);
    assert_eq!(special["data"], json!([null, null, 1e300]));
}

#[tokio::test]
async fn missing_chunks_are_inherited_as_in_hoomd() {
    let server = full().await;
    let inherited = json_chunk(&server, "frame=1&name=particles/mass").await.expect(200);
    assert_eq!(inherited["frame"], 0);
    for query in ["frame=1&name=particles/mass&inherit=false", "frame=2&name=particles/mass"] {
        chunk(&server, query).await.problem(404, "not-found");
    }
    let mut writer = Writer::create_in(Vec::new(), "test", "other", Version::new(1, 0)).unwrap();
    for name in [b"x", b"y"] {
        let data = &[7];
        writer
            .write_chunk(&Chunk { name, kind: ChunkType::U8, rows: 1, columns: 1, data })
            .unwrap();
        writer.end_frame().unwrap();
    }
    server.put("/traj.gsd", writer.close().unwrap()).await.expect(200);
    chunk(&server, "frame=1&name=x").await.problem(404, "not-found");
    let inherited = json_chunk(&server, "frame=1&name=x&inherit=true").await.expect(200);
    assert_eq!(inherited["frame"], 0);
}

#[tokio::test]
async fn reads_respect_conditions_and_each_representation_has_its_tag() {
    let server = full().await;
    let query = "frame=2&name=particles/position";
    let (npy, json) = (chunk(&server, query).await, json_chunk(&server, query).await);
    assert_ne!(npy.header("etag"), json.header("etag"));
    assert_eq!((npy.header("vary"), json.header("vary")), ("accept", "accept"));
    let uri = format!("/v1/gsd/chunk?path=/traj.gsd&{query}");
    let request =
        async |name, tag: &str| server.request("GET", &uri).header(name, tag).send().await;
    let same = request("if-none-match", npy.header("etag")).await;
    assert_eq!((same.status.as_u16(), same.body.len()), (304, 0));
    assert_eq!(same.header("etag"), npy.header("etag"));
    assert_eq!(request("if-none-match", json.header("etag")).await.status, 200);
    request("if-match", "\"other\"").await.problem(412, "precondition");
    let index = index(&server, "").await;
    let again = server.request("GET", "/v1/gsd?path=/traj.gsd");
    let again = again.header("if-none-match", index.header("etag")).send().await;
    assert_eq!(again.status, 304);
    server.put("/traj.gsd", STRING).await.expect(200);
    request("if-none-match", npy.header("etag")).await.problem(404, "not-found");
}

#[tokio::test]
async fn head_returns_the_length_without_a_body() {
    let server = full().await;
    let uri = "/v1/gsd/chunk?path=/traj.gsd&frame=2&name=particles/position";
    let head = server.request("HEAD", uri).send().await;
    assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), (128 + 36).to_string());
}

#[tokio::test]
async fn invalid_requests_are_reported_as_problems() {
    let server = full().await;
    for (query, status, kind) in [
        ("name=x", 404, "not-found"),
        ("name=", 404, "not-found"),
        ("name=particles/position&frame=5", 404, "not-found"),
        ("name=particles/position&frame=-6", 404, "not-found"),
        ("name=particles/position&frame=-9223372036854775808", 404, "not-found"),
        ("name=particles/position&frame=one", 400, "invalid"),
        ("name=particles/position&rows=1:3", 416, "range"),
        ("name=particles/position&rows=0:18446744073709551615", 416, "range"),
        ("name=particles/position&rows=2:1", 400, "invalid"),
        ("name=particles/position&rows=1", 400, "invalid"),
        ("name=particles/position&rows=-1:2", 400, "invalid"),
        ("name=particles/position&inherit=perhaps", 400, "invalid"),
        ("name=particles/position&version=9", 404, "not-found"),
        ("name=particles/position&columns=1", 400, "invalid"),
        ("frame=0", 400, "invalid"),
    ] {
        chunk(&server, query).await.problem(status, kind);
    }
    for uri in ["/v1/gsd", "/v1/gsd/chunk?name=x", "/v1/gsd?path=/a&id=1"] {
        server.request("GET", uri).send().await.problem(400, "invalid");
    }
    server.request("GET", "/v1/gsd?path=/none.gsd").send().await.problem(404, "not-found");
    server.request("GET", "/v1/gsd?path=/").send().await.problem(409, "wrong-kind");
    server.request("POST", "/v1/gsd?path=/traj.gsd").send().await.problem(405, "method");
}

#[tokio::test]
async fn access_is_decided_by_the_store() {
    let server = full().await;
    for uri in ["/v1/gsd?path=/traj.gsd", "/v1/gsd/chunk?path=/traj.gsd&name=log/value"] {
        let as_file = server.request_as(Some(USER), "GET", "/v1/fs/traj.gsd").send().await;
        let refused = server.request_as(Some(USER), "GET", uri).send().await;
        assert_eq!(refused.status, as_file.status, "{refused:?}");
        assert!(refused.status.is_client_error());
    }
    let id =
        server.request("GET", "/v1/stat?path=/traj.gsd").send().await.expect(200)["id"].clone();
    let named = server.request("GET", &format!("/v1/gsd?id={id}")).send().await.expect(200);
    assert_eq!(named["frames"], 5);
}

#[tokio::test]
async fn a_kept_version_can_be_read() {
    let server = full().await;
    let on = json!({"path": "/", "versioning": "on-request"});
    server.request("PATCH", "/v1/attributes").json(&on).send().await.expect(200);
    let keep = json!({"path": "/traj.gsd", "op": "keep"});
    let kept = server.post("/v1/versions", keep).await.expect(200);
    server.put("/traj.gsd", STRING).await.expect(200);
    let version = &kept["version"]["version"];
    let answer = index(&server, &format!("&version={version}")).await.expect(200);
    assert_eq!(answer["schema"], "hoomd");
    let old = chunk(&server, &format!("version={version}&name=particles/position")).await;
    assert_eq!(old.status, 200);
}

#[tokio::test]
async fn errors_in_a_trajectory_are_reported_with_their_offset() {
    let server = TestServer::new();
    let mut entry_of_type_99 = FULL.to_vec();
    entry_of_type_99[256 + 30] = 99;
    let mut version_9 = FULL.to_vec();
    version_9[46] = 9;
    for (content, detail) in [
        (Vec::new(), "not a GSD file"),
        (b"hello".to_vec(), "not a GSD file"),
        (vec![0; 5_000], "not a GSD file"),
        (version_9, "unsupported GSD file version 9.1"),
        (FULL[..300].to_vec(), "corrupt GSD file"),
        (entry_of_type_99, "unknown element type 99"),
    ] {
        server.put("/traj.gsd", content).await;
        for answer in [index(&server, "").await, chunk(&server, "name=x").await] {
            let problem = answer.problem(422, "format");
            assert!(problem["detail"].as_str().unwrap().contains(detail), "{problem}");
        }
    }
}

#[tokio::test]
async fn any_truncated_or_damaged_file_gets_a_response() {
    let server = TestServer::new();
    let check = async |content: Vec<u8>| {
        server.put("/traj.gsd", content).await;
        for answer in
            [index(&server, "&frame=-1").await, json_chunk(&server, "name=log/value").await]
        {
            assert!(matches!(answer.status.as_u16(), 200 | 404 | 413 | 422), "{answer:?}");
        }
    };
    for length in (0..FULL.len()).step_by(37) {
        check(FULL[..length].to_vec()).await;
    }
    for at in (8..64).chain(256..512) {
        let mut flipped = FULL.to_vec();
        flipped[at] ^= 0x81;
        check(flipped).await;
    }
}

#[tokio::test]
async fn memory_use_does_not_depend_on_the_size() {
    let server = TestServer::new();
    let data: Vec<u8> = (0..24 << 20).map(|i: u32| (i >> 3) as u8).collect();
    server.put("/traj.gsd", file("none", ChunkType::U8, 4, &data)).await.expect(201);
    let whole = chunk(&server, "name=x").await;
    assert!(whole.body[128..] == data, "{} bytes", whole.body.len());
    let tail = chunk(&server, "name=x&rows=6291455:6291456").await;
    assert_eq!(tail.body[128..], data[data.len() - 4..]);
    json_chunk(&server, "name=x").await.problem(413, "too-large");
    let part = json_chunk(&server, "name=x&rows=0:262144").await.expect(200);
    assert_eq!(part["data"].as_array().unwrap().len(), 262_144);
    // A name list of 64 MiB, in a file that is mostly a hole.
    let mut header = FULL[..256].to_vec();
    header[32..40].copy_from_slice(&(1_u64 << 20).to_le_bytes());
    server.put("/traj.gsd", header).await.expect(200);
    let grown = server.request("PATCH", "/v1/fs/traj.gsd?truncate=70000000").send().await;
    grown.expect(200);
    index(&server, "").await.problem(413, "too-large");
}
