//! A change through any opening updates the clocks of the changed resource, and both openings show that: the native one
//! by tags and times, the iRODS opening by its modification times.

use std::sync::Arc;
use std::time::Duration;

use cenote_server::{Config, router};
use cenote_store::Clock;
use serde_json::{Value, json};

use super::super::support::{ADMIN, Answer, ManualClock, TestServer, store_at};
use super::{Irods, code};

/// A server with [`prepare`]d resources, and its clock.
async fn prepared() -> (Irods, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new());
    let server = TestServer { router: router(store_at(clock.clone()), &Config::default()) };
    let irods = Irods::log_in(server, ADMIN).await;
    prepare(&irods, &clock).await;
    (irods, clock)
}

/// Creates the object `/home/ada/c/x` and its collection, with `/home/ada/c/old` beside it, and advances the clock by
/// some seconds.
async fn prepare(irods: &Irods, clock: &ManualClock) {
    irods.mkdir("c").await;
    for name in ["c/x", "c/old"] {
        irods.write(name, "bytes").await;
        let operations = json!([{"op": "add", "attribute": "a", "value": "v"}]);
        let meta = json!({"path": native(name), "operations": operations});
        irods.server.post("/v1/meta", meta).await.expect(200);
    }
    clock.sleep(Duration::from_secs(10));
}

fn native(name: &str) -> String {
    format!("/home/ada/{name}")
}

/// The visible clocks of the object and of its collection: each first through the native opening, then through iRODS.
#[derive(Debug, PartialEq)]
struct Timestamps {
    content: Vec<String>,
    description: Vec<String>,
    membership: Vec<String>,
}

impl Timestamps {
    async fn by(irods: &Irods) -> Self {
        let native_of = async |method: &str, uri: &str| {
            let answer = irods.server.request(method, uri).send().await;
            assert_eq!(answer.status, 200, "{uri} {answer:?}");
            ["etag", "last-modified"].map(|name| answer.header(name).to_owned())
        };
        let row = async |query: &str| irods.rows(query).await[0][0].as_str().unwrap().to_owned();
        let shown = async |endpoint: &str, path: String| {
            irods.stat(endpoint, &path).await["modified_at"].to_string()
        };
        let (home, x, c) = (&irods.home, native("c/x"), native("c"));
        let stat = async |path: &str, name: &str| {
            let stat = irods.server.request("GET", &format!("/v1/stat?path={path}")).send().await;
            stat.expect(200)[name].to_string()
        };
        let mut content = native_of("HEAD", &format!("/v1/fs{x}")).await.to_vec();
        content.push(stat(&x, "content_modified").await);
        content.push(shown("data-objects", irods.path("c/x")).await);
        let of = |column: &str| {
            format!("SELECT {column} WHERE COLL_NAME = '{home}/c' AND DATA_NAME = 'x'")
        };
        content.push(row(&of("DATA_MODIFY_TIME")).await);
        let mut description = native_of("GET", &format!("/v1/meta?path={x}")).await.to_vec();
        assert_eq!(native_of("GET", &format!("/v1/graph?path={x}")).await[..], description[..]);
        description.push(stat(&x, "description_etag").await);
        description.push(stat(&x, "description_modified").await);
        description.push(row(&of("META_DATA_MODIFY_TIME")).await);
        let mut membership =
            vec![stat(&c, "members_etag").await, stat(&c, "members_modified").await];
        membership.push(shown("collections", irods.path("c")).await);
        let query = format!("SELECT COLL_MODIFY_TIME WHERE COLL_NAME = '{home}/c'");
        membership.push(row(&query).await);
        Self { content, description, membership }
    }
}

/// Which of the clocks moved; each of them everywhere it is shown, or nowhere.
fn moved(before: &Timestamps, after: &Timestamps) -> Vec<&'static str> {
    let clocks = [
        ("content", &before.content, &after.content),
        ("description", &before.description, &after.description),
        ("membership", &before.membership, &after.membership),
    ];
    let differ = |old: &Vec<String>, new: &Vec<String>| {
        let differ = old.iter().zip(new).map(|(old, new)| old != new).collect::<Vec<_>>();
        let all = differ.iter().all(|differs| *differs);
        assert!(all || !differ.contains(&true), "{old:?} {new:?}");
        all
    };
    clocks.into_iter().filter(|(_, old, new)| differ(old, new)).map(|(name, ..)| name).collect()
}

