//! Queries over HTTP: the SPARQL 1.1 Protocol, what of the store is in an answer, and what is not.

mod graphs;
mod hostile;
mod outsider;
mod protocol;
mod term_search;

use std::collections::BTreeSet;

use crate::support::{ADMIN, Answer, TestServer};

/// Where queries are answered.
const ADDRESSES: [&str; 2] = ["/sparql", "/query/sparql"];

/// The answer to a query, as a caller.
async fn ask_as(
    server: &TestServer,
    who: Option<(&str, &str)>,
    address: &str,
    query: &str,
    accept: &str,
) -> Answer {
    let ask = server.ask_as(who, "POST", address).header("accept", accept);
    ask.header("content-type", "application/sparql-query").body(query.to_owned()).send().await
}

/// The lines of an answer but for the first, as an administrator.
async fn rows(server: &TestServer, query: &str) -> BTreeSet<String> {
    let answer = ask_as(server, Some(ADMIN), "/sparql", query, "text/tab-separated-values").await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    answer.text().lines().skip(1).map(str::to_owned).collect()
}
