//! Descriptions, search, access lists, versions, uploads, changes: the JSON families.

use cenote_server::{Limits, Seconds};

use crate::support::{ADMIN, TestServer, USER};
use serde_json::{Value, json};

async fn attributes(server: &TestServer, path: &str) -> Value {
    server.request("GET", &format!("/v1/meta?path={path}")).send().await.expect(200)["items"]
        .clone()
}

#[tokio::test]
async fn a_description_changes_all_or_nothing() {
    let server = TestServer::new();
    server.put("/a", "x").await.expect(201);
    let change = |operations: Value| {
        server.post("/v1/meta", json!({"path": "/a", "operations": operations}))
    };
    change(json!([
        {"op": "add", "attribute": "temp", "value": "300", "unit": "K"},
        {"op": "add", "attribute": "temp", "value": "310", "unit": "K"},
        {"op": "add", "attribute": "by", "value": "ada"},
    ]))
    .await
    .expect(200);
    let wrong = json!([{"op": "clear", "attribute": "by"}, {"op": "add", "attribute": "x"}]);
    change(wrong).await.problem(400, "invalid");
    assert_eq!(attributes(&server, "/a").await.as_array().unwrap().len(), 3);
    change(json!([{"op": "set", "attribute": "temp", "value": "1"}, {"op": "clear", "attribute": "by"}]))
        .await
        .expect(200);
    let left = json!([{"attribute": "temp", "value": "1", "unit": null}]);
    assert_eq!(attributes(&server, "/a").await, left);
}

/// The lines of a walk by their paths.
async fn walk(server: &TestServer, query: &str) -> std::collections::BTreeMap<String, Value> {
    let answer = server.request("GET", &format!("/v1/walk?path=/t{query}")).send().await;
    assert_eq!(answer.status, 200);
    let lines = answer.body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let line = |line| serde_json::from_slice::<Value>(line).unwrap();
    lines.map(line).map(|line| (line["path"].as_str().unwrap().to_owned(), line)).collect()
}

#[tokio::test]
async fn equal_descriptions_have_equal_tags() {
    let server = TestServer::new();
    for (path, unit) in [("/t/a", "K"), ("/t/b", "K"), ("/t/c", "F"), ("/t/sub/d", "K")] {
        server.put(path, path).await.expect(201);
        let operations = json!([{"op": "add", "attribute": "temp", "value": "300", "unit": unit}]);
        server.post("/v1/meta", json!({"path": path, "operations": operations})).await.expect(200);
    }
    let lines = walk(&server, "&description_tag=true").await;
    let tag = |path: &str| lines[path]["description_tag"].as_str();
    assert!(tag("/t/a").is_some());
    assert_eq!((tag("/t/b"), tag("/t/sub/d")), (tag("/t/a"), tag("/t/a")));
    assert_ne!(tag("/t/c"), tag("/t/a"), "a unit is part of a description");
    assert_eq!(tag("/t/sub"), None);
    for line in walk(&server, "").await.values() {
        assert!(line.get("description_tag").is_none(), "it is sent only on request: {line}");
    }
    let stat = async |query: &str| {
        let stat = server.request("GET", &format!("/v1/stat?path=/t/a{query}")).send().await;
        stat.expect(200)["description_tag"].as_str().map(str::to_owned)
    };
    assert_eq!(stat("&description_tag=true").await.as_deref(), tag("/t/a"));
    assert_eq!(stat("").await, None);
    let wrong = server.request("GET", "/v1/walk?path=/t&description_tag=yes").send().await;
    wrong.problem(400, "invalid");
}

