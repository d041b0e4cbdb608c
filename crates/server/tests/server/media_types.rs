//! Media types over HTTP: guessed for every kind of upload, returned with the bytes, and never a way for a stored page
//! to run as one of the server's.

use serde_json::{Value, json};

use super::irods::Irods;
use super::support::{ADMIN, TestServer};

/// Sizes at which contents are handled differently.
const SIZES: [usize; 6] = [0, 1, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, (8 << 20) + 1];

/// CSV with non-ASCII letters.
fn csv(size: usize) -> Vec<u8> {
    "é,b\n".bytes().cycle().take(size).collect()
}

/// An image, followed by anything.
fn png(size: usize) -> Vec<u8> {
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".iter().copied().chain(0..=255).cycle().take(size).collect()
}

/// The expected type for a name that ends in `.csv`: with at most one byte, only the name gives a hint.
fn expected(kind: &'static str, size: usize) -> &'static str {
    match (kind, size) {
        ("csv", 2..) => "text/csv; charset=utf-8",
        ("png", 2..) => "image/png",
        _ => "text/csv",
    }
}

fn contents() -> impl Iterator<Item = (Vec<u8>, &'static str, String)> {
    SIZES.into_iter().flat_map(|size| {
        let name = |kind| format!("/{kind}-{size}.csv");
        [("csv", csv(size)), ("png", png(size))]
            .map(|(kind, bytes)| (bytes, expected(kind, size), name(kind)))
    })
}

#[track_caller]
fn assert_guessed(resource: &Value, media_type: &str) {
    let shown = (&resource["media_type"], &resource["media_type_guessed"]);
    assert_eq!(shown, (&json!(media_type), &json!(true)), "{resource}");
}

#[tokio::test]
async fn a_content_of_any_size_put_without_a_type_has_a_guessed_one() {
    let server = TestServer::new();
    for (bytes, media_type, path) in contents() {
        assert_guessed(&server.put(&path, bytes.clone()).await.expect(201), media_type);
        let got = server.get(&path).await;
        assert_eq!(got.header("content-type"), media_type, "{path}");
        assert_eq!(got.header("x-content-type-options"), "nosniff");
        assert!(got.body == bytes, "{path}");
    }
}

#[tokio::test]
async fn an_upload_in_parts_in_any_order_gets_the_same_guess() {
    let server = TestServer::new();
    for (bytes, media_type, path) in contents().filter(|(bytes, ..)| bytes.len() > 1) {
        let begun = server.post("/v1/uploads", json!({ "path": path })).await.expect(201);
        let upload = format!("/v1/uploads/{}", begun["id"].as_str().unwrap());
        // The first parts are a few bytes long, the last one is large and sent first.
        let ends = [3, 10, 1_000, 5_000].map(|end: usize| end.min(bytes.len()));
        let mut parts: Vec<_> =
            [0].into_iter().chain(ends).zip(ends.into_iter().chain([bytes.len()])).collect();
        parts.retain(|(from, to)| from < to);
        for (from, to) in parts.into_iter().rev() {
            let request = server.request("PUT", &format!("{upload}/{from}"));
            request.body(bytes[from..to].to_vec()).send().await.expect(200);
        }
        let done = server.post(&format!("{upload}/complete"), json!({})).await.expect(200);
        assert_guessed(&done, media_type);
        assert!(server.get(&path).await.body == bytes, "{path}");
    }
}

#[tokio::test]
async fn uploads_through_the_irods_opening_get_the_same_guess() {
    let irods = Irods::new().await;
    for (bytes, media_type, path) in contents().filter(|(bytes, ..)| bytes.len() > 1) {
        let lpath = irods.path(&path[1..]);
        let parts: [(&str, &[u8]); 3] =
            [("op", b"write"), ("lpath", lpath.as_bytes()), ("bytes", &bytes)];
        assert_eq!(irods.parts(&parts).await.status, 200);
        let uri = format!("/v1/stat?path=/home/{}{path}", ADMIN.0);
        let stat = irods.server.request("GET", &uri).send().await.expect(200);
        assert_guessed(&stat, media_type);
    }
}

#[tokio::test]
async fn an_explicit_type_is_kept_and_shown_as_such() {
    let server = TestServer::new();
    let request = server.request("PUT", "/v1/fs/a.csv").header("content-type", "text/x");
    let answer = request.body("a,b").send().await.expect(201);
    assert_eq!(
        (&answer["media_type"], &answer["media_type_guessed"]),
        (&json!("text/x"), &Value::Null)
    );
    let replaced = server.put("/a.csv", png(100)).await.expect(200);
    assert_eq!(replaced["media_type"], "text/x");
    let set = async |media_type| {
        let change = json!({ "path": "/a.csv", "media_type": media_type });
        server.request("PATCH", "/v1/attributes").json(&change).send().await.expect(200)
    };
    assert_eq!(set("").await["media_type"], Value::Null);
    assert_eq!(server.get("/a.csv").await.header("content-type"), "application/octet-stream");
    assert_guessed(&server.put("/a.csv", png(100)).await.expect(200), "image/png");
    assert_eq!(set("text/y").await["media_type_guessed"], Value::Null);
}

/// A browser that follows a link to an explicit HTML page shows it, without scripts and in a separate origin; a guessed
/// one is saved.
#[tokio::test]
async fn a_guessed_page_is_served_as_an_attachment() {
    let server = TestServer::new();
    let html = "<html><script>alert(1)</script></html>";
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
    let (page, plain) = ("attachment", "");
    for (path, body, media_type, disposition) in [
        ("/a.html", html, "text/html", page),
        ("/a", "<!DOCTYPE html><p>", "text/html", page),
        ("/a.htm", "<p>é", "text/html; charset=utf-8", page),
        ("/a.xhtml", html, "application/xhtml+xml", page),
        ("/a.svg", svg, "image/svg+xml", page),
        ("/b", "<?xml version=\"1.0\"?><a/>", "text/xml", page),
        ("/a.rdf", "<?xml version=\"1.0\"?><a/>", "application/rdf+xml", page),
        ("/a.txt", html, "text/plain", plain),
        ("/a.json", "{}", "application/json", plain),
    ] {
        assert_guessed(&server.put(path, body).await.expect(201), media_type);
        for method in ["GET", "HEAD"] {
            let got = server.request(method, &format!("/v1/fs{path}")).send().await;
            let header = |name| got.header(name).to_owned();
            assert_eq!(header("content-disposition"), disposition, "{path}");
            assert_eq!(header("content-security-policy"), "sandbox");
            assert_eq!(header("x-content-type-options"), "nosniff");
        }
    }
    let request = server.request("PUT", "/v1/fs/a.html").header("content-type", "text/html");
    request.body(html).send().await.expect(200);
    assert_eq!(server.get("/a.html").await.header("content-disposition"), "");
}

#[tokio::test]
async fn an_archive_contains_explicit_types_and_guesses_are_made_again() {
    let server = TestServer::new();
    server.put("/t/a.csv", "a,b").await.expect(201);
    let request = server.request("PUT", "/v1/fs/t/b.csv").header("content-type", "text/x");
    request.body("a,b").send().await.expect(201);
    let archive = server.request("GET", "/v1/archive?path=/t").send().await;
    assert_eq!(archive.status, 200);
    let put =
        server.request("POST", "/v1/batch?path=/copy").header("content-type", "application/x-tar");
    assert_eq!(put.body(archive.body).send().await.status, 200);
    let stat = async |path: &str| {
        server.request("GET", &format!("/v1/stat?path=/copy/{path}")).send().await.expect(200)
    };
    assert_guessed(&stat("a.csv").await, "text/csv");
    let found = stat("b.csv").await;
    assert_eq!(
        (&found["media_type"], &found["media_type_guessed"]),
        (&json!("text/x"), &Value::Null)
    );
}

/// The store recognises key sets by their first bytes like the crate of the format.
#[tokio::test]
async fn key_sets_and_trajectories_are_recognised() {
    use cenote_keyset::{Format, KeyName, KeySet};
    let server = TestServer::new();
    for format in Format::ALL {
        let Some(media_type) = format.media_type() else { continue };
        let root = "user:/".parse::<KeyName>().unwrap();
        let bytes = cenote_keyset::to_bytes(&KeySet::default(), &root, format).unwrap();
        assert_eq!(Format::detect(&bytes), Some(format));
        for name in ["/a", "/a.txt", "/a.json"] {
            server.request("DELETE", &format!("/v1/fs{name}")).send().await;
            assert_guessed(&server.put(name, bytes.clone()).await.expect(201), media_type);
        }
    }
}
