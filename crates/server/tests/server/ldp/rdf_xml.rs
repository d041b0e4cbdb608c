//! RDF/XML, in which not every graph can be written: what is sent is the graph, and what cannot be is refused before the first byte.

use cenote_rdf::{Limits, Syntax, canonical, read};
use serde_json::json;

use super::Web;
use crate::support::Answer;

const LIMITS: Limits = Limits { triples: 10_000, term: 1 << 20 };

async fn get(web: &Web, path: &str, syntax: Syntax) -> Answer {
    web.request("GET", path).header("accept", syntax.media_type()).send().await
}

/// The status of a HEAD, which is that of the same GET.
async fn head(web: &Web, path: &str, syntax: Syntax) -> u16 {
    web.request("HEAD", path).header("accept", syntax.media_type()).send().await.status.as_u16()
}

#[tokio::test]
async fn what_it_cannot_express_is_refused_with_the_term() {
    let web = Web::new("/rest");
    for (name, predicate, literal, term) in [
        ("digits", "http://e.x/123", "x", "the predicate <http://e.x/123>"),
        ("slash", "http://e.x/a/", "x", "the predicate <http://e.x/a/>"),
        ("hash", "http://e.x/a#", "x", "the predicate <http://e.x/a#>"),
        ("urn", "urn:1", "x", "the predicate <urn:1>"),
        ("nul", "urn:p", r"a\u0000b", "U+0000"),
        ("control", "urn:p", r"\u0001", "U+0001"),
        ("none", "urn:p", r"\uFFFE", "U+FFFE"),
    ] {
        let path = format!("/{name}");
        let put = web.put(&path, &format!("<> <{predicate}> \"{literal}\" .")).await;
        assert_eq!(put.status, 201, "{}", put.text());
        let refused = get(&web, &path, Syntax::RdfXml).await;
        assert_eq!(head(&web, &path, Syntax::RdfXml).await, 406);
        assert_eq!(head(&web, &path, Syntax::Turtle).await, 200);
        let detail = refused.text();
        assert!(detail.contains(term) && detail.contains("Turtle"), "{detail}");
        refused.problem(406, "not-acceptable");
        let graph = get(&web, &path, Syntax::JsonLd).await;
        let graph = read(&graph.body, Syntax::JsonLd, "http://localhost/", LIMITS).unwrap();
        for syntax in [Syntax::Turtle, Syntax::NTriples, Syntax::N3] {
            let answer = get(&web, &path, syntax).await;
            let same = read(&answer.body, syntax, "http://localhost/", LIMITS).unwrap();
            assert_eq!(canonical(&same), canonical(&graph), "{name} as {syntax:?}");
        }
    }
}

#[tokio::test]
async fn attributes_of_other_openings_are_written_or_refused() {
    let web = Web::new("/rest");
    web.put("/g", "").await;
    for (attribute, is_written) in [("plain", true), ("a b/ü", true), ("a b/ü<>\"", false)] {
        let change = |op: &str| {
            let operation = json!({"op": op, "attribute": attribute, "value": "1\r\n\t2 "});
            json!({"path": "/g", "operations": [operation]})
        };
        let added = web.server.post("/v1/meta", change("add")).await;
        assert!(added.status.is_success(), "{}", added.text());
        let answer = get(&web, "/g", Syntax::RdfXml).await;
        match is_written {
            true => {
                let turtle = get(&web, "/g", Syntax::Turtle).await;
                let turtle = read(&turtle.body, Syntax::Turtle, "http://localhost/", LIMITS);
                let xml = read(&answer.body, Syntax::RdfXml, "http://localhost/", LIMITS);
                let (xml, turtle) = (xml.unwrap(), turtle.unwrap());
                assert_eq!(canonical(&xml), canonical(&turtle), "{attribute}");
            }
            false => drop(answer.problem(406, "not-acceptable")),
        }
        assert_eq!(head(&web, "/g", Syntax::RdfXml).await == 200, is_written, "{attribute}");
        let removed = web.server.post("/v1/meta", change("remove")).await;
        assert!(removed.status.is_success(), "{}", removed.text());
    }
}

/// The members follow what is contained, more of that than is sent at once.
#[tokio::test]
async fn a_large_graph_is_refused_before_its_first_byte() {
    let web = Web::new("/rest");
    let direct = |predicate: &str| {
        format!(
            "<> a <http://www.w3.org/ns/ldp#DirectContainer> ; <http://www.w3.org/ns/ldp#membershipResource> <> ; <http://www.w3.org/ns/ldp#hasMemberRelation> <{predicate}> ."
        )
    };
    for (name, predicate) in [("good", "http://e.x/has"), ("bad", "http://e.x/1")] {
        let put = web.put(&format!("/{name}"), &direct(predicate)).await;
        assert_eq!(put.status, 201, "{}", put.text());
        for n in 0..300 {
            let child = format!("/{name}/{}{n}", "a".repeat(230));
            assert_eq!(web.put(&child, "").await.status, 201);
        }
    }
    let good = get(&web, "/good", Syntax::RdfXml).await;
    assert!(good.body.len() > 128 << 10, "{}", good.body.len());
    let turtle = get(&web, "/good", Syntax::Turtle).await;
    let good = read(&good.body, Syntax::RdfXml, "http://localhost/", LIMITS).unwrap();
    let turtle = read(&turtle.body, Syntax::Turtle, "http://localhost/", LIMITS).unwrap();
    assert_eq!(canonical(&good), canonical(&turtle));
    get(&web, "/bad", Syntax::RdfXml).await.problem(406, "not-acceptable");
    assert_eq!(head(&web, "/bad", Syntax::RdfXml).await, 406);
    assert_eq!(head(&web, "/good", Syntax::RdfXml).await, 200);
    assert_eq!(get(&web, "/bad", Syntax::Turtle).await.status, 200);
}

#[tokio::test]
async fn results_of_queries_are_well_formed_or_refused() {
    let web = Web::new("/rest");
    web.put("/g", r#"<> <urn:bad> "a\u0001b" ; <urn:good> "a\r\nb" ; <urn:7> "x" ."#).await;
    let request = async |query: &str, accept: &str| {
        let request = web.server.request("POST", "/sparql").header("accept", accept);
        request
            .header("content-type", "application/sparql-query")
            .body(query.to_owned())
            .send()
            .await
    };
    let xml = "application/sparql-results+xml";
    request("SELECT ?o { ?s <urn:bad> ?o }", xml).await.problem(406, "not-acceptable");
    let json = request("SELECT ?o { ?s <urn:bad> ?o }", "application/sparql-results+json").await;
    assert!(json.status == 200 && json.text().contains(r"a\u0001b"), "{}", json.text());
    let good = request("SELECT ?o { ?s <urn:good> ?o }", xml).await;
    assert!(good.status == 200 && good.text().contains("a&#13;\nb"), "{}", good.text());
    let construct = "CONSTRUCT { ?s <urn:7> ?o } WHERE { ?s <urn:7> ?o }";
    request(construct, "application/rdf+xml").await.problem(406, "not-acceptable");
    assert_eq!(request(construct, "text/turtle").await.status, 200);
}
