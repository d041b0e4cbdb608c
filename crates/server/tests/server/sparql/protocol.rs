//! The SPARQL 1.1 Protocol, sections 2.1 and 3: three ways to send a query, formats, and errors.

use serde_json::Value;

use super::{ADDRESSES, query_as};
use crate::support::{ADMIN, TestServer};

const ENCODED: &str = "query=SELECT%20%3Fs%20%7B%20%3Fs%20%3Fp%20%27v%27%20%7D";
const QUERY: &str = "SELECT ?s { ?s ?p 'v' }";

async fn server() -> TestServer {
    let server = TestServer::new();
    server.put("/a", "bytes").await;
    let operations = serde_json::json!([{"op": "add", "attribute": "k", "value": "v"}]);
    let described = serde_json::json!({"path": "/a", "operations": operations});
    server.post("/v1/meta", described).await.expect(200);
    server
}

#[tokio::test]
async fn a_query_is_sent_in_the_address_in_a_form_or_as_the_body() {
    let server = server().await;
    for address in ADDRESSES {
        let form = "application/x-www-form-urlencoded";
        let body = "application/sparql-query; charset=utf-8";
        let answers = [
            server.request("GET", &format!("{address}?{ENCODED}")).send().await,
            server.request("POST", address).header("content-type", form).body(ENCODED).send().await,
            server.request("POST", address).header("content-type", body).body(QUERY).send().await,
        ];
        for answer in answers {
            assert_eq!(answer.header("content-type"), "application/sparql-results+json");
            let found = answer.expect(200)["results"]["bindings"].clone();
            let iri = match address {
                "/sparql" => "http://localhost/rest/a",
                _ => "info:fcres/a",
            };
            assert_eq!(found, serde_json::json!([{"s": {"type": "uri", "value": iri}}]));
        }
    }
}

#[tokio::test]
async fn a_result_has_the_requested_format() {
    let server = server().await;
    let graph = "CONSTRUCT { ?s <urn:p> ?o } WHERE { ?s ?p ?o FILTER(?o = 'v') }";
    for (query, accept, media_type, part) in [
        (QUERY, "", "application/sparql-results+json", "\"bindings\""),
        (QUERY, "application/json", "application/sparql-results+json", "\"bindings\""),
        (QUERY, "application/sparql-results+xml", "application/sparql-results+xml", "<uri>"),
        (QUERY, "text/csv", "text/csv; charset=utf-8", "http://localhost/rest/a\r\n"),
        (QUERY, "text/tab-separated-values", "text/tab-separated-values; charset=utf-8", "<http:"),
        ("ASK { ?s ?p 'v' }", "", "application/sparql-results+json", "true"),
        ("ASK { ?s ?p 'w' }", "text/csv", "text/csv; charset=utf-8", "false"),
        (graph, "", "text/turtle", "<urn:p> \"v\""),
        (graph, "application/n-triples", "application/n-triples", "<http://localhost/rest/a>"),
        (graph, "application/ld+json", "application/ld+json", "urn:p"),
        (graph, "application/rdf+xml", "application/rdf+xml", "rdf:RDF"),
        ("DESCRIBE <http://localhost/rest/a>", "", "text/turtle", "hasSize"),
    ] {
        let answer = query_as(&server, Some(ADMIN), "/sparql", query, accept).await;
        assert_eq!(answer.status, 200, "{query} {accept}: {}", answer.text());
        assert_eq!(answer.header("content-type"), media_type);
        assert!(answer.text().contains(part), "{query} {accept}: {}", answer.text());
    }
    let named = server.request("GET", &format!("/sparql?{ENCODED}&format=csv")).send().await;
    assert_eq!(named.text(), "s\r\nhttp://localhost/rest/a\r\n");
    let paths =
        server.request("GET", &format!("/sparql?{ENCODED}&format=csv&iris=paths")).send().await;
    assert_eq!(paths.text(), "s\r\ncenote:/a\r\n");
}

