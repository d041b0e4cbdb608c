//! Malformed and hostile calls: refused in the API's own form, never by a status of 500 or above, and nothing is changed.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::{Platform, content_md5, refusal};
use crate::support::Answer;

async fn plain(platform: &Platform, bearer: Option<&str>, kind: &str, body: &str) -> Answer {
    let mut request = platform.server.request_as(None, "POST", "/system/whoami");
    if let Some(bearer) = bearer {
        request = request.header("authorization", bearer);
    }
    request.header("content-type", kind).body(body.to_owned()).send().await
}

#[tokio::test]
async fn without_a_token_every_call_is_refused_alike() {
    let platform = Platform::new();
    for bearer in [None, Some("Bearer cn_wrong"), Some("Basic YWRhOng="), Some("Bearer"), Some("")]
    {
        refusal(&plain(&platform, bearer, "application/json", "{}").await, "InvalidAuthentication");
    }
    for uri in ["/file-000000000000000000000000/describe", "/project/new", "/system/none"] {
        let request = platform.server.request_as(None, "POST", uri).json(&json!({}));
        refusal(&request.send().await, "InvalidAuthentication");
    }
    for (method, uri) in [
        ("PUT", "/dnanexus/parts/file-000000000000000000000000/1"),
        ("GET", "/dnanexus/files/file-000000000000000000000000/f"),
    ] {
        let answer = platform.server.request_as(None, method, uri).send().await;
        refusal(&answer, "InvalidAuthentication");
    }
}

#[tokio::test]
async fn the_input_is_json_or_nothing() {
    let platform = Platform::new();
    let ada = platform.ada();
    let bearer = Some(ada.bearer.as_str());
    for (kind, body, status) in [
        ("application/json", "{}", 200),
        ("application/json; charset=utf-8", "{}", 200),
        ("application/json", "", 200),
        ("application/json", "{", 400),
        ("application/json", "{} {}", 400),
        ("text/plain", "{}", 400),
        ("application/x-www-form-urlencoded", "a=b", 400),
    ] {
        let answer = plain(&platform, bearer, kind, body).await;
        assert_eq!(answer.status, status, "{kind} {body}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("content-type"), "application/json");
        if status == 400 {
            refusal(&answer, "MalformedJSON");
        }
    }
}

#[tokio::test]
async fn unsupported_methods_are_explained_in_a_sentence() {
    let platform = Platform::new();
    let ada = platform.ada();
    for (resource, method) in [
        ("applet", "new"),
        ("applet-000000000000000000000000", "run"),
        ("job-000000000000000000000000", "describe"),
        ("system", "none"),
        ("project", "none"),
        ("file-short", "describe"),
        ("file-000000000000000000000000", "describe"),
    ] {
        ada.refused(resource, method, json!({}), "ResourceNotFound").await;
    }
    for uri in ["/v1/none", "/nothing/here", "/irods-rest/x"] {
        let answer = platform.server.request("POST", uri).json(&json!({})).send().await;
        assert_eq!(answer.status, 404, "{uri}: other paths are not this opening's");
        assert_eq!(answer.header("content-type"), "application/problem+json");
    }
    let answer = platform.server.request("GET", "/system/whoami").send().await;
    refusal(&answer, "ResourceNotFound");
}

#[tokio::test]
async fn a_page_of_another_site_calls_nothing() {
    let platform = Platform::new();
    let ada = platform.ada();
    let request = platform
        .server
        .request_as(None, "POST", "/project/new")
        .header("authorization", &ada.bearer);
    let request = request.header("sec-fetch-site", "cross-site").json(&json!({ "name": "p" }));
    refusal(&request.send().await, "PermissionDenied");
}

/// One platform for all calls: the results of earlier ones are part of the test.
static PLATFORM: LazyLock<(Runtime, Platform, Vec<String>)> = LazyLock::new(|| {
    let runtime = Runtime::new().unwrap();
    let platform = Platform::new();
    let ids = runtime.block_on(async {
        let ada = platform.ada();
        let project = ada.project("p").await;
        let other = ada.project("q").await;
        let closed = ada.file(&project, "/d", "f", b"bytes").await;
        let open = ada.id("file", "new", json!({ "project": project })).await;
        let record = ada.id("record", "new", json!({ "project": project })).await;
        vec![project, other, closed, open, record]
    });
    (runtime, platform, ids)
});

const METHODS: [&str; 41] = [
    "describe",
    "listFolder",
    "newFolder",
    "renameFolder",
    "removeFolder",
    "move",
    "clone",
    "removeObjects",
    "update",
    "invite",
    "decreasePermissions",
    "leave",
    "addTags",
    "removeTags",
    "setProperties",
    "rename",
    "setDetails",
    "getDetails",
    "setVisibility",
    "addTypes",
    "removeTypes",
    "listProjects",
    "close",
    "upload",
    "download",
    "new",
    "findDataObjects",
    "findProjects",
    "resolveDataObjects",
    "describeDataObjects",
    "headers",
    "comeBackLater",
    "greet",
    "whoami",
    "getUserInfo",
    "findApps",
    "transfer",
    "archive",
    "unarchive",
    "findFolder",
    "none",
];

const KEYS: [&str; 37] = [
    "project",
    "folder",
    "name",
    "objects",
    "folders",
    "destination",
    "describe",
    "fields",
    "limit",
    "starting",
    "scope",
    "class",
    "state",
    "visibility",
    "tags",
    "properties",
    "type",
    "link",
    "id",
    "created",
    "modified",
    "level",
    "index",
    "size",
    "md5",
    "duration",
    "preauthenticated",
    "filename",
    "details",
    "types",
    "nonce",
    "invitee",
    "sortBy",
    "field",
    "ordering",
    "newpath",
    "recurse",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1..20_i64).prop_map(Value::from),
        "(/|/d|//d/|d|\\.\\.|f|VIEW|file|record|any|\\$ID[0-4]|user-ada|\\PC{0,3}){1,2}"
            .prop_map(Value::from),
        (0..5_usize).prop_map(|n| json!(format!("$ID{n}"))),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        let key = prop_oneof![
            proptest::sample::select(KEYS.to_vec()),
            proptest::sample::select(vec![
                "after",
                "before",
                "glob",
                "regexp",
                "$and",
                "$or",
                "k",
                "$dnanexus_link"
            ]),
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..3).prop_map(|members| Value::Object(
                members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
            )),
        ]
    })
}

