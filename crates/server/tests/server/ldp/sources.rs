//! RDF sources: created, replaced and read in every syntax (LDP 1.0, sections 4.2 and 4.3).

use super::{MOUNTS, Web, headers, links};

#[tokio::test]
async fn a_graph_is_created_read_and_replaced() {
    for web in Web::each() {
        let created = web.put("/lab/run", "<> <urn:p> \"one\" ; <urn:q> <#part> .").await;
        assert_eq!(created.status, 201, "{}", created.text());
        assert_eq!(headers(&created, "location"), [web.address("/lab/run")]);
        assert_eq!(created.text(), web.address("/lab/run"));
        assert!(web.has_triple("/lab/run", "<> <urn:p> \"one\"").await);
        let part = format!("<{}#part>", web.address("/lab/run"));
        assert!(web.has_triple("/lab/run", &format!("<> <urn:q> {part}")).await);
        assert_eq!(web.get("/lab").await.status, 200, "the container on the way");

        let replaced = web.put("/lab/run", "<> <urn:p> \"two\" .").await;
        assert_eq!((replaced.status.as_u16(), replaced.text().as_str()), (204, ""));
        assert!(web.has_triple("/lab/run", "<> <urn:p> \"two\"").await);
        assert!(!web.has_triple("/lab/run", "<> <urn:p> \"one\"").await);
        assert_eq!(web.put("/lab/run", "").await.status, 204);
        assert!(!web.has_triple("/lab/run", "<> <urn:p> \"two\"").await);
    }
}

#[tokio::test]
async fn relative_iris_are_resolved_against_the_address() {
    for web in Web::each().filter(|web| web.mount != "/ldp") {
        web.put("/a/b", "<> <urn:to> <c>, <../x>, </other>, <urn:y> .").await;
        for object in [web.address("/a/c"), web.address("/x"), "http://localhost/other".into()] {
            assert!(web.has_triple("/a/b", &format!("<> <urn:to> <{object}>")).await, "{object}");
        }
        let posted = web.post("/a", "d", "<> <urn:to> <e> .").await;
        assert_eq!(posted.status, 201);
        assert!(web.has_triple("/a/d", &format!("<> <urn:to> <{}>", web.address("/a/e"))).await);
    }
}

#[tokio::test]
async fn a_link_is_shown_with_the_address_that_its_target_has_now() {
    let web = Web::new("/rest");
    web.put("/a", "").await;
    web.put("/b", &format!("<> <urn:to> <{}> .", web.address("/a"))).await;
    let moved = web
        .server
        .post("/v1/move", serde_json::json!({"from": {"path": "/a"}, "to": "/c d"}))
        .await;
    assert_eq!(moved.status, 200, "{}", moved.text());
    assert!(web.has_triple("/b", &format!("<> <urn:to> <{}>", web.address("/c%20d"))).await);
}

