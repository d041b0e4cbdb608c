//! Every route as an outsider: a hidden resource and a missing one give the same response, in status, body and
//! headers, whatever else the request contains and whoever sends it.
//!
//! The requests are generated: of the native opening from its OpenAPI document, of the other openings from lists of
//! their operations. Each refers to a resource by a placeholder and is sent twice, once for a hidden resource, once
//! for a missing one. By default each request is sent as one user and as one other caller in turn; with
//! `CENOTE_OUTSIDER=all` (`make nightly`) as every caller.

mod dnanexus;
mod irods;
mod listings;
mod native;
mod rest;
pub(crate) mod template;
mod world;

use axum::http::HeaderMap;

use self::world::{Caller, World};
use super::support::Answer;

/// The token in the name of each hidden resource, and its replacement for a missing one. Of equal length, so that
/// response lengths are equal, too.
const HIDDEN: &str = "veiled";
const MISSING: &str = "absent";

/// A hidden resource, and a missing one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    hidden: String,
    missing: String,
}

impl Pair {
    /// A hidden path or name; the missing one differs in the token.
    fn of(hidden: &str) -> Self {
        Self { hidden: hidden.to_owned(), missing: hidden.replace(HIDDEN, MISSING) }
    }
}

/// The parts of a response that a client can compare: without those that differ between any two.
#[derive(Debug, PartialEq, Eq)]
struct Comparable {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Comparable {
    fn of(answer: &Answer, pair: &Pair) -> Self {
        let normalized =
            |text: &str| text.replace(&pair.missing, &pair.hidden).replace(MISSING, HIDDEN);
        let request = answer.header("x-request-id");
        let body = String::from_utf8_lossy(&answer.body);
        // First, since the id of the request may contain that of the resource.
        let body = if request.is_empty() { body } else { body.replace(request, "").into() };
        let (status, headers) = (answer.status.as_u16(), headers(&answer.headers, normalized));
        Self { status, headers, body: normalized(&body) }
    }
}

fn headers(headers: &HeaderMap, normalized: impl Fn(&str) -> String) -> Vec<(String, String)> {
    let own = ["x-request-id", "date", "content-length"];
    let shown = headers.iter().filter(|(name, _)| !own.contains(&name.as_str()));
    let mut shown: Vec<_> = shown
        .map(|(name, value)| (name.to_string(), normalized(value.to_str().unwrap())))
        .collect();
    shown.sort();
    shown
}

/// The differences found, reported together.
#[derive(Debug, Default)]
struct Differences {
    compared: usize,
    found: Vec<String>,
}

impl Differences {
    fn compare(&mut self, what: impl FnOnce() -> String, pair: &Pair, answers: [&Answer; 2]) {
        self.compared += 1;
        let [hidden, missing] = answers.map(|answer| Comparable::of(answer, pair));
        if hidden != missing {
            let what = what();
            self.found.push(format!("{what}\n  hidden:  {hidden:?}\n  missing: {missing:?}"));
        }
    }

    /// Fails with the differences found; also if too few requests were sent for the test to be meaningful.
    fn assert_none(&self, at_least: usize) {
        let some = self.found.iter().take(40).cloned().collect::<Vec<_>>().join("\n");
        let (found, compared) = (self.found.len(), self.compared);
        assert!(found == 0, "{found} of {compared} requests tell what is hidden:\n{some}");
        assert!(compared >= at_least, "only {compared} requests were made up");
    }
}

/// Whether every request is sent in every way.
fn is_long() -> bool {
    std::env::var("CENOTE_OUTSIDER").is_ok_and(|which| which == "all")
}

/// The callers that send the `n`th request.
fn callers(world: &World, n: usize) -> Vec<&Caller> {
    if is_long() {
        return world.callers.iter().collect();
    }
    let (user, others) = world.callers.split_first().unwrap();
    let other = if n.is_multiple_of(100) { &world.removed } else { &others[n % others.len()] };
    vec![user, other]
}
