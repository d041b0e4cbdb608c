//! Resources created here are visible in the other openings, and vice versa; and each mount point shows the resources
//! of the others.

use super::{MOUNTS, Web, links};

#[tokio::test]
async fn resources_created_by_other_openings_are_linked_data() {
    for web in MOUNTS.map(Web::new) {
        web.server.put("/lab/raw.dat", "bytes").await;
        let described = serde_json::json!({"path": "/lab/raw.dat", "operations": [
            {"op": "add", "attribute": "k e", "value": "v", "unit": "kg"},
            {"op": "add", "attribute": "http://h/p", "value": "w"},
        ]});
        let changed = web.server.post("/v1/meta", described).await;
        assert!(changed.status.is_success(), "{}", changed.text());
        assert!(links(&web.get("/lab").await, "ldp:Container", "type"));
        let graph = web.get("/lab/raw.dat/fcr:metadata").await.text();
        assert!(
            graph.contains("<http://h/p> \"w\"") && graph.contains("cenote:attribute/k%20e"),
            "{graph}"
        );
        // The unit, which a graph cannot show, is preserved.
        let put =
            web.request("PUT", "/lab/raw.dat/fcr:metadata").header("content-type", "text/turtle");
        let put = put.header("if-match", "*").body(graph).send().await;
        assert_eq!(put.status, 204, "{}", put.text());
        let meta = web.server.request("GET", "/v1/meta?path=/lab/raw.dat").send().await;
        assert!(meta.text().contains("\"kg\""), "{}", meta.text());
    }
}

#[tokio::test]
async fn resources_created_by_linked_data_are_visible_to_other_openings() {
    let web = Web::new("/ldp");
    web.put("/c", "<> <http://h/p> \"v\" .").await;
    let bytes =
        web.request("PUT", "/c/b").header("content-type", "text/plain").body("x").send().await;
    assert_eq!(bytes.status, 201);
    assert_eq!(web.server.get("/c/b").await.text(), "x");
    let meta = web.server.request("GET", "/v1/meta?path=/c").send().await;
    assert!(meta.text().contains("http://h/p"), "{}", meta.text());
    for mount in MOUNTS {
        let other = web.server.request("GET", &format!("{mount}/c")).send().await;
        assert_eq!(other.status, 200);
        assert!(other.text().contains(&format!("{mount}/c/b>")), "{}", other.text());
    }
}
