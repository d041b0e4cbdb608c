//! Every route of the native opening that accepts a path also accepts an id, or is listed here with the reason; the
//! responses are the same.

use std::collections::BTreeSet;

use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use serde_json::{Value, json};

use crate::outsider::template::{self, Body, ID, PATH, Template};
use crate::support::{Answer, TestServer};

/// Paths without an alternative id, and the reasons.
const BY_PATH_ONLY: [(&str, &str, &str); 20] = [
    ("get /v1/past/content", "path", "what was at this path at that moment"),
    ("get /v1/past/list", "path", "what was at this path at that moment"),
    ("get /v1/past/meta", "path", "what was at this path at that moment"),
    ("get /v1/past/stat", "path", "what was at this path at that moment"),
    ("get /v1/past/walk", "path", "what was at this path at that moment"),
    ("post /v1/past/restore", "path", "what was at this path at that moment"),
    ("post /v1/past/restore", "to", "the new path"),
    ("post /v1/past/search", "under", "what was at this path at that moment"),
    ("get /v1/versions/diff", "to", "the number of a version"),
    ("get /v1/keys", "under", "the name of a key"),
    ("post /v1/drain", "to", "the name of a place"),
    ("post /v1/meta/copy", "to", "`id` is in it"),
    ("post /v1/batch", "path", "the collection is made if it is missing"),
    ("post /v1/create", "path", "nothing is there yet: `parent` and `name` are beside it"),
    ("post /v1/move", "to", "a path, or `parent` and `name`"),
    ("post /v1/copy", "to", "a path, or `parent` and `name`"),
    ("post /v1/trash/restore", "to", "the new path"),
    ("post /v1/register", "path", "it is made if it is missing"),
    ("post /v1/search", "under", "`id` is beside it"),
    ("post /v1/tokens", "within", "`within_id` is beside it"),
];

/// Names of parameters and members that are paths of resources.
const PATHS: [&str; 4] = ["path", "to", "under", "within"];

async fn document(server: &TestServer) -> Value {
    server.request_as(None, "GET", "/openapi.json").send().await.expect(200)
}

#[tokio::test]
async fn every_route_with_a_path_accepts_an_id_or_explains_why_not() {
    let document = document(&TestServer::new()).await;
    let mut by_path = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let route = format!("{method} {path}");
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let named = parameters.filter(|parameter| parameter["in"] == "query");
            let query = named.map(|parameter| parameter["name"].as_str().unwrap().to_owned());
            let body = operation["requestBody"]["content"].as_object().into_iter().flatten();
            let bodies = body.flat_map(|(_, media)| objects(&document, &media["schema"]));
            for members in bodies.chain([query.collect()]) {
                let named = PATHS.iter().filter(|name| members.contains(**name));
                by_path.extend(named.filter_map(|name| {
                    let has_id = *name == "path" && members.contains("id");
                    (!has_id).then(|| (route.clone(), (*name).to_owned()))
                }));
            }
        }
    }
    let listed = BY_PATH_ONLY.iter().map(|(route, name, _)| ((*route).into(), (*name).into()));
    assert_eq!(by_path, listed.collect::<BTreeSet<(String, String)>>());
    let has = |route: &str, name: &str| {
        let (method, path) = route.split_once(' ').unwrap();
        let schema = &document["paths"][path][method]["requestBody"]["content"];
        objects(&document, &schema["application/json"]["schema"])
            .any(|members| members.contains(name))
    };
    assert!(has("post /v1/search", "id") && has("post /v1/tokens", "within_id"));
    assert!(document["paths"]["/v1/fs"]["patch"].is_object(), "the plain address has one, too");
}

/// The members of each object in a schema; alternatives are merged.
fn objects<'a>(
    document: &'a Value,
    schema: &'a Value,
) -> Box<dyn Iterator<Item = BTreeSet<String>> + 'a> {
    if let Some(reference) = schema["$ref"].as_str() {
        return objects(document, document.pointer(&reference[1..]).unwrap());
    }
    let choices = ["oneOf", "anyOf"].into_iter().filter_map(|ways| schema[ways].as_array());
    let choices = choices.map(move |ways| {
        let ways = ways.iter().flat_map(|way| objects(document, way));
        ways.reduce(|all, way| all.into_iter().chain(way).collect()).unwrap_or_default()
    });
    let properties = schema["properties"].as_object();
    let own = properties.map(|properties| properties.keys().cloned().collect());
    let inner = properties.into_iter().flatten().flat_map(|(_, inner)| objects(document, inner));
    let items = schema.get("items").into_iter().flat_map(|items| objects(document, items));
    Box::new(choices.chain(own).chain(inner).chain(items))
}

/// A request for this resource, by its path or by its id.
async fn send(server: &TestServer, template: &Template, (path, id): (&str, &Value)) -> Answer {
    let text = |value: &Value| match value {
        Value::String(text) => text.replace(PATH, path).replace(ID, &id.to_string()),
        other => other.to_string(),
    };
    let query = template.query.iter().map(|(name, value)| {
        format!("{name}={}", percent_encode(text(value).as_bytes(), NON_ALPHANUMERIC))
    });
    let route = template.path.replace(PATH, path);
    let uri = format!("{route}?{}", query.collect::<Vec<_>>().join("&"));
    let request = server.request(&template.method, &uri);
    match &template.body {
        Body::None => request.send().await,
        Body::Json(body) => request.json(&filled(body, path, id)).send().await,
        Body::Bytes(media_type) => {
            request.header("content-type", media_type).body("bytes").send().await
        }
    }
}

