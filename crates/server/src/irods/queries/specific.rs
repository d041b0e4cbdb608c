//! Specific queries: those that an administrator stored under a name. Their text is a GenQuery 2 statement,
//! which may contain `from R_COLL_MAIN`, as stored SQL does, and `?` for its arguments.

use cenote_query::genquery;
use cenote_store::{Act, At, Caller, ErrorKind, Result, Store, StorePath};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::query;
use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::lpath;
use crate::irods::call::request::Call;
use crate::irods::call::translation::Doing;
use crate::irods::tree::stat::person_type;
use crate::irods::zone::notes;
use crate::irods::zone::notes::Note;

/// The built-in query: the access list of a collection.
const SHOW_ACCESS: &str = "ShowCollAcls";

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Specific {
    sql: String,
}

impl Note for Specific {
    const FAMILY: &'static str = "query";
}

pub(crate) async fn add(call: Call) -> Answer {
    let (name, sql) = (call.need("name")?.to_owned(), call.need("sql")?.to_owned());
    let caller = call.caller.clone();
    let fault = genquery::check_stored(&sql).err().filter(|_| caller.may(Act::Configure));
    if let Some(fault) = fault {
        return Err(Refusal::code(Code::BadSql).with_message(&fault.to_string()));
    }
    let added = call.blocking(move |store| {
        Ok(notes::change(store, &caller, Act::Configure, |notes| {
            match name == SHOW_ACCESS || notes.get::<Specific>(&name)?.is_some() {
                true => Ok(Err(Refusal::code(Code::AlreadyExists))),
                false => notes.put(&name, &Specific { sql: sql.clone() }).map(Ok),
            }
        }))
    });
    added.await?.map_err(|error| Doing::Administer.refusal(error))??;
    answer::done()
}

pub(crate) async fn remove(call: Call) -> Answer {
    let (name, caller) = (call.need("name")?.to_owned(), call.caller.clone());
    let removed = call.blocking(move |store| {
        Ok(notes::change(store, &caller, Act::Configure, |notes| {
            if notes.get::<Specific>(&name)?.is_none() {
                return Ok(Err(unknown()));
            }
            notes.remove::<Specific>(&name);
            Ok(Ok(()))
        }))
    });
    removed.await?.map_err(|error| Doing::Administer.refusal(error))??;
    answer::done()
}

/// `list_specific_queries`: their names and texts.
pub(crate) async fn list(call: Call) -> Answer {
    let queries = call.blocking(notes::all::<Specific>).await?;
    let query = |(name, specific): (String, Specific)| json!({ "name": name, "sql": specific.sql });
    let builtin = json!({ "name": SHOW_ACCESS, "sql": "" });
    let queries = std::iter::once(builtin).chain(queries.into_iter().map(query));
    answer::member("specific_queries", queries.collect::<Vec<_>>())
}

pub(crate) async fn execute(call: Call) -> Answer {
    let name = call.need("name")?.to_owned();
    answer::member("rows", rows(&call, &name, call.count("count")?).await?)
}

/// Runs the query of this name.
pub(crate) async fn rows(
    call: &Call,
    name: &str,
    count: Option<u64>,
) -> std::result::Result<Vec<Vec<String>>, Refusal> {
    let arguments = arguments(call);
    let (offset, count) = query::page(call, count)?;
    let (caller, name) = (call.caller.clone(), name.to_owned());
    let zone = query::zone(call).await?;
    let rows = call.query(move |store, limits| {
        if name == SHOW_ACCESS {
            return Ok(Ok(access(store, &caller, &zone.name, &arguments)?));
        }
        let Some(specific) = notes::get::<Specific>(store, &name)? else {
            return Ok(Err(unknown()));
        };
        let (reading, most) = (store.reading(&caller)?, offset.saturating_add(count));
        let rows = genquery::stored(&reading, &zone, &specific.sql, &arguments, most, limits);
        Ok(rows.map_err(|error| query::refusal(error, Code::BadSql)))
    });
    Ok(rows.await??.into_iter().skip(offset).take(count).collect())
}

fn unknown() -> Refusal {
    Refusal::code(Code::UnknownSpecificQuery).with_message("no such specific query")
}

/// The arguments, separated by commas or the delimiter that the call specifies.
fn arguments(call: &Call) -> Vec<String> {
    let delimiter = call.form.text("args-delimiter").unwrap_or(",");
    let arguments = call.form.text("args").map(|text| text.split(delimiter).map(str::to_owned));
    arguments.map(Iterator::collect).unwrap_or_default()
}

/// User, zone, level and kind of each entry of a collection's access list, except restricted ones.
fn access(
    store: &Store,
    caller: &Caller,
    zone: &str,
    arguments: &[String],
) -> Result<Vec<Vec<String>>> {
    let path: Option<StorePath> = arguments.first().and_then(|path| lpath::parse(zone, path));
    let Some(path) = path else { return Ok(Vec::new()) };
    let lines = match store.access(caller, &At::from(path)) {
        Ok((_, lines)) => lines,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let line = |line: &cenote_store::GrantView| {
        let kind = person_type(store, &line.name).to_owned();
        vec![line.name.clone(), zone.to_owned(), line.rights.level().to_owned(), kind]
    };
    Ok(lines.iter().filter(|line| line.only.is_none()).map(line).collect())
}
