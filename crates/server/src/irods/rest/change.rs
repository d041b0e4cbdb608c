//! Changing: collections, names, attributes, tickets, users.

use axum::body::Body;
use axum::http::StatusCode;
use bytes::Bytes;
use cenote_store::{At, CreateOptions, Draft, ErrorKind, Kind, MoveOptions, NewUser, Role, Trim};
use http_body_util::{BodyExt, Limited};
use serde_json::{Value, json};

use super::super::answer::{self, Answer};
use super::super::call::Call;
use super::super::code::{Code, Refusal};
use super::super::form::Form;
use super::super::stat::{Wanted, role_name};
use super::super::target::no_replica;
use super::super::{metadata as avus, replicas, resources, tickets, trash};
use super::{done, inaccessible};

/// `POST logicalpath`: makes a collection.
pub(super) async fn make(call: Call) -> Answer {
    if !call.form.flag("collection", false) {
        return done();
    }
    let (path, caller) = (call.path("logical-path")?, call.caller.clone());
    let parents = call.form.flag("create-parent-collections", false);
    let options = CreateOptions { parents, exist_ok: parents, ..CreateOptions::default() };
    call.ask(move |store| store.create(&caller, &path, Draft::Collection, options)).await?;
    done()
}

/// `DELETE logicalpath`: a collection needs `recursive=1`.
pub(super) async fn remove(call: Call) -> Answer {
    let path = call.path("logical-path").map_err(|_| inaccessible(&call))?;
    let (recursive, for_good) =
        (call.form.flag("recursive", false), call.form.flag("no-trash", false));
    let caller = call.acting();
    let removed = call.ask(move |store| {
        let stat = store.stat(&caller, &path.into())?;
        if stat.resource.kind == Kind::Collection && !recursive {
            return Ok(false);
        }
        trash::remove(store, &caller, &stat, recursive, for_good).map(|()| true)
    });
    match removed.await? {
        true => done(),
        false => Err(Refusal::code(Code::IncompatibleParameters)),
    }
}

/// `POST logicalpath/rename`.
pub(super) async fn rename(call: Call) -> Answer {
    let (from, to, caller) = (call.path("src")?, call.path("dst")?, call.acting());
    call.ask(move |store| store.relocate(&caller, &from.into(), &to, MoveOptions::default()))
        .await?;
    done()
}

/// `POST logicalpath/replicate`: the current content of one data object, to a resource.
pub(super) async fn replicate(mut call: Call) -> Answer {
    call.also("lpath", "logical-path");
    call.also("src-replica-number", "replica-number");
    call.also("admin", "admin-mode");
    replicas::replicate(call).await?;
    done()
}

/// `POST logicalpath/trim`: the replica of a number, or those on a resource, or what is more than enough.
pub(super) async fn trim(mut call: Call) -> Answer {
    call.also("lpath", "logical-path");
    call.also("admin", "admin-mode");
    let place = match call.form.text("src-resource") {
        Some(_) => Some(resources::named(&call, "src-resource").await?),
        None => None,
    };
    let replica = call.count("replica-number")?;
    let replica = replica.map(u32::try_from).transpose().map_err(|_| no_replica())?;
    let keep = call.count("minimum-number-of-remaining-replicas")?.unwrap_or(2);
    let keep = usize::try_from(keep).unwrap_or(usize::MAX);
    replicas::trim_to(&call, Trim { replica, place, keep, dry_run: false }).await?;
    done()
}

/// `POST metadata`: a JSON body that names what it is about.
pub(super) async fn metadata(mut call: Call, body: Body) -> Answer {
    let body: Value =
        serde_json::from_slice(&small(&call, body).await?).map_err(|_| Refusal::BAD)?;
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let mut form = Form::default();
    for name in ["lpath", "name"] {
        form.insert(name.to_owned(), text("entity_name").into());
    }
    form.insert("operations".to_owned(), body["operations"].to_string().into());
    call.form = form;
    match text("entity_type").as_str() {
        "collection" => avus::modify(call, Wanted::Collection).await,
        "data_object" => avus::modify(call, Wanted::DataObject).await,
        "user" => avus::modify_person(call).await,
        _ => Err(Refusal::BAD),
    }?;
    done()
}

async fn small(call: &Call, body: Body) -> Result<Bytes, Refusal> {
    let body = Limited::new(body, call.app.limits().json_bytes).collect().await;
    Ok(body.map_err(|_| Refusal::BAD)?.to_bytes())
}

/// `GET ticket`: a ticket, and the address that it opens.
pub(super) async fn ticket(call: Call) -> Answer {
    let path = call.path("logical-path").map_err(|_| inaccessible(&call))?;
    let lpath = call.need("logical-path")?.to_owned();
    let (at, caller) = (At::from(path), call.caller.clone());
    let stat = call.ask({
        let at = at.clone();
        move |store| store.stat(&caller, &at)
    });
    let size = stat.await?.size();
    let ticket = tickets::make(&call, at).await?.ticket;
    let lpath = percent_encoding::utf8_percent_encode(&lpath, percent_encoding::NON_ALPHANUMERIC);
    let body = json!({
        "headers": { "irods-ticket": [ticket] },
        "url": format!("stream?logical-path={lpath}&offset=0&count={size}"),
    });
    Ok(answer::json(StatusCode::OK, body))
}

/// `POST admin`: users.
pub(super) async fn admin(call: Call) -> Answer {
    let argument = |name| call.form.text(name).unwrap_or_default().to_owned();
    let words = (argument("action"), argument("target"));
    let (name, third, fourth) = (argument("arg2"), argument("arg3"), argument("arg4"));
    let caller = call.caller.clone();
    let done = call.ask(move |store| {
        Ok(Some(match (words.0.as_str(), words.1.as_str(), third.as_str()) {
            ("add", "user", kind) => {
                let Some(role) = role(kind) else { return Ok(None) };
                let user = NewUser { name: name.clone(), password: None, role };
                store.add_user(&caller, &user).and_then(|_| store.make_home(&caller, &name))
            }
            ("remove" | "rm", "user", _) => store.remove_person(&caller, &name),
            ("modify", "user", "password") => store.set_password(&caller, &name, &fourth),
            _ => return Ok(None),
        }))
    });
    match done.await? {
        Some(Ok(())) => {
            Ok(answer::json(StatusCode::OK, json!({ "code": 0, "message": "Success" })))
        }
        Some(Err(error)) if error.kind() == ErrorKind::Denied => {
            Err(Refusal::code(Code::NoApiPrivilege).with_message(&error.to_string()))
        }
        Some(Err(error)) => Err(error.into()),
        None => Err(Refusal::BAD),
    }
}

fn role(word: &str) -> Option<Role> {
    [Role::User, Role::GroupAdmin, Role::Admin].into_iter().find(|role| role_name(*role) == word)
}
