//! `query`: GenQuery over the store.

use cenote_query::genquery::{self, Options, RemoteZone, Zone};
use cenote_store::{Act, Caller, PlaceId, Result, Store, Time};

use super::specific;
use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::request::Call;
use crate::irods::rules::Delayed;
use crate::irods::zone::hierarchy::Hierarchy;
use crate::irods::zone::{notes, zones};

/// The read-only operations.
pub(crate) const QUESTIONS: &[&str] =
    &["execute_genquery", "execute_specific_query", "list_specific_queries"];
/// The operations that change something.
pub(crate) const CHANGES: &[&str] = &["add_specific_query", "remove_specific_query"];

pub(crate) async fn answer(operation: &str, call: Call) -> Answer {
    match operation {
        "add_specific_query" => specific::add(call).await,
        "execute_specific_query" => specific::execute(call).await,
        "list_specific_queries" => specific::list(call).await,
        "remove_specific_query" => specific::remove(call).await,
        _ => execute(call).await,
    }
}

async fn execute(call: Call) -> Answer {
    match call.form.text("parser").unwrap_or("genquery1") {
        "genquery1" => {
            let count = call.form.number("count").map_err(|_| Refusal::BAD)?;
            let count = count.and_then(|count| u64::try_from(count).ok());
            answer::member("rows", rows(&call, count).await?)
        }
        "genquery2" if call.form.flag("sql-only", false) => {
            let canonical = genquery::canonical(call.need("query")?);
            answer::member("sql", canonical.map_err(second_refusal)?)
        }
        "genquery2" => answer::member("rows", second_rows(&call).await?),
        _ => Err(Refusal::BAD),
    }
}

/// The rows of a call's GenQuery 1 statement, at most `count`.
pub(crate) async fn rows(call: &Call, count: Option<u64>) -> Answered {
    let text = call.need("query")?.to_owned();
    let (offset, count) = page(call, count)?;
    let options = Options {
        offset,
        count,
        case_sensitive: switch(call, "case-sensitive")?,
        distinct: switch(call, "distinct")?,
    };
    let (caller, zone) = (call.caller.clone(), zone(call).await?);
    let rows = call.query(move |store, limits| {
        let reading = store.reading(&caller)?;
        Ok(genquery::genquery1(&reading, &zone, &text, options, limits))
    });
    rows.await?.map_err(|error| refusal(error, Code::InvalidArgument))
}

/// The rows of a call's GenQuery 2 statement, which has its own offset and limit.
async fn second_rows(call: &Call) -> Answered {
    let text = call.need("query")?.to_owned();
    let (_, most) = page(call, None)?;
    let (caller, zone) = (call.caller.clone(), zone(call).await?);
    let rows = call.query(move |store, limits| {
        let reading = store.reading(&caller)?;
        Ok(genquery::genquery2(&reading, &zone, &text, most, limits))
    });
    rows.await?.map_err(second_refusal)
}

type Answered = std::result::Result<Vec<Vec<String>>, Refusal>;

/// The refusal of an invalid query has this code; a query that exceeds a limit, that of a failed database query.
pub(crate) fn refusal(error: cenote_query::Error, code: Code) -> Refusal {
    use cenote_query::Error as E;
    match error {
        E::Syntax(fault) => Refusal::code(code).with_message(&fault),
        error @ (E::Limit(_) | E::Stopped | E::Inexpressible(_)) => {
            Refusal::code(Code::BadSql).with_message(&error.to_string())
        }
        E::Store(error) => error.into(),
    }
}

/// An invalid GenQuery 2 statement is status 400.
fn second_refusal(error: cenote_query::Error) -> Refusal {
    refusal(error, Code::InvalidArgument).into_bad_request()
}

/// How many rows are skipped, and how many are returned at most.
pub(crate) fn page(
    call: &Call,
    count: Option<u64>,
) -> std::result::Result<(usize, usize), Refusal> {
    let most = call.settings().rows;
    let count = count.filter(|count| *count > 0).unwrap_or(most).min(most);
    let offset = call.form.number("offset").map_err(|_| Refusal::BAD)?.unwrap_or(0);
    Ok((usize::try_from(offset).unwrap_or(0), usize::try_from(count).unwrap_or(usize::MAX)))
}

/// On unless it is `0`; any value but `0` and `1` is an error here.
fn switch(call: &Call, name: &str) -> std::result::Result<bool, Refusal> {
    match call.form.text(name) {
        None | Some("1") => Ok(true),
        Some("0") => Ok(false),
        Some(_) => Err(Refusal::BAD),
    }
}

/// Data for queries other than the tree.
pub(crate) async fn zone(call: &Call) -> std::result::Result<Zone, Refusal> {
    let (name, resource) = (call.settings().zone.clone(), call.settings().resource.clone());
    let caller = call.caller.clone();
    call.blocking(move |store| {
        let mut resources = Hierarchy::read(store, resource)?.resources(&caller);
        for resource in resources.iter_mut().filter(|_| caller.may(Act::Names)) {
            resource.avus = store.place_avus(PlaceId(resource.id))?;
        }
        let (remote, delayed) = (remote(store, &name)?, delayed(store, &caller)?);
        Ok(Zone { name, resources, remote, delayed })
    })
    .await
}

fn remote(store: &Store, local: &str) -> Result<Vec<RemoteZone>> {
    let zones = zones::remote(store, local)?.into_iter();
    let zone = |(name, zone): (String, zones::Zone)| RemoteZone {
        name,
        connection: zone.connection,
        comment: zone.comment,
    };
    Ok(zones.map(zone).collect())
}

/// The delayed rules of the caller, or all of them for an administrator: their texts can mention anything.
fn delayed(store: &Store, caller: &Caller) -> Result<Vec<genquery::DelayedRule>> {
    let rule = |(id, rule): (String, Delayed)| genquery::DelayedRule {
        id: id.parse().unwrap_or_default(),
        text: rule.text,
        user: rule.user,
        due: Time::from_secs(rule.due),
    };
    let all = notes::all::<Delayed>(store)?.into_iter();
    let own = all.filter(|(_, rule)| caller.may(Act::OthersWork) || rule.user == caller.name());
    let mut rules: Vec<_> = own.map(rule).collect();
    rules.sort_by_key(|rule| rule.id);
    Ok(rules)
}
