//! A removed resource leaves a tombstone until it is restored or the tombstone is deleted.

use super::{Web, headers, links};

#[tokio::test]
async fn a_removed_resource_is_gone_until_its_tombstone_is_deleted() {
    for web in Web::each() {
        web.put("/c/x", "<> <urn:p> 1 .").await;
        assert_eq!(web.request("DELETE", "/c").send().await.status, 204);
        let gone = web.get("/c").await;
        assert_eq!(gone.status, 410);
        let tombstone = format!("{}/fcr:tombstone", web.address("/c"));
        assert!(links(&gone, &tombstone, "hasTombstone"));
        let below = web.get("/c/x").await;
        assert_eq!(below.status, 410);
        assert!(headers(&below, "link").is_empty(), "it was removed with what is above it");
        assert_eq!(web.put("/c", "").await.status, 410);
        assert_eq!(web.put("/c/x", "").await.status, 410);
        assert_eq!(web.post("/c", "y", "").await.status, 410);
        assert_eq!(web.request("DELETE", "/c").send().await.status, 410);
        assert_eq!(web.get("/c/fcr:tombstone").await.status, 405);
        assert_eq!(web.request("DELETE", "/c/x/fcr:tombstone").send().await.status, 410);
        assert_eq!(web.request("DELETE", "/c/fcr:tombstone").send().await.status, 204);
        for path in ["/c", "/c/x", "/c/fcr:tombstone"] {
            assert_eq!(web.get(path).await.status, 404, "{path}");
        }
        assert_eq!(web.put("/c", "").await.status, 201);
    }
}

#[tokio::test]
async fn a_tombstone_can_restore_if_the_dialect_supports_it() {
    for web in Web::each() {
        web.put("/c/x", "<> <urn:p> \"v\" .").await;
        web.request("DELETE", "/c").send().await;
        let restored = web.request("POST", "/c/fcr:tombstone").send().await;
        match web.mount {
            "/ldp" => {
                assert_eq!(restored.status, 201);
                assert!(web.has_triple("/c/x", "<> <urn:p> \"v\"").await);
            }
            _ => assert_eq!(restored.status, 405),
        }
    }
}

#[tokio::test]
async fn no_tombstone_is_left_on_request() {
    for web in Web::each() {
        web.put("/c", "").await;
        let deleted = web.request("DELETE", "/c").header("prefer", "no-tombstone").send().await;
        assert_eq!(deleted.status, 204);
        assert_eq!(web.get("/c").await.status, 404);
    }
}

#[tokio::test]
async fn other_openings_can_reuse_a_name() {
    let web = Web::new("/rest");
    web.put("/c", "").await;
    web.request("DELETE", "/c").send().await;
    let made = serde_json::json!({"path": "/c", "kind": "collection"});
    assert!(web.server.post("/v1/create", made).await.status.is_success());
    assert_eq!(web.get("/c").await.status, 200);
}

#[tokio::test]
async fn a_tombstone_reveals_nothing_to_callers_who_could_not_see_the_resource() {
    let web = Web::new("/rest");
    web.put("/c", "").await;
    web.request("DELETE", "/c").send().await;
    let other = web.request_as(Some(crate::support::USER), "GET", "/c").send().await;
    assert_eq!(other.status, 404);
}

#[tokio::test]
async fn nothing_is_created_below_a_tombstone() {
    for web in Web::each() {
        web.put("/c/old", "<> <urn:p> \"v\" .").await;
        assert_eq!(web.request("DELETE", "/c").send().await.status, 204);
        for path in ["/c/new", "/c/new/deep", "/c/old", "/c/old/new"] {
            assert_eq!(web.put(path, "").await.status, 410, "{path}");
            let bytes = web.request("PUT", path).header("content-type", "text/plain").body("x");
            assert_eq!(bytes.send().await.status, 410, "{path}");
            assert_eq!(web.post(path, "x", "").await.status, 410, "{path}");
        }
        assert_eq!(web.get("/c/old").await.status, 410);
        assert_eq!(web.get("/c/new").await.status, 404, "nothing was there");
        assert_eq!(web.get("/c/new/fcr:tombstone").await.status, 404);
        if web.mount == "/ldp" {
            assert_eq!(web.request("POST", "/c/fcr:tombstone").send().await.status, 201);
            assert!(web.has_triple("/c/old", "<> <urn:p> \"v\"").await);
        }
    }
}

#[tokio::test]
async fn a_tombstone_that_the_caller_does_not_see_does_not_bar_its_name() {
    let web = Web::new("/rest");
    web.share_only("/c", "read_description+list+create").await;
    web.put("/c/x", "").await;
    assert_eq!(web.request("DELETE", "/c/x").send().await.status, 204);
    let request = web.request_as(Some(crate::support::USER), "PUT", "/c/x/new");
    assert_eq!(request.header("content-type", "text/turtle").send().await.status, 201);
}