#[tokio::test]
async fn errors_are_reported_as_client_errors() {
    let server = server().await;
    let form = "application/x-www-form-urlencoded";
    let query = "application/sparql-query";
    for (media_type, body, status, kind) in [
        (query, "SELECT ?s { ?s ?p }", 400, "invalid"),
        (query, "SELECT * { SERVICE <http://localhost:9/> { ?s ?p ?o } }", 400, "invalid"),
        (query, "INSERT DATA { <urn:s> <urn:p> 1 }", 400, "invalid"),
        (query, "", 400, "invalid"),
        (form, "", 400, "invalid"),
        (form, "query=ASK%7B%7D&query=ASK%7B%7D", 400, "invalid"),
        (form, "query=%FF", 400, "invalid"),
        (form, "query=ASK%7B%7D&default-graph-uri=x", 400, "invalid"),
        (form, "query=ASK%7B%7D&other=1", 400, "invalid"),
        (form, "query=ASK%7B%7D&format=png", 400, "invalid"),
        ("text/plain", "ASK {}", 415, "media-type"),
        ("", "ASK {}", 415, "media-type"),
    ] {
        for address in ADDRESSES {
            let request = server.request("POST", address).header("content-type", media_type);
            request.body(body).send().await.problem(status, kind);
        }
    }
    let results = "application/sparql-results+json";
    server.request("GET", "/sparql").header("accept", results).send().await.problem(400, "invalid");
    server.request("GET", "/sparql?query=").send().await.problem(400, "invalid");
    server.request("PUT", "/sparql").send().await.problem(405, "method");
    for (text, accept) in [(QUERY, "text/turtle"), ("DESCRIBE <urn:x>", "text/csv")] {
        let answer = query_as(&server, Some(ADMIN), "/sparql", text, accept).await;
        answer.problem(406, "not-acceptable");
    }
}

#[tokio::test]
async fn a_browser_gets_a_form() {
    let server = server().await;
    for address in ADDRESSES {
        let accept = "text/html,application/xml;q=0.9,*/*;q=0.8";
        let page = server.request("GET", address).header("accept", accept).send().await;
        assert_eq!(page.status, 200);
        assert!(page.text().contains("<textarea") && page.text().contains(address));
    }
}

/// SPARQL 1.1 Service Description, section 2: the answer to a request without a query.
#[tokio::test]
async fn a_program_that_sends_no_query_gets_a_description_of_the_service() {
    let server = server().await;
    for address in ADDRESSES {
        let own = format!("<http://localhost{address}>");
        let sd = "http://www.w3.org/ns/sparql-service-description#";
        let lines = server.request("GET", address).header("accept", "application/n-triples");
        let lines = lines.send().await.text();
        for line in [
            format!("{own} <{sd}endpoint> {own} ."),
            format!("{own} <{sd}supportedLanguage> <{sd}SPARQL11Query> ."),
            format!(
                "{own} <{sd}resultFormat> <http://www.w3.org/ns/formats/SPARQL_Results_JSON> ."
            ),
        ] {
            assert!(lines.contains(&line), "{line} in {lines}");
        }
        for (accept, media_type) in [
            ("", "text/turtle"),
            ("*/*", "text/turtle"),
            ("application/rdf+xml", "application/rdf+xml"),
        ] {
            let answer = server.request("GET", address).header("accept", accept).send().await;
            assert_eq!(answer.status, 200, "{accept}");
            assert_eq!(answer.header("content-type"), media_type, "{accept}");
        }
    }
}

#[tokio::test]
async fn the_dataset_of_the_request_replaces_that_of_the_query() {
    let server = server().await;
    server.put("/b", "more").await;
    let text = "SELECT ?s { ?s <http://www.loc.gov/premis/rdf/v1#hasSize> ?n }";
    let request = async |more: &str| -> Value {
        let request = server.request("POST", &format!("/sparql?{more}"));
        let request = request.header("content-type", "application/sparql-query").body(text);
        request.send().await.expect(200)["results"]["bindings"].clone()
    };
    assert_eq!(request("").await.as_array().unwrap().len(), 2);
    let one = request("default-graph-uri=http://localhost/rest/b").await;
    assert_eq!(one[0]["s"]["value"], "http://localhost/rest/b");
    assert_eq!(one.as_array().unwrap().len(), 1);
    assert_eq!(request("named-graph-uri=http://localhost/rest/b").await, serde_json::json!([]));
}
