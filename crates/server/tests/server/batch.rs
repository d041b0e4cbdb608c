//! Many files at once: tar in, tar out.

use std::collections::HashMap;

use axum::body::Body;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio_tar::{Archive, Builder, EntryType, Header};

use crate::support::{Answer, TestServer, USER};

fn header(name: &str, kind: EntryType, size: usize) -> Header {
    let mut header = Header::new_ustar();
    // Copied unchecked: `set_path` would refuse names that the server has to refuse.
    header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o640);
    header.set_mtime(1_700_000_000);
    header.set_size(size as u64);
    header
}

pub(crate) async fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    let mut directory = header("d", EntryType::Directory, 0);
    directory.set_cksum();
    builder.append(&directory, &[][..]).await.unwrap();
    let mut link = header("l", EntryType::Symlink, 0);
    link.set_link_name("d/a").unwrap();
    link.set_cksum();
    builder.append(&link, &[][..]).await.unwrap();
    for (name, content) in files {
        let mut header = header(name, EntryType::Regular, content.len());
        header.set_cksum();
        builder.append(&header, *content).await.unwrap();
    }
    builder.into_inner().await.unwrap()
}

/// Sends a tar to a batch.
async fn post(server: &TestServer, uri: &str, tar: impl Into<Body>) -> Answer {
    server.request("POST", uri).header("content-type", "application/x-tar").body(tar).send().await
}

