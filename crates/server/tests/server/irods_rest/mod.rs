//! The older interface of iRODS, as rirods 0.1.2 uses it.

mod admin;
mod refusals;
mod replicas;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::support::{ADMIN, Answer, TestServer, USER, basic};

const HOME: &str = "/tempZone/home/ada";

struct Rest {
    server: TestServer,
    token: String,
}

impl Rest {
    async fn new() -> Self {
        Self::log_in(TestServer::new(), ADMIN).await
    }

    async fn log_in(server: TestServer, who: (&str, &str)) -> Self {
        let request = server.request_as(None, "POST", "/irods-rest/0.9.3/auth");
        let answer = request.header("authorization", &basic(who)).send().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        Self { token: String::from_utf8(answer.body.to_vec()).unwrap(), server }
    }

    async fn send(&self, method: &str, what: &str, query: &[(&str, &str)], body: &str) -> Answer {
        let pair = |(name, value): &(&str, &str)| {
            format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC))
        };
        let query = query.iter().map(pair).collect::<Vec<_>>().join("&");
        let request =
            self.server.request_as(None, method, &format!("/irods-rest/0.9.3/{what}?{query}"));
        request.header("authorization", &self.token).body(body.to_owned()).send().await
    }

    async fn list(&self, path: &str) -> Value {
        let query = [
            ("logical-path", path),
            ("stat", "1"),
            ("permissions", "1"),
            ("metadata", "1"),
            ("offset", "0"),
            ("limit", "1e+02"),
        ];
        self.send("GET", "list", &query, "").await.expect(200)["_embedded"].clone()
    }

    async fn put(&self, name: &str, offset: &str, truncate: &str, bytes: &str) -> Value {
        let path = format!("{HOME}/{name}");
        let query = [("logical-path", path.as_str()), ("offset", offset), ("truncate", truncate)];
        self.send("PUT", "stream", &query, bytes).await.expect(200)
    }
}

#[track_caller]
fn refused(answer: &Answer, code: i64) {
    assert_eq!(answer.expect(400)["error_code"], code, "{answer:?}");
    assert!(answer.json()["error_message"].is_string());
}

#[tokio::test]
async fn a_wrong_login_is_refused_in_json() {
    let server = TestServer::new();
    let request = server.request_as(None, "POST", "/irods-rest/0.9.3/auth");
    refused(&request.header("authorization", &basic(("ada", "x"))).send().await, -826_000);
    let request = server.request_as(None, "GET", "/irods-rest/0.9.3/list?logical-path=/tempZone");
    refused(&request.header("authorization", "nonsense").send().await, -826_000);
}

#[tokio::test]
async fn a_file_is_uploaded_and_downloaded_in_chunks() {
    let rest = Rest::new().await;
    assert_eq!(rest.put("o", "0", "true", "").await, json!({"code": 0, "message": "Success"}));
    rest.put("o", "0", "false", "hello ").await;
    rest.put("o", "6", "false", "there").await;
    let read = async |path: &str, offset: &str, count: &str| {
        let query = [("logical-path", path), ("offset", offset), ("count", count)];
        rest.send("GET", "stream", &query, "").await
    };
    let path = format!("{HOME}/o");
    assert_eq!(read(&path, "0", "6").await.body, "hello ");
    assert_eq!(read(&path, "6", "1e+06").await.body, "there");
    refused(&read(HOME, "0", "1").await, -130_000);
    refused(&read(&path, "0", "-1").await, -130_000);
}

