//! `query`: GenQuery over the store.

use axum::http::StatusCode;
use cenote_query::genquery::{Options, Zone, genquery1};

use super::answer::{self, Answer};
use super::call::Call;
use super::code::{Code, Refusal};

pub(super) async fn answer(_: &str, call: Call) -> Answer {
    if call.form.text("parser").is_some_and(|parser| parser != "genquery1") {
        return Err(Refusal::Plain(StatusCode::NOT_IMPLEMENTED));
    }
    let count = call.form.number("count").map_err(|_| Refusal::BAD)?;
    let count = count.and_then(|count| u64::try_from(count).ok());
    answer::member("rows", rows(&call, count).await?)
}

/// The rows that a call asks for, at most `count`.
pub(super) async fn rows(call: &Call, count: Option<u64>) -> Result<Vec<Vec<String>>, Refusal> {
    let text = call.need("query")?.to_owned();
    let options = options(call, count)?;
    let settings = call.settings();
    let zone = Zone { name: settings.zone.clone(), resource: settings.resource.clone() };
    let caller = call.caller.clone();
    let rows = call.ask(move |store| {
        let reading = store.reading(&caller)?;
        Ok(genquery1(&reading, &zone, &text, options))
    });
    rows.await?.map_err(|error| match error {
        cenote_query::Error::Syntax(fault) => {
            Refusal::code(Code::InvalidArgument).with_message(&fault)
        }
        cenote_query::Error::Store(error) => error.into(),
    })
}

fn options(call: &Call, count: Option<u64>) -> Result<Options, Refusal> {
    let most = call.settings().rows;
    let count = count.filter(|count| *count > 0).unwrap_or(most).min(most);
    let offset = call.form.number("offset").map_err(|_| Refusal::BAD)?.unwrap_or(0);
    Ok(Options {
        offset: usize::try_from(offset).unwrap_or(0),
        count: usize::try_from(count).unwrap_or(usize::MAX),
        case_sensitive: switch(call, "case-sensitive")?,
        distinct: switch(call, "distinct")?,
    })
}

/// On unless it is `0`; anything else is an error here.
fn switch(call: &Call, name: &str) -> Result<bool, Refusal> {
    match call.form.text(name) {
        None | Some("1") => Ok(true),
        Some("0") => Ok(false),
        Some(_) => Err(Refusal::BAD),
    }
}
