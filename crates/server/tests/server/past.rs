//! The store as of a moment, over HTTP.

use cenote_server::{Config, router};
use cenote_store::Store;
use serde_json::{Value, json};

use crate::support::{Answer, TestServer, USER, store};

#[tokio::test]
async fn the_past_is_shown_over_http_and_states_no_longer_kept_are_expired() {
    let server = TestServer::new();
    let keep = json!({"path": "/", "versioning": "each-change"});
    server.request("PATCH", "/v1/attributes").json(&keep).send().await.expect(200);
    server.put("/a", "one").await;
    server.put("/b", "two").await;
    let add = json!([{"op": "add", "attribute": "k", "value": "v", "unit": null}]);
    server.post("/v1/meta", json!({"path": "/a", "operations": add})).await.expect(200);
    let all = server.request("GET", "/v1/changes").send().await.expect(200);
    let then = all["next"].as_str().unwrap().to_owned();
    server.put("/a", "other").await;
    let clear = json!([{"op": "clear", "attribute": "k"}]);
    server.post("/v1/meta", json!({"path": "/a", "operations": clear})).await.expect(200);
    server.request("DELETE", "/v1/fs/b?versions=true&permanent=true").send().await;
    let past = async |what: &str, path: &str, as_of: &str| {
        server.request("GET", &format!("/v1/past/{what}?path={path}&as_of={as_of}")).send().await
    };
    let stat = past("stat", "/a", &then).await.expect(200);
    assert_eq!(
        (&stat["size"], &stat["version"], &stat["now"]),
        (&json!(3), &json!(2), &json!("/a"))
    );
    assert_eq!(
        past("meta", "/a", &then).await.expect(200)["items"],
        json!([{"attribute": "k", "value": "v", "unit": null}])
    );
    assert_eq!(past("content", "/a", &then).await.body, "one");
    let part = server.request("GET", &format!("/v1/past/content?path=/a&as_of={then}"));
    let part = part.header("range", "bytes=1-1").send().await;
    assert_eq!((part.status.as_u16(), &part.body[..]), (206, &b"n"[..]));
    let listing = past("list", "/", &then).await.expect(200);
    assert_eq!(listing["lost"][0]["path"], "/b");
    assert!(listing["entries"].as_array().unwrap().iter().any(|entry| entry["path"] == "/a"));
    past("stat", "/b", &then).await.problem(410, "expired");
    past("content", "/", &then).await.problem(409, "wrong-kind");
    past("stat", "/never", &then).await.problem(404, "not-found");
    past("stat", "/a", "2999-01-01T00:00:00Z").await.problem(400, "invalid");
    past("stat", "/a", "yesterday").await.problem(400, "invalid");
    let other = format!("/v1/past/stat?path=/a&as_of={then}");
    server.request_as(Some(USER), "GET", &other).send().await.problem(404, "not-found");
}

/// A server that keeps everything, with a tree that has changed, and the position before the change.
async fn changed() -> (TestServer, String) {
    changed_in(&store()).await
}

/// The same on this store.
async fn changed_in(store: &Store) -> (TestServer, String) {
    let server = TestServer { router: router(store.clone(), &Config::default()) };
    let keep = json!({"path": "/", "versioning": "each-change", "keep_removed": 100_000});
    server.request("PATCH", "/v1/attributes").json(&keep).send().await.expect(200);
    for path in ["/c/a", "/c/d/x", "/c/d/y"] {
        server
            .request("PUT", &format!("/v1/fs{path}?parents=true"))
            .body("one")
            .send()
            .await
            .expect(201);
    }
    let add = json!([{"op": "add", "attribute": "k", "value": "v", "unit": null}]);
    server.post("/v1/meta", json!({"path": "/c/d/x", "operations": add})).await.expect(200);
    let then = server.request("GET", "/v1/changes").send().await.expect(200)["next"].clone();
    server.put("/c/a", "other").await.expect(200);
    server.request("DELETE", "/v1/fs/c/d?recursive=true").send().await.expect(204);
    (server, then.as_str().unwrap().to_owned())
}

