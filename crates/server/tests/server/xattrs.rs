//! Extended attributes over HTTP.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::support::{Answer, TestServer, USER};

fn uri(name: &str) -> String {
    format!("/v1/xattr?path=/a&name={}", utf8_percent_encode(name, NON_ALPHANUMERIC))
}

async fn set(server: &TestServer, name: &str, value: &[u8]) -> Answer {
    server.request("PUT", &uri(name)).body(value.to_vec()).send().await
}

async fn get(server: &TestServer, name: &str) -> Answer {
    server.request("GET", &uri(name)).send().await
}

#[tokio::test]
async fn any_bytes_are_returned_individually_in_the_list_and_in_a_listing() {
    let server = TestServer::new();
    server.put("/a", "content").await.expect(201);
    let all: Vec<u8> = (0..=255).collect();
    let values: [(&str, &[u8]); 5] = [
        ("binary", &all),
        ("empty", b""),
        ("http://purl.org/dc/terms/title", "grün".as_bytes()),
        ("largest", &[0xff; 64 << 10]),
        ("user comment", b"a\0b"),
    ];
    for (name, value) in values {
        set(&server, name, value).await.expect(200);
        let got = get(&server, name).await;
        assert_eq!((got.status.as_u16(), &got.body[..]), (200, value), "{name}");
        assert_eq!(got.header("content-type"), "application/octet-stream");
    }
    let item = |(name, value): &(&str, &[u8])| match std::str::from_utf8(value) {
        Ok(text) => json!({"name": name, "value": text}),
        Err(_) => json!({"name": name, "base64": BASE64_STANDARD.encode(value)}),
    };
    let items: Value = values.iter().map(item).collect();
    let listed = server.request("GET", "/v1/xattrs?path=/a").send().await.expect(200);
    assert_eq!(listed["items"], items);
    let listing = server.request("GET", "/v1/list?path=/&with=xattrs").send().await.expect(200);
    let entry = listing["entries"].as_array().unwrap().iter().find(|entry| entry["name"] == "a");
    assert_eq!(entry.unwrap()["xattrs"], items);
    // They are attributes like any others: text as text, bytes in Base64.
    let meta = server.request("GET", "/v1/meta?path=/a").send().await.expect(200);
    let value = |name: &str| {
        let items = meta["items"].as_array().unwrap();
        items.iter().find(|item| item["attribute"] == name).unwrap()["value"].clone()
    };
    assert_eq!(value("http://purl.org/dc/terms/title"), "grün");
    assert_eq!(value("binary"), BASE64_STANDARD.encode(&all));
    let graph = server.request("GET", "/v1/graph?path=/a").send().await;
    let graph = std::str::from_utf8(&graph.body).unwrap();
    let typed = "\"YQBi\"^^<http://www.w3.org/2001/XMLSchema#base64Binary>";
    assert!(graph.contains(typed), "{graph}");
    // Putting back the graph changes none of them.
    let put =
        server.request("PUT", "/v1/graph?path=/a").header("content-type", "application/n-triples");
    put.body(graph.to_owned()).send().await.expect(200);
    assert_eq!(
        server.request("GET", "/v1/xattrs?path=/a").send().await.expect(200)["items"],
        items
    );
}

#[tokio::test]
async fn conditions_and_invalid_input_get_errors() {
    let server = TestServer::new();
    let tag = server.put("/a", "content").await.expect(201)["description_etag"].clone();
    let put = async |name: &str, header: (&'static str, &str)| {
        server.request("PUT", &uri(name)).header(header.0, header.1).body("v").send().await
    };
    put("x", ("if-match", "*")).await.problem(412, "precondition");
    put("x", ("if-none-match", "*")).await.expect(200);
    put("x", ("if-none-match", "*")).await.problem(412, "precondition");
    put("x", ("if-match", "*")).await.expect(200);
    put("y", ("if-match", tag.as_str().unwrap())).await.problem(412, "precondition");
    let got = get(&server, "x").await;
    put("y", ("if-match", got.header("etag"))).await.expect(200);
    let same = server.request("GET", &uri("x")).header("if-none-match", got.header("etag"));
    assert_eq!(same.send().await.status, 200, "the description changed since");
    set(&server, "x", &[0; (64 << 10) + 1]).await.problem(413, "too-large");
    set(&server, "", b"v").await.problem(400, "invalid");
    set(&server, &"n".repeat(251), b"v").await.problem(400, "invalid");
    get(&server, "none").await.problem(404, "not-found");
    let remove = async |name: &str| server.request("DELETE", &uri(name)).send().await;
    remove("none").await.problem(404, "not-found");
    remove("x").await.expect(200);
    remove("x").await.problem(404, "not-found");
    for name in ["x", "none"] {
        let answer = server.request_as(Some(USER), "GET", &uri(name)).send().await;
        let missing = server.request_as(Some(USER), "GET", "/v1/stat?path=/a").send().await;
        let detail = |answer: &Answer| answer.problem(404, "not-found")["detail"].clone();
        assert_eq!(detail(&answer), detail(&missing));
    }
}
