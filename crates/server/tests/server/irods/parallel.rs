//! Writing with several streams.

use serde_json::json;

use super::super::support::{Answer, USER};
use super::{Irods, Settings, code};

#[tokio::test]
async fn a_parallel_write_is_visible_after_shutdown() {
    let irods = Irods::new().await;
    irods.write("o", "old").await;
    let path = irods.path("o");
    let init = async |more: &[(&str, &str)]| {
        let mut form = vec![("op", "parallel_write_init"), ("lpath", path.as_str())];
        form.extend_from_slice(more);
        irods.post("data-objects", &form).await
    };
    let begun = init(&[("stream-count", "2")]).await.expect(200);
    let handle = begun["parallel_write_handle"].as_str().unwrap();
    let write = async |offset: &str, index: &str, bytes: &str| {
        let form = [
            ("op", "write"),
            ("parallel-write-handle", handle),
            ("offset", offset),
            ("stream-index", index),
            ("bytes", bytes),
        ];
        irods.post("data-objects", &form).await
    };
    assert_eq!(code(&write("3", "2", "def").await), 0);
    assert_eq!(code(&write("0", "1", "abc").await), 0);
    assert_eq!(irods.read("o").await, "old");
    let shutdown = [("op", "parallel_write_shutdown"), ("parallel-write-handle", handle)];
    assert_eq!(code(&irods.post("data-objects", &shutdown).await), 0);
    assert_eq!(irods.read("o").await, "abcdef");
    assert_eq!(code(&irods.post("data-objects", &shutdown).await), 0);
    assert_eq!(write("0", "0", "x").await.status, 400);
    assert_eq!(init(&[]).await.status, 400);
    assert_eq!(init(&[("stream-count", "0")]).await.status, 400);
    assert_eq!(init(&[("stream-count", "1000")]).await.status, 400);
    let keeping = init(&[("stream-count", "1"), ("truncate", "0")]).await.expect(200);
    let handle = keeping["parallel_write_handle"].as_str().unwrap();
    let form =
        [("op", "write"), ("parallel-write-handle", handle), ("offset", "6"), ("bytes", "ghi")];
    assert_eq!(code(&irods.post("data-objects", &form).await), 0);
    assert_eq!(irods.read("o").await, "abcdef");
    let shutdown = [("op", "parallel_write_shutdown"), ("parallel-write-handle", handle)];
    assert_eq!(code(&irods.post("data-objects", &shutdown).await), 0);
    assert_eq!(irods.read("o").await, "abcdefghi");
}

/// A parallel write that keeps the existing content.
async fn keeping(irods: &Irods, name: &str) -> Answer {
    let path = irods.path(name);
    let form = [
        ("op", "parallel_write_init"),
        ("lpath", path.as_str()),
        ("stream-count", "2"),
        ("truncate", "0"),
    ];
    irods.post("data-objects", &form).await
}

/// Makes a collection keep a version at each change below it.
async fn keep_versions(irods: &Irods, name: &str) {
    let path = irods.path(name).strip_prefix("/tempZone").unwrap().to_owned();
    let keep = json!({"path": path, "versioning": "each-change"});
    irods.server.request("PATCH", "/v1/attributes").json(&keep).send().await.expect(200);
}

