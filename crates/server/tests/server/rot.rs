//! Corruption, as seen by a client: a response with wrong bytes is aborted, and the damage is
//! reported.

use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::http::Request;
use cenote_blob::Place;
use cenote_server::{Config, router};
use http_body_util::BodyExt;
use tower::ServiceExt;

use crate::support::{ADMIN, TestServer, USER, basic, store_with};

pub(crate) fn files_below(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// The bytes received of an object until its end, or until the response is aborted.
async fn got(server: &TestServer, path: &str) -> (u16, Vec<u8>, bool) {
    let request = Request::get(format!("/v1/fs{path}")).header("authorization", basic(ADMIN));
    let response = server.router.clone().oneshot(request.body(Body::empty()).unwrap()).await;
    let (parts, mut body) = response.unwrap().into_parts();
    let mut came = Vec::new();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => came.extend_from_slice(&frame.into_data().unwrap()),
            Err(_) => return (parts.status.as_u16(), came, false),
        }
    }
    (parts.status.as_u16(), came, true)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_with_corrupt_bytes_is_aborted_and_the_damage_reported() {
    let dir = tempfile::tempdir().unwrap();
    let store = store_with(Place::local("main", dir.path()).unwrap());
    let server = TestServer { router: router(store.clone(), &Config::default()) };
    let content: Vec<u8> = (0..3_000_000_u32).map(|n| (n.wrapping_mul(7_919) >> 5) as u8).collect();
    server.put("/a", content.clone()).await.expect(201);
    assert!(
        server.request("GET", "/v1/stat?path=/a").send().await.expect(200)["damaged"].is_null()
    );
    let file = files_below(dir.path()).pop().unwrap();
    let mut rotten = content.clone();
    rotten[2_000_000] ^= 4;
    std::fs::write(file, rotten).unwrap();
    let (status, came, whole) = got(&server, "/a").await;
    assert!(!whole, "{status}");
    assert!(content.starts_with(&came) && (1_000_000..2_000_000).contains(&came.len()));
    let part =
        server.request("GET", "/v1/fs/a").header("range", "bytes=2500000-2999999").send().await;
    assert!(part.status == 206 && part.body == content[2_500_000..]);
    let stat = server.request("GET", "/v1/stat?path=/a").send().await.expect(200);
    assert_eq!(stat["damaged"], true, "{stat}");
    // Upkeep would mark it, but does not run here.
    let status = server.request("GET", "/v1/scrub").send().await.expect(200);
    assert!(status["begun"].is_null() && status["percent"] == 0, "{status}");
    let begun =
        server.request("POST", "/v1/scrub").json(&serde_json::json!({})).send().await.expect(202);
    assert!(begun["begun"].is_string() && begun["ended"].is_null(), "{begun}");
    assert_eq!(server.request_as(Some(USER), "GET", "/v1/scrub").send().await.status, 403);
    let ended = store.scrub(0).await.unwrap();
    assert_eq!((ended.damaged, ended.percent), (1, 100));
    store.mend_noted().await.unwrap();
    let status = server.request("GET", "/v1/scrub").send().await.expect(200);
    assert_eq!((&status["found"], &status["percent"]), (&1.into(), &100.into()), "{status}");
    assert_eq!(status["damaged"][0]["objects"][0], "/a", "{status}");
    let metrics = server.request("GET", "/metrics").send().await.body;
    let metrics = String::from_utf8(metrics.to_vec()).unwrap();
    for line in [
        "cenote_contents_damage_found_total 2",
        "cenote_contents_damaged 1",
        "cenote_catalog_damage_found_total",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
}