#[tokio::test]
async fn a_description_is_copied_to_a_resource_if_its_state_is_as_expected() {
    let server = TestServer::new();
    let from = server.put("/a", "x").await.expect(201);
    let create = json!({"path": "/b", "kind": "collection"});
    let seen = server.post("/v1/create", create).await.expect(201)["state"].clone();
    let triples = "<> <http://x/has> _:part . _:part <http://x/is> <> .";
    let put = server.request("PUT", "/v1/graph?path=/a").body(triples).send().await;
    put.expect(200);
    let copy = |tag: &Value| {
        let question = json!({"from": {"id": from["id"]}, "to": {"path": "/b"}});
        let request =
            server.request("POST", "/v1/meta/copy").header("if-match", tag.as_str().unwrap());
        request.json(&question).send()
    };
    let now = copy(&seen).await.expect(200)["state"].clone();
    let graph = async |path| server.request("GET", path).send().await.body;
    assert_eq!(graph("/v1/graph?path=/b").await, graph("/v1/graph?path=/a").await);
    copy(&seen).await.problem(412, "precondition");
    assert_eq!(copy(&now).await.expect(200)["state"], now, "what changes nothing is no change");
    let wrong = json!({"from": {"path": "/a"}, "to": {"path": "/none"}});
    server.post("/v1/meta/copy", wrong).await.problem(404, "not-found");
}

#[tokio::test]
async fn search_finds_by_attribute_name_and_kind_in_pages() {
    let server = TestServer::new();
    for (path, temp) in [("/lab/a.gsd", "9"), ("/lab/b.gsd", "300"), ("/lab/c.txt", "301")] {
        server.put(path, "x").await.expect(201);
        let operations = json!([{"op": "add", "attribute": "temp", "value": temp}]);
        server.post("/v1/meta", json!({"path": path, "operations": operations})).await.expect(200);
    }
    let search = async |question: Value| {
        let found = server.post("/v1/search", question).await.expect(200);
        let items = found["items"].as_array().unwrap().iter();
        (items.map(|item| item["path"].clone()).collect::<Vec<_>>(), found["next"].clone())
    };
    let hot = json!([{"attribute": "temp", "op": ">", "value": "10"}]);
    let (paths, next) = search(json!({"under": "/lab", "where": hot})).await;
    assert_eq!((paths, next), (vec![json!("/lab/b.gsd"), json!("/lab/c.txt")], Value::Null));
    let (paths, next) = search(json!({"where": hot, "limit": 1})).await;
    let first = paths[0].as_str().unwrap().to_owned();
    assert_eq!(paths.len(), 1);
    let (paths, _) = search(json!({"where": hot, "after": next})).await;
    assert_eq!(paths, [if first == "/lab/b.gsd" { "/lab/c.txt" } else { "/lab/b.gsd" }]);
    for wrong in ["", "AAAA", &"A".repeat(80)] {
        let question = json!({"where": hot, "after": wrong});
        server.post("/v1/search", question).await.problem(410, "expired");
    }
    let (paths, _) = search(json!({"name": "*.gsd", "kind": "object"})).await;
    assert_eq!(paths.len(), 2);
    let exists = json!([{"attribute": "temp", "op": "exists", "value": "1"}]);
    server.post("/v1/search", json!({"where": exists})).await.problem(400, "invalid");
}

#[tokio::test]
async fn search_finds_words_together_with_other_conditions() {
    let server = TestServer::new();
    for (path, note) in [("/lab/a.gsd", "Water box"), ("/lab/Wasser.txt", "a BOX of water")] {
        server.put(path, "x").await.expect(201);
        let operations = json!([{"op": "add", "attribute": "note", "value": note}]);
        server.post("/v1/meta", json!({"path": path, "operations": operations})).await.expect(200);
    }
    let search = async |question: Value| {
        let found = server.post("/v1/search", question).await.expect(200);
        let items = found["items"].as_array().unwrap().iter();
        items.map(|item| item["path"].clone()).collect::<Vec<_>>()
    };
    for (question, expected) in [
        (json!({"text": "water box"}), vec!["/lab/Wasser.txt", "/lab/a.gsd"]),
        (json!({"text": "\"water box\""}), vec!["/lab/a.gsd"]),
        (json!({"text": "was*"}), vec!["/lab/Wasser.txt"]),
        (json!({"text": "box", "name": "*.gsd"}), vec!["/lab/a.gsd"]),
        (json!({"text": "box", "under": "/lab", "kind": "collection"}), vec![]),
        (
            json!({"text": "gsd", "where": [{"attribute": "note", "value": "Water box"}]}),
            vec!["/lab/a.gsd"],
        ),
    ] {
        assert_eq!(search(question.clone()).await, expected, "{question}");
    }
    server.put("/lab/new.txt", "x").await.expect(201);
    assert_eq!(search(json!({"text": "new"})).await, ["/lab/new.txt"]);
    for wrong in ["", "..", "a*", "\"open", &"word ".repeat(300)] {
        server.post("/v1/search", json!({"text": wrong})).await.problem(400, "invalid");
    }
}

