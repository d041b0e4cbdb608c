//! Queries: listing a collection, and GenQuery.

use axum::http::StatusCode;
use cenote_store::{
    At, Caller, ErrorKind, Kind, Result, Rights, Stat, Store, StorePath, Vocabulary,
};
use serde_json::{Map, Value, json};

use super::inaccessible;
use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::Refusal;
use crate::irods::call::lpath;
use crate::irods::call::request::Call;
use crate::irods::queries::{query, specific};
use crate::irods::tree::stat::modified;
use crate::irods::tree::trash;
use crate::irods::zone::zones;

/// What a listing includes in addition to names.
#[derive(Debug, Clone, Copy)]
struct Shown {
    stat: bool,
    permissions: bool,
    metadata: bool,
}

/// `GET list`: the contents of a collection, or the one data object.
pub(super) async fn list(call: Call) -> Answer {
    let path = call.path("logical-path").map_err(|_| inaccessible(&call))?;
    let flag = |name| call.form.flag(name, false);
    let shown =
        Shown { stat: flag("stat"), permissions: flag("permissions"), metadata: flag("metadata") };
    let (deep, offset) = (flag("recursive"), call.count("offset")?.unwrap_or(0));
    let limit = call.count("limit")?.filter(|limit| *limit > 0).unwrap_or(u64::MAX);
    let (caller, zone) = (call.caller.clone(), call.settings().zone.clone());
    let entries = call.blocking(move |store| {
        Ok(found(store, &caller, &path, deep, (offset, limit)).and_then(|found| {
            found.iter().map(|stat| entry(store, &caller, stat, &zone, shown)).collect()
        }))
    });
    let entries: Vec<Value> = entries.await?.map_err(|_| inaccessible(&call))?;
    let body = json!({ "_embedded": entries, "_links": links(&call) });
    Ok(answer::json(StatusCode::OK, body))
}

/// The resources on a page of the listing.
fn found(
    store: &Store,
    caller: &Caller,
    path: &StorePath,
    deep: bool,
    (offset, limit): (u64, u64),
) -> Result<Vec<Stat>> {
    let top = trash::stat(store, caller, path)?;
    if top.resource.kind != Kind::Collection {
        return Ok(vec![top]);
    }
    let (offset, limit) = (saturate(offset), saturate(limit));
    let most = offset.saturating_add(limit);
    let names = match store.names(caller, &path.into(), deep, None, most) {
        // A collection of the trash, which is not in the tree.
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        page => page?.entries,
    };
    let wanted: Vec<At> = names.iter().skip(offset).map(|entry| At::from(&entry.path)).collect();
    let mut stats: Vec<_> = store.stat_many(caller, &wanted)?.into_iter().flatten().collect();
    let removed = trash::below(store, caller, path, deep)?.into_iter();
    let passed = offset.saturating_sub(names.len());
    stats.extend(removed.skip(passed).take(limit - wanted.len().min(limit)));
    Ok(stats)
}

fn saturate(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn entry(store: &Store, caller: &Caller, stat: &Stat, zone: &str, shown: Shown) -> Result<Value> {
    let collection = stat.resource.kind == Kind::Collection;
    let mut entry = json!({
        "logical_path": lpath::of(zone, &stat.path),
        "type": if collection { "collection" } else { "data_object" },
    });
    if shown.stat {
        entry["status_information"] =
            json!({ "last_write_time": modified(store, stat)?.to_string() });
        if !collection {
            entry["status_information"]["size"] = stat.size().into();
        }
    }
    if shown.permissions {
        entry["permission_information"] = permissions(store, caller, stat)?;
    }
    if shown.metadata {
        let avu = |avu: cenote_store::Avu| {
            let units = avu.unit.unwrap_or_default();
            json!({ "attribute": avu.attribute, "units": units, "value": avu.value })
        };
        let avus = trash::avus(store, caller, stat)?;
        entry["metadata"] = avus.into_iter().map(avu).collect();
    }
    Ok(entry)
}

fn permissions(store: &Store, caller: &Caller, stat: &Stat) -> Result<Value> {
    let lines = trash::access(store, caller, stat)?;
    let lines = lines.into_iter().map(|line| (line.name, word(line.rights).into()));
    Ok(Value::Object(lines.collect::<Map<_, _>>()))
}

/// The highest of the four levels that this interface has.
fn word(rights: Rights) -> &'static str {
    Vocabulary::IRODS_REST.shown(rights).next().unwrap_or("null")
}

fn links(call: &Call) -> Value {
    let path = call.form.text("logical-path").or(call.form.text("query")).unwrap_or_default();
    json!({ "first": path, "last": path, "next": path, "prev": path, "self": path })
}

/// `GET query`: GenQuery 1, or a specific query by its name; the counts are strings.
pub(super) async fn query(call: Call) -> Answer {
    let limit = call.count("limit")?;
    let rows = match call.form.text("type").unwrap_or("general") {
        "general" => query::rows(&call, limit).await?,
        "specific" => specific::rows(&call, call.need("query")?, limit).await?,
        _ => return Err(Refusal::BAD),
    };
    let count = rows.len().to_string();
    let body = json!({ "_embedded": rows, "_links": links(&call), "count": count, "total": count });
    Ok(answer::json(StatusCode::OK, body))
}

/// `GET zonereport`, for administrators.
pub(super) async fn zone_report(call: Call) -> Answer {
    Ok(answer::json(StatusCode::OK, zones::report(&call).await?))
}