fn filled(body: &Value, path: &str, id: &Value) -> Value {
    match body {
        Value::String(text) if text == ID => id.clone(),
        Value::String(text) => json!(text.replace(PATH, path)),
        Value::Array(items) => items.iter().map(|item| filled(item, path, id)).collect(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| (name.clone(), filled(value, path, id));
            Value::Object(members.iter().map(member).collect())
        }
        other => other.clone(),
    }
}

/// The same template by path, if it refers to its resource by id and there is one.
fn by_path(template: &Template, all: &[Template]) -> Option<Template> {
    let as_path =
        |text: String| text.replace(&format!("\"id\":\"{ID}\""), &format!("\"path\":\"{PATH}\""));
    let shown = |template: &Template| {
        let body = match &template.body {
            Body::Json(body) => body.to_string(),
            other => format!("{other:?}"),
        };
        let route = template.path.replace(PATH, "");
        let query = Value::Object(template.query.clone()).to_string();
        format!("{} {route} {query} {body}", template.method)
    };
    let own = shown(template);
    let wanted = as_path(own.clone()).replace(&format!("{{\"path\":\"{PATH}\"}}"), "{}");
    let same = |other: &&Template| {
        let other = shown(other).replace(&format!("{{\"path\":\"{PATH}\"}}"), "{}");
        other == wanted
    };
    (own != as_path(own.clone())).then(|| all.iter().find(same).cloned()).flatten()
}

#[tokio::test]
async fn requests_by_id_give_the_same_response_as_by_path() {
    let server = TestServer::new();
    let all = template::all(&document(&server).await);
    let (mut compared, mut routes) = (0, BTreeSet::new());
    for template in &all {
        let Some(by_path) = by_path(template, &all) else { continue };
        let is_read = matches!(&*template.method, "GET" | "HEAD");
        let mut answers = Vec::new();
        for (n, way) in [&by_path, template].into_iter().enumerate() {
            // Each way with its own resource, which may be changed or removed.
            let path = if is_read { format!("/r{compared}") } else { format!("/w{compared}-{n}") };
            if n == 0 || !is_read {
                server.put(&path, "content").await.expect(201);
            }
            let found = server.request("GET", &format!("/v1/stat?path={path}")).send().await;
            let answer = send(&server, way, (&path, &found.expect(200)["id"])).await;
            // An error contains the requested path or id.
            let shown = is_read && answer.status.is_success();
            let media_type = answer.header("content-type").to_owned();
            answers.push((answer.status, media_type, shown.then_some(answer.body)));
        }
        assert_eq!(answers[0], answers[1], "{template:?}");
        compared += 1;
        routes.insert(format!("{} {}", template.method, template.path.replace(PATH, "")));
    }
    assert!(compared >= 60, "{compared}");
    for route in [
        "GET /v1/fs",
        "PUT /v1/fs",
        "PATCH /v1/fs",
        "DELETE /v1/fs",
        "GET /v1/list",
        "PUT /v1/graph",
    ] {
        assert!(routes.contains(route), "{route} was not compared: {routes:#?}");
    }
}

#[tokio::test]
async fn new_resources_are_named_by_path_or_by_collection_id_and_name() {
    let server = TestServer::new();
    let post = async |route: &str, body: Value| server.post(route, body).await;
    let made = post("/v1/create", json!({"path": "/c", "kind": "collection"})).await.expect(201);
    let id = &made["id"];
    post("/v1/move", json!({"from": {"path": "/c"}, "to": "/d"})).await.expect(200);
    let new = |name: &str| json!({"parent": id, "name": name, "kind": "collection"});
    assert_eq!(post("/v1/create", new("in")).await.expect(201)["path"], "/d/in");
    server.put("/a", "bytes").await.expect(201);
    let copy = json!({"from": {"path": "/a"}, "to": {"parent": id, "name": "copy"}});
    assert_eq!(post("/v1/copy", copy).await.expect(200)["path"], "/d/copy");
    let moved = json!({"from": {"path": "/a"}, "to": {"parent": id, "name": "a b"}});
    assert_eq!(post("/v1/move", moved).await.expect(200)["path"], "/d/a b");
    post("/v1/create", new("in")).await.problem(409, "exists");
    post("/v1/create", json!({"parent": 9_999_999, "name": "x", "kind": "collection"}))
        .await
        .problem(404, "not-found");
    for wrong in ["", ".", "a/b"] {
        post("/v1/create", new(wrong)).await.problem(400, "invalid");
    }
    for wrong in [
        json!({"kind": "collection"}),
        json!({"parent": id, "kind": "collection"}),
        json!({"name": "x", "kind": "collection"}),
        json!({"path": "/x", "name": "x", "kind": "collection"}),
    ] {
        post("/v1/create", wrong).await.problem(400, "invalid");
    }
    for wrong in [json!({"parent": id}), json!({"name": "x"}), json!(7)] {
        let body = json!({"from": {"path": "/d/in"}, "to": wrong});
        assert!(post("/v1/move", body).await.status.is_client_error());
    }
}
