//! Queries over HTTP: the SPARQL 1.1 Protocol, and which data of the store is in a result.

mod graphs;
mod hostile;
mod outsider;
mod past;
mod protocol;
mod term_search;
mod text;

use std::collections::BTreeSet;

use crate::support::{ADMIN, Answer, TestServer};

/// The endpoint for queries.
const ADDRESSES: [&str; 2] = ["/sparql", "/query/sparql"];

/// The result of a query, for a caller.
async fn query_as(
    server: &TestServer,
    who: Option<(&str, &str)>,
    address: &str,
    query: &str,
    accept: &str,
) -> Answer {
    let request = server.request_as(who, "POST", address).header("accept", accept);
    request.header("content-type", "application/sparql-query").body(query.to_owned()).send().await
}

/// The lines of a result except for the first, for an administrator.
async fn rows(server: &TestServer, query: &str) -> BTreeSet<String> {
    let answer = query_as(server, Some(ADMIN), "/sparql", query, "text/tab-separated-values").await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    answer.text().lines().skip(1).map(str::to_owned).collect()
}
