//! irods-rest: all of its operations.

use super::super::support::Answer;
use super::world::{Caller, World};
use super::{Differences, callers};

/// Requests, one per line: method, operation, query, and a body if there is one.
const REQUESTS: &str = include_str!("rest-requests.txt");

#[tokio::test]
async fn no_operation_distinguishes_hidden_from_missing_resources() {
    let world = World::new().await;
    let (mut differences, mut n) = (Differences::default(), 0);
    for line in REQUESTS.lines().filter(|line| line.contains("<path>")) {
        for pair in &world.paths {
            for caller in callers(&world, n) {
                let send = async |subject: &str| send(&world, caller, line, subject).await;
                let answers = [send(&pair.hidden).await, send(&pair.missing).await];
                let what = || format!("{}: {line} {pair:?}", caller.name);
                differences.compare(what, pair, [&answers[0], &answers[1]]);
            }
            n += 1;
        }
    }
    differences.assert_none(500);
}

async fn send(world: &World, caller: &Caller, line: &str, subject: &str) -> Answer {
    let line = line.replace("<path>", &format!("/tempZone{subject}"));
    let mut words = line.splitn(3, ' ');
    let mut word = || words.next().unwrap_or_default();
    let (method, operation, rest) = (word(), word(), word());
    let (query, body) = split(rest);
    let pairs: Vec<_> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
    let uri = format!("/irods-rest/0.9.3/{operation}?{}", super::super::irods::encode(&pairs));
    let request =
        world.server.request_as(None, method, &uri).header("authorization", &caller.bearer);
    let request = match &caller.ticket {
        Some(ticket) => request.header("irods-ticket", ticket),
        None => request,
    };
    request.body(body.to_owned()).send().await
}

/// A query, which may have spaces in it only if no body follows.
fn split(rest: &str) -> (&str, &str) {
    match rest.contains("query=") {
        true => (rest, ""),
        false => rest.split_once(' ').unwrap_or((rest, "")),
    }
}