#[tokio::test]
async fn a_search_that_does_not_wait_for_the_index_is_refused_and_the_next_one_goes_on() {
    let limits = Limits { query_seconds: Seconds::new(0), ..Limits::default() };
    let server = TestServer::with(limits);
    server.put("/a.txt", "x").await.expect(201);
    let search = async || server.post("/v1/search", json!({"text": "txt"})).await;
    let mut refused = 0;
    let found = loop {
        let answer = search().await;
        if answer.status == 200 {
            break answer.expect(200);
        }
        assert!(answer.header("retry-after").parse::<u64>().is_ok());
        answer.problem(503, "unavailable");
        refused += 1;
    };
    assert!((1..5).contains(&refused), "{refused}");
    assert_eq!(found["items"][0]["path"], "/a.txt");
}

#[tokio::test]
async fn a_collection_determines_how_dangling_links_are_handled() {
    let server = TestServer::new();
    server.put("/lab/a", "x").await.expect(201);
    let require = async |word: &str| {
        let body = json!({"path": "/lab", "link_integrity": word});
        server.request("PATCH", "/v1/attributes").json(&body).send().await
    };
    let cite = async |to: &str| {
        let triple = format!("<> <http://p/cites> <cenote:{to}> .");
        server.request("PUT", "/v1/graph?path=/lab/a").body(triple).send().await
    };
    assert_eq!(require("strict").await.expect(200)["link_integrity"], "strict");
    let refused = cite("/new").await.problem(409, "dangling");
    assert!(refused["hint"].is_string() && refused["detail"].as_str().unwrap().contains("/new"));
    assert_eq!(require("lenient").await.expect(200)["link_integrity"], "lenient");
    cite("/new").await.expect(200);
    server.put("/new", "x").await.expect(201);
    let moved = json!({"from": {"path": "/new"}, "to": "/old"});
    server.post("/v1/move", moved).await.expect(200);
    let graph = server.request("GET", "/v1/graph?path=/lab/a").send().await.body;
    assert_eq!(graph, "<> <http://p/cites> <cenote:/old> .\n");
    require("loose").await.problem(400, "invalid");
}

#[tokio::test]
async fn a_link_follows_its_resource_and_is_found_from_there() {
    let server = TestServer::new();
    for path in ["/lab/a", "/lab/b", "/lab/c"] {
        server.put(path, "x").await.expect(201);
    }
    let link = |from: &str, value: &str| {
        let operations = json!([{"op": "link", "attribute": "cites", "value": value}]);
        server.post("/v1/meta", json!({"path": from, "operations": operations}))
    };
    link("/lab/a", "/lab/c").await.expect(200);
    link("/lab/a", "no path").await.problem(400, "invalid");
    let triples = "<#part> <http://p/in> <cenote:/lab/c#other> .";
    server.request("PUT", "/v1/graph?path=/lab/b").body(triples).send().await.expect(200);
    server
        .post("/v1/move", json!({"from": {"path": "/lab/c"}, "to": "/lab/c 2"}))
        .await
        .expect(200);
    let shown =
        server.request("GET", "/v1/meta?path=/lab/a").send().await.expect(200)["items"].clone();
    assert_eq!(shown, json!([{"attribute": "cites", "value": "cenote:/lab/c%202", "unit": null}]));
    let graph = server.request("GET", "/v1/graph?path=/lab/b").send().await.body;
    assert_eq!(graph, "<#part> <http://p/in> <cenote:/lab/c%202#other> .\n");
    let page = async |rest: &str| {
        server.request("GET", &format!("/v1/links?path=/lab/c%202{rest}")).send().await
    };
    let found = |pages: &[Value]| {
        let items = pages.iter().flat_map(|page| page["items"].as_array().unwrap());
        let of = |item: &Value| (item["resource"]["path"].to_string(), item["links"].clone());
        let mut found: Vec<_> = items.map(of).collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found
    };
    let all = [page("").await.expect(200)];
    let [a, b] = &found(&all)[..] else { panic!("{all:?}") };
    assert_eq!(
        *a,
        ("\"/lab/a\"".into(), json!([{"attribute": "cites", "value": "cenote:/lab/c%202"}]))
    );
    let part = json!([{"subject": "#part", "attribute": "http://p/in", "value": "cenote:/lab/c%202#other"}]);
    assert_eq!(*b, ("\"/lab/b\"".into(), part));
    let first = page("&limit=1").await.expect(200);
    let next =
        page(&format!("&limit=1&after={}", first["next"].as_str().unwrap())).await.expect(200);
    assert_eq!(found(&[first, next]), found(&all));
    page("&after=AAAA").await.problem(410, "expired");
    page("&limit=0").await.problem(400, "invalid");
    server.request("GET", "/v1/links?path=/lab/none").send().await.problem(404, "not-found");
}

