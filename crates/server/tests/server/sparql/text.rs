//! Words in queries, with the index of the server.

use std::collections::BTreeSet;

use super::{ADDRESSES, query_as, rows};
use crate::support::{ADMIN, TestServer};

const PREFIX: &str =
    "PREFIX text: <http://jena.apache.org/text#> PREFIX dc: <http://purl.org/dc/terms/>";

async fn put(server: &TestServer, path: &str, turtle: &str) {
    let request = server.request("PUT", path).header("content-type", "text/turtle");
    let answer = request.body(turtle.to_owned()).send().await;
    assert!(answer.status.is_success(), "{}", answer.text());
}

/// The names of the resources below `/rest/` that a pattern finds.
async fn found(server: &TestServer, pattern: &str) -> Vec<String> {
    let rows = rows(server, &format!("{PREFIX} SELECT DISTINCT ?s {{ {pattern} }}")).await;
    let name = |row: &String| row.replace("<http://localhost/rest/", "").replace('>', "");
    rows.iter().map(name).collect::<BTreeSet<_>>().into_iter().collect()
}

#[tokio::test]
async fn words_are_found_in_names_and_literals_and_joined_with_other_patterns() {
    let server = TestServer::new();
    put(
        &server,
        "/rest/run7",
        "@prefix dc: <http://purl.org/dc/terms/> . \
         <> dc:title \"Water box\"@en, \"Wasserkasten\"@de; dc:creator \"Ada\"; dc:relation <#part> . \
         <#part> dc:title \"Inner box\" .",
    )
    .await;
    put(
        &server,
        "/rest/box",
        "<> <http://purl.org/dc/terms/title> \"Nothing\"; <http://purl.org/dc/terms/size> 7 .",
    )
    .await;
    for (pattern, expected) in [
        ("?s text:query 'box'", vec!["box", "run7", "run7#part"]),
        ("?s text:query 'box' ; dc:creator 'Ada'", vec!["run7"]),
        ("?s text:query 'ada box'", vec!["run7"]),
        ("?s text:query (dc:title 'box')", vec!["run7", "run7#part"]),
        ("?s text:query (dc:title 'ada')", vec![]),
        ("?s text:query 'wa* box'@en", vec!["run7"]),
        ("?s text:query 'wasserkasten'@en", vec![]),
        ("?s text:query (dc:title 'wasser*'@de)", vec!["run7"]),
        ("?s text:query '7'", vec!["box"]),
        (
            "?s a <http://www.w3.org/ns/ldp#Container> FILTER EXISTS { ?s text:query 'nothing' }",
            vec!["box"],
        ),
        ("VALUES ?words { 'inner' 'nothing' } ?s text:query ?words", vec!["box", "run7#part"]),
        ("GRAPH <http://localhost/rest/run7> { ?s text:query 'box' }", vec!["run7", "run7#part"]),
        ("GRAPH ?g { ?s text:query 'inner' }", vec!["run7#part"]),
        ("?whole dc:relation ?s . ?s text:query 'inner'", vec!["run7#part"]),
        ("<http://localhost/rest/run7> text:query 'ada' . ?s dc:creator 'Ada'", vec!["run7"]),
    ] {
        assert_eq!(found(&server, pattern).await, expected, "{pattern}");
    }
}

#[tokio::test]
async fn an_answer_has_every_earlier_write() {
    let server = TestServer::new();
    for n in 0..20 {
        put(&server, &format!("/rest/n{n}"), &format!("<> <urn:p> \"word{n} all\" .")).await;
        let now = found(&server, &format!("?s text:query 'word{n}'")).await;
        assert_eq!(now, [format!("n{n}")]);
        assert_eq!(found(&server, "?s text:query 'all'").await.len(), n + 1);
    }
    put(&server, "/rest/n3", "<> <urn:p> \"other\" .").await;
    assert!(found(&server, "?s text:query 'word3'").await.is_empty());
}

#[tokio::test]
async fn what_is_no_query_for_words_is_refused() {
    let server = TestServer::new();
    for pattern in [
        "?s text:query ''",
        "?s text:query '...'",
        "?s text:query 'a*'",
        "?s text:query '\"open'",
        "?s text:query ?words",
        "?s text:query <urn:x>",
        "?s text:query (dc:title 'a' 10)",
        "(?s ?score) text:query 'a'",
    ] {
        for address in ADDRESSES {
            let query = format!("{PREFIX} SELECT * {{ {pattern} }}");
            let answer = query_as(&server, Some(ADMIN), address, &query, "").await;
            answer.problem(400, "invalid");
        }
    }
}
