//! External content: the Fedora API, section 3.9.

use std::path::Path;

use axum::Router;
use axum::http::header;
use axum::response::Redirect;
use axum::routing::get;
use cenote_server::{Config, ExternalPrefix, Ldp, router};

use super::{Web, headers, links};
use crate::support::{Answer, TestRequest, TestServer};

const REL: &str = "http://fedora.info/definitions/fcrepo#ExternalContent";

/// Another server; returns its address.
async fn elsewhere() -> String {
    let text = async || ([(header::CONTENT_TYPE, "text/x-there")], "their bytes");
    let router = Router::new()
        .route("/open/there", get(text))
        .route("/secret", get(text))
        .route("/open/away", get(async || Redirect::temporary("/secret")));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

fn allowing(prefixes: &[String]) -> Web {
    let mut web = Web::new("/rest");
    let external =
        prefixes.iter().map(|prefix| ExternalPrefix::try_from(prefix.clone()).unwrap()).collect();
    let config = Config { ldp: Ldp { external, ..Ldp::default() }, ..Config::default() };
    web.server = TestServer { router: router(web.store.clone(), &config) };
    web
}

fn put<'a>(web: &'a Web, path: &str, url: &str, parameters: &str) -> TestRequest<'a> {
    let link = format!("<{url}>; rel=\"{REL}\"{parameters}");
    web.request("PUT", path).header("link", &link).header("content-type", "text/ignored")
}

fn summary(answer: &Answer) -> (u16, String, Vec<&str>) {
    (answer.status.as_u16(), answer.text(), headers(answer, "content-type"))
}

#[tokio::test]
async fn external_content_is_copied_or_proxied() {
    let there = elsewhere().await;
    let web = allowing(&[format!("{there}/open/")]);
    let url = format!("{there}/open/there");
    let options = web.request("OPTIONS", "/").send().await;
    assert_eq!(headers(&options, "accept-external-content-handling"), ["copy,redirect,proxy"]);
    for handling in ["copy", "proxy"] {
        let path = format!("/{handling}");
        let made = put(&web, &path, &url, &format!("; handling=\"{handling}\"")).send().await;
        assert_eq!(made.status, 201, "{}", made.text());
        let read = web.get(&path).await;
        assert_eq!(summary(&read), (200, "their bytes".to_owned(), vec!["text/x-there"]));
        assert!(links(&read, "ldp:NonRDFSource", "type"));
        assert_eq!(headers(&read, "content-length"), ["11"]);
        let location = if handling == "proxy" { vec![url.as_str()] } else { vec![] };
        assert_eq!(headers(&read, "content-location"), location);
        let head = web.request("HEAD", &path).header("want-digest", "sha").send().await;
        assert!(headers(&head, "digest")[0].starts_with("sha="), "{handling}");
        let typed = format!("; handling=\"{handling}\"; type=\"text/x-own\"");
        assert_eq!(put(&web, &path, &url, &typed).send().await.status, 204);
        assert_eq!(headers(&web.get(&path).await, "content-type"), ["text/x-own"]);
    }
}

#[tokio::test]
async fn external_content_is_redirected_to() {
    let there = elsewhere().await;
    let web = allowing(&[format!("{there}/open/")]);
    let url = format!("{there}/open/there");
    put(&web, "/r", &url, "; handling=\"redirect\"").send().await;
    for method in ["GET", "HEAD"] {
        let answer = web.request(method, "/r").header("want-digest", "md5").send().await;
        assert_eq!(
            (answer.status.as_u16(), headers(&answer, "location")),
            (307, vec![url.as_str()])
        );
        assert!(headers(&answer, "digest")[0].starts_with("md5="));
    }
}

#[tokio::test]
async fn statements_about_external_content_are_managed_by_the_server() {
    let there = elsewhere().await;
    let web = allowing(&[format!("{there}/open/")]);
    let url = format!("{there}/open/there");
    put(&web, "/p", &url, "; handling=\"proxy\"").send().await;
    let graph = web.get("/p/fcr:metadata").await.text();
    assert!(graph.contains("proxyFor"), "{graph}");
    assert_eq!(web.put("/p/fcr:metadata", &graph).await.status, 204, "as it was read");
    assert_eq!(web.put("/p/fcr:metadata", "<> <urn:p> 1 .").await.status, 204);
    assert_eq!(web.get("/p").await.text(), "their bytes");
    let other = "<> <http://fedora.info/definitions/v4/repository#proxyFor> <http://localhost/x> .";
    assert_eq!(web.put("/p/fcr:metadata", other).await.status, 409);
    let own = web.request("PUT", "/p").header("content-type", "text/plain").body("own");
    assert_eq!(own.send().await.status, 204);
    assert_eq!(web.get("/p").await.text(), "own");
    assert!(!web.get("/p/fcr:metadata").await.text().contains("proxyFor"));
}

/// Nothing is known of bytes that others may change at any time.
#[tokio::test]
async fn the_size_and_digests_of_external_content_are_not_stated() {
    let there = elsewhere().await;
    let web = allowing(&[format!("{there}/open/")]);
    let url = format!("{there}/open/there");
    for (handling, knows) in [("proxy", false), ("redirect", false), ("copy", true)] {
        let path = format!("/{handling}");
        put(&web, &path, &url, &format!("; handling=\"{handling}\"")).send().await;
        let about = format!("{path}/fcr:metadata");
        let graph = web.get(&about).await.text();
        for term in ["hasSize", "hasMessageDigest"] {
            assert_eq!(graph.contains(term), knows, "{handling}: {graph}");
        }
        assert!(graph.contains("hasMimeType"));
        assert_eq!(web.put(&about, &graph).await.status, 204, "as it was read");
        let other = "<> <http://www.loc.gov/premis/rdf/v1#hasSize> 1 .";
        assert_eq!(web.put(&about, other).await.status, 409);
        assert_eq!(web.get(&format!("{path}/fcr:fixity")).await.status == 200, knows);
    }
}