#[tokio::test]
async fn an_access_list_shows_the_origin_of_each_entry() {
    let server = TestServer::new();
    server.put("/c/a", "x").await.expect(201);
    let grant = json!({"path": "/c", "operations": [{"name": USER.0, "level": "read", "scope": "default"}]});
    server.post("/v1/access", grant).await.expect(200);
    let list = server.request("GET", "/v1/access?path=/c/a").send().await.expect(200);
    let inherited =
        json!({"name": USER.0, "level": "read_object", "scope": "default", "from": "/c"});
    assert!(list["grants"].as_array().unwrap().contains(&inherited), "{list}");
    let closed =
        server.post("/v1/access", json!({"path": "/c/a", "closed": true})).await.expect(200);
    assert_eq!(closed["closed"], true);
    server.request_as(Some(USER), "GET", "/v1/fs/c/a").send().await.problem(404, "not-found");
}

#[tokio::test]
async fn access_is_explained_right_by_right() {
    let server = TestServer::new();
    server.put("/c/a", "x").await.expect(201);
    for (path, level, scope) in
        [("/c", "read", "subtree"), ("/c/a", "append", "this"), ("/", "own", "default")]
    {
        let line = json!({"name": USER.0, "level": level, "scope": scope});
        server.post("/v1/access", json!({"path": path, "operations": [line]})).await.expect(200);
    }
    server.post("/v1/access", json!({"path": "/c/a", "closed": true})).await.expect(200);
    let request = format!("/v1/access/why?path=/c/a&user={}", USER.0);
    let why = server.request("GET", &request).send().await.expect(200);
    assert_eq!(
        (&why["user"], &why["path"], &why["level"], &why["token"]),
        (
            &json!(USER.0),
            &json!("/c/a"),
            &json!("read_description+read_content+list+append"),
            &json!(null)
        )
    );
    let line = |level: &str, scope: &str, from: &str, effect: &str| {
        let name = USER.0;
        json!({"kind": "grant", "name": name, "level": level, "scope": scope, "from": from, "effect": effect})
    };
    let rights = why["rights"].as_array().unwrap();
    let of = |right: &str| rights.iter().find(|line| line["right"] == right).unwrap();
    let (read, append) =
        (line("read_object", "subtree", "/c", "gives"), line("append", "this", "/c/a", "gives"));
    assert_eq!(*of("list"), json!({"right": "list", "granted": true, "by": [read]}));
    assert_eq!(*of("append"), json!({"right": "append", "granted": true, "by": [append]}));
    assert_eq!(*of("remove"), json!({"right": "remove", "granted": false, "by": []}));
    assert_eq!(why["without_effect"], json!([line("own", "default", "/", "closed")]));
    let own = server.request_as(Some(USER), "GET", "/v1/access/why?path=/c/a").send().await;
    assert_eq!(own.expect(200), why);
    let other = format!("/v1/access/why?path=/c/a&user={}", ADMIN.0);
    server.request_as(Some(USER), "GET", &other).send().await.problem(403, "denied");
    let nobody = "/v1/access/why?path=/c/a&user=nobody";
    server.request("GET", nobody).send().await.problem(404, "not-found");
    server
        .request("GET", "/v1/access/why?path=/c/a&user=public")
        .send()
        .await
        .problem(400, "invalid");
}

