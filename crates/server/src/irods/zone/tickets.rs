//! `tickets`: creating and removing them. Their limits are enforced and counted in the store.

use std::time::Duration;

use cenote_store::{At, NewTicket, Rights};

use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::Refusal;
use crate::irods::call::request::Call;
use crate::irods::call::translation::Doing;

pub(crate) async fn answer(operation: &str, call: Call) -> Answer {
    match operation {
        "create" => create(call).await,
        _ => remove(call).await,
    }
}

async fn create(call: Call) -> Answer {
    let at = call.at()?;
    answer::member("ticket", make(&call, at).await?)
}

/// Creates a ticket with the limits that a call specifies.
pub(crate) async fn make(call: &Call, at: At) -> Result<String, Refusal> {
    let new = NewTicket {
        rights: rights(call)?,
        uses: call.count("use-count")?.unwrap_or(0),
        writes: call.count("write-data-object-count")?.unwrap_or(0),
        bytes: call.count("write-byte-count")?.unwrap_or(0),
        lifetime: lifetime(call)?,
        persons: names(call, "users").chain(names(call, "groups")).collect(),
        hosts: names(call, "hosts").collect(),
    };
    let caller = call.acting();
    Ok(call.blocking(move |store| store.add_ticket(&caller, &at, &new)).await?.0)
}

fn rights(call: &Call) -> Result<Rights, Refusal> {
    match call.form.text("type").unwrap_or("read") {
        "read" => Ok(Rights::READ_OBJECT),
        "write" => Ok(Rights::MODIFY_OBJECT),
        _ => Err(Refusal::BAD),
    }
}

fn lifetime(call: &Call) -> Result<Option<Duration>, Refusal> {
    match call.count("seconds-until-expiration")? {
        Some(0) => Err(Refusal::BAD),
        seconds => Ok(seconds.map(Duration::from_secs)),
    }
}

fn names<'a>(call: &'a Call, parameter: &str) -> impl Iterator<Item = String> + use<'a> {
    let list = call.form.text(parameter).unwrap_or_default();
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned)
}

async fn remove(call: Call) -> Answer {
    let (name, caller) = (call.need("name")?.to_owned(), call.caller.clone());
    let removed = call.blocking(move |store| Ok(store.remove_ticket(&caller, &name))).await?;
    removed.map_err(|error| Doing::RemoveTicket.refusal(error))?;
    answer::done()
}
