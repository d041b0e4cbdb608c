//! Changes: collections, names, attributes, tickets.

use axum::body::Body;
use axum::http::StatusCode;
use cenote_store::{At, CreateOptions, Draft, Kind};
use serde_json::{Value, json};

use super::{done, inaccessible};
use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::body::small_body;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::form::Form;
use crate::irods::call::request::Call;
use crate::irods::tree::collections::move_to;
use crate::irods::tree::remove::remove as remove_tree;
use crate::irods::tree::stat::Wanted;
use crate::irods::tree::{metadata as avus, trash};
use crate::irods::zone::tickets;
use crate::layer::Admission;

/// `POST logicalpath`: creates a collection.
pub(super) async fn make(call: Call) -> Answer {
    if !call.form.flag("collection", false) {
        return done();
    }
    let (path, caller) = (call.path("logical-path")?, call.caller.clone());
    let parents = call.form.flag("create-parent-collections", false);
    let options = CreateOptions { parents, exist_ok: parents, ..CreateOptions::default() };
    call.blocking(move |store| store.create(&caller, &path, Draft::Collection, options)).await?;
    done()
}

/// `DELETE logicalpath`: a collection needs `recursive=1`.
pub(super) async fn remove(call: Call) -> Answer {
    let path = call.path("logical-path").map_err(|_| inaccessible(&call))?;
    let (recursive, for_good) =
        (call.form.flag("recursive", false), call.form.flag("no-trash", false));
    let caller = call.acting();
    let removed = call.blocking(move |store| {
        let stat = trash::stat(store, &caller, &path)?;
        if stat.resource.kind == Kind::Collection && !recursive {
            return Ok(false);
        }
        remove_tree(store, &caller, &stat, recursive, for_good).map(|()| true)
    });
    match removed.await? {
        true => done(),
        false => Err(Refusal::code(Code::IncompatibleParameters)),
    }
}

/// `POST logicalpath/rename`.
pub(super) async fn rename(call: Call) -> Answer {
    let (from, to, caller) = (call.path("src")?, call.path("dst")?, call.acting());
    call.blocking(move |store| {
        let stat = trash::stat(store, &caller, &from)?;
        move_to(store, &caller, &stat, to)
    })
    .await?;
    done()
}

/// `POST metadata`: a JSON body that names its target.
pub(super) async fn metadata(mut call: Call, admission: &Admission, body: Body) -> Answer {
    let body = small_body(&call.app, admission, body).await?;
    let body: Value = serde_json::from_slice(&body).map_err(|_| Refusal::BAD)?;
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
        "resource" => avus::modify_resource(call).await,
        _ => Err(Refusal::BAD),
    }?;
    done()
}

/// `GET ticket`: creates a ticket, and returns it with the URL that it opens.
pub(super) async fn ticket(call: Call) -> Answer {
    let path = call.path("logical-path").map_err(|_| inaccessible(&call))?;
    let lpath = call.need("logical-path")?.to_owned();
    let (at, caller) = (At::from(path), call.caller.clone());
    let stat = call.blocking({
        let at = at.clone();
        move |store| store.stat(&caller, &at)
    });
    let size = stat.await?.size();
    let ticket = tickets::make(&call, at).await?;
    let lpath = percent_encoding::utf8_percent_encode(&lpath, percent_encoding::NON_ALPHANUMERIC);
    let body = json!({
        "headers": { "irods-ticket": [ticket] },
        "url": format!("stream?logical-path={lpath}&offset=0&count={size}"),
    });
    Ok(answer::json(StatusCode::OK, body))
}