fn lines(body: &[u8]) -> Vec<Value> {
    let lines = body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

#[tokio::test]
async fn a_tar_becomes_a_tree_and_a_tree_a_tar() {
    let server = TestServer::new();
    let large = vec![7; 300_000];
    let sent = archive(&[("d/a", b"small"), ("d/b", &large), ("./e/f/g", b"")]).await;
    let answer = post(&server, "/v1/batch?path=/in", sent).await;
    let paths: Vec<_> = lines(&answer.body).iter().map(|line| line["path"].clone()).collect();
    assert_eq!(paths, ["/in/d", "/in/l", "/in/d/a", "/in/d/b", "/in/e/f/g"]);
    let small = &lines(&answer.body)[2]["resource"];
    assert_eq!((&small["mode"], &small["size"]), (&0o640.into(), &5.into()));
    assert_eq!(small["mtime"], "2023-11-14T22:13:20.000000000Z");
    assert!(server.get("/in/d/b").await.body == large);
    let back = server.request("GET", "/v1/archive?path=/in").send().await;
    assert_eq!(back.header("content-type"), "application/x-tar");
    let answer = post(&server, "/v1/batch?path=/copy", back.body).await;
    assert!(lines(&answer.body).iter().all(|line| line["resource"].is_object()), "{answer:?}");
    assert_eq!(server.get("/copy/d/a").await.body, "small");
    assert!(server.get("/copy/d/b").await.body == large);
}

#[tokio::test]
async fn media_types_are_imported_and_exported_with_the_files() {
    let server = TestServer::new();
    let mut builder = Builder::new(Vec::new());
    // Its own length, the key and the value, as specified by POSIX.
    let record = b"35 CENOTE.media_type=text/x-tuning\n";
    assert_eq!(record.len(), 35);
    for (name, kind, bytes) in
        [("x", EntryType::XHeader, &record[..]), ("a", EntryType::Regular, b"1")]
    {
        let mut header = header(name, kind, bytes.len());
        header.set_cksum();
        builder.append(&header, bytes).await.unwrap();
    }
    let sent = builder.into_inner().await.unwrap();
    post(&server, "/v1/batch?path=/in", sent).await;
    assert_eq!(server.get("/in/a").await.header("content-type"), "text/x-tuning");
    let back = server.request("GET", "/v1/archive?path=/in").send().await;
    post(&server, "/v1/batch?path=/copy", back.body).await;
    assert_eq!(server.get("/copy/a").await.header("content-type"), "text/x-tuning");
}

#[tokio::test]
async fn a_failed_entry_is_reported_and_the_others_are_stored() {
    let server = TestServer::new();
    server.put("/in/d/a/b", "a collection is at d/a").await.expect(201);
    let sent = archive(&[("d/a", b"1"), ("../x", b"2"), ("d/c", b"3")]).await;
    let answer = post(&server, "/v1/batch?path=/in", sent).await;
    let kinds: Vec<_> = lines(&answer.body).iter().map(|l| l["problem"]["type"].clone()).collect();
    assert_eq!(kinds[2], "urn:cenote:problem:wrong-kind");
    assert_eq!(kinds[3], "urn:cenote:problem:invalid");
    assert_eq!(kinds[4], Value::Null);
    assert_eq!(server.get("/in/d/c").await.body, "3");
}

#[tokio::test]
async fn conditions_apply_to_each_file() {
    let server = TestServer::new();
    server.put("/in/d/a", "before").await.expect(201);
    let sent = archive(&[("d/a", b"1"), ("d/c", b"3"), ("d/c", b"4")]).await;
    let batch = server
        .request("POST", "/v1/batch?path=/in")
        .header("content-type", "application/x-tar")
        .header("If-None-Match", "*");
    let answer = batch.body(sent.clone()).send().await;
    let kinds: Vec<_> = lines(&answer.body).iter().map(|l| l["problem"]["type"].clone()).collect();
    let refused = Value::from("urn:cenote:problem:precondition");
    // The directory and the link may exist.
    assert_eq!(kinds, [Value::Null, Value::Null, refused.clone(), Value::Null, refused.clone()]);
    assert_eq!(server.get("/in/d/a").await.body, "before");
    assert_eq!(server.get("/in/d/c").await.body, "3");
    let batch = server
        .request("POST", "/v1/batch?path=/other")
        .header("content-type", "application/x-tar")
        .header("If-Match", "*");
    let answer = batch.body(sent).send().await;
    assert_eq!(lines(&answer.body)[3]["problem"]["type"], refused);
    let batch = server
        .request("POST", "/v1/batch?path=/in")
        .header("content-type", "application/x-tar")
        .header("If-None-Match", "\"a\"");
    batch.body(archive(&[]).await).send().await.problem(400, "invalid");
}

#[tokio::test]
async fn mode_and_time_of_an_entry_are_optional() {
    let server = TestServer::new();
    let mut builder = Builder::new(Vec::new());
    for (name, kind) in [("a", EntryType::Regular), ("d", EntryType::Directory)] {
        let mut header = header(name, kind, 0);
        header.as_old_mut().mode = [0; 8];
        header.as_old_mut().mtime = [0; 12];
        header.set_cksum();
        builder.append(&header, &[][..]).await.unwrap();
    }
    let sent = builder.into_inner().await.unwrap();
    let answer = post(&server, "/v1/batch?path=/in", sent).await;
    for line in lines(&answer.body) {
        let resource = &line["resource"];
        assert!(resource["mode"].is_null() && resource["mtime"].is_null(), "{line}");
        assert!(resource["path"].is_string(), "{line}");
    }
}

#[tokio::test]
async fn malformed_archives_are_refused() {
    let server = TestServer::new();
    let batch = |body: Vec<u8>| {
        server
            .request("POST", "/v1/batch?path=/in")
            .header("content-type", "application/x-tar")
            .body(body)
            .send()
    };
    batch(Vec::new()).await.problem(400, "invalid");
    batch(vec![b'x'; 2_000]).await.problem(400, "invalid");
    let mut cut = archive(&[("a", b"1"), ("b", &[2; 5_000])]).await;
    cut.truncate(3 * 512 + 1_024 + 1_000);
    let answer = batch(cut).await;
    let last = lines(&answer.body).pop().unwrap();
    assert!(last["problem"].is_object(), "{answer:?}");
    server.get("/in/b").await.problem(404, "not-found");
}

#[tokio::test]
async fn requested_objects_are_returned_in_one_response_and_missing_ones_omitted() {
    let server = TestServer::new();
    let large = vec![7; 300_000];
    let first = server.put("/in/a", "first").await.expect(201);
    let second = server.put("/in/b", large.clone()).await.expect(201);
    let ids = json!({"ids": [second["id"], 999_999, 1, first["id"]]});
    let answer = server.post("/v1/archive", ids.clone()).await;
    let entries = entries(&answer.body).await;
    assert_eq!(entries.len(), 2);
    for ((records, bytes), (resource, wanted)) in
        entries.iter().zip([(&second, &large[..]), (&first, b"first")])
    {
        let expected = [("path", &resource["path"].as_str().unwrap()[1..])];
        let expected = expected.into_iter().chain([
            ("CENOTE.etag", resource["etag"].as_str().unwrap()),
            ("CENOTE.sha256", resource["sha256"].as_str().unwrap()),
        ]);
        expected.for_each(|(key, value)| assert_eq!(records[key], value, "{key}"));
        assert_eq!(records["CENOTE.id"], resource["id"].to_string());
        assert!(bytes == wanted);
    }
    let others = server.request_as(Some(USER), "POST", "/v1/archive").json(&ids).send().await;
    assert!(self::entries(&others.body).await.is_empty(), "nothing may be read");
    let many = json!({"ids": (0..1_001).collect::<Vec<_>>()});
    server.post("/v1/archive", many).await.problem(400, "invalid");
}

/// The pax records and the bytes of the entries of an archive.
async fn entries(archive: &[u8]) -> Vec<(HashMap<String, String>, Vec<u8>)> {
    let mut archive = Archive::new(archive);
    let mut entries = archive.entries().unwrap();
    let mut found = Vec::new();
    while let Some(entry) = entries.next().await {
        let mut entry = entry.unwrap();
        let records = entry.pax_extensions().await.unwrap().unwrap().map(|record| {
            let record = record.unwrap();
            (record.key().unwrap().to_owned(), record.value().unwrap().to_owned())
        });
        let records = records.collect();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).await.unwrap();
        found.push((records, bytes));
    }
    found
}

