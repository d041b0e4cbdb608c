//! The iRODS opening as its clients use it: what the real clients' own suites check.

use axum::http::StatusCode;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::support::{ADMIN, Answer, TestServer, USER, basic};

const BASE: &str = "/irods-http-api/0.7.0";

/// A logged-in client.
struct Irods {
    server: TestServer,
    token: String,
    home: String,
}

impl Irods {
    async fn new() -> Self {
        Self::log_in(TestServer::new(), ADMIN).await
    }

    async fn log_in(server: TestServer, who: (&str, &str)) -> Self {
        let answer = authenticate(&server, Some(&basic(who))).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let token = String::from_utf8(answer.body.to_vec()).unwrap();
        Self { server, token, home: format!("/tempZone/home/{}", who.0) }
    }

    /// Another user of the same server.
    async fn other(&self, who: (&str, &str)) -> Self {
        Self::log_in(self.server.clone(), who).await
    }

    async fn get(&self, endpoint: &str, parameters: &[(&str, &str)]) -> Answer {
        let uri = format!("{BASE}/{endpoint}?{}", encode(parameters));
        let ask = self.server.ask_as(None, "GET", &uri);
        ask.header("authorization", &format!("Bearer {}", self.token)).send().await
    }

    async fn post(&self, endpoint: &str, parameters: &[(&str, &str)]) -> Answer {
        let ask = self.server.ask_as(None, "POST", &format!("{BASE}/{endpoint}"));
        ask.header("authorization", &format!("Bearer {}", self.token))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(encode(parameters))
            .send()
            .await
    }

    /// Posts parts; `name=bytes` pairs, in this order, with unquoted names.
    async fn parts(&self, parts: &[(&str, &[u8])]) -> Answer {
        let mut body = Vec::new();
        for (name, value) in parts {
            let head = format!("----x-\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(value);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"----x---\r\n\r\n");
        let ask = self.server.ask_as(None, "POST", &format!("{BASE}/data-objects"));
        ask.header("authorization", &format!("Bearer {}", self.token))
            .header("content-type", "multipart/form-data; boundary=--x-")
            .body(body)
            .send()
            .await
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.home)
    }

    async fn write(&self, name: &str, bytes: &str) {
        let path = self.path(name);
        let form = [("op", "write"), ("lpath", path.as_str()), ("bytes", bytes)];
        assert_eq!(code(&self.post("data-objects", &form).await), 0);
    }

    async fn read(&self, name: &str) -> String {
        let path = self.path(name);
        let answer = self.get("data-objects", &[("op", "read"), ("lpath", &path)]).await;
        assert_eq!(answer.status, 200);
        String::from_utf8(answer.body.to_vec()).unwrap()
    }

    async fn stat(&self, endpoint: &str, path: &str) -> Value {
        self.get(endpoint, &[("op", "stat"), ("lpath", path)]).await.expect(200)
    }

    async fn list(&self, path: &str, recurse: &str) -> Value {
        let query = [("op", "list"), ("lpath", path), ("recurse", recurse)];
        self.get("collections", &query).await.expect(200)["entries"].clone()
    }

    async fn mkdir(&self, name: &str) -> Value {
        let path = self.path(name);
        self.post("collections", &[("op", "create"), ("lpath", &path)]).await.expect(200)
    }

    async fn rows(&self, query: &str) -> Value {
        let query = [("op", "execute_genquery"), ("query", query)];
        self.get("query", &query).await.expect(200)["rows"].clone()
    }
}

async fn authenticate(server: &TestServer, authorization: Option<&str>) -> Answer {
    let ask = server.ask_as(None, "POST", &format!("{BASE}/authenticate"));
    match authorization {
        Some(value) => ask.header("authorization", value).send().await,
        None => ask.send().await,
    }
}

fn encode(parameters: &[(&str, &str)]) -> String {
    let pair = |(name, value): &(&str, &str)| {
        format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC))
    };
    parameters.iter().map(pair).collect::<Vec<_>>().join("&")
}