/// The number of kept versions of an object.
async fn versions_of(irods: &Irods, name: &str) -> usize {
    let path = irods.path(name).strip_prefix("/tempZone").unwrap().to_owned();
    let listed = irods.server.request("GET", &format!("/v1/versions?path={path}")).send().await;
    listed.expect(200)["items"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_parallel_write_that_keeps_the_content_is_one_version_and_a_gap_is_zeros() {
    let irods = Irods::new().await;
    irods.mkdir("c").await;
    keep_versions(&irods, "c").await;
    irods.write("c/o", "0123456789").await;
    let before = versions_of(&irods, "c/o").await;
    let handle = keeping(&irods, "c/o").await;
    for (offset, bytes) in [("2", "ab"), ("12", "z"), ("5", "c")] {
        assert_eq!(code(&put(&irods, &handle, offset, bytes).await), 0);
        assert_eq!(irods.read("c/o").await, "0123456789");
    }
    assert_eq!(shut_down(&irods, &handle).await, 0);
    assert_eq!(irods.read("c/o").await, "01ab4c6789\0\0z");
    assert_eq!(versions_of(&irods, "c/o").await, before + 1);

    let handle = keeping(&irods, "c/new").await;
    assert_eq!(code(&put(&irods, &handle, "1", "x").await), 0);
    let path = irods.path("c/new");
    assert_eq!(irods.stat("data-objects", &path).await["irods_response"]["status_code"], -171_000);
    assert_eq!(shut_down(&irods, &handle).await, 0);
    assert_eq!(irods.read("c/new").await, "\0x");

    // A single write at an offset that truncates is one version, too.
    let before = versions_of(&irods, "c/o").await;
    let path = irods.path("c/o");
    let form = [("op", "write"), ("lpath", path.as_str()), ("offset", "2"), ("bytes", "x")];
    assert_eq!(code(&irods.post("data-objects", &form).await), 0);
    assert_eq!(irods.read("c/o").await, "\0\0x");
    assert_eq!(versions_of(&irods, "c/o").await, before + 1);
}

#[tokio::test]
async fn concurrent_changes_by_another_opening_are_not_lost() {
    let irods = Irods::new().await;
    irods.write("o", "old").await;
    let handle = keeping(&irods, "o").await;
    assert_eq!(code(&put(&irods, &handle, "0", "OLD").await), 0);
    irods.server.put("/home/ada/o", "another").await;
    assert_eq!(shut_down(&irods, &handle).await, -406_000);
    assert_eq!(irods.read("o").await, "another");
    assert_eq!(put(&irods, &handle, "0", "OLD").await.status, 400, "the handle has ended");
    let handle = keeping(&irods, "o").await;
    assert_eq!(code(&put(&irods, &handle, "0", "AN").await), 0);
    assert_eq!(shut_down(&irods, &handle).await, 0);
    assert_eq!(irods.read("o").await, "ANother");
}

async fn init(irods: &Irods, name: &str, streams: &str) -> Answer {
    let path = irods.path(name);
    let form = [("op", "parallel_write_init"), ("lpath", path.as_str()), ("stream-count", streams)];
    irods.post("data-objects", &form).await
}

async fn shut_down(irods: &Irods, handle: &Answer) -> i64 {
    let handle = handle.json()["parallel_write_handle"].as_str().unwrap().to_owned();
    let form = [("op", "parallel_write_shutdown"), ("parallel-write-handle", handle.as_str())];
    code(&irods.post("data-objects", &form).await)
}

#[tokio::test]
async fn an_object_has_one_parallel_write_at_a_time() {
    let irods = Irods::new().await;
    let first = init(&irods, "o", "2").await;
    assert_eq!(code(&init(&irods, "o", "2").await), -1_803_000);
    let path = irods.path("o");
    let write = [("op", "write"), ("lpath", path.as_str()), ("bytes", "x")];
    assert_eq!(code(&irods.post("data-objects", &write).await), -1_803_000);
    assert_eq!(irods.stat("data-objects", &path).await["irods_response"]["status_code"], -171_000);
    assert_eq!(shut_down(&irods, &first).await, 0);
    assert_eq!(irods.stat("data-objects", &path).await["size"], 0);
    let second = init(&irods, "o", "2").await;
    assert_eq!(
        shut_down(&irods, &first).await,
        0,
        "what is shut down already has nothing to release"
    );
    assert_eq!(code(&init(&irods, "o", "2").await), -1_803_000);
    assert_eq!(shut_down(&irods, &second).await, 0);
    assert_eq!(code(&irods.post("data-objects", &write).await), 0);
}

#[tokio::test]
async fn the_number_of_streams_is_limited() {
    let settings = Settings { streams: 3, all_streams: 5, ..Settings::default() };
    let irods = Irods::with(settings).await;
    assert_eq!(init(&irods, "a", "4").await.status, 400);
    let first = init(&irods, "a", "3").await;
    let busy = init(&irods, "b", "3").await;
    assert_eq!((busy.status.as_u16(), busy.body.len()), (503, 0));
    assert_eq!(code(&init(&irods, "c", "2").await), 0);
    let b = irods.path("b");
    assert_eq!(irods.stat("data-objects", &b).await["irods_response"]["status_code"], -171_000);
    assert_eq!(shut_down(&irods, &first).await, 0);
    assert_eq!(code(&init(&irods, "b", "3").await), 0);
}

#[tokio::test]
async fn a_caller_without_write_access_gets_no_handle() {
    let irods = Irods::new().await;
    let grace = irods.other(USER).await;
    let path = irods.path("o");
    let form = [("op", "parallel_write_init"), ("lpath", path.as_str()), ("stream-count", "2")];
    assert_eq!(code(&grace.post("data-objects", &form).await), -818_000);
    assert_eq!(code(&init(&irods, "o", "2").await), 0, "nothing was locked");
}

async fn put(irods: &Irods, handle: &Answer, offset: &str, bytes: &str) -> Answer {
    let handle = handle.json()["parallel_write_handle"].as_str().unwrap().to_owned();
    let form = [
        ("op", "write"),
        ("parallel-write-handle", handle.as_str()),
        ("offset", offset),
        ("bytes", bytes),
    ];
    irods.post("data-objects", &form).await
}

#[tokio::test]
async fn an_abandoned_write_is_never_visible() {
    let irods = Irods::new().await;
    irods.write("o", "old").await;
    let handle = init(&irods, "o", "2").await;
    assert_eq!(code(&put(&irods, &handle, "0", "new").await), 0);
    assert_eq!(code(&put(&irods, &handle, "5", "er").await), 0);
    assert_eq!(irods.read("o").await, "old");
    assert_eq!(shut_down(&irods, &handle).await, -175_000, "bytes are missing between");
    assert_eq!(irods.read("o").await, "old");
    assert_eq!(irods.stat("data-objects", &irods.path("o")).await["size"], 3);
}

#[tokio::test]
async fn of_two_writers_each_writes_all_or_nothing() {
    let irods = Irods::new().await;
    let path = irods.path("o");
    let contents = ["a".repeat(100_000), "b".repeat(70_000)];
    for _ in 0..10 {
        let write = async |bytes: &str| {
            let form = [("op", "write"), ("lpath", path.as_str()), ("bytes", bytes)];
            code(&irods.post("data-objects", &form).await)
        };
        let codes = tokio::join!(write(&contents[0]), write(&contents[1]));
        assert_eq!(codes, (0, 0));
        assert!(contents.contains(&irods.read("o").await));
    }
}

#[tokio::test]
async fn a_parallel_write_with_a_ticket_counts_every_byte_and_needs_the_ticket_only_once() {
    let ada = Irods::new().await;
    let grace = ada.other(USER).await;
    ada.write("o", "old").await;
    let path = ada.path("o");
    let form = [
        ("op", "create"),
        ("lpath", path.as_str()),
        ("type", "write"),
        ("use-count", "1"),
        ("write-byte-count", "6"),
    ];
    let made = ada.post("tickets", &form).await.expect(200);
    let form = [
        ("op", "parallel_write_init"),
        ("lpath", path.as_str()),
        ("stream-count", "2"),
        ("ticket", made["ticket"].as_str().unwrap()),
    ];
    let handle = grace.post("data-objects", &form).await;
    assert_eq!(code(&handle), 0);
    assert_eq!(code(&put(&grace, &handle, "0", "abc").await), 0);
    assert_eq!(code(&put(&grace, &handle, "3", "def").await), 0);
    assert_eq!(put(&grace, &handle, "6", "g").await.status, 500, "six bytes and no more");
    let form =
        [("op", "stat"), ("lpath", path.as_str()), ("ticket", made["ticket"].as_str().unwrap())];
    assert_eq!(grace.get("data-objects", &form).await.status, 500, "one use and no more");
    assert_eq!(shut_down(&grace, &handle).await, 0);
    assert_eq!(ada.read("o").await, "abcdef");
}

#[tokio::test]
async fn a_handle_cannot_be_forged() {
    let ada = Irods::new().await;
    let grace = ada.other(USER).await;
    let first = init(&grace, "o", "1").await.json()["parallel_write_handle"].clone();
    let second = init(&grace, "p", "1").await.json()["parallel_write_handle"].clone();
    let (first, second) = (first.as_str().unwrap(), second.as_str().unwrap());
    let numbers = [first, second].map(|handle| handle.split_once('.').unwrap().0.parse::<u64>());
    let [first, second] = numbers.map(Result::unwrap);
    assert!(first.abs_diff(second) > 1_000, "they follow each other: {first} {second}");
}

impl Irods {
    /// Grants a right on the resource at a path, as the administrator.
    async fn grant(&self, path: &str, level: &str) {
        let form = [
            ("op", "set_permission"),
            ("lpath", path),
            ("entity-name", USER.0),
            ("permission", level),
            ("admin", "1"),
        ];
        let endpoint = if path.ends_with("/o") { "data-objects" } else { "collections" };
        assert_eq!(code(&self.post(endpoint, &form).await), 0);
    }
}

#[tokio::test]
async fn a_write_through_a_handle_is_refused_while_the_right_to_write_is_lost() {
    let ada = Irods::new().await;
    let grace = ada.other(USER).await;
    ada.grant(&ada.home, "read_object").await;
    for truncate in ["1", "0"] {
        ada.write("o", "old").await;
        let path = ada.path("o");
        ada.grant(&path, "write").await;
        let form = [("op", "parallel_write_init"), ("lpath", path.as_str()), ("stream-count", "2")];
        let form = [&form[..], &[("truncate", truncate)]].concat();
        let handle = grace.post("data-objects", &form).await;
        let name = handle.json()["parallel_write_handle"].as_str().unwrap().to_owned();
        let parts: [(&str, &[u8]); 4] = [
            ("op", b"write"),
            ("parallel-write-handle", name.as_bytes()),
            ("offset", b"3"),
            ("bytes", b"def"),
        ];
        let bytes_first = [parts[3], parts[0], parts[1], parts[2]];
        assert_eq!(code(&put(&grace, &handle, "0", "abc").await), 0);
        for level in ["read_object", "null"] {
            ada.grant(&path, level).await;
            assert_eq!(code(&put(&grace, &handle, "3", "def").await), -818_000, "{level}");
            assert_eq!(code(&grace.parts(&parts).await), -818_000, "{level}");
            assert_eq!(code(&grace.parts(&bytes_first).await), -818_000, "{level}");
        }
        ada.grant(&path, "write").await;
        assert_eq!(code(&grace.parts(&bytes_first).await), 0);
        assert_eq!(shut_down(&grace, &handle).await, 0);
        assert_eq!(ada.read("o").await, "abcdef");
    }
}
