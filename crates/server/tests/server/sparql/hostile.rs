//! Hostile queries stop at a limit, and no request makes the server fail.

use std::sync::LazyLock;

use cenote_server::{Limits, Seconds};
use proptest::prelude::*;
use tokio::runtime::Runtime;

use super::{ADDRESSES, query_as};
use crate::support::{ADMIN, TestServer};

const ENDLESS: &str =
    "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }";
const SORTED: &str = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l } ORDER BY ?c";

#[tokio::test]
async fn a_query_is_limited_in_time_memory_and_rows() {
    let enough = Limits { query_seconds: Seconds::new(3_600), ..Limits::default() };
    for (limits, query, why) in [
        (Limits { query_seconds: Seconds::from_millis(1), ..enough.clone() }, ENDLESS, "too long"),
        (Limits { query_bytes: 1 << 16, ..enough.clone() }, SORTED, "bytes of solutions"),
        (Limits { query_rows: 10, ..enough.clone() }, "SELECT * { ?s ?p ?o }", "reads more than"),
        (Limits { answer_bytes: 100, ..enough }, "SELECT * { ?s ?p ?o }", "an answer of"),
    ] {
        let server = TestServer::with(limits);
        let answer = query_as(&server, Some(ADMIN), "/sparql", query, "").await;
        let problem = answer.problem(400, "invalid");
        assert!(problem["detail"].as_str().unwrap().contains(why), "{problem}");
    }
}

#[tokio::test]
async fn a_query_of_a_disconnected_client_stops() {
    let limits = Limits { query_seconds: Seconds::new(3_600), ..Limits::default() };
    let server = TestServer::with(limits);
    // More than can run at a time: if abandoned queries continued, the last one would not run.
    for _ in 0..9 {
        let request = query_as(&server, Some(ADMIN), "/sparql", ENDLESS, "");
        let begun = tokio::time::timeout(std::time::Duration::from_millis(20), request).await;
        assert!(begun.is_err(), "it is endless");
    }
    let answer = query_as(&server, Some(ADMIN), "/sparql", "ASK {}", "").await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn deeply_nested_queries_are_refused_before_parsing() {
    let server = TestServer::new();
    for unit in ["(", "{", "[", "!", "-", "(1 || ", "OPTIONAL {"] {
        let query = format!("ASK {{ FILTER({}", unit.repeat(100_000));
        query_as(&server, Some(ADMIN), "/sparql", &query, "").await.problem(400, "invalid");
        let request =
            server.request("PATCH", "/rest/").header("content-type", "application/sparql-update");
        let update = format!("INSERT {{ <> <urn:p> 1 }} WHERE {{ FILTER({}", unit.repeat(100_000));
        let answer = request.body(update).send().await;
        assert!(answer.status.is_client_error(), "{unit}: {}", answer.status);
    }
}

static SERVER: LazyLock<(Runtime, TestServer)> =
    LazyLock::new(|| (Runtime::new().unwrap(), TestServer::new()));

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_query_makes_the_server_fail(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "SELECT", "*", "?a", "?b", "(COUNT(*) AS ?n)", "WHERE", "{", "}", ".", "GRAPH", "?g",
                "<http://localhost/rest/>", "<cenote:/>", "a", "<urn:p>", "'x'", "1", "FILTER(", ")",
                "OPTIONAL", "UNION", "MINUS", "BIND(IRI(?a) AS ?c)", "VALUES ?a", "ASK", "CONSTRUCT",
                "DESCRIBE", "_:b", "[]", "+", "/", "^", "!", "EXISTS", "LIMIT 3", "ORDER BY ?a",
                "GROUP BY ?a", "LATERAL", "SERVICE", "FROM", "NAMED", "<info:fcsystem/graph/admin/>",
                "<info:fcsystem/meta>", "<info:fcsystem/histmeta>",
            ]),
            0..16,
        ),
        accept in "(text/csv|text/turtle|\\*/\\*|application/|;q=|,){0,3}",
        address in 0..2_usize,
    ) {
        let (runtime, server) = &*SERVER;
        let query = words.join(" ");
        let answer = runtime.block_on(query_as(server, Some(ADMIN), ADDRESSES[address], &query, &accept));
        prop_assert!(!answer.status.is_server_error(), "{}: {}", query, answer.text());
    }

    #[test]
    fn no_well_formed_query_makes_the_server_fail(
        form in proptest::sample::select(vec!["SELECT * {", "ASK {", "CONSTRUCT WHERE {", "DESCRIBE ?a {"]),
        triples in proptest::collection::vec(
            proptest::sample::select(vec![
                "?a ?b ?c . ", "?a a ?c . ", "<cenote:/> ?b ?c . ", "?a ?b <cenote:/home> . ", "?a ?b _:x . ",
                "_:x ?b ?c . ", "?a <http://www.w3.org/ns/ldp#contains> ?c . ", "?a ?b 'rods' . ",
                "<info:fcres/none> ?b ?c . ", "?a <cenote:id/1> ?c . ", "?c ?b <cenote:id/99999999999999999999> . ",
            ]),
            0..3,
        ),
    ) {
        let (runtime, server) = &*SERVER;
        let query = format!("{form} {}}}", triples.concat());
        let answer = runtime.block_on(query_as(server, Some(ADMIN), "/sparql", &query, ""));
        prop_assert!(answer.status == 200 || answer.status == 400, "{}: {}", query, answer.text());
    }
}