#[tokio::test]
async fn versions_of_descriptions_are_compared_and_kept_by_rules() {
    let server = TestServer::new();
    let keep = json!({"path": "/", "versioning": "each-change", "keep": 3, "keep_monthly": 12});
    let set = server.request("PATCH", "/v1/attributes").json(&keep).send().await.expect(200);
    assert_eq!(
        (&set["keep"], &set["keep_daily"], &set["keep_monthly"]),
        (&json!(3), &json!(null), &json!(12))
    );
    let without = json!({"path": "/", "keep_daily": 3});
    server.request("PATCH", "/v1/attributes").json(&without).send().await.problem(400, "invalid");
    server.put("/a", "one").await;
    for value in ["1", "2", "3"] {
        let set = json!([{"op": "set", "attribute": "k", "value": value, "unit": "m"}]);
        server.post("/v1/meta", json!({"path": "/a", "operations": set})).await.expect(200);
    }
    let versions = server.request("GET", "/v1/versions?path=/a").send().await.expect(200);
    let newest = &versions["items"][0];
    assert_eq!(
        (versions["items"].as_array().unwrap().len(), &newest["kept_by"]),
        (3, &json!(ADMIN.0))
    );
    let compare = async |rest: &str| {
        server.request("GET", &format!("/v1/versions/diff?path=/a&from={rest}")).send().await
    };
    let difference = compare("2&to=3").await.expect(200);
    assert_eq!(difference["content_changed"], false);
    assert_eq!(difference["from"], difference["to"]);
    assert_eq!(difference["removed"], json!([{"attribute": "k", "value": "1", "unit": "m"}]));
    assert_eq!(difference["added"], json!([{"attribute": "k", "value": "2", "unit": "m"}]));
    assert_eq!(compare("2").await.expect(200)["added"][0]["value"], "3");
    compare("99").await.problem(404, "not-found");
    compare("2&to=99").await.problem(404, "not-found");
    let none =
        server.request_as(Some(USER), "GET", "/v1/versions/diff?path=/a&from=2").send().await;
    none.problem(404, "not-found");
}

#[tokio::test]
async fn versions_are_kept_restored_and_pruned() {
    let server = TestServer::new();
    let keep = json!({"path": "/", "versioning": "each-change"});
    server.request("PATCH", "/v1/attributes").json(&keep).send().await.expect(200);
    for content in ["one", "two", "three"] {
        server.put("/a", content).await;
    }
    let list = async || {
        let list = server.request("GET", "/v1/versions?path=/a").send().await.expect(200);
        list["items"].as_array().unwrap().iter().map(|v| v["version"].clone()).collect::<Vec<_>>()
    };
    let versions = list().await;
    assert_eq!(versions.len(), 2);
    let oldest = server.request("GET", &format!("/v1/fs/a?version={}", versions[1])).send().await;
    assert_eq!(oldest.body, "one");
    let change = |body: Value| server.post("/v1/versions", body);
    change(json!({"path": "/a", "op": "restore", "version": versions[1]})).await.expect(200);
    assert_eq!(server.get("/a").await.body, "one");
    let kept = change(json!({"path": "/a", "op": "keep", "label": "good"})).await.expect(200);
    assert_eq!(kept["version"]["label"], "good");
    let pruned = change(json!({"path": "/a", "op": "prune", "keep": 1})).await.expect(200);
    assert_eq!(
        (pruned["pruned"].as_u64(), list().await.len()),
        (Some(2), 2),
        "what has a label stays"
    );
    change(json!({"path": "/a", "op": "prune"})).await.problem(400, "invalid");
    change(json!({"path": "/a", "op": "keep", "label": "good"})).await.problem(409, "exists");
    change(json!({"path": "/a", "op": "keep", "time": "2999-01-01T00:00:00Z"}))
        .await
        .problem(400, "invalid");
    change(json!({"path": "/a", "op": "label", "version": 99})).await.problem(404, "not-found");
    change(json!({"path": "/a", "op": "restore", "version": 99})).await.problem(404, "not-found");
    // They are not lost without a request.
    server.put("/b", "b").await.expect(201);
    let over = |versions: bool| {
        let to = json!({"from": {"path": "/b"}, "to": "/a", "replace": true, "versions": versions});
        server.post("/v1/move", to)
    };
    let remove = async |path: &str| server.request("DELETE", path).send().await;
    remove("/v1/fs/a").await.problem(409, "not-empty");
    over(false).await.problem(409, "not-empty");
    assert_eq!(list().await.len(), 2);
    over(true).await.expect(200);
    assert!(list().await.is_empty());
    server.put("/a", "more").await.expect(200);
    remove("/v1/fs/a").await.problem(409, "not-empty");
    assert_eq!(remove("/v1/fs/a?versions=true").await.status, 204);
}

