//! Authentication, and how requests are checked.

use axum::body::Body;
use axum::http::StatusCode;
use serde_json::json;
use tower::ServiceExt;

use super::super::support::{ADMIN, TestServer, basic};
use super::{BASE, Irods, authenticate};

#[tokio::test]
async fn a_login_returns_a_token_and_failures_have_their_status() {
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
        let answer = server.request_as(None, method, &format!("{BASE}/authenticate")).send().await;
        assert_eq!(answer.status, 405, "{method}");
    }
}

#[tokio::test]
async fn requests_are_checked_in_the_order_of_the_c_server() {
    let irods = Irods::new().await;
    let request = async |method: &str, uri: &str, token: Option<&str>| {
        let request = irods.server.request_as(None, method, &format!("{BASE}/{uri}"));
        let request = match token {
            Some(token) => request.header("authorization", token),
            None => request,
        };
        request.send().await.status
    };
    assert_eq!(request("GET", "nowhere", None).await, 404);
    assert_eq!(request("DELETE", "collections", None).await, 405);
    assert_eq!(request("GET", "collections", None).await, 400);
    assert_eq!(request("GET", "collections?op=dance", None).await, 400);
    assert_eq!(request("GET", "collections?op=list", None).await, 400);
    assert_eq!(request("GET", "collections?op=list", Some("Basic x")).await, 400);
    assert_eq!(request("GET", "collections?op=list", Some("Bearer x")).await, 401);
    assert_eq!(
        request("GET", "tickets?op=list", Some("Bearer x")).await,
        StatusCode::NOT_IMPLEMENTED
    );
    assert_eq!(irods.get("collections", &[("op", "list")]).await.status, 400);
}

#[tokio::test]
async fn info_returns_the_fields_that_clients_read() {
    let irods = Irods::new().await;
    let info =
        irods.server.request_as(None, "GET", &format!("{BASE}/info")).send().await.expect(200);
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

#[tokio::test]
async fn a_truncated_body_is_reported_as_such() {
    let irods = Irods::new().await;
    let form = ("application/x-www-form-urlencoded", "op=modify_metadata&lp");
    let parts = "--b\r\ncontent-disposition: form-data; name=\"op\"\r\n\r\nwri";
    let multipart = ("multipart/form-data; boundary=b", parts);
    let data_objects = ("/irods-http-api/0.7.0/data-objects", "Bearer ");
    let metadata = ("/irods-rest/0.9.3/metadata", "");
    for ((uri, scheme), (media_type, begin), dies) in [
        (data_objects, form, true),
        (metadata, form, true),
        (data_objects, multipart, true),
        (data_objects, multipart, false),
    ] {
        let death = dies.then(|| Err(std::io::Error::other("the line is dead")));
        let pieces: Vec<_> = [Ok(begin)].into_iter().chain(death).collect();
        let request = axum::http::Request::post(uri)
            .header("authorization", format!("{scheme}{}", irods.token))
            .header("content-type", media_type)
            .body(Body::from_stream(futures_util::stream::iter(pieces)));
        let answer = irods.server.router.clone().oneshot(request.unwrap()).await.unwrap();
        assert_eq!(answer.status(), 400, "{uri}");
        let bytes = axum::body::to_bytes(answer.into_body(), 10_000).await.unwrap();
        let body: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let text = body.to_string();
        assert!(text.contains("-130000") && text.contains("ended early"), "{uri}: {text}");
    }
}