fn lines(answer: Answer) -> Vec<Value> {
    assert!(answer.status.is_success(), "{answer:?}");
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn paths(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["path"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_walk_and_a_search_of_the_past_can_be_resumed_after_any_line() {
    let (server, then) = changed().await;
    let walk = async |rest: &str| {
        let uri = format!("/v1/past/walk?path=/c&as_of={then}{rest}");
        server.request("GET", &uri).send().await
    };
    let all = lines(walk("").await);
    assert_eq!(paths(&all), ["/c/a", "/c/d", "/c/d/x", "/c/d/y"]);
    assert_eq!((&all[0]["size"], &all[2]["now"]), (&json!(3), &Value::Null));
    assert_eq!(paths(&lines(walk("&limit=2").await)), ["/c/a", "/c/d"]);
    assert_eq!(paths(&lines(walk("&after=/c/d").await)), ["/c/d/x", "/c/d/y"]);
    walk("&limit=0").await.problem(400, "invalid");
    walk("&after=/elsewhere").await.problem(400, "invalid");
    let search = async |rest: Value| {
        let mut question = json!({"under": "/c", "as_of": then});
        question.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        server.post("/v1/past/search", question).await
    };
    assert_eq!(
        paths(&lines(search(json!({"kind": "object"})).await)),
        ["/c/a", "/c/d/x", "/c/d/y"]
    );
    let with = json!({"where": [{"attribute": "k", "value": "v"}], "name": "[a-x]"});
    assert_eq!(paths(&lines(search(with).await)), ["/c/d/x"]);
    let rest = json!({"kind": "object", "after": "/c/a", "limit": 1});
    assert_eq!(paths(&lines(search(rest).await)), ["/c/d/x"]);
    search(json!({"name": "[a"})).await.problem(400, "invalid");
    search(json!({"as_of": "2999-01-01T00:00:00Z"})).await.problem(400, "invalid");
    search(json!({"under": "/never"})).await.problem(404, "not-found");
    server.request("POST", "/v1/trash/empty").json(&json!({"all": true})).send().await.expect(200);
    let lost = lines(walk("").await);
    assert_eq!(lost.last().unwrap()["lost"]["path"], "/c/d");
    let hidden = format!("/v1/past/walk?path=/c&as_of={then}");
    server.request_as(Some(USER), "GET", &hidden).send().await.problem(404, "not-found");
}

#[tokio::test]
async fn a_moment_has_one_position() {
    let (server, then) = changed().await;
    let position = async |as_of: &str| {
        server.request("GET", &format!("/v1/past/position?as_of={as_of}")).send().await
    };
    let pinned = position(&then).await.expect(200)["position"].as_str().unwrap().to_owned();
    assert_eq!(position(&pinned).await.expect(200)["position"], pinned);
    let walk = server.request("GET", &format!("/v1/past/walk?path=/c&as_of={pinned}")).send().await;
    assert_eq!(lines(walk).len(), 4);
    for wrong in ["2999-01-01T00:00:00Z", "ffffffffffffffffffffffff", "yesterday"] {
        position(wrong).await.problem(400, "invalid");
    }
    let never = format!("{}00ffffff", &then[..16]);
    let problem = position(&never).await.problem(400, "invalid");
    assert!(problem["hint"].is_string(), "{problem}");
}

#[tokio::test]
async fn contents_of_the_past_are_returned_as_one_archive() {
    let (server, then) = changed().await;
    let archive = async |paths: Value| {
        let question = json!({"as_of": then, "paths": paths});
        server.post("/v1/past/archive", question).await
    };
    let answer = archive(json!(["/c/d/x", "/c/a", "/c/d", "/c/never"])).await;
    assert_eq!(answer.header("content-type"), "application/x-tar");
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    assert!(text.find("path=c/d/x").unwrap() < text.find("path=c/a").unwrap(), "{text}");
    assert_eq!(
        (text.matches("CENOTE.etag").count(), text.matches("one").count()),
        (2, 2),
        "{text}"
    );
    archive(json!(vec!["/c/a"; 1_001])).await.problem(400, "invalid");
    archive(json!(["c"])).await.problem(400, "invalid");
}

#[tokio::test]
async fn a_former_state_is_restored_under_another_name() {
    let store = store();
    let (server, then) = changed_in(&store).await;
    let restore = async |body: Value| {
        let mut question = json!({"path": "/c", "as_of": then, "to": "/again"});
        question.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        server.post("/v1/past/restore", question).await
    };
    restore(json!({})).await.problem(409, "wrong-kind");
    let taken = restore(json!({"recursive": true, "to": "/c"})).await.problem(409, "exists");
    assert!(taken["hint"].is_string(), "{taken}");
    restore(json!({"as_of": "2999-01-01T00:00:00Z"})).await.problem(400, "invalid");
    restore(json!({"path": "/never"})).await.problem(404, "not-found");
    restore(json!({"to": "/no/such", "recursive": true})).await.problem(404, "not-found");
    let one = restore(json!({"path": "/c/d/x", "to": "/x"})).await.expect(201);
    assert_eq!((&one["path"], &one["size"]), (&json!("/x"), &json!(3)));
    let meta = server.request("GET", "/v1/meta?path=/x").send().await.expect(200);
    assert_eq!(meta["items"][0]["value"], "v");
    let job = restore(json!({"recursive": true})).await.expect(202);
    assert_eq!((&job["kind"], &job["finished"]), (&json!("restore"), &json!(false)));
    server.request("GET", "/v1/stat?path=/again").send().await.problem(404, "not-found");
    store.run_moves().await.unwrap();
    let job = server.request("GET", &format!("/v1/jobs/{}", job["job"])).send().await.expect(200);
    assert_eq!((&job["done"], &job["finished"]), (&json!(4), &json!(true)));
    let bytes = server.request("GET", "/v1/fs/again/a").send().await;
    assert_eq!(bytes.body, "one");
}