/// An archive with these entries, whose records or long names are written as given.
async fn raw(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (name, kind, content) in entries {
        let mut header = header(name, *kind, content.len());
        header.set_cksum();
        builder.append(&header, *content).await.unwrap();
    }
    builder.into_inner().await.unwrap()
}

/// A pax record.
fn record(key: &str, value: &str) -> Vec<u8> {
    let rest = format!(" {key}={value}\n");
    let length =
        (1..9).map(|digits| rest.len() + digits).find(|n| n.to_string().len() + rest.len() == *n);
    format!("{}{rest}", length.unwrap()).into_bytes()
}

#[tokio::test]
async fn names_and_media_types_in_a_tar_have_their_own_limits() {
    let server = TestServer::new();
    let (long, deep) = ("x".repeat(262_401), vec!["y".repeat(1_024); 256].join("/"));
    let media = |length: usize| record("CENOTE.media_type", &"m".repeat(length));
    let (long_media, most_media, odd_media) =
        (media(1_025), media(1_024), record("CENOTE.media_type", "a\u{1}b"));
    let entries = [
        ("x", EntryType::GNULongName, long.as_bytes()),
        ("a", EntryType::Regular, &b"1"[..]),
        ("x", EntryType::GNULongName, deep.as_bytes()),
        ("b", EntryType::Regular, b"2"),
        ("x", EntryType::XHeader, &long_media),
        ("c", EntryType::Regular, b"3"),
        ("x", EntryType::XHeader, &odd_media),
        ("d", EntryType::Regular, b"4"),
        ("x", EntryType::XHeader, &most_media),
        ("e", EntryType::Regular, b"5"),
    ];
    let answer = post(&server, "/v1/batch?path=/", raw(&entries).await).await;
    let lines = lines(&answer.body);
    let types: Vec<_> = lines.iter().map(|line| line["problem"]["type"].as_str()).collect();
    let invalid = Some("urn:cenote:problem:invalid");
    assert_eq!(types, [invalid, None, invalid, invalid, None], "{answer:?}");
    assert!(lines[0]["path"].as_str().unwrap().len() < 1_100, "the name is not echoed whole");
    assert_eq!(server.get("/e").await.header("content-type").len(), 1_024);
    for length in [1_025, 1_024] {
        let request = server.request("PUT", "/v1/fs/f").header("content-type", &"m".repeat(length));
        assert_eq!(request.body("x").send().await.status.is_success(), length == 1_024);
        let upload = json!({"path": "/g", "media_type": "m".repeat(length)});
        assert_eq!(server.post("/v1/uploads", upload).await.status.is_success(), length == 1_024);
    }
}

#[tokio::test]
async fn the_headers_of_an_entry_are_limited_before_they_are_read_into_memory() {
    let server = TestServer::new();
    let (file, header) = (vec![1; 3 << 20], vec![b'x'; 1 << 20]);
    for kind in [EntryType::GNULongName, EntryType::GNULongLink, EntryType::XHeader] {
        let alone = raw(&[("x", kind, &header), ("a", EntryType::Regular, b"1")]).await;
        post(&server, "/v1/batch?path=/", alone).await.problem(400, "invalid");
        let behind = [("a", EntryType::Regular, &file[..]), ("x", kind, &header)];
        let answer = post(&server, "/v1/batch?path=/", raw(&behind).await).await;
        let lines = lines(&answer.body);
        assert!(lines[0]["resource"].is_object(), "{}", lines[0]);
        assert_eq!(lines[1]["problem"]["type"], "urn:cenote:problem:invalid", "{answer:?}");
    }
    let large = [("a", EntryType::Regular, &file[..]), ("b", EntryType::Regular, &file[..])];
    let answer = post(&server, "/v1/batch?path=/", raw(&large).await).await;
    assert!(lines(&answer.body).iter().all(|line| line["resource"].is_object()), "{answer:?}");
}