/// Only addresses allowed by the settings can be read through this server.
#[tokio::test]
async fn only_external_content_allowed_by_the_settings_is_read() {
    let there = elsewhere().await;
    let directory = tempfile::tempdir().unwrap();
    let (inside, outside) = (directory.path().join("in"), directory.path().join("secret"));
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(&outside, "secret").unwrap();
    std::fs::write(inside.join("there"), "file").unwrap();
    std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
    let file = |path: &Path| format!("file://{}", path.display());
    let web = allowing(&[format!("{there}/open/"), format!("{}/", file(&inside))]);
    let made = put(&web, "/file", &file(&inside.join("there")), "; handling=\"proxy\"");
    assert_eq!(made.send().await.status, 201);
    assert_eq!(web.get("/file").await.text(), "file");
    let constrained = "http://www.w3.org/ns/ldp#constrainedBy";
    for url in [
        format!("{there}/secret"),
        format!("{there}/open/away"),
        format!("{there}/open/../secret"),
        format!("{there}/open/missing"),
        file(&outside),
        file(&inside.join("../secret")),
        file(&inside.join("link")),
        file(&inside),
        "http://169.254.169.254/".to_owned(),
        "ftp://there/".to_owned(),
        "there".to_owned(),
    ] {
        for handling in ["copy", "proxy", "redirect"] {
            let refused = put(&web, "/x", &url, &format!("; handling=\"{handling}\"")).send().await;
            assert_eq!(refused.status, 400, "{url}");
            assert!(links(&refused, "http://localhost/info/ldp_constraints", constrained));
        }
        assert_eq!(web.get("/x").await.status, 404);
    }
    let url = format!("{there}/open/there");
    for parameters in ["", "; handling=\"other\""] {
        assert_eq!(put(&web, "/x", &url, parameters).send().await.status, 400);
    }
    // If the settings no longer allow the address, or another caller states where the bytes are.
    put(&web, "/p", &url, "; handling=\"proxy\"").send().await;
    let mut strict = Web::new("/rest");
    strict.server = TestServer { router: router(web.store.clone(), &Config::default()) };
    assert_eq!(strict.get("/p").await.status, 502);
    assert_eq!(put(&strict, "/x", &url, "; handling=\"copy\"").send().await.status, 400);
    let options = strict.request("OPTIONS", "/").send().await;
    assert!(headers(&options, "accept-external-content-handling").is_empty());
}

#[tokio::test]
async fn external_content_is_refused_where_there_is_none() {
    let mut web = allowing(&["http://localhost:*/".to_owned()]);
    web.mount = "/ldp";
    let refused = put(&web, "/x", "http://localhost:1/x", "; handling=\"proxy\"").send().await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(headers(&refused, "link").iter().any(|link| link.contains("constrainedBy")));
    assert_eq!(web.get("/x").await.status, 404);
}

/// Queries and searches state what graphs do.
#[tokio::test]
async fn no_query_and_no_search_finds_a_size_or_digest_of_external_content() {
    let there = elsewhere().await;
    let web = allowing(&[format!("{there}/open/")]);
    let url = format!("{there}/open/there");
    for handling in ["copy", "proxy", "redirect"] {
        let parameters = format!("; handling=\"{handling}\"");
        let made = put(&web, &format!("/x/{handling}"), &url, &parameters).send().await;
        assert_eq!(made.status, 201, "{}", made.text());
    }
    let bytes = web.request("PUT", "/x/empty").header("content-type", "text/plain").body("");
    assert_eq!(bytes.send().await.status, 201);
    let described = "INSERT DATA { <> <urn:p> <urn:x> }";
    assert_eq!(web.patch("/x/empty/fcr:metadata", described).await.status, 204);
    for property in ["hasSize", "hasMessageDigest"] {
        let query = format!(
            "SELECT DISTINCT ?s {{ ?s <http://www.loc.gov/premis/rdf/v1#{property}> ?o }} ORDER BY ?s"
        );
        let request = web.server.request("POST", "/sparql").header("accept", "text/csv");
        let request = request.header("content-type", "application/sparql-query").body(query);
        let rows = request.send().await.text();
        let found: Vec<&str> = rows.lines().skip(1).collect();
        let stated = ["copy", "empty"].map(|name| web.address(&format!("/x/{name}")));
        assert_eq!(found, stated, "{property}");
    }
    let found = async |condition: &str| {
        let query = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("condition", condition), ("condition", "fedora_id=/x/*")])
            .append_pair("fields", "fedora_id,content_size")
            .finish();
        let answer = web.request("GET", &format!("/fcr:search?{query}")).send().await.expect(200);
        answer["items"].clone()
    };
    let empty = found("content_size<5").await;
    assert_eq!(empty.as_array().map(Vec::len), Some(1), "{empty}");
    let proxied = found("fedora_id=/x/proxy").await;
    assert_eq!(proxied[0]["content_size"], -1, "as of what has no size");
}
