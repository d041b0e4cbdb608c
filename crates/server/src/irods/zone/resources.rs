//! `resources`: storage resources are the store's places. A `unixfilesystem` is a directory; `replication`
//! and `passthru` are groups, each member of which gets a copy. Other iRODS properties of a resource are
//! stored with the place, verbatim.

use std::collections::BTreeMap;

use cenote_store::{Act, Caller, NewPlace, PlaceChange, PlaceId, PlaceState, Result, Store};
use serde_json::{Map, Value, json};

use super::hierarchy::{Hierarchy, LEAF, word};
use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::request::Call;
use crate::irods::call::translation::Doing;
use crate::irods::tree::metadata;

/// The operations that change something.
pub(crate) const CHANGES: &[&str] =
    &["add_child", "create", "modify", "modify_metadata", "rebalance", "remove", "remove_child"];

/// The kinds of resources that pass writes on to their children.
const GROUPS: [&str; 2] = ["passthru", "replication"];

pub(crate) async fn answer(operation: &str, call: Call) -> Answer {
    match operation {
        "add_child" => add_child(call).await,
        "create" => create(call).await,
        "modify" => modify(call).await,
        "modify_metadata" => metadata::modify_resource(call).await,
        "rebalance" => rebalance(call).await,
        "remove" => remove(call).await,
        "remove_child" => remove_child(call).await,
        _ => stat(call).await,
    }
}

/// Changes places, for administrators.
async fn change(
    call: &Call,
    work: impl FnOnce(&Store, &Caller, &Hierarchy) -> Result<std::result::Result<(), Refusal>>
    + Send
    + 'static,
) -> Answer {
    if !call.caller.may(Act::Places) {
        return Err(Refusal::code(Code::NoApiPrivilege));
    }
    let (caller, own) = (call.caller.clone(), call.settings().resource.clone());
    let done = call.blocking(move |store| Ok(work(store, &caller, &Hierarchy::read(store, own)?)));
    done.await?.map_err(|error| Doing::Resources.refusal(error))??;
    answer::done()
}

pub(crate) fn unknown() -> Refusal {
    Refusal::code(Code::ResourceDoesNotExist)
}

async fn create(call: Call) -> Answer {
    let (name, kind) = (call.need("name")?.to_owned(), call.need("type")?.to_owned());
    let text = |parameter| call.form.text(parameter).map(str::to_owned);
    let (host, vault, context) = (text("host"), text("vault-path"), text("context"));
    let address = match (kind.as_str(), &vault) {
        (LEAF, Some(vault)) => Some(address(vault)?),
        (kind, _) if GROUPS.contains(&kind) => None,
        _ => {
            return Err(Refusal::code(Code::InvalidArgument).with_message(
                "the type of a resource is unixfilesystem, with a vault path, or passthru, or replication",
            ));
        }
    };
    let given = [("type", Some(kind)), ("host", host), ("vault_path", vault), ("context", context)];
    let given = given.into_iter().filter_map(|(name, text)| Some((word(name), text?)));
    let properties: BTreeMap<String, String> = given.collect();
    change(&call, move |store, caller, known| {
        if known.named(&name).is_some() {
            return Ok(Err(Refusal::code(Code::AlreadyExists)));
        }
        let new = NewPlace { name, address, parent: None, properties };
        store.add_place(caller, &new).map(|_| Ok(()))
    })
    .await
}

/// The URL of a directory.
fn address(vault: &str) -> std::result::Result<String, Refusal> {
    const PATH: percent_encoding::AsciiSet =
        percent_encoding::NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');
    match vault.starts_with('/') {
        true => Ok(format!("file://{}", percent_encoding::utf8_percent_encode(vault, &PATH))),
        false => Err(Refusal::code(Code::InvalidArgument)
            .with_message("the path of a vault must be absolute")),
    }
}

async fn remove(call: Call) -> Answer {
    let id = named(&call, "name").await?;
    if !call.caller.may(Act::Places) {
        return Err(Refusal::code(Code::NoApiPrivilege));
    }
    call.app
        .store()
        .remove_place(&call.caller, id)
        .await
        .map_err(|error| Doing::Resources.refusal(error))?;
    answer::done()
}

/// The place that a parameter names.
pub(crate) async fn named(call: &Call, parameter: &str) -> std::result::Result<PlaceId, Refusal> {
    let (name, own) = (call.need(parameter)?.to_owned(), call.settings().resource.clone());
    let known = call.blocking(move |store| Hierarchy::read(store, own)).await?;
    known.named(&name).map(|place| place.id).ok_or_else(unknown)
}