/// A request of either opening.
enum Change {
    Native(&'static str, &'static str, Value),
    Bytes(&'static str, &'static str),
    Irods(&'static str, &'static [(&'static str, &'static str)]),
}

impl Change {
    async fn send(&self, irods: &Irods) {
        match self {
            Self::Native(method, uri, body) => {
                let request = irods.server.request(method, uri);
                let request = if body.is_null() { request } else { request.json(body) };
                let answer = request.send().await;
                assert!(answer.status.is_success(), "{uri} {answer:?}");
            }
            Self::Bytes(method, uri) => {
                let answer = irods.server.request(method, uri).body("others").send().await;
                assert!(answer.status.is_success(), "{uri} {answer:?}");
            }
            Self::Irods(endpoint, form) => {
                let answer = irods.post(endpoint, form).await;
                assert_eq!((answer.status.as_u16(), code(&answer)), (200, 0), "{answer:?}");
            }
        }
    }
}

/// Each change, and the clocks that it updates.
fn changes() -> Vec<(Change, &'static [&'static str])> {
    const X: &str = "/tempZone/home/ada/c/x";
    const OLD: &str = "/tempZone/home/ada/c/old";
    const NEW: &str = "/tempZone/home/ada/c/new";
    let x = || json!("/home/ada/c/x");
    vec![
        (Change::Bytes("PUT", "/v1/fs/home/ada/c/x"), &["content"]),
        (Change::Bytes("PATCH", "/v1/fs/home/ada/c/x?append=true"), &["content"]),
        (
            Change::Irods("data-objects", &[("op", "write"), ("lpath", X), ("bytes", "other")]),
            &["content"],
        ),
        (
            Change::Irods("data-objects", &[("op", "truncate"), ("lpath", X), ("size", "1")]),
            &["content"],
        ),
        (
            Change::Native(
                "POST",
                "/v1/meta",
                json!({"path": x(), "operations": [{"op": "set", "attribute": "a", "value": "w"}]}),
            ),
            &["description"],
        ),
        (
            Change::Irods(
                "data-objects",
                &[
                    ("op", "modify_metadata"),
                    ("lpath", X),
                    (
                        "operations",
                        r#"[{"operation": "add", "attribute": "k", "value": "v", "units": "u"}]"#,
                    ),
                ],
            ),
            &["description"],
        ),
        (
            Change::Native("PATCH", "/v1/attributes", json!({"path": x(), "mode": 0o600})),
            &["description"],
        ),
        (
            Change::Native(
                "POST",
                "/v1/access",
                json!({"path": x(), "operations": [{"name": "public", "level": "read_object"}]}),
            ),
            &[],
        ),
        (
            Change::Irods(
                "data-objects",
                &[
                    ("op", "set_permission"),
                    ("lpath", X),
                    ("entity-name", "public"),
                    ("permission", "read"),
                ],
            ),
            &[],
        ),
        (
            Change::Native(
                "POST",
                "/v1/create",
                json!({"path": "/home/ada/c/new", "kind": "collection"}),
            ),
            &["membership"],
        ),
        (Change::Bytes("PUT", "/v1/fs/home/ada/c/new"), &["membership"]),
        (
            Change::Native(
                "POST",
                "/v1/move",
                json!({"from": {"path": "/home/ada/c/old"}, "to": "/home/ada/c/new"}),
            ),
            &["membership"],
        ),
        (Change::Native("DELETE", "/v1/fs/home/ada/c/old", json!(null)), &["membership"]),
        (Change::Irods("collections", &[("op", "create"), ("lpath", NEW)]), &["membership"]),
        (
            Change::Irods("data-objects", &[("op", "write"), ("lpath", NEW), ("bytes", "x")]),
            &["membership"],
        ),
        (
            Change::Irods(
                "data-objects",
                &[("op", "rename"), ("old-lpath", OLD), ("new-lpath", NEW)],
            ),
            &["membership"],
        ),
        (
            Change::Irods(
                "data-objects",
                &[("op", "remove"), ("lpath", OLD), ("catalog-only", "0"), ("no-trash", "1")],
            ),
            &["membership"],
        ),
        (Change::Bytes("PUT", "/v1/fs/home/ada/c/old"), &[]),
    ]
}

