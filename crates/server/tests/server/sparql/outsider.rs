//! Resources hidden from a caller are in no result and no count, and affect neither.

use super::{ADDRESSES, query_as};
use crate::support::{ADMIN, TestServer};

const QUERIES: [&str; 12] = [
    "SELECT * { ?s ?p ?o }",
    "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
    "SELECT (COUNT(?g) AS ?n) { GRAPH ?g {} }",
    "SELECT * { GRAPH ?g { ?s ?p ?o } }",
    "SELECT * { ?s ?p 'hidden' }",
    "SELECT * { ?s <http://www.w3.org/ns/ldp#contains> ?o }",
    "SELECT * { <cenote:/home/vault/veiled> ?p ?o }",
    "SELECT * { ?s <http://jena.apache.org/text#query> 'hidden' }",
    "SELECT (COUNT(?s) AS ?n) { ?s <http://jena.apache.org/text#query> 'hid*' }",
    "ASK { ?s <http://jena.apache.org/text#query> 'veiled' }",
    "ASK { ?x ?p <cenote:/home/vault/veiled/deep> }",
    "SELECT * { ?a (<http://www.w3.org/ns/ldp#contains>|<cenote:attribute/k>)+ ?b }",
];

async fn answers(server: &TestServer, who: Option<(&str, &str)>) -> Vec<String> {
    let mut answers = Vec::new();
    for address in ADDRESSES {
        for query in QUERIES {
            let answer = query_as(server, who, address, query, "text/csv").await;
            assert_eq!(answer.status, 200, "{query}: {}", answer.text());
            let mut lines: Vec<_> = answer.text().lines().map(str::to_owned).collect();
            lines.sort();
            answers.push(lines.join("\n"));
        }
    }
    answers
}

#[tokio::test]
async fn hidden_resources_change_no_result() {
    let server = TestServer::new();
    let user = ("eve", "a password");
    let account = serde_json::json!({"name": user.0, "password": user.1});
    let added = server.post("/v1/users", account).await;
    assert!(added.status.is_success(), "{}", added.text());
    let eve = Some(user);
    // Adding a hidden resource updates the time of its collection, which is hidden, too.
    server.put("/home/vault/other", "bytes").await;
    let before = [answers(&server, eve).await, answers(&server, None).await];
    server.put("/home/vault/veiled/deep", "bytes").await;
    for path in ["/home/vault/veiled", "/home/vault/veiled/deep"] {
        let operations = serde_json::json!([
            {"op": "add", "attribute": "k", "value": "hidden"},
            {"op": "add", "attribute": "http://h/p", "value": "hidden"},
        ]);
        let described = serde_json::json!({"path": path, "operations": operations});
        server.post("/v1/meta", described).await.expect(200);
    }
    let after = [answers(&server, eve).await, answers(&server, None).await];
    assert_eq!(before, after);
    let admin = answers(&server, Some(ADMIN)).await.concat();
    assert!(admin.contains("veiled") && admin.contains("hidden"));
}
