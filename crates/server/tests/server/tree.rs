//! Looking up, listing, creating, moving, copying, removing.

use crate::catalog::engine;
use crate::support::{ADMIN, Answer, TestServer, USER};
use serde_json::{Value, json};

/// The lines of a streamed answer.
fn lines(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.header("content-type"), "application/x-ndjson");
    let lines = answer.body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn names(listing: &Value) -> Vec<&str> {
    listing["entries"].as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_listing_is_returned_in_pages_in_name_order() {
    let server = TestServer::new();
    for name in ["b", "a", "c", "\u{e4}"] {
        server.put(&format!("/lab/{name}").replace('\u{e4}', "%C3%A4"), "x").await.expect(201);
    }
    let page = server.request("GET", "/v1/list?path=/lab&limit=2").send().await.expect(200);
    assert_eq!((names(&page), &page["next"]), (vec!["a", "b"], &json!("b")));
    assert_eq!(page["collection"]["path"], "/lab");
    let page = server.request("GET", "/v1/list?path=/lab&after=b").send().await.expect(200);
    assert_eq!((names(&page), &page["next"]), (vec!["c", "\u{e4}"], &Value::Null));
}

#[tokio::test]
async fn a_brief_listing_has_some_attributes_of_the_same_entries() {
    let server = TestServer::new();
    server.put("/lab/sub/b", "y").await.expect(201);
    let uri = "/v1/fs/lab/a?mode=384&mtime=2026-11-25T01:02:03Z";
    server.request("PUT", uri).body("x").send().await.expect(201);
    for new in [
        json!({"path": "/lab/link", "kind": "link", "target": "/lab/a"}),
        json!({"path": "/lab/note", "kind": "description"}),
    ] {
        server.post("/v1/create", new).await.expect(201);
    }
    for page in ["limit=2", "after=link"] {
        let request = async |route: &str| {
            server.request("GET", &format!("{route}?path=/lab&{page}")).send().await
        };
        let whole = request("/v1/list").await.expect(200);
        let (whole, brief) =
            (whole["entries"].as_array().unwrap(), lines(&request("/v1/list/brief").await));
        assert_eq!(whole.len(), brief.len());
        for (whole, brief) in whole.iter().zip(brief) {
            let shown = "id name kind size etag state created modified content_modified \
                         members_modified mode mtime target";
            let mut shown: Vec<&str> = shown.split_whitespace().collect();
            shown.retain(|field| !whole[field].is_null());
            shown.retain(|field| *field != "content_modified" || whole[field] != whole["modified"]);
            let shown = shown.into_iter().map(|field| (field.to_owned(), whole[field].clone()));
            assert_eq!(brief, Value::Object(shown.collect()));
        }
    }
    for wrong in ["limit=0", "limit=-1", "after=a/b"] {
        let uri = format!("/v1/list/brief?path=/lab&{wrong}");
        server.request("GET", &uri).send().await.problem(400, "invalid");
    }
    server.request("GET", "/v1/list/brief?path=/none").send().await.problem(404, "not-found");
}

#[tokio::test]
async fn a_brief_listing_has_all_entries_however_many() {
    let server = TestServer::new();
    let expected: Vec<String> = (0..2_001).map(|n| format!("{n:04}")).collect();
    for name in &expected {
        server.put(&format!("/lab/{name}"), "").await.expect(201);
    }
    let names = async |query: &str| {
        let uri = format!("/v1/list/brief?path=/lab{query}");
        let lines = lines(&server.request("GET", &uri).send().await);
        lines.iter().map(|line| line["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("").await, expected);
    // The bounds of pages are among the limits.
    for limit in [1, 999, 1_000, 1_001, 2_000, 2_001, 2_002] {
        let end = limit.min(expected.len());
        assert_eq!(names(&format!("&limit={limit}")).await, expected[..end], "{limit}");
    }
    assert_eq!(names("&after=0999&limit=1001").await, expected[1_000..2_001]);
    assert_eq!(names("&after=2000").await, [""; 0]);
}

#[tokio::test]
async fn a_resource_is_found_by_its_id_wherever_it_moves() {
    let server = TestServer::new();
    let put = server.put("/lab/a", "x").await.expect(201);
    let question = json!({"from": {"path": "/lab"}, "to": "/b/lab", "parents": true});
    server.post("/v1/move", question).await.expect(200);
    let found =
        server.request("GET", &format!("/v1/stat?id={}", put["id"])).send().await.expect(200);
    assert_eq!((&found["path"], &found["level"]), (&json!("/b/lab/a"), &json!("own")));
    let bytes = server.request("GET", &format!("/v1/fs?id={}", put["id"])).send().await;
    assert_eq!(bytes.body, "x");
    let uri = format!("/v1/fs?id={}", put["id"]);
    let written = server.request("PUT", &uri).body("y").send().await.expect(200);
    assert_eq!((&written["id"], &written["path"]), (&put["id"], &json!("/b/lab/a")));
    let upload = server.post("/v1/uploads", json!({"id": put["id"]})).await.expect(201);
    let upload = format!("/v1/uploads/{}", upload["id"].as_str().unwrap());
    server.request("PUT", &format!("{upload}/0")).body("parts").send().await.expect(200);
    server.post(&format!("{upload}/complete"), json!({})).await.expect(200);
    assert_eq!(server.get("/b/lab/a").await.body, "parts");
    server.get("/lab/a").await.problem(404, "not-found");
}

#[tokio::test]
async fn many_resources_are_described_at_once_each_with_its_own_outcome() {
    let server = TestServer::new();
    server.put("/a", "x").await.expect(201);
    let items = json!({"items": [{"path": "/a"}, {"path": "/b"}, {"path": "c"}, {"id": 1}]});
    let answer = server.post("/v1/stat", items).await.expect(200);
    let kinds: Vec<_> = answer["items"].as_array().unwrap().iter().map(kind_of).collect();
    for wrong in [json!({}), json!([null, null]), json!({"path": "/a", "id": 1})] {
        server.post("/v1/stat", json!({"items": [wrong]})).await.problem(400, "invalid");
    }
    assert_eq!(kinds, ["object", "not-found", "invalid", "collection"]);
}

fn kind_of(outcome: &Value) -> &str {
    let problem = outcome["problem"]["type"].as_str().map(|t| t.rsplit(':').next().unwrap());
    problem.unwrap_or_else(|| outcome["resource"]["kind"].as_str().unwrap())
}

#[tokio::test]
async fn a_walk_streams_a_line_for_each_resource_in_path_order() {
    let server = TestServer::new();
    for path in ["/t/b/1", "/t/a", "/t/b/2", "/t/b.x"] {
        server.put(path, "x").await.expect(201);
    }
    let paths = async |uri| {
        let lines = lines(&server.request("GET", uri).send().await);
        lines.into_iter().map(|line| line["path"].clone()).collect::<Vec<_>>()
    };
    let all = ["/t/a", "/t/b", "/t/b/1", "/t/b/2", "/t/b.x"];
    assert_eq!(paths("/v1/walk?path=/t").await, all);
    assert_eq!(paths("/v1/walk?path=/t&after=/t/b/1").await, all[3..]);
    server.request("GET", "/v1/walk?path=/none").send().await.problem(404, "not-found");
}

#[tokio::test]
async fn a_walk_is_returned_in_pages_and_resumes_after_any_line() {
    let server = TestServer::new();
    for path in ["/t/b/1", "/t/a", "/t/b/2", "/t/b.x"] {
        server.put(path, "x").await.expect(201);
    }
    let top = server.request("GET", "/v1/stat?path=/t").send().await.expect(200)["id"].clone();
    let page = async |after: Option<&str>, limit: usize| {
        let after = after.map_or(String::new(), |after| format!("&after={after}"));
        let uri = format!("/v1/walk?id={top}&limit={limit}{after}");
        let lines = lines(&server.request("GET", &uri).send().await);
        lines.iter().map(|line| line["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let ordered = ["/t/a", "/t/b", "/t/b/1", "/t/b/2", "/t/b.x"];
    for limit in 1..7 {
        let (mut walked, mut after) = (Vec::new(), None);
        loop {
            let lines = page(after.as_deref(), limit).await;
            after = lines.last().cloned();
            let is_last = lines.len() < limit;
            walked.extend(lines);
            if is_last {
                break;
            }
        }
        assert_eq!(walked, ordered, "{limit}");
    }
    // After a removed resource; and, after the collection was moved, below its new path.
    server.request("DELETE", "/v1/fs/t/b?recursive=true").send().await.expect(204);
    assert_eq!(page(Some("/t/b/1"), 9).await, ["/t/b.x"]);
    server.post("/v1/move", json!({"from": {"path": "/t"}, "to": "/u"})).await.expect(200);
    assert_eq!(page(Some("/u/b/1"), 9).await, ["/u/b.x"]);
    for wrong in ["after=/t/b", "after=x", "limit=0", "limit=-1"] {
        let uri = format!("/v1/walk?id={top}&{wrong}");
        server.request("GET", &uri).send().await.problem(400, "invalid");
    }
}

#[tokio::test]
async fn a_listing_includes_the_requested_details_of_each_entry() {
    let server = TestServer::new();
    for name in ["a", "b"] {
        server.put(&format!("/lab/{name}"), "x").await.expect(201);
    }
    let operations = json!([{"op": "add", "attribute": "k", "value": "v", "unit": "K"}]);
    let describe = json!({"path": "/lab/a", "operations": operations});
    server.post("/v1/meta", describe).await.expect(200);
    let list = async |with: &str| {
        let uri = format!("/v1/list?path=/lab&with={with}");
        server.request("GET", &uri).send().await.expect(200)["entries"].clone()
    };
    let all = list("description,xattrs,level").await;
    let described = json!([{"attribute": "k", "value": "v", "unit": "K"}]);
    assert_eq!((&all[0]["description"], &all[1]["description"]), (&described, &json!([])));
    assert_eq!(all[0]["xattrs"], json!([{"name": "k", "value": "v"}]));
    assert_eq!((&all[0]["level"], &all[1]["xattrs"]), (&json!("own"), &json!([])));
    let some = list("level").await;
    assert_eq!((&some[0]["level"], some[0].get("description")), (&json!("own"), None));
    for wrong in ["", "tags", "description;level", "level,"] {
        let uri = format!("/v1/list?path=/lab&with={wrong}");
        server.request("GET", &uri).send().await.problem(400, "invalid");
    }
}

#[tokio::test]
async fn links_and_descriptions_have_no_content() {
    let server = TestServer::new();
    let link = json!({"path": "/l", "kind": "link", "target": "/a"});
    let link = server.post("/v1/create", link).await.expect(201);
    assert_eq!((&link["kind"], &link["target"]), (&json!("link"), &json!("/a")));
    let description = json!({"path": "/d", "kind": "description"});
    let description = server.post("/v1/create", description).await.expect(201);
    assert_eq!((&description["size"], &description["etag"]), (&Value::Null, &Value::Null));
    server.get("/d").await.problem(409, "wrong-kind");
    let wrong = json!({"path": "/x", "kind": "link"});
    server.post("/v1/create", wrong).await.problem(400, "invalid");
}

#[tokio::test]
async fn creating_an_existing_resource_is_an_error_by_default() {
    let server = TestServer::new();
    let create = |exist_ok| json!({"path": "/c", "kind": "collection", "exist_ok": exist_ok});
    let first = server.post("/v1/create", create(false)).await.expect(201);
    server.post("/v1/create", create(false)).await.problem(409, "exists");
    assert_eq!(server.post("/v1/create", create(true)).await.expect(201)["id"], first["id"]);
}

#[tokio::test]
async fn a_copy_shares_nothing_that_can_change() {
    let server = TestServer::new();
    server.put("/a/x", "one").await.expect(201);
    let copy = json!({"from": {"path": "/a"}, "to": "/b"});
    server.post("/v1/copy", copy).await.problem(409, "wrong-kind");
    let copy = json!({"from": {"path": "/a"}, "to": "/b", "recursive": true});
    server.post("/v1/copy", copy).await.expect(200);
    server.put("/a/x", "two").await.expect(200);
    assert_eq!(server.get("/b/x").await.body, "one");
}

#[tokio::test]
async fn a_copy_may_have_conditions_on_its_target() {
    let server = TestServer::new();
    server.put("/a", "one").await.expect(201);
    let seen = server.put("/b", "two").await.expect(201)["state"].as_str().unwrap().to_owned();
    let copy = |name, tag: &str| {
        let question = json!({"from": {"path": "/a"}, "to": "/b", "replace": true});
        server.request("POST", "/v1/copy").header(name, tag).json(&question).send()
    };
    copy("if-none-match", "*").await.problem(412, "precondition");
    server.put("/b", "three").await.expect(200);
    copy("if-match", &seen).await.problem(412, "precondition");
    assert_eq!(server.get("/b").await.body, "three");
    copy("if-match", "*").await.expect(200);
    assert_eq!(server.get("/b").await.body, "one");
}

#[tokio::test]
async fn removing_a_tree_has_to_be_requested() {
    let server = TestServer::new();
    server.put("/t/a", "x").await.expect(201);
    let remove = async |uri: &str| server.request("DELETE", uri).send().await;
    remove("/v1/fs/t").await.problem(409, "not-empty");
    remove("/v1/fs/t?recursive=true").await.expect(204);
    server.get("/t/a").await.problem(404, "not-found");
    remove("/v1/fs/t").await.problem(404, "not-found");
    remove("/v1/fs/?recursive=true").await.problem(400, "invalid");
}

#[tokio::test]
async fn attributes_are_set_one_by_one() {
    let server = TestServer::new();
    server.put("/a", "x").await.expect(201);
    let set =
        async |body: Value| server.request("PATCH", "/v1/attributes").json(&body).send().await;
    let time = "2026-01-02T03:04:05.000000006Z";
    let changed = set(json!({"path": "/a", "mode": 0o640, "mtime": time})).await.expect(200);
    assert_eq!((&changed["mode"], &changed["mtime"]), (&json!(0o640), &json!(time)));
    let changed = set(json!({"path": "/a", "media_type": "text/plain"})).await.expect(200);
    assert_eq!((&changed["mode"], &changed["media_type"]), (&json!(0o640), &json!("text/plain")));
    assert_eq!(set(json!({"path": "/a", "owner": USER.0})).await.expect(200)["owner"], USER.0);
    set(json!({"path": "/a", "owner": "nobody"})).await.problem(404, "not-found");
    set(json!({"path": "/a", "mode": 0o10000})).await.problem(400, "invalid");
    set(json!({"path": "/a", "keep": 3})).await.problem(400, "invalid");
}

#[tokio::test]
async fn usage_counts_everything_below() {
    let server = TestServer::new();
    server.put("/t/a", "12345").await.expect(201);
    server.put("/t/u/b", "123").await.expect(201);
    let usage = server.request("GET", "/v1/du?path=/t").send().await.expect(200);
    let empty = json!({"items": 0, "bytes": 0});
    assert_eq!(usage, json!({"objects": 2, "collections": 1, "bytes": 8, "trash": empty}));
    let stats = server.request("GET", "/v1/stats").send().await.expect(200);
    assert_eq!((&stats["resources"], &stats["engine"]), (&json!(4), &json!(engine())));
    assert_eq!(stats["trash"], empty);
}

#[tokio::test]
async fn removed_resources_are_restored_or_purged() {
    let server = TestServer::new();
    let root = json!({"path": "/", "keep_removed": 3600});
    server.request("PATCH", "/v1/attributes").json(&root).send().await.expect(200);
    let id = server.put("/t/a", "12345").await.expect(201)["id"].clone();
    let remove = async |uri: &str| server.request("DELETE", uri).send().await;
    assert_eq!(remove("/v1/fs/t/a").await.header("cenote-trash"), id.to_string());
    let trash = async || server.request("GET", "/v1/trash?path=/t").send().await.expect(200);
    let item = &trash().await["items"][0];
    assert_eq!((&item["id"], &item["path"], &item["bytes"]), (&id, &json!("/t/a"), &json!(5)));
    let usage = server.request("GET", "/v1/du?path=/t").send().await.expect(200);
    assert_eq!(usage["trash"], json!({"items": 1, "bytes": 5}));
    let restore = async |body: Value| server.post("/v1/trash/restore", body).await;
    restore(json!({"id": 5})).await.problem(404, "not-found");
    restore(json!({"id": id, "to": "/none/a"})).await.problem(404, "not-found");
    assert_eq!(restore(json!({"id": id})).await.expect(200)["id"], id);
    remove("/v1/fs/t/a").await;
    server.put("/t/a", "new").await.expect(201);
    restore(json!({"id": id})).await.problem(409, "exists");
    server.post("/v1/trash/empty", json!({})).await.problem(400, "invalid");
    let emptied = server.post("/v1/trash/empty", json!({"all": true})).await.expect(200);
    assert_eq!(emptied, json!({"items": 1}));
    assert_eq!(trash().await["items"], json!([]));
    let removed = remove("/v1/fs/t/a?permanent=true").await;
    assert!(removed.headers.get("cenote-trash").is_none());
}

#[tokio::test]
async fn a_limit_of_the_trash_is_set_shown_and_lifted() {
    let server = TestServer::new();
    let set = async |mut body: Value| {
        body["path"] = json!("/");
        server.request("PATCH", "/v1/attributes").json(&body).send().await.expect(200)
    };
    assert_eq!(set(json!({"keep_removed_bytes": 10})).await["keep_removed_bytes"], 10);
    assert_eq!(set(json!({"keep_removed": 5})).await["keep_removed_bytes"], 10);
    let lifted = set(json!({"keep_removed_bytes": null})).await;
    assert!(lifted.get("keep_removed_bytes").is_none(), "{lifted}");
    assert_eq!(lifted["keep_removed"], 5);
}

/// Totals over all resources reveal the number of those that the caller may not see.
#[tokio::test]
async fn totals_of_the_store_are_shown_only_to_administrators() {
    let server = TestServer::new();
    server.put("/t/a", "12345").await.expect(201);
    let totals = async |who: Option<(&str, &str)>| {
        let request = async |uri: &str| server.request_as(who, "GET", uri).send().await.expect(200);
        let (stats, places) = (request("/v1/stats").await, request("/v1/places").await);
        let place = places["items"][0].clone();
        let of_stats = ["resources", "bytes", "jobs"].map(|field| stats[field].clone());
        let of_place = ["copies", "bytes", "replicas"].map(|field| place[field].clone());
        assert_eq!(stats["engine"], engine());
        [of_stats, of_place].concat()
    };
    assert!(totals(Some(ADMIN)).await.iter().all(Value::is_u64));
    assert_eq!(totals(Some(USER)).await, vec![Value::Null; 6]);
    for uri in ["/v1/stats", "/v1/places"] {
        server.request_as(None, "GET", uri).send().await.problem(401, "unauthenticated");
    }
}