#[tokio::test]
async fn each_change_updates_its_own_timestamp_in_both_openings() {
    let (irods, clock) = prepared().await;
    for (n, (change, expected)) in changes().into_iter().enumerate() {
        let before = Timestamps::by(&irods).await;
        clock.sleep(Duration::from_secs(10));
        change.send(&irods).await;
        assert_eq!(moved(&before, &Timestamps::by(&irods).await), expected, "change {n}");
        let all = "/v1/fs/home/ada/c?recursive=true";
        irods.server.request("DELETE", all).send().await.expect(204);
        prepare(&irods, &clock).await;
    }
}

#[tokio::test]
async fn a_time_that_was_set_is_shown_until_the_membership_changes() {
    let (irods, clock) = prepared().await;
    let path = irods.path("c");
    let touch = [("op", "touch"), ("lpath", path.as_str()), ("seconds-since-epoch", "1000")];
    assert_eq!(code(&irods.post("collections", &touch).await), 0);
    assert_eq!(irods.stat("collections", &path).await["modified_at"], 1000);
    clock.sleep(Duration::from_secs(10));
    irods.write("c/new", "x").await;
    assert_eq!(irods.stat("collections", &path).await["modified_at"], 1_700_000_020);
}

/// The status of a read with one condition.
async fn status(irods: &Irods, uri: &str, (name, value): (&'static str, &str)) -> u16 {
    irods.server.request("GET", uri).header(name, value).send().await.status.as_u16()
}

#[tokio::test]
async fn a_condition_of_a_read_uses_the_timestamp_of_the_representation() {
    let (irods, clock) = prepared().await;
    let uris =
        ["/v1/fs/home/ada/c/x", "/v1/meta?path=/home/ada/c/x", "/v1/graph?path=/home/ada/c/x"];
    let both = ["/v1/stat?path=/home/ada/c/x", "/v1/list?path=/home/ada/c"];
    let request = async |uri: &str| irods.server.request("GET", uri).send().await;
    let check = async |uri: &str, seen: &Answer, same: bool| {
        let (same, other) = if same { (304, 200) } else { (200, 412) };
        let tag = seen.header("etag");
        assert_eq!(status(&irods, uri, ("if-none-match", tag)).await, same, "{uri}");
        assert_eq!(status(&irods, uri, ("if-match", tag)).await, other, "{uri}");
        if !seen.header("last-modified").is_empty() {
            let time = ("if-modified-since", seen.header("last-modified"));
            assert_eq!(status(&irods, uri, time).await, same, "{uri}");
            let time = ("if-unmodified-since", seen.header("last-modified"));
            assert_eq!(status(&irods, uri, time).await, other, "{uri}");
        }
    };
    for (change, moves_content) in [(&changes()[0].0, true), (&changes()[4].0, false)] {
        let mut seen = Vec::new();
        for uri in uris.iter().chain(&both) {
            seen.push((uri, request(uri).await));
            check(uri, &seen.last().unwrap().1, true).await;
        }
        clock.sleep(Duration::from_secs(10));
        change.send(&irods).await;
        for (n, (uri, seen)) in seen.iter().enumerate() {
            let same = match n {
                0 => !moves_content,
                1 | 2 => moves_content,
                _ => false,
            };
            check(uri, seen, same).await;
        }
    }
}

#[tokio::test]
async fn a_condition_of_a_change_uses_the_timestamp_of_its_target() {
    let (irods, _) = prepared().await;
    let tag = async |name: &str| {
        let stat = irods.server.request("GET", "/v1/stat?path=/home/ada/c/x").send().await;
        stat.expect(200)[name].as_str().unwrap().to_owned()
    };
    let describe = async |tag: &str, value: &str| {
        let operations = json!([{"op": "set", "attribute": "a", "value": value}]);
        let body = json!({"path": "/home/ada/c/x", "operations": operations});
        irods.server.request("POST", "/v1/meta").header("if-match", tag).json(&body).send().await
    };
    let put = async |tag: &str| {
        let request = irods.server.request("PUT", "/v1/fs/home/ada/c/x").header("if-match", tag);
        request.body("bytes again").send().await
    };
    let [content, description, state] =
        [tag("etag").await, tag("description_etag").await, tag("state").await];
    describe(&content, "1").await.problem(412, "precondition");
    put(&description).await.problem(412, "precondition");
    describe(&description, "2").await.expect(200);
    describe(&description, "3").await.problem(412, "precondition");
    put(&content).await.expect(200);
    put(&state).await.problem(412, "precondition");
    describe(&tag("state").await, "4").await.expect(200);
}
