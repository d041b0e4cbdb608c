//! LAKEsuperior's pages for administrators (specification of LAKEsuperior: `/admin`).

use serde_json::json;

use super::Web;
use super::fixity::put;
use crate::support::{ADMIN, USER};

#[tokio::test]
async fn statistics_are_json_or_a_page() {
    let web = Web::new("/ldp");
    let before = web.server.request("GET", "/admin/stats").send().await.expect(200);
    put(&web, "/b", "bytes").await;
    let after = web.server.request("GET", "/admin/stats").send().await.expect(200);
    assert_eq!(after["resources"].as_u64(), before["resources"].as_u64().map(|n| n + 1));
    assert_eq!(after["bytes"].as_u64(), before["bytes"].as_u64().map(|n| n + 5));
    let page = web.server.request("GET", "/admin/stats").header("accept", "text/html").send().await;
    assert!(page.text().contains("<th scope=\"row\">Resources</th>"), "{}", page.text());
    assert!(page.header("content-security-policy").starts_with("default-src 'none';"));
    let user = web.server.request_as(Some(USER), "GET", "/admin/stats").send().await.expect(200);
    for (name, value) in user.as_object().unwrap() {
        let is_nothing = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        assert!(is_nothing, "{name} is for administrators: {value}");
    }
    assert!(after["engine"].is_string() && !after["places"].as_array().unwrap().is_empty());
    let page =
        web.server.request_as(Some(USER), "GET", "/admin/stats").header("accept", "text/html");
    assert!(!page.send().await.text().contains("<th"));
    assert_eq!(web.server.request_as(None, "GET", "/admin/stats").send().await.status, 401);
}

#[tokio::test]
async fn dangling_links_are_listed() {
    let web = Web::new("/rest");
    web.put("/there", "").await;
    let links = "<> <urn:p> <http://localhost/rest/there>, <http://localhost/rest/no,where#x>, <http://other/> .";
    assert_eq!(web.put("/links", links).await.status, 201);
    let request = async |who| web.server.request_as(who, "GET", "/admin/references").send().await;
    let listed = request(Some(ADMIN)).await;
    let expected = "s,p,o,missing\r\nhttp://localhost/ldp/links,urn:p,\"http://localhost/ldp/no,where#x\",o\r\n";
    assert_eq!((listed.status.as_u16(), listed.text().as_str()), (200, expected));
    assert_eq!(web.request("DELETE", "/there").send().await.status, 204);
    assert_eq!(request(Some(ADMIN)).await.text().lines().count(), 3);
    assert_eq!(request(Some(USER)).await.status, 403);
    assert_eq!(request(None).await.status, 403);
}

#[tokio::test]
async fn what_no_counter_has_is_counted_on_request() {
    let web = Web::new("/ldp");
    let counted = async || {
        let stats = web.server.request("GET", "/admin/stats?counted").send().await.expect(200);
        stats["counted"].clone()
    };
    let before = counted().await;
    put(&web, "/b", "bytes").await;
    web.put("/c", "<> <urn:p> 1, 2, 3 .").await;
    assert_eq!(web.request("POST", "/c/fcr:versions").send().await.status, 201);
    assert_eq!(web.put("/c", "<> <urn:p> 1 .").await.status, 204);
    assert_eq!(web.request("POST", "/c/fcr:versions").send().await.status, 201);
    let after = counted().await;
    for (what, more) in [
        ("collections", 1),
        ("files", 1),
        ("file_bytes", 5),
        ("descriptions", 0),
        ("links", 0),
        ("triples", 1),
        ("historic_resources", 1),
        ("versions", 2),
    ] {
        let number = |of: &serde_json::Value| of[what].as_u64().unwrap();
        assert_eq!(number(&after) - number(&before), more, "{what}");
    }
    assert_eq!(
        web.server.request("GET", "/admin/stats").send().await.expect(200)["counted"],
        json!(null)
    );
    let request =
        async |who| web.server.request_as(who, "GET", "/admin/stats?counted").send().await;
    assert_eq!(request(Some(USER)).await.status, 403);
    let page = web.server.request("GET", "/admin/stats?counted").header("accept", "text/html");
    assert!(page.send().await.text().contains("<th scope=\"row\">Triples in descriptions</th>"));
}

#[tokio::test]
async fn the_tools_lead_to_what_there_is() {
    let web = Web::new("/ldp");
    put(&web, "/c/a%20b", "bytes").await;
    let request = async |who, accept| {
        web.server.request_as(who, "GET", "/admin/tools").header("accept", accept).send().await
    };
    let page = request(Some(ADMIN), "text/html").await;
    assert_eq!(page.status, 200, "{}", page.text());
    for address in page.text().split("href=\"").skip(1) {
        let address = address.split('"').next().unwrap();
        let found = web.server.request("GET", address).header("accept", "text/html").send().await;
        assert_eq!(found.status, 200, "{address}: {}", found.text());
    }
    let fixity = web.address("/c/a%20b/fcr:fixity");
    for named in ["/c/a+b", "http%3A%2F%2Flocalhost%2Frest%2Fc%2Fa%2520b"] {
        let sent = format!("/admin/fixity?resource={named}");
        let answer = web.server.request("GET", &sent).send().await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, fixity.as_str()));
    }
    assert_eq!(web.get("/c/a%20b/fcr:fixity").await.status, 200);
    for named in ["", "?resource=", "?resource=nothing", "?resource=http%3A%2F%2Fother%2Fldp%2Fc"] {
        let refused = web.server.request("GET", &format!("/admin/fixity{named}")).send().await;
        assert_eq!(refused.status, 400, "{named}");
    }
    assert_eq!(request(Some(USER), "text/html").await.status, 403);
    assert_eq!(request(None, "text/html").await.status, 401);
    assert_eq!(request(None, "*/*").await.status, 403);
}
