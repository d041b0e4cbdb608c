//! `fcr:fixity`, and LAKEsuperior's address for it.

use cenote_blob::Place;
use cenote_server::{Config, router};

use super::Web;
use crate::support::{TestServer, USER, store_with};

pub(super) async fn put(web: &Web, path: &str, bytes: &'static str) {
    let put =
        web.request("PUT", path).header("content-type", "text/plain").body(bytes).send().await;
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
        let triples = web.triples("/b/fcr:fixity").await;
        for triple in [
            format!("{own} <{premis}hasFixity> <{outcome}>"),
            format!("<{outcome}> <{premis}hasEventOutcome> \"SUCCESS\""),
            format!("<{outcome}> <{premis}hasMessageDigest> <urn:sha-256:{sha256}>"),
            format!("<{outcome}> <{premis}hasSize> \"5\"^^<http://www.w3.org/2001/XMLSchema#long>"),
        ] {
            assert!(triples.contains(&triple), "{triple} in {triples:?}");
        }
        let head = web.request("HEAD", "/b/fcr:fixity").send().await;
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
        assert_eq!(web.request("PUT", "/b/fcr:fixity").send().await.status, 405);
        let other = web.request_as(Some(USER), "GET", "/b/fcr:fixity").send().await;
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
    let request = async |uri: &str| server.request("GET", uri).send().await;
    assert_eq!(request("/admin/a/fixity").await.expect(200)["pass"], true);
    let file = crate::rot::files_below(dir.path()).pop().unwrap();
    let mut rotten = content;
    rotten[200_000] ^= 4;
    std::fs::write(file, rotten).unwrap();
    let found = request("/admin/a/fixity").await.expect(200);
    assert_eq!((found["uid"].as_str(), found["pass"].as_bool()), (Some("/a"), Some(false)));
    let found = request("/rest/a/fcr:fixity").await;
    assert!(found.status == 200 && found.text().contains("BAD_CHECKSUM"), "{}", found.text());
}

#[tokio::test]
async fn the_fixity_of_a_missing_resource_is_not_found_or_gone() {
    let web = Web::new("/ldp");
    put(&web, "/b", "bytes").await;
    let found = web.server.request("GET", "/admin/b/fixity").send().await.expect(200);
    assert_eq!(found, serde_json::json!({ "uid": "/b", "pass": true }));
    assert_eq!(web.server.request("GET", "/admin/none/fixity").send().await.status, 404);
    assert_eq!(web.request("DELETE", "/b").send().await.status, 204);
    assert_eq!(web.server.request("GET", "/admin/b/fixity").send().await.status, 410);
    assert_eq!(web.server.request("GET", "/admin/none").send().await.status, 404);
}
