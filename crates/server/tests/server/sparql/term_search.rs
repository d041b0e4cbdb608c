//! LAKEsuperior's term search, as required by its endpoint tests.

use serde_json::{Value, json};

use super::rows;
use crate::support::TestServer;

const PATH: &str = "/query/term_search";

async fn server() -> TestServer {
    let server = TestServer::new();
    let request = server.request("PUT", "/ldp/hello").header("content-type", "text/turtle");
    let body = "<> <http://purl.org/dc/terms/title> \"Hello\" .";
    assert_eq!(request.body(body).send().await.status, 201);
    server
}

fn term(pred: &str, op: &str, val: &str) -> Value {
    json!({"pred": pred, "op": op, "val": val})
}

async fn found(server: &TestServer, logic: &str, terms: Vec<Value>) -> Vec<String> {
    let body = json!({"logic": logic, "terms": terms});
    let found = server.post(PATH, body).await.expect(200);
    let mut found: Vec<String> = serde_json::from_value(found).unwrap();
    found.sort();
    found
}

#[tokio::test]
async fn resources_are_found_by_their_terms() {
    let server = server().await;
    let hello = "http://localhost/ldp/hello".to_owned();
    let root = "http://localhost/ldp/".to_owned();
    let title = |op, val| term("dcterms:title", op, val);
    let container = || term("rdf:type", "_id", "ldp:Container");
    let class = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ";
    let repository = "<http://fedora.info/definitions/fcrepo#RepositoryRoot>";
    for (logic, terms, expected) in [
        ("and", vec![title("_id", "\"Hello\"")], vec![&hello]),
        ("and", vec![title("=", "Hello")], vec![&hello]),
        ("and", vec![title("!=", "Repository Root")], vec![&hello]),
        ("and", vec![title(">", "Hello")], vec![]),
        ("and", vec![title("~", "HELLO")], vec![&hello]),
        ("and", vec![title("~", "hel*"), container()], vec![&hello]),
        ("and", vec![title("~", "\"hello there\"")], vec![]),
        ("and", vec![title("=", "a \"quoted\" \\ text")], vec![]),
        ("and", vec![term("rdf:type", "_id", "fcrepo:RepositoryRoot")], vec![&root]),
        ("and", vec![term(class, "_id", repository)], vec![&root]),
        ("and", vec![container(), title("=", "Hello")], vec![&hello]),
    ] {
        assert_eq!(found(&server, logic, terms).await.iter().collect::<Vec<_>>(), expected);
    }
    let all = found(&server, "and", vec![term("rdf:type", "_id", "ldp:Resource")]).await;
    let either = found(&server, "or", vec![container(), title("=", "Hello")]).await;
    let resources = rows(&server, "SELECT ?s { ?s a <http://www.w3.org/ns/ldp#Resource> }").await;
    assert_eq!(all.len(), resources.len());
    for found in [all, either] {
        assert!(found.contains(&root) && found.contains(&hello), "{found:?}");
    }
}

#[tokio::test]
async fn a_form_searches_for_one_term() {
    let server = server().await;
    let page = server.request("GET", PATH).send().await;
    assert!(
        page.text().contains("<select") && page.header("content-type").starts_with("text/html")
    );
    let query = format!("{PATH}?pred=dcterms%3Atitle&op=%3D&val=Hello");
    let found = server.request("GET", &query).send().await.expect(200);
    assert_eq!(found, json!(["http://localhost/ldp/hello"]));
}

#[tokio::test]
async fn invalid_searches_are_refused() {
    let server = server().await;
    for body in [
        json!({}),
        json!({"terms": []}),
        json!({"logic": "xor", "terms": [term("rdf:type", "_id", "ldp:Container")]}),
        json!({"terms": [term("rdf:type", "like", "ldp:Container")]}),
        json!({"terms": [term("dcterms:title", "~", "...")]}),
        json!({"terms": [term("?p", "_id", "ldp:Container")]}),
        json!({"terms": [term("no:type", "_id", "ldp:Container")]}),
        json!({"terms": [term("rdf:type", "_id", "ldp:Container . ?s ?p ?o")]}),
        json!({"terms": vec![term("rdf:type", "_id", "ldp:Container"); 101]}),
    ] {
        server.post(PATH, body).await.problem(400, "invalid");
    }
    server.request("GET", &format!("{PATH}?pred=rdf:type")).send().await.problem(400, "invalid");
}