#[tokio::test]
async fn a_listing_returns_the_requested_details_in_alphabetical_order() {
    let rest = Rest::new().await;
    rest.put("o", "0", "true", "hello").await;
    let operations = json!([{"operation": "add", "attribute": "a", "value": "v", "units": "u"}]);
    let body = json!({
        "entity_name": format!("{HOME}/o"), "entity_type": "data_object", "operations": operations,
    });
    assert_eq!(rest.send("POST", "metadata", &[], &body.to_string()).await.status, 200);
    let entries = rest.list(HOME).await;
    let entry = &entries[0];
    assert_eq!(entry["metadata"], json!([{"attribute": "a", "units": "u", "value": "v"}]));
    assert_eq!(entry["permission_information"], json!({"ada": "own"}));
    let names: Vec<_> = entry["status_information"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["last_write_time", "size"]);
    assert_eq!(entry["status_information"]["size"], 5);
    assert_eq!(rest.list(&format!("{HOME}/o")).await, entries, "an object lists itself");
    let missing = [("logical-path", "/tempZone/none"), ("offset", "0"), ("limit", "1")];
    let missing = rest.send("GET", "list", &missing, "").await;
    refused(&missing, -130_000);
    let message = "Logical path [/tempZone/none] is not accessible.";
    assert_eq!(missing.json()["error_message"], message);
    let query =
        [("query", "select DATA_NAME"), ("limit", "100"), ("offset", "0"), ("type", "general")];
    let found = rest.send("GET", "query", &query, "").await.expect(200);
    assert_eq!((&found["_embedded"], &found["count"]), (&json!([["o"]]), &json!("1")));
}

#[tokio::test]
async fn collections_are_created_and_removed() {
    let rest = Rest::new().await;
    let path = format!("{HOME}/a/b");
    let make = async |parents: &str| {
        let query = [
            ("logical-path", path.as_str()),
            ("collection", "1"),
            ("create-parent-collections", parents),
        ];
        rest.send("POST", "logicalpath", &query, "").await
    };
    refused(&make("0").await, -358_000);
    assert_eq!(make("1").await.status, 200);
    refused(&make("0").await, -809_000);
    let (from, to) = (format!("{HOME}/a"), format!("{HOME}/c"));
    let query = [("src", from.as_str()), ("dst", to.as_str())];
    assert_eq!(rest.send("POST", "logicalpath/rename", &query, "").await.status, 200);
    let remove = async |recursive: &str| {
        let query = [("logical-path", to.as_str()), ("no-trash", "1"), ("recursive", recursive)];
        rest.send("DELETE", "logicalpath", &query, "").await
    };
    refused(&remove("0").await, -402_000);
    assert_eq!(remove("1").await.status, 200);
    assert_eq!(rest.list(HOME).await, json!([]));
}

#[tokio::test]
async fn a_ticket_gives_another_user_access_to_an_object() {
    let rest = Rest::new().await;
    rest.put("o", "0", "true", "hello").await;
    let path = format!("{HOME}/o");
    let query = [("logical-path", path.as_str()), ("type", "read")];
    let made = rest.send("GET", "ticket", &query, "").await.expect(200);
    let ticket = made["headers"]["irods-ticket"][0].as_str().unwrap();
    assert!(made["url"].as_str().unwrap().ends_with("count=5"));
    let grace = Rest::log_in(rest.server.clone(), USER).await;
    let uri = format!("/irods-rest/0.9.3/stream?logical-path={path}&count=5");
    let request = grace.server.request_as(None, "GET", &uri).header("authorization", &grace.token);
    assert_eq!(request.send().await.status, 400);
    let request = grace.server.request_as(None, "GET", &uri).header("authorization", &grace.token);
    assert_eq!(request.header("irods-ticket", ticket).send().await.body, "hello");
}

#[tokio::test]
async fn a_ticket_s_bytes_and_writes_are_counted() {
    let rest = Rest::new().await;
    rest.put("o", "0", "true", "hello").await;
    let path = format!("{HOME}/o");
    let query = [("logical-path", path.as_str()), ("type", "write"), ("write-byte-count", "10")];
    let made = rest.send("GET", "ticket", &query, "").await.expect(200);
    let ticket = made["headers"]["irods-ticket"][0].as_str().unwrap();
    let grace = Rest::log_in(rest.server.clone(), USER).await;
    let put = async |bytes: &'static str| {
        let uri = format!("/irods-rest/0.9.3/stream?logical-path={path}");
        let request =
            grace.server.request_as(None, "PUT", &uri).header("authorization", &grace.token);
        request.header("irods-ticket", ticket).body(bytes).send().await
    };
    refused(&put("more than ten bytes").await, -890_000);
    assert_eq!(put("1234567").await.status, 200);
    refused(&put("1234567").await, -890_000);
    assert_eq!(put("123").await.status, 200);
    refused(&put("1").await, -890_000);
    let read = [("logical-path", path.as_str()), ("offset", "0"), ("count", "10")];
    assert_eq!(rest.send("GET", "stream", &read, "").await.body, "123");
}