fn call() -> impl Strategy<Value = (String, &'static str, Value)> {
    let resource = proptest::sample::select(vec![
        "system", "project", "file", "record", "$ID0", "$ID1", "$ID2", "$ID3", "$ID4", "user-ada",
        "applet",
    ]);
    let input = proptest::collection::vec((proptest::sample::select(KEYS.to_vec()), value()), 0..6);
    let input = input.prop_map(|members| {
        Value::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
    });
    let input = prop_oneof![8 => input, 1 => value()];
    (resource.prop_map(str::to_owned), proptest::sample::select(METHODS.to_vec()), input)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_call_makes_the_server_fail(calls in proptest::collection::vec(call(), 1..5)) {
        let (runtime, platform, ids) = &*PLATFORM;
        runtime.block_on(async {
            let ada = platform.ada();
            for (resource, method, input) in calls {
                let put = |text: String| ids.iter().enumerate().fold(text, |text, (n, id)| text.replace(&format!("$ID{n}"), id));
                let (resource, input) = (put(resource), serde_json::from_str(&put(input.to_string())).unwrap());
                let answer = ada.try_call(&resource, method, &input).await;
                let waits = method == "comeBackLater" && answer.status == 503;
                assert!(!answer.status.is_server_error() || waits, "{resource} {method} {input}: {answer:?}");
                if !answer.status.is_success() {
                    let error = answer.json();
                    assert!(error["error"]["type"].is_string() && error["error"]["message"].is_string(), "{error}");
                }
            }
        });
    }
}

#[tokio::test]
async fn a_missing_route_is_reported_in_the_format_of_the_client() {
    let platform = Platform::new();
    let ada = platform.ada();
    let request = |version: bool| {
        let request = platform.server.request_as(None, "POST", "/None/describe");
        let request = request.header("authorization", &ada.bearer).json(&json!({}));
        if version { request.header("dnanexus-api", "1.0.0") } else { request }
    };
    refusal(&request(true).send().await, "ResourceNotFound");
    request(false).send().await.problem(404, "no-route");
    ada.refused("project-%D1%8D", "describe", json!({}), "ResourceNotFound").await;
    let project = ada.project("p").await;
    let types = json!({ "project": project, "types": ["ΨΨ"] });
    let message = ada.refused("record", "new", types, "InvalidInput").await;
    assert!(message.contains("be an array of valid strings for a type name"), "{message}");
}

