//! `query`: GenQuery over the store.

use axum::http::StatusCode;
use cenote_query::genquery::{Options, Zone, genquery1};

use super::answer::{self, Answer};
use super::call::Call;
use super::code::{Code, Refusal};

pub(super) async fn answer(_: &str, call: Call) -> Answer {
    let text = call.need("query")?.to_owned();
    if call.form.text("parser").is_some_and(|parser| parser != "genquery1") {
        return Err(Refusal::Plain(StatusCode::NOT_IMPLEMENTED));
    }
    let options = options(&call)?;
    let settings = call.settings();
    let zone = Zone { name: settings.zone.clone(), resource: settings.resource.clone() };
    let caller = call.caller.clone();
    let rows = call.ask(move |store| {
        let reading = store.reading(&caller)?;
        Ok(genquery1(&reading, &zone, &text, options))
    });
    match rows.await? {
        Ok(rows) => answer::member("rows", rows),
        Err(cenote_query::Error::Syntax(fault)) => {
            Err(Refusal::code(Code::InvalidArgument).with_message(&fault))
        }
        Err(cenote_query::Error::Store(error)) => Err(error.into()),
    }
}

fn options(call: &Call) -> Result<Options, Refusal> {
    let most = call.settings().rows;
    let number = |name| call.form.number(name).map_err(|_| Refusal::BAD);
    let count = number("count")?.and_then(|count| u64::try_from(count).ok()).unwrap_or(most);
    Ok(Options {
        offset: usize::try_from(number("offset")?.unwrap_or(0)).unwrap_or(0),
        count: usize::try_from(count.clamp(1, most)).unwrap_or(usize::MAX),
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
