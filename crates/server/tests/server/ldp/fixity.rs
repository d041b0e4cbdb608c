//! `fcr:fixity`, and LAKEsuperior's pages for administrators (specification of LAKEsuperior: `/admin`).

use cenote_blob::Place;
use cenote_server::{Config, router};

use super::Web;
use crate::support::{ADMIN, TestServer, USER, store_with};

async fn put(web: &Web, path: &str, bytes: &'static str) {
    let put = web.ask("PUT", path).header("content-type", "text/plain").body(bytes).send().await;
    assert_eq!(put.status, 201, "{}", put.text());
}

#[tokio::test]
async fn the_digests_of_bytes_are_recomputed() {
    for web in Web::each() {
        put(&web, "/b", "bytes").await;
        let sha256 = hex::encode(ring::digest::digest(&ring::digest::SHA256, b"bytes"));
        let (own, outcome) = (
            format!("<{}>", web.address("/b")),
            format!("{}/fcr:fixity#sha-256", web.address("/b")),
        );
        let premis = "http://www.loc.gov/premis/rdf/v1#";
        let said = web.triples("/b/fcr:fixity").await;
        for triple in [
            format!("{own} <{premis}hasFixity> <{outcome}>"),
            format!("<{outcome}> <{premis}hasEventOutcome> \"SUCCESS\""),
            format!("<{outcome}> <{premis}hasMessageDigest> <urn:sha-256:{sha256}>"),
            format!("<{outcome}> <{premis}hasSize> \"5\"^^<http://www.w3.org/2001/XMLSchema#long>"),
        ] {
            assert!(said.contains(&triple), "{triple} in {said:?}");
        }
        let head = web.ask("HEAD", "/b/fcr:fixity").send().await;
        assert_eq!((head.status.as_u16(), head.header("cache-control")), (200, "no-store"));
    }
}

#[tokio::test]
async fn fixity_requires_read_access() {
    for web in Web::each() {
        web.put("/c", "").await;
        put(&web, "/b", "bytes").await;
        for path in ["/c/fcr:fixity", "/none/fcr:fixity"] {
            assert_eq!(web.get(path).await.status, 404, "{path}");
        }
        assert_eq!(web.ask("PUT", "/b/fcr:fixity").send().await.status, 405);
        let other = web.ask_as(Some(USER), "GET", "/b/fcr:fixity").send().await;
        assert!([403, 404].contains(&other.status.as_u16()), "{}", other.status);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn corrupt_bytes_fail_the_fixity_check() {
    let dir = tempfile::tempdir().unwrap();
    let store = store_with(Place::local("main", dir.path()).unwrap());
    let server = TestServer { router: router(store, &Config::default()) };
    let content: Vec<u8> = (0..300_000_u32).map(|n| (n.wrapping_mul(7_919) >> 5) as u8).collect();
    server.put("/a", content.clone()).await.expect(201);
    let ask = async |uri: &str| server.ask("GET", uri).send().await;
    assert_eq!(ask("/admin/a/fixity").await.expect(200)["pass"], true);
    let file = crate::rot::files_below(dir.path()).pop().unwrap();
    let mut rotten = content;
    rotten[200_000] ^= 4;
    std::fs::write(file, rotten).unwrap();
    let found = ask("/admin/a/fixity").await.expect(200);
    assert_eq!((found["uid"].as_str(), found["pass"].as_bool()), (Some("/a"), Some(false)));
    let found = ask("/rest/a/fcr:fixity").await;
    assert!(found.status == 200 && found.text().contains("BAD_CHECKSUM"), "{}", found.text());
}

#[tokio::test]
async fn the_fixity_of_a_missing_resource_is_not_found_or_gone() {
    let web = Web::new("/ldp");
    put(&web, "/b", "bytes").await;
    let found = web.server.ask("GET", "/admin/b/fixity").send().await.expect(200);
    assert_eq!(found, serde_json::json!({ "uid": "/b", "pass": true }));
    assert_eq!(web.server.ask("GET", "/admin/none/fixity").send().await.status, 404);
    assert_eq!(web.ask("DELETE", "/b").send().await.status, 204);
    assert_eq!(web.server.ask("GET", "/admin/b/fixity").send().await.status, 410);
    assert_eq!(web.server.ask("GET", "/admin/none").send().await.status, 404);
}

#[tokio::test]
async fn statistics_are_json_or_a_page() {
    let web = Web::new("/ldp");
    let before = web.server.ask("GET", "/admin/stats").send().await.expect(200);
    put(&web, "/b", "bytes").await;
    let after = web.server.ask("GET", "/admin/stats").send().await.expect(200);
    assert_eq!(after["resources"].as_u64(), before["resources"].as_u64().map(|n| n + 1));
    assert_eq!(after["bytes"].as_u64(), before["bytes"].as_u64().map(|n| n + 5));
    let page = web.server.ask("GET", "/admin/stats").header("accept", "text/html").send().await;
    assert!(page.text().contains("<th scope=\"row\">Resources</th>"), "{}", page.text());
    assert!(page.header("content-security-policy").starts_with("default-src 'none';"));
    let user = web.server.ask_as(Some(USER), "GET", "/admin/stats").send().await.expect(200);
    for (name, value) in user.as_object().unwrap() {
        let is_nothing = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        assert!(is_nothing, "{name} is for administrators: {value}");
    }
    assert!(after["engine"].is_string() && !after["places"].as_array().unwrap().is_empty());
    let page = web.server.ask_as(Some(USER), "GET", "/admin/stats").header("accept", "text/html");
    assert!(!page.send().await.text().contains("<th"));
    assert_eq!(web.server.ask_as(None, "GET", "/admin/stats").send().await.status, 401);
}

#[tokio::test]
async fn dangling_links_are_listed() {
    let web = Web::new("/rest");
    web.put("/there", "").await;
    let links = "<> <urn:p> <http://localhost/rest/there>, <http://localhost/rest/no,where#x>, <http://other/> .";
    assert_eq!(web.put("/links", links).await.status, 201);
    let ask = async |who| web.server.ask_as(who, "GET", "/admin/references").send().await;
    let listed = ask(Some(ADMIN)).await;
    let expected = "s,p,o,missing\r\nhttp://localhost/ldp/links,urn:p,\"http://localhost/ldp/no,where#x\",o\r\n";
    assert_eq!((listed.status.as_u16(), listed.text().as_str()), (200, expected));
    assert_eq!(web.ask("DELETE", "/there").send().await.status, 204);
    assert_eq!(ask(Some(ADMIN)).await.text().lines().count(), 3);
    assert_eq!(ask(Some(USER)).await.status, 403);
    assert_eq!(ask(None).await.status, 403);
}