#[tokio::test]
async fn an_upload_accepts_parts_in_any_order() {
    let server = TestServer::new();
    let begin =
        json!({"path": "/big", "size": 10, "if_none_match": "*", "media_type": "text/plain"});
    let begun = server.post("/v1/uploads", begin).await.expect(201);
    let id = begun["id"].as_str().unwrap();
    let part = async |offset: u64, body: &'static str| {
        server.request("PUT", &format!("/v1/uploads/{id}/{offset}")).body(body).send().await
    };
    part(5, "56789").await.expect(200);
    let uri = format!("/v1/uploads/{id}/complete");
    let complete = || server.post(&uri, json!({}));
    complete().await.problem(409, "conflict");
    part(0, "wrong").await.expect(200);
    assert_eq!(part(0, "01234").await.expect(200)["length"], 5);
    part(8, "too long").await.problem(422, "mismatch");
    let state = server.request("GET", &format!("/v1/uploads/{id}")).send().await.expect(200);
    assert_eq!(state["parts"].as_array().unwrap().len(), 2);
    let grace = server.request_as(Some(USER), "GET", &format!("/v1/uploads/{id}")).send().await;
    grace.problem(404, "not-found");
    server.get("/big").await.problem(404, "not-found");
    let done = complete().await.expect(200);
    assert_eq!((&done["size"], &done["media_type"]), (&json!(10), &json!("text/plain")));
    assert_eq!(server.get("/big").await.body, "0123456789");
    complete().await.problem(404, "not-found");
}

#[tokio::test]
async fn an_upload_can_be_abandoned() {
    let server = TestServer::new();
    let begun = server.post("/v1/uploads", json!({"path": "/big"})).await.expect(201);
    let uri = format!("/v1/uploads/{}", begun["id"].as_str().unwrap());
    server.request("DELETE", &uri).send().await.expect(204);
    server.request("GET", &uri).send().await.problem(404, "not-found");
}

