//! Runs a query within the limits of the configuration, as long as its client waits.

use std::rc::Rc;
use std::thread;

use cenote_query::sparql::{self, Limits, Source};
use cenote_query::{Error, Stop};
use cenote_rdf::Format;
use cenote_store::{Caller, ErrorKind};
use tokio_util::sync::CancellationToken;

use super::request::{Text, not_a_query};
use super::spelling::Spelling;
use crate::app::App;
use crate::problem::{Problem, ProblemKind};
use crate::texts;

/// The stack of a query: what the parser allows fits on it, whatever the build.
const STACK: usize = 32 << 20;

/// Answers a query over the state that the store has when its turn comes, with `most` bytes, or what the settings allow.
pub(crate) async fn query(
    app: &App,
    caller: Caller,
    query: Text,
    spelling: Spelling,
    format: Format,
    most: usize,
) -> Result<Vec<u8>, Problem> {
    let _turn = app.query_turn().await;
    let gone = CancellationToken::new();
    let token = gone.clone();
    // Dropped with this request, whether it was answered or cancelled.
    let _waiting = gone.drop_guard();
    let (on, limits) = (app.clone(), app.limits().clone());
    let work = move || {
        let clock = on.store().clone();
        let end = clock.now().plus(limits.query_seconds.get());
        let limits = Limits {
            rows: limits.query_rows,
            bytes: limits.query_bytes,
            answer: limits.answer_bytes.min(most),
            stop: Rc::new(move || match token.is_cancelled() {
                true => Some(Stop::Gone),
                false => (clock.now() >= end).then_some(Stop::Late),
            }),
        };
        answered(&on, &caller, &query, &spelling, format, &limits)
    };
    app.compute(move || on_a_stack(work)).await
}

fn answered(
    app: &App,
    caller: &Caller,
    query: &Text,
    spelling: &Spelling,
    format: Format,
    limits: &Limits,
) -> Result<Vec<u8>, Problem> {
    let query = query.parse(&spelling.base()).map_err(refusal)?;
    let lead = match query.searches_text() {
        true => texts::lead_for(app, &|| (limits.stop)().is_none())?,
        false => None,
    };
    let reading = app.store().reading(caller)?;
    let source = Source { reading: &reading, lead: texts::as_lead(lead.as_ref()) };
    let answer = sparql::query(source, query, spelling, format, limits);
    Ok(answer.map_err(refusal)?.text)
}

/// Runs work on a thread with a stack of its own.
fn on_a_stack<T: Send>(work: impl FnOnce() -> Result<T, Problem> + Send) -> Result<T, Problem> {
    let fault = || Problem::new(ProblemKind::Internal, "an internal error ended this query");
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("sparql".to_owned()).stack_size(STACK);
        match thread.spawn_scoped(scope, work) {
            Ok(running) => running.join().unwrap_or_else(|_| Err(fault())),
            Err(error) => {
                let detail = format!("no thread for the query: {error}");
                Err(Problem::new(ProblemKind::Overloaded, detail))
            }
        }
    })
}

fn refusal(error: Error) -> Problem {
    match error {
        Error::Syntax(fault) => not_a_query(fault),
        Error::Inexpressible(error) => error.into(),
        error @ Error::Limit(_) => Problem::invalid(error.to_string()),
        error @ Error::Stopped => {
            Problem::new(ProblemKind::Store(ErrorKind::Unavailable), error.to_string())
        }
        Error::Store(error) => error.into(),
    }
}