#[tokio::test]
async fn every_syntax_is_read_and_written() {
    let bodies = [
        ("text/turtle", "<> <http://h/p> \"v\" ."),
        ("application/n-triples", "<http://localhost/rest/g> <http://h/p> \"v\" ."),
        ("application/ld+json", r#"{"@id": "", "http://h/p": "v"}"#),
        (
            "application/rdf+xml",
            r#"<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:h="http://h/"><rdf:Description rdf:about=""><h:p>v</h:p></rdf:Description></rdf:RDF>"#,
        ),
    ];
    for (media_type, body) in bodies {
        let web = Web::new("/rest");
        let put =
            web.request("PUT", "/g").header("content-type", media_type).body(body).send().await;
        assert_eq!(put.status, 201, "{media_type}: {}", put.text());
        assert!(web.has_triple("/g", "<> <http://h/p> \"v\"").await, "{media_type}");
        for (accept, _) in bodies {
            let read = web.request("GET", "/g").header("accept", accept).send().await;
            let content_type = headers(&read, "content-type")[0].to_owned();
            let charset = if accept.starts_with("text/") { ";charset=utf-8" } else { "" };
            assert_eq!(content_type, format!("{accept}{charset}"));
            let text = read.body.clone();
            let again = Web::new("/rest");
            let put = again
                .request("PUT", "/g")
                .header("prefer", "handling=lenient")
                .header("content-type", accept)
                .header("prefer", "handling=lenient")
                .body(text)
                .send()
                .await;
            assert_eq!(put.status, 201, "{accept}, as it was read: {}", put.text());
        }
    }
}

#[tokio::test]
async fn the_syntax_is_negotiated_and_never_refused() {
    let web = Web::new("/w3c");
    web.put("/g", "").await;
    for (accept, media_type) in [
        ("text/turtle", "text/turtle"),
        ("application/ld+json, application/json;q=0.5", "application/ld+json"),
        ("text/turtle;q=0.1, application/rdf+xml;q=0.9", "application/rdf+xml"),
        ("image/png", "text/turtle"),
        ("", "text/turtle"),
    ] {
        // A malformed media type is not an error in a request without a body.
        let request = web.request("GET", "/g").header("accept", accept);
        let read = request.header("content-type", "application/ld+json or application/json");
        let read = read.send().await;
        assert_eq!(read.status, 200);
        assert!(headers(&read, "content-type")[0].starts_with(media_type), "{accept}");
        assert_eq!(headers(&read, "vary"), ["Accept, Prefer"]);
    }
}

#[tokio::test]
async fn responses_state_the_type_of_a_resource() {
    for web in Web::each() {
        web.put("/g", "").await;
        for method in ["GET", "HEAD", "OPTIONS"] {
            let answer = web.request(method, "/g").send().await;
            assert!(answer.status.is_success());
            for class in ["ldp:Resource", "ldp:RDFSource", "ldp:Container"] {
                assert!(links(&answer, class, "type"), "{method} {class}");
            }
            assert_eq!(links(&answer, "ldp:BasicContainer", "type"), web.mount != "/ldp");
            assert_eq!(headers(&answer, "accept-patch"), ["application/sparql-update"]);
            assert!(headers(&answer, "accept-post")[0].contains("text/turtle"));
            let allow = headers(&answer, "allow")[0].to_owned();
            for method in ["GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE"] {
                assert!(allow.split(',').any(|allowed| allowed == method), "{method}");
            }
        }
        for class in ["Resource", "RDFSource", "Container"] {
            let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
            assert!(web.has_triple("/g", &format!("<> <{rdf}> <ldp:{class}>")).await);
        }
    }
}

#[tokio::test]
async fn putting_back_what_was_read_changes_nothing() {
    for web in Web::each() {
        web.put("/g", "<> <urn:p> 1 ; <urn:q> [ <urn:r> \"x\"@en ] .").await;
        web.put("/g/child", "").await;
        let before = web.get("/g").await;
        let put = web.put("/g", &before.text()).await;
        assert_eq!(put.status, 204, "{}: {}", web.mount, put.text());
        let after = web.get("/g").await;
        assert_eq!(before.text(), after.text());
        assert_eq!(before.headers.get("etag"), after.headers.get("etag"));
    }
}

#[tokio::test]
async fn server_managed_triples_are_refused_or_ignored() {
    let wrong = "<> <http://fedora.info/definitions/fcrepo#created> \"yesterday\" ; <urn:p> 1 .";
    for (mount, status) in MOUNTS.into_iter().zip([412, 409, 409]) {
        let web = Web::new(mount);
        let refused = web.put("/g", wrong).await;
        assert_eq!(refused.status, status);
        assert!(links(
            &refused,
            "http://localhost/info/ldp_constraints",
            "http://www.w3.org/ns/ldp#constrainedBy"
        ));
        assert!(!refused.text().is_empty());
        assert_eq!(web.get("/g").await.status, 404, "nothing was made");
        let lenient = web.request("PUT", "/g").header("prefer", "handling=lenient");
        let lenient = lenient.header("content-type", "text/turtle").body(wrong).send().await;
        assert_eq!(lenient.status, 201);
        let triples = web.triples("/g").await;
        assert!(!triples.iter().any(|triple| triple.contains("yesterday")));
        for contained in ["<> <http://www.w3.org/ns/ldp#contains> <urn:x> .", "<> a \"x\" ."] {
            assert_eq!(web.put("/g", contained).await.status, status, "{contained}");
        }
    }
    let constraints = Web::new("").server.request("GET", "/info/ldp_constraints").send().await;
    assert!(constraints.text().contains("http://www.w3.org/ns/ldp#contains"));
}

#[tokio::test]
async fn malformed_requests_are_refused() {
    for web in Web::each() {
        for (media_type, body, status) in [
            ("text/turtle", "<> <urn:p", 400),
            ("application/ld+json", "{", 400),
            ("application/ld+json", r#"{"@context": "http://h/c"}"#, 400),
            ("application/rdf+xml", "<rdf", 400),
            ("text/turtle", "<> <urn:p> <::> .", 400),
        ] {
            let put =
                web.request("PUT", "/g").header("content-type", media_type).body(body).send().await;
            assert_eq!(put.status, status, "{media_type} {body}: {}", put.text());
        }
        assert_eq!(web.get("/g").await.status, 404);
        assert_eq!(web.get("/g/fcr:unknown").await.status, 404);
        assert_eq!(web.request("BREW", "/").send().await.status, 405);
        for method in ["DELETE", "PUT"] {
            let root = web.server.request(method, &format!("{}/", web.mount)).send().await;
            assert_eq!(root.status, 405, "{method} of the root");
        }
    }
}

#[tokio::test]
async fn conditions_are_evaluated_on_the_state() {
    for web in Web::each().filter(|web| web.mount != "/ldp") {
        web.put("/g", "<> <urn:p> 1 .").await;
        let read = web.get("/g").await;
        let tag = headers(&read, "etag")[0].to_owned();
        for accept in ["application/ld+json", "text/turtle"] {
            let other = web.request("HEAD", "/g").header("accept", accept).send().await;
            assert_eq!(headers(&other, "etag"), [tag.as_str()], "of every representation");
        }
        let cached = web.request("GET", "/g").header("if-none-match", &tag).send().await;
        assert_eq!(cached.status, 304);
        let put = |if_match: String| {
            let request = web.request("PUT", "/g").header("content-type", "text/turtle");
            request.header("if-match", &if_match).body("<> <urn:p> 2 .").send()
        };
        assert_eq!(put("\"other\"".into()).await.status, 412);
        assert_eq!(put(tag.clone()).await.status, 204);
        assert_eq!(put(tag).await.status, 412, "it changed");
        let absent = web.request("PUT", "/g").header("content-type", "text/turtle");
        let absent = absent.header("if-none-match", "*").body("").send().await;
        assert!([412, 428].contains(&absent.status.as_u16()));
    }
    let strict = Web::new("/w3c");
    strict.put("/g", "").await;
    let put =
        strict.request("PUT", "/g").header("content-type", "text/turtle").body("").send().await;
    assert_eq!(put.status, 428);
    let lake = Web::new("/ldp");
    lake.put("/g", "").await;
    assert!(headers(&lake.get("/g").await, "etag").is_empty());
    let matched = lake.request("GET", "/g").header("if-match", "\"x\"").send().await;
    assert_eq!(matched.status, 412);
    let since =
        lake.request("GET", "/g").header("if-unmodified-since", "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_eq!(since.send().await.status, 304);
}

/// The Fedora API, section 3.10.
#[tokio::test]
async fn a_state_token_is_that_of_the_state() {
    let web = Web::new("/rest");
    web.put("/r", "").await;
    web.request("PUT", "/b").header("content-type", "text/plain").body("x").send().await;
    let before = headers(&web.get("/r").await, "x-state-token")[0].to_owned();
    assert_eq!(
        headers(&web.request("HEAD", "/r").send().await, "x-state-token"),
        [before.as_str()]
    );
    let patch = |token: &str| {
        let request =
            web.request("PATCH", "/r").header("content-type", "application/sparql-update");
        request.header("x-if-state-token", token).body("INSERT DATA { <> <urn:p> 1 }").send()
    };
    assert_eq!(patch("another").await.status, 412);
    assert_eq!(patch(&before).await.status, 204);
    assert_ne!(headers(&web.get("/r").await, "x-state-token"), [before.as_str()]);
    for path in ["/r", "/b"] {
        let request = web
            .request("PUT", path)
            .header("content-type", if path == "/r" { "text/turtle" } else { "text/plain" });
        assert_eq!(request.header("x-if-state-token", &before).body("").send().await.status, 412);
    }
}

#[tokio::test]
async fn a_byte_order_mark_is_skipped() {
    for web in Web::each() {
        for (name, media_type, text) in [
            ("t", "text/turtle", "<> <urn:p> \"v\" ."),
            ("n", "application/n-triples", "<urn:s> <urn:p> \"v\" ."),
            ("j", "application/ld+json", "{\"@id\": \"\", \"urn:p\": \"v\"}"),
        ] {
            let path = format!("/{name}");
            let request = web.request("PUT", &path).header("content-type", media_type);
            let put = request.body(format!("\u{feff}{text}")).send().await;
            assert_eq!(put.status, 201, "{media_type}: {}", put.text());
            assert!(web.triples(&path).await.iter().any(|it| it.ends_with("<urn:p> \"v\"")));
        }
        let patched = web.patch("/t", "\u{feff}INSERT DATA { <> <urn:q> 1 }").await;
        assert_eq!(patched.status, 204, "{}", patched.text());
    }
}