async fn modify(call: Call) -> Answer {
    let (name, property) = (call.need("name")?.to_owned(), call.need("property")?.to_owned());
    let value = call.form.text("value").unwrap_or_default().to_owned();
    let mut wanted = PlaceChange::default();
    match property.as_str() {
        "name" => wanted.name = Some(value),
        "status" => wanted.state = Some(state(&value)?),
        "comments" | "context" | "free_space" | "host" | "information" | "type" | "vault_path" => {
            drop(wanted.properties.insert(word(&property), Some(value)));
        }
        _ => return Err(Refusal::code(Code::InvalidArgument).into_bad_request()),
    }
    let changed = change(&call, move |store, caller, known| {
        let Some(place) = known.named(&name) else { return Ok(Err(unknown())) };
        let is_leaf = !Hierarchy::is_group(place);
        let text = wanted.properties.values().flatten().next();
        match (property.as_str(), text) {
            ("type", Some(kind)) if is_leaf != (kind == LEAF) => {
                return Ok(Err(Refusal::code(Code::InvalidArgument)));
            }
            ("vault_path", Some(vault)) if is_leaf && place.id != PlaceId::MAIN => {
                wanted.address = match address(vault) {
                    Ok(address) => Some(address),
                    Err(refusal) => return Ok(Err(refusal)),
                };
            }
            _ => {}
        }
        store.change_place(caller, place.id, &wanted).map(Ok)
    });
    changed.await.map_err(Refusal::into_bad_request)
}

fn state(value: &str) -> std::result::Result<PlaceState, Refusal> {
    match value {
        "up" => Ok(PlaceState::Up),
        "down" => Ok(PlaceState::Down),
        _ => Err(Refusal::code(Code::InvalidArgument).into_bad_request()),
    }
}

/// A group includes its child. Below a `unixfilesystem` a child is only recorded: nothing is passed on to it.
async fn add_child(call: Call) -> Answer {
    let (parent, child) =
        (call.need("parent-name")?.to_owned(), call.need("child-name")?.to_owned());
    let context = call.form.text("context").map(str::to_owned);
    change(&call, move |store, caller, known| {
        let (Some(parent), Some(child)) = (known.named(&parent), known.named(&child)) else {
            return Ok(Err(unknown()));
        };
        if known.parent(child).is_some() || parent.id == child.id {
            return Ok(Err(Refusal::code(Code::InvalidResource)));
        }
        let mut change = PlaceChange::default();
        change.properties.insert(word("parent_context"), context);
        match Hierarchy::is_group(parent) {
            true => change.parent = Some(Some(parent.id)),
            false => {
                change.properties.insert(word("parent"), Some(parent.id.to_string()));
            }
        }
        store.change_place(caller, child.id, &change).map(Ok)
    })
    .await
}

async fn remove_child(call: Call) -> Answer {
    let (parent, child) =
        (call.need("parent-name")?.to_owned(), call.need("child-name")?.to_owned());
    change(&call, move |store, caller, known| {
        let (Some(parent), Some(child)) = (known.named(&parent), known.named(&child)) else {
            return Ok(Err(unknown()));
        };
        if known.parent(child) != Some(parent.id) {
            return Ok(Err(Refusal::code(Code::InvalidResource)));
        }
        let forgotten = ["parent", "parent_context"].map(|name| (word(name), None));
        let properties = BTreeMap::from(forgotten);
        let parent = child.info.parent.map(|_| None);
        let change = PlaceChange { parent, properties, ..PlaceChange::default() };
        store.change_place(caller, child.id, &change).map(Ok)
    })
    .await
}

/// A group's members get their copies when something is written: there is nothing to do but to check that it exists.
async fn rebalance(call: Call) -> Answer {
    let name = call.need("name")?.to_owned();
    change(&call, move |_, _, known| Ok(known.named(&name).map(|_| ()).ok_or_else(unknown))).await
}

async fn stat(call: Call) -> Answer {
    let name = call.need("name")?.to_owned();
    let (own, zone) = (call.settings().resource.clone(), call.settings().zone.clone());
    let known = call.blocking(move |store| Hierarchy::read(store, own)).await?;
    let resources = known.resources(&call.caller);
    let info = resources.iter().find(|resource| resource.name == name).map(|resource| {
        let parent = resource.parent.map(|id| id.to_string()).unwrap_or_default();
        let modified = resource.modified;
        let place = known.named(&name).filter(|_| call.caller.may(Act::Addresses));
        let context = place.and_then(|place| place.info.properties.get(&word("parent_context")));
        json!({
            "comments": resource.comments,
            "context": resource.context,
            "created": resource.created.secs(),
            "free_space": resource.free_space,
            "free_space_last_modified": modified.secs(),
            "host": resource.host,
            "id": resource.id.to_string(),
            "information": resource.information,
            "last_modified": modified.secs(),
            "last_modified_millis": modified.nanos() / 1_000_000 % 1_000,
            "name": resource.name,
            "parent_context": context.cloned().unwrap_or_default(),
            "parent_id": parent,
            "status": resource.status,
            "type": resource.kind,
            "vault_path": resource.vault_path,
            "zone": zone,
        })
    });
    let exists: Value = info.is_some().into();
    let info = info.unwrap_or_else(|| json!({}));
    answer::with(Map::from_iter([("exists".to_owned(), exists), ("info".to_owned(), info)]))
}