fn code(answer: &Answer) -> i64 {
    answer.json()["irods_response"]["status_code"].as_i64().unwrap()
}

#[tokio::test]
async fn a_login_is_a_token_and_what_is_wrong_with_one_has_its_status() {
    let server = TestServer::new();
    for (shown, status) in [
        (None, 400),
        (Some("Bearer x".to_owned()), 400),
        (Some(basic(("ada", "wrong"))), 401),
        (Some(basic((&"x".repeat(200), "wrong"))), 401),
        (Some(basic(("", ""))), 401),
        (Some(basic(("anonymous", ""))), 200),
        (Some(basic(ADMIN)), 200),
    ] {
        let answer = authenticate(&server, shown.as_deref()).await;
        assert_eq!(answer.status, status, "{shown:?}");
    }
    for method in ["GET", "HEAD", "PUT", "DELETE", "PATCH"] {
        let answer = server.ask_as(None, method, &format!("{BASE}/authenticate")).send().await;
        assert_eq!(answer.status, 405, "{method}");
    }
}

#[tokio::test]
async fn requests_are_checked_in_the_order_of_the_c_server() {
    let irods = Irods::new().await;
    let ask = async |method: &str, uri: &str, token: Option<&str>| {
        let ask = irods.server.ask_as(None, method, &format!("{BASE}/{uri}"));
        let ask = match token {
            Some(token) => ask.header("authorization", token),
            None => ask,
        };
        ask.send().await.status
    };
    assert_eq!(ask("GET", "nowhere", None).await, 404);
    assert_eq!(ask("DELETE", "collections", None).await, 405);
    assert_eq!(ask("GET", "collections", None).await, 400);
    assert_eq!(ask("GET", "collections?op=dance", None).await, 400);
    assert_eq!(ask("GET", "collections?op=list", None).await, 400);
    assert_eq!(ask("GET", "collections?op=list", Some("Basic x")).await, 400);
    assert_eq!(ask("GET", "collections?op=list", Some("Bearer x")).await, 401);
    assert_eq!(ask("GET", "tickets?op=list", Some("Bearer x")).await, StatusCode::NOT_IMPLEMENTED);
    assert_eq!(irods.get("collections", &[("op", "list")]).await.status, 400);
}

#[tokio::test]
async fn info_tells_what_clients_read() {
    let irods = Irods::new().await;
    let info = irods.server.ask_as(None, "GET", &format!("{BASE}/info")).send().await.expect(200);
    assert_eq!(info["irods_zone"], "tempZone");
    assert!(info.get("irods_server_version").is_none());
    for key in [
        "max_number_of_parallel_write_streams",
        "max_number_of_rows_per_catalog_query",
        "max_number_of_streams_per_parallel_write_handle",
        "max_size_of_request_body_in_bytes",
    ] {
        assert!(info[key].is_u64(), "{key}");
    }
    assert!(irods.get("info", &[]).await.expect(200)["irods_server_version"].is_string());
}