#[tokio::test]
async fn input_that_is_too_long_or_too_deep_is_refused() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    let file = ada.file(&project, "/", "f", b"").await;
    let many = |one: Value| vec![one; 1_001];
    for (resource, method, input) in [
        ("system", "findDataObjects", json!({ "id": many(json!(file)) })),
        ("system", "describeDataObjects", json!({ "objects": many(json!(file)) })),
        (
            "system",
            "resolveDataObjects",
            json!({ "objects": many(json!({ "name": "f" })), "project": project }),
        ),
        ("system", "findDataObjects", json!({ "limit": u64::MAX })),
        ("system", "findDataObjects", json!({ "limit": 1e300 })),
        ("system", "findDataObjects", json!({ "name": { "regexp": "(a{1000}){1000}" } })),
        ("system", "findDataObjects", json!({ "created": { "after": "yesterday" } })),
        (&file, "download", json!({ "duration": u64::MAX })),
        (&file, "upload", json!({ "index": u64::MAX })),
        (&file, "rename", json!({ "project": project, "name": "x".repeat(100_000) })),
        (&project, "newFolder", json!({ "folder": "/a".repeat(6_000) })),
        (&project, "listFolder", json!({ "folder": ["/"] })),
        (&project, "move", json!({ "objects": { "0": file }, "destination": "/" })),
        ("record", "new", json!({ "project": project, "tags": vec!["x".repeat(300)] })),
    ] {
        ada.refused(resource, method, input, "InvalidInput").await;
    }
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    refusal(&plain(&platform, Some(&ada.bearer), "application/json", &deep).await, "MalformedJSON");
    // Many ids are not an error: unknown ones are omitted.
    let ids: Vec<_> = (0..1_000).map(|n| format!("file-{n:024}")).collect();
    let found = ada.call("system", "findDataObjects", json!({ "id": ids })).await;
    assert_eq!(found["results"], json!([]));
    let input = json!({ "project": project, "objects": ids, "force": true });
    ada.call(&project, "removeObjects", input).await;
    assert_eq!(ada.names(&project, "/").await, ["f"]);
}

/// Requests for bytes: an address, headers, a body.
fn transfer() -> impl Strategy<Value = (bool, String, Vec<(&'static str, String)>, Vec<u8>)> {
    let address = "/dnanexus/(parts|files|shared)/(\\$ID[2-4]|file-[0-9]{24}|[a-z]{0,3})/([0-9]{1,3}|-1|x|184467440737095516160)(/f)?(\\?size=(-?[0-9]{1,21}|x)?)?";
    let header = prop_oneof![
        "bytes=[0-9]{0,21}-[0-9]{0,21}".prop_map(|range| ("range", range)),
        "[ -~]{0,20}".prop_map(|range| ("range", range)),
        "[A-Za-z0-9+/]{0,24}={0,2}".prop_map(|md5| ("content-md5", md5)),
        Just(("content-md5", content_md5(b"abc"))),
        "[0-9]{1,21}".prop_map(|length| ("content-length", length)),
    ];
    let headers = proptest::collection::vec(header, 0..3);
    (any::<bool>(), address, headers, proptest::collection::vec(any::<u8>(), 0..8))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_transfer_makes_the_server_fail((puts, address, headers, body) in transfer()) {
        let (runtime, platform, ids) = &*PLATFORM;
        runtime.block_on(async {
            let ada = platform.ada();
            let uri = ids.iter().enumerate().fold(address, |uri, (n, id)| uri.replace(&format!("$ID{n}"), id));
            let request = platform.server.request_as(None, if puts { "PUT" } else { "GET" }, &uri);
            let request = request.header("authorization", &ada.bearer);
            let request = headers.iter().fold(request, |request, (name, value)| request.header(name, value));
            let answer = request.body(bytes::Bytes::from(body)).send().await;
            assert!(!answer.status.is_server_error(), "{uri} {headers:?}: {answer:?}");
        });
    }
}