#[tokio::test]
async fn the_feed_reports_changes_since_a_position() {
    let server = TestServer::new();
    let changes = async |uri: String| server.request("GET", &uri).send().await.expect(200);
    let start = changes("/v1/changes".to_owned()).await;
    let since = start["next"].as_str().unwrap();
    server.put("/a", "x").await.expect(201);
    server.post("/v1/move", json!({"from": {"path": "/a"}, "to": "/b"})).await.expect(200);
    server.request("DELETE", "/v1/fs/b").send().await.expect(204);
    let page = changes(format!("/v1/changes?since={since}&limit=2")).await;
    let kinds = |page: &Value| {
        page["items"].as_array().unwrap().iter().map(|c| c["kind"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        (kinds(&page), &page["more"]),
        (vec![json!("created"), json!("moved")], &json!(true))
    );
    assert_eq!(page["items"][1]["from"]["name"], "a");
    let rest = changes(format!("/v1/changes?since={}", page["next"].as_str().unwrap())).await;
    assert_eq!(kinds(&rest), ["removed"]);
    let now = changes("/v1/changes?since=now".to_owned()).await;
    assert_eq!((kinds(&now).len(), &now["next"]), (0, &rest["next"]));
}

#[tokio::test]
async fn waiting_clients_are_notified_immediately() {
    let server = TestServer::new();
    let start = server.request("GET", "/v1/changes").send().await.expect(200);
    let uri = format!("/v1/changes?wait=60&since={}", start["next"].as_str().unwrap());
    let (page, put) = tokio::join!(server.request("GET", &uri).send(), server.put("/a", "x"));
    put.expect(201);
    assert_eq!(page.expect(200)["items"][0]["name"], "a");
}

#[tokio::test]
async fn a_description_can_be_read_as_triples() {
    let server = TestServer::new();
    server.put("/a", "x").await.expect(201);
    let operations = json!([{"op": "add", "attribute": "temp", "value": "300", "unit": "K"}]);
    server.post("/v1/meta", json!({"path": "/a", "operations": operations})).await.expect(200);
    let got = server.request("GET", "/v1/graph?path=/a").send().await;
    assert_eq!(got.header("content-type"), "application/n-triples");
    assert_eq!(got.body, "<> <cenote:attribute/temp> \"300\" .\n");
    let put = |body: String| server.request("PUT", "/v1/graph?path=/a").body(body).send();
    let title = "<> <http://purl.org/dc/terms/title> \"A run\"@en .\n";
    put(String::from_utf8_lossy(&got.body).into_owned() + title).await.expect(200);
    let list = attributes(&server, "/a").await;
    assert_eq!(list[1], json!({"attribute": "temp", "value": "300", "unit": "K"}));
    assert_eq!(list[0]["value"], "A run");
    put("<> <a> .".to_owned()).await.problem(400, "invalid");
    put(String::new()).await.expect(200);
    assert_eq!(attributes(&server, "/a").await, json!([]));
}

/// The displayed link changes with its target, and so does the tag; a change of the description depends only on the
/// description.
#[tokio::test]
async fn the_tag_of_a_description_changes_with_the_displayed_links() {
    let server = TestServer::new();
    for path in ["/a", "/plain", "/target"] {
        server.put(path, "x").await.expect(201);
    }
    let link = json!([{"op": "link", "attribute": "of", "value": "/target"}]);
    server.post("/v1/meta", json!({"path": "/a", "operations": link})).await.expect(200);
    let add = json!([{"op": "add", "attribute": "k", "value": "v"}]);
    server.post("/v1/meta", json!({"path": "/plain", "operations": add})).await.expect(200);
    let routes = [
        "/v1/meta?path=/a",
        "/v1/graph?path=/a",
        "/v1/xattrs?path=/a",
        "/v1/xattr?path=/a&name=of",
    ];
    let mut tags = Vec::new();
    for route in routes {
        let first = server.request("GET", route).send().await;
        let tag = first.header("etag").to_owned();
        assert_eq!(first.header("last-modified"), "", "{route}: a rename moves no clock of it");
        let same = server.request("GET", route).header("if-none-match", &tag).send().await;
        assert_eq!(same.status, 304, "{route}");
        tags.push((first.body, tag));
    }
    let plain =
        server.request("GET", "/v1/meta?path=/plain").send().await.header("etag").to_owned();
    server.post("/v1/move", json!({"from": {"path": "/target"}, "to": "/moved"})).await.expect(200);
    for (route, (body, tag)) in routes.iter().zip(&tags) {
        let now = server.request("GET", route).header("if-none-match", tag).send().await;
        assert_eq!(now.status, 200, "{route}");
        assert!(now.body != *body && now.header("etag") != tag, "{route}");
    }
    let same =
        server.request("GET", "/v1/meta?path=/plain").header("if-none-match", &plain).send().await;
    assert_eq!(same.status, 304);
    let change = |n: u32| json!({"path": "/a", "operations": [{"op": "add", "attribute": "k", "value": n.to_string()}]});
    let post = async |n: u32| {
        server
            .request("POST", "/v1/meta")
            .header("if-match", &tags[0].1)
            .json(&change(n))
            .send()
            .await
    };
    post(1).await.expect(200);
    post(2).await.problem(412, "precondition");
}