#[tokio::test]
async fn collections_come_and_go() {
    let irods = Irods::new().await;
    let answer = irods.mkdir("a").await;
    assert_eq!(answer.to_string(), r#"{"created":true,"irods_response":{"status_code":0}}"#);
    assert_eq!(irods.mkdir("a").await["created"], false);
    let missing = irods.mkdir("x/y").await;
    assert_eq!(missing["irods_response"]["status_code"], -358_000);
    let message = &missing["irods_response"]["status_message"];
    assert_eq!(message, "path does not exist: OBJ_PATH_DOES_NOT_EXIST");
    let deep = irods.path("x/y");
    let form = [("op", "create"), ("lpath", deep.as_str()), ("create-intermediates", "1")];
    assert_eq!(code(&irods.post("collections", &form).await), 0);
    irods.write("a/o", "x").await;
    assert_eq!(irods.mkdir("a/o").await["irods_response"]["status_code"], -809_000);
    let of = |names: &[&str]| names.iter().map(|name| irods.path(name)).collect::<Vec<_>>();
    assert_eq!(irods.list(&irods.home, "1").await, json!(of(&["a", "a/o", "x", "x/y"])));
    assert_eq!(irods.list(&irods.home, "0").await, json!(of(&["a", "x"])));
    assert_eq!(irods.list(&deep, "1").await, Value::Null);
    let remove = async |name: &str, recurse: &str| {
        let path = irods.path(name);
        let form =
            [("op", "remove"), ("lpath", path.as_str()), ("recurse", recurse), ("no-trash", "1")];
        irods.post("collections", &form).await
    };
    assert_eq!(code(&remove("x", "0").await), -79_000);
    assert_eq!(code(&remove("x", "1").await), 0);
    let object = remove("a/o", "1").await;
    assert_eq!((object.status.as_u16(), code(&object)), (400, -170_000));
    assert_eq!(irods.list(&irods.home, "0").await, json!(of(&["a"])));
}

#[tokio::test]
async fn a_stat_says_all_or_only_the_code() {
    let irods = Irods::new().await;
    irods.write("o", "hello").await;
    let path = irods.path("o");
    let stat = irods.stat("data-objects", &path).await;
    assert_eq!((&stat["type"], &stat["size"]), (&json!("data_object"), &json!(5)));
    assert_eq!(stat["registered"], true);
    assert_eq!(stat["checksum"], "sha2:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=");
    assert!(stat["modified_at"].is_i64());
    let owner = json!([{"name": "ada", "perm": "own", "type": "rodsadmin", "zone": "tempZone"}]);
    assert_eq!(stat["permissions"], owner);
    let stat = irods.stat("collections", &irods.home).await;
    assert_eq!(
        (&stat["type"], &stat["inheritance_enabled"]),
        (&json!("collection"), &json!(false))
    );
    for (endpoint, path, expected) in [
        ("data-objects", irods.home.clone(), -171_000),
        ("data-objects", irods.path("none"), -171_000),
        ("collections", path, -170_000),
        ("collections", "/other/home".to_owned(), -170_000),
        ("collections", "relative".to_owned(), -170_000),
    ] {
        let only = json!({"irods_response": {"status_code": expected}});
        assert_eq!(irods.stat(endpoint, &path).await, only, "{path}");
    }
    let relative = irods.get("collections", &[("op", "list"), ("lpath", "x")]).await;
    assert_eq!((relative.status.as_u16(), code(&relative)), (400, -170_000));
}

#[tokio::test]
async fn bytes_come_back_in_parts_and_numbers_may_be_r_s() {
    let irods = Irods::new().await;
    irods.write("o", "0123456789").await;
    let path = irods.path("o");
    let read = async |offset: &str, count: &str| {
        let query =
            [("op", "read"), ("lpath", path.as_str()), ("offset", offset), ("count", count)];
        irods.get("data-objects", &query).await
    };
    assert_eq!(read("2", "3").await.body, "234");
    assert_eq!(read("0e+00", "1e+01").await.body, "0123456789");
    assert_eq!(read("8", "100").await.body, "89");
    assert_eq!(read("100", "1").await.body, "");
    for (offset, count) in [("-1", "1"), ("0", "-1"), ("x", "1"), ("0.5", "1")] {
        assert_eq!(read(offset, count).await.status, 400, "{offset} {count}");
    }
    for path in [irods.path("none"), irods.home.clone(), "/x".into()] {
        let answer = irods.get("data-objects", &[("op", "read"), ("lpath", &path)]).await;
        assert_eq!((answer.status.as_u16(), answer.body.len()), (404, 0), "{path}");
    }
}

#[tokio::test]
async fn a_write_replaces_unless_it_says_otherwise() {
    let irods = Irods::new().await;
    let path = irods.path("o");
    let write = async |bytes: &str, more: &[(&str, &str)]| {
        let mut form = vec![("op", "write"), ("lpath", path.as_str()), ("bytes", bytes)];
        form.extend_from_slice(more);
        irods.post("data-objects", &form).await
    };
    assert_eq!(code(&write("hello", &[]).await), 0);
    assert_eq!(code(&write("HE", &[("truncate", "0")]).await), 0);
    assert_eq!(irods.read("o").await, "HEllo");
    assert_eq!(code(&write("!", &[("append", "1")]).await), 0);
    assert_eq!(irods.read("o").await, "HEllo!");
    assert_eq!(code(&write("LL", &[("offset", "2"), ("truncate", "0")]).await), 0);
    assert_eq!(irods.read("o").await, "HELLo!");
    assert_eq!(code(&write("x", &[("offset", "2")]).await), 0);
    assert_eq!(irods.read("o").await, "\0\0x");
    assert_eq!(code(&write("", &[]).await), 0);
    assert_eq!(irods.read("o").await, "");
    assert_eq!(code(&write("x", &[("replica-number", "1")]).await), -164_000);
    assert_eq!(code(&write("x", &[("resource", "elsewhere")]).await), -78_000);
    assert_eq!(write("x", &[("replica-number", "x")]).await.status, 400);
    assert_eq!(write("x", &[("offset", "-1")]).await.status, 400);
    let none = irods.post("data-objects", &[("op", "write"), ("lpath", &path)]).await;
    assert_eq!(none.status, 400);
    let nowhere = irods.path("none/o");
    let form = [("op", "write"), ("lpath", nowhere.as_str()), ("bytes", "x")];
    assert_eq!(code(&irods.post("data-objects", &form).await), -818_000);
}

#[tokio::test]
async fn parts_may_come_in_any_order_and_hold_anything() {
    let irods = Irods::new().await;
    let path = irods.path("o");
    let bytes = b"a\r\n--x\r\n\0+%=&";
    let answer = irods
        .parts(&[("bytes", bytes), ("offset", b"0"), ("lpath", path.as_bytes()), ("op", b"write")])
        .await;
    assert_eq!(code(&answer), 0);
    assert_eq!(irods.read("o").await.as_bytes(), bytes);
    let large = vec![7; 300_000];
    let parts: [(&str, &[u8]); 3] =
        [("op", b"write"), ("lpath", path.as_bytes()), ("bytes", &large)];
    assert_eq!(code(&irods.parts(&parts).await), 0);
    assert_eq!(irods.stat("data-objects", &path).await["size"], 300_000);
    assert_eq!(irods.parts(&[("lpath", path.as_bytes())]).await.status, 400);
}

#[tokio::test]
async fn a_write_may_carry_its_parameters_in_headers() {
    let irods = Irods::new().await;
    let path = irods.path("o");
    let ask = irods.server.ask_as(None, "POST", &format!("{BASE}/data-objects"));
    let ask = ask
        .header("authorization", &format!("Bearer {}", irods.token))
        .header("irods-api-request-op", "write")
        .header("irods-api-request-lpath", &path)
        .header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(code(&ask.body("op=read&x=+").send().await), 0);
    assert_eq!(irods.read("o").await, "op=read&x=+");
}

#[tokio::test]
async fn a_parallel_write_is_seen_when_it_is_shut_down() {
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
    assert_eq!(irods.read("o").await, "abcdefghi");
}

#[tokio::test]
async fn what_is_removed_waits_in_the_trash_unless_it_must_not() {
    let irods = Irods::new().await;
    let remove = async |name: &str, no_trash: &str| {
        let path = irods.path(name);
        let form = [
            ("op", "remove"),
            ("lpath", path.as_str()),
            ("catalog-only", "0"),
            ("no-trash", no_trash),
        ];
        irods.post("data-objects", &form).await
    };
    for _ in 0..2 {
        irods.write("o", "x").await;
        assert_eq!(code(&remove("o", "0").await), 0);
    }
    let trash = "/tempZone/trash/home/ada";
    let kept = irods.list(trash, "1").await;
    assert_eq!(kept.as_array().unwrap().len(), 2);
    assert_eq!(kept[0], format!("{trash}/o"));
    irods.write("o", "x").await;
    assert_eq!(code(&remove("o", "1").await), 0);
    assert_eq!(code(&remove("o", "1").await), -358_000);
    assert_eq!(irods.list(trash, "1").await.as_array().unwrap().len(), 2);
    let path = irods.path("o");
    let form = [("op", "remove"), ("lpath", path.as_str())];
    assert_eq!(irods.post("data-objects", &form).await.status, 400);
    assert_eq!(irods.post("data-objects", &[("op", "remove")]).await.status, 400);
}

#[tokio::test]
async fn things_are_renamed_and_copied_with_the_codes_of_irods() {
    let irods = Irods::new().await;
    irods.mkdir("c").await;
    irods.write("o", "x").await;
    let rename = async |endpoint: &str, from: &str, to: &str| {
        let (from, to) = (irods.path(from), irods.path(to));
        let form = [("op", "rename"), ("old-lpath", from.as_str()), ("new-lpath", to.as_str())];
        irods.post(endpoint, &form).await
    };
    assert_eq!(code(&rename("data-objects", "o", "c/p").await), 0);
    assert_eq!(code(&rename("collections", "c", "d").await), 0);
    assert_eq!(irods.read("d/p").await, "x");
    let wrong = rename("data-objects", "d", "e").await;
    assert_eq!((wrong.status.as_u16(), code(&wrong)), (400, -171_000));
    irods.write("o", "y").await;
    let taken = rename("data-objects", "o", "d/p").await;
    assert_eq!((taken.status.as_u16(), code(&taken)), (200, -809_000));
    irods.mkdir("c").await;
    assert_eq!(rename("collections", "c", "d").await.status, 400);
    let copy = async |from: &str, to: &str, overwrite: &str| {
        let (from, to) = (irods.path(from), irods.path(to));
        let form = [
            ("op", "copy"),
            ("src-lpath", from.as_str()),
            ("dst-lpath", to.as_str()),
            ("overwrite", overwrite),
        ];
        code(&irods.post("data-objects", &form).await)
    };
    assert_eq!(copy("o", "p", "0").await, 0);
    assert_eq!(copy("d/p", "p", "0").await, -312_000);
    assert_eq!(copy("d/p", "p", "1").await, 0);
    assert_eq!(irods.read("p").await, "x");
    assert_eq!(copy("o", "c", "1").await, -833_000);
    assert_eq!(copy("c", "q", "0").await, -171_000);
}

#[tokio::test]
async fn attributes_change_together_and_are_found() {
    let irods = Irods::new().await;
    irods.write("o", "x").await;
    let path = irods.path("o");
    let modify = async |operations: Value| {
        let operations = operations.to_string();
        let form = [
            ("op", "modify_metadata"),
            ("lpath", path.as_str()),
            ("operations", operations.as_str()),
        ];
        irods.post("data-objects", &form).await
    };
    let add = |name: &str, value: &str| json!({"operation": "add", "attribute": name, "value": value, "units": "u"});
    let done = modify(json!([add("a", "c+d"), add("b", "2")])).await.expect(200);
    assert_eq!(done, json!({"irods_response": {"failed_operation": {}, "status_code": 0}}));
    let failed = modify(json!([add("c", "1"), {"operation": "dance"}])).await;
    assert_eq!(failed.status, 400);
    assert_eq!(failed.json()["irods_response"]["failed_operation"]["operation_index"], 1);
    assert_eq!(modify(json!({"not": "a list"})).await.status, 400);
    let columns = "select META_DATA_ATTR_NAME, META_DATA_ATTR_VALUE, META_DATA_ATTR_UNITS";
    let shown = irods
        .rows(&format!("{columns} where COLL_NAME = '{}' and DATA_NAME = 'o'", irods.home))
        .await;
    assert_eq!(shown, json!([["a", "c+d", "u"], ["b", "2", "u"]]));
    let both = "select DATA_NAME where META_DATA_ATTR_NAME = 'a' and META_DATA_ATTR_VALUE = 'c+d'
        and META_DATA_ATTR_NAME = 'b' and META_DATA_ATTR_VALUE n> '1'";
    assert_eq!(irods.rows(both).await, json!([["o"]]));
    assert_eq!(irods.rows(&both.replace("n> '1'", "n> '2'")).await, json!([]));
}

#[tokio::test]
async fn a_query_is_answered_in_text_sorted_and_once() {
    let irods = Irods::new().await;
    for name in ["b", "a", "c"] {
        irods.write(name, name).await;
    }
    irods.mkdir("d").await;
    irods.write("d/a", "12").await;
    let home = &irods.home;
    let names = irods.rows(&format!("select DATA_NAME where COLL_NAME like '{home}%'")).await;
    assert_eq!(names, json!([["a"], ["b"], ["c"]]));
    let sizes = format!("select sum(DATA_SIZE), count(DATA_ID) where COLL_NAME like '{home}%'");
    assert_eq!(irods.rows(&sizes).await, json!([["5", "4"]]));
    let collections =
        irods.rows(&format!("select COLL_NAME where COLL_PARENT_NAME = '{home}'")).await;
    assert_eq!(collections, json!([[irods.path("d")]]));
    assert_eq!(irods.rows("select max(RULE_EXEC_ID)").await, json!([[""]]));
    assert_eq!(irods.rows("select RESC_NAME").await, json!([["demoResc"]]));
    assert_eq!(irods.rows("select COLL_NAME where COLL_NAME = '/x'").await, json!([]));
    let page = [
        ("op", "execute_genquery"),
        ("query", "select DATA_NAME"),
        ("offset", "1"),
        ("count", "1"),
    ];
    assert_eq!(irods.get("query", &page).await.expect(200)["rows"], json!([["b"]]));
    let all = [("op", "execute_genquery"), ("query", "select DATA_NAME"), ("distinct", "0")];
    assert_eq!(irods.get("query", &all).await.expect(200)["rows"].as_array().unwrap().len(), 4);
    let capital = "select DATA_NAME where DATA_NAME = 'B'";
    let any_case = [("op", "execute_genquery"), ("query", capital), ("case-sensitive", "0")];
    assert_eq!(irods.get("query", &any_case).await.expect(200)["rows"], json!([["b"]]));
    let wrong = irods.get("query", &[("op", "execute_genquery"), ("query", "selec")]).await;
    assert_eq!((wrong.status.as_u16(), code(&wrong) < 0), (200, true));
    for (name, value) in [("offset", "x"), ("case-sensitive", "2"), ("distinct", "yes")] {
        let query = [("op", "execute_genquery"), ("query", "select DATA_NAME"), (name, value)];
        assert_eq!(irods.get("query", &query).await.status, 400, "{name}");
    }
}

#[tokio::test]
async fn users_see_what_is_theirs_and_what_they_are_given() {
    let ada = Irods::new().await;
    let grace = ada.other(USER).await;
    ada.write("o", "secret").await;
    let path = ada.path("o");
    let read = async || grace.get("data-objects", &[("op", "read"), ("lpath", &path)]).await.status;
    assert_eq!(read().await, 404);
    assert_eq!(grace.stat("data-objects", &path).await["irods_response"]["status_code"], -171_000);
    let form = [
        ("op", "set_permission"),
        ("lpath", path.as_str()),
        ("entity-name", "grace"),
        ("permission", "read"),
    ];
    assert_eq!(code(&ada.post("data-objects", &form).await), 0);
    assert_eq!(read().await, 200);
    let stat = ada.stat("data-objects", &path).await;
    assert_eq!(stat["permissions"][1]["perm"], "read_object");
    let write = [("op", "write"), ("lpath", path.as_str()), ("bytes", "mine")];
    assert_eq!(code(&grace.post("data-objects", &write).await), -818_000);
    let operations = json!([{"entity_name": "grace", "acl": "null"}]).to_string();
    let form =
        [("op", "modify_permissions"), ("lpath", path.as_str()), ("operations", &operations)];
    assert_eq!(code(&ada.post("data-objects", &form).await), 0);
    assert_eq!(read().await, 404);
    let hers = grace.path("o");
    grace.write("o", "x").await;
    let write = [("op", "write"), ("lpath", hers.as_str()), ("bytes", "theirs")];
    assert_eq!(code(&ada.post("data-objects", &write).await), -818_000, "without `admin=1`");
}

#[tokio::test]
async fn a_ticket_opens_what_it_is_for_as_often_as_it_says() {
    let ada = Irods::new().await;
    let grace = ada.other(USER).await;
    ada.write("o", "secret").await;
    let path = ada.path("o");
    let form = [("op", "create"), ("lpath", path.as_str()), ("use-count", "1")];
    let made = ada.post("tickets", &form).await.expect(200);
    let ticket = made["ticket"].as_str().unwrap();
    assert_eq!(ticket.len(), 15);
    let read = async |ticket: &str| {
        let query = [("op", "read"), ("lpath", path.as_str()), ("ticket", ticket)];
        grace.get("data-objects", &query).await
    };
    assert_eq!(read("").await.status, 404);
    assert_eq!(read(ticket).await.body, "secret");
    let used_up = read(ticket).await;
    assert_eq!(used_up.status, 500);
    let message = &used_up.json()["irods_response"]["status_message"];
    assert_eq!(message, "Error enabling ticket on connection.");
    let columns = "select TICKET_STRING, TICKET_TYPE, TICKET_DATA_NAME, TICKET_USES_LIMIT";
    assert_eq!(ada.rows(columns).await, json!([[ticket, "read", "o", "1"]]));
    assert_eq!(grace.rows(columns).await, json!([]));
    let remove = [("op", "remove"), ("name", ticket)];
    assert_eq!(code(&ada.post("tickets", &remove).await), 0);
    assert_eq!(code(&ada.post("tickets", &remove).await), -890_000);
    for (name, value) in [("type", "dance"), ("seconds-until-expiration", "0")] {
        let form = [("op", "create"), ("lpath", path.as_str()), (name, value)];
        assert_eq!(ada.post("tickets", &form).await.status, 400, "{name}");
    }
}

#[tokio::test]
async fn users_and_groups_are_made_asked_about_and_removed() {
    let ada = Irods::new().await;
    let zone = ("zone", "tempZone");
    let make = [("op", "create_user"), ("name", "alan"), zone];
    assert_eq!(code(&ada.post("users-groups", &make).await), 0);
    let password = [("op", "set_password"), ("name", "alan"), zone, ("new-password", "enigma")];
    assert_eq!(code(&ada.post("users-groups", &password).await), 0);
    let alan = ada.other(("alan", "enigma")).await;
    assert_eq!(alan.stat("collections", &alan.home).await["type"], "collection");
    for form in [&make[..], &password[..]] {
        assert_eq!(code(&alan.post("users-groups", form).await), -13_000);
    }
    let users = alan.get("users-groups", &[("op", "users")]).await.expect(200);
    assert!(
        users["users"].as_array().unwrap().contains(&json!({"name": "alan", "zone": "tempZone"}))
    );
    let groups = alan.get("users-groups", &[("op", "groups")]).await.expect(200);
    assert_eq!(groups["groups"], json!(["public"]));
    assert_eq!(
        code(&ada.post("users-groups", &[("op", "create_group"), ("name", "lab")]).await),
        0
    );
    let join = [("op", "add_to_group"), ("user", "alan"), zone, ("group", "lab")];
    assert_eq!(code(&ada.post("users-groups", &join).await), 0);
    let asked = [("op", "is_member_of_group"), ("user", "alan"), zone, ("group", "lab")];
    assert_eq!(ada.get("users-groups", &asked).await.expect(200)["is_member"], true);
    let stat = ada.get("users-groups", &[("op", "stat"), ("name", "alan"), zone]).await.expect(200);
    assert_eq!((&stat["exists"], &stat["type"]), (&json!(true), &json!("rodsuser")));
    assert_eq!(stat["local_unique_name"], "alan#tempZone");
    let kind = [("op", "set_user_type"), ("name", "alan"), zone, ("new-user-type", "groupadmin")];
    assert_eq!(code(&ada.post("users-groups", &kind).await), 0);
    let operations = json!([{"operation": "add", "attribute": "a", "value": "v"}]).to_string();
    let describe = [("op", "modify_metadata"), ("name", "alan"), ("operations", &operations)];
    assert_eq!(code(&ada.post("users-groups", &describe).await), 0);
    let found = ada.rows("select USER_NAME where META_USER_ATTR_NAME = 'a'").await;
    assert_eq!(found, json!([["alan"]]));
    alan.write("o", "x").await;
    let remove = [("op", "remove_user"), ("name", "alan"), zone];
    assert_eq!(code(&ada.post("users-groups", &remove).await), -821_000, "the home is not empty");
    let path = alan.path("o");
    let form =
        [("op", "remove"), ("lpath", path.as_str()), ("catalog-only", "0"), ("no-trash", "1")];
    assert_eq!(code(&alan.post("data-objects", &form).await), 0);
    assert_eq!(code(&ada.post("users-groups", &remove).await), 0);
    assert_eq!(
        ada.stat("collections", &alan.home).await["irods_response"]["status_code"],
        -170_000
    );
    let gone = alan.get("users-groups", &[("op", "users")]).await;
    assert_eq!(gone.status, 401);
}

#[tokio::test]
async fn times_and_checksums_are_told_and_set() {
    let irods = Irods::new().await;
    let path = irods.path("o");
    let touch = [("op", "touch"), ("lpath", path.as_str()), ("seconds-since-epoch", "1000")];
    assert_eq!(code(&irods.post("data-objects", &touch).await), 0);
    assert_eq!(irods.stat("data-objects", &path).await["modified_at"], 1000);
    assert_eq!(code(&irods.post("data-objects", &touch).await), 0);
    let home = irods.home.clone();
    let reference = [("op", "touch"), ("lpath", home.as_str()), ("reference", path.as_str())];
    assert_eq!(code(&irods.post("collections", &reference).await), 0);
    assert_eq!(irods.stat("collections", &home).await["modified_at"], 1000);
    let none = irods.path("none");
    assert_eq!(code(&irods.post("collections", &[("op", "touch"), ("lpath", &none)]).await), 0);
    let wrong = irods.post("collections", &[("op", "touch"), ("lpath", &path)]).await;
    assert_eq!((wrong.status.as_u16(), code(&wrong)), (400, -170_000));
    let sum = irods.post("data-objects", &[("op", "calculate_checksum"), ("lpath", &path)]).await;
    let empty = "sha2:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    assert_eq!(sum.expect(200)["checksum"], empty);
    let sum = irods.post("data-objects", &[("op", "calculate_checksum"), ("lpath", &none)]).await;
    assert_eq!(code(&sum), -808_000);
    let verify = irods.get("data-objects", &[("op", "verify_checksum"), ("lpath", &path)]).await;
    assert_eq!(verify.expect(200)["r_error_info"], json!([]));
    let cut = [("op", "truncate"), ("lpath", path.as_str()), ("size", "3")];
    assert_eq!(code(&irods.post("data-objects", &cut).await), 0);
    assert_eq!(irods.stat("data-objects", &path).await["size"], 3);
    assert_eq!(
        code(
            &irods
                .post("data-objects", &[("op", "truncate"), ("lpath", &none), ("size", "0")])
                .await
        ),
        -358_000
    );
}

#[tokio::test]
async fn the_zone_is_the_store() {
    let irods = Irods::new().await;
    irods.write("o", "x").await;
    let got = irods.server.get("/home/ada/o").await;
    assert_eq!(got.body, "x");
    let all = irods.list("/tempZone", "1").await;
    assert!(all.as_array().unwrap().contains(&json!("/tempZone/home/ada/o")));
    let zone = irods.get("zones", &[("op", "stat"), ("name", "tempZone")]).await.expect(200);
    assert_eq!((&zone["exists"], &zone["info"]["type"]), (&json!(true), &json!("local")));
    let other = irods.get("zones", &[("op", "stat"), ("name", "x")]).await.expect(200);
    assert_eq!((&other["exists"], &other["info"]), (&json!(false), &json!({})));
}
