//! Versions of a resource, at `fcr:versions`: a list, and a memento for each.
//!
//! Source: Memento (RFC 7089), the Fedora API section 4, and LAKEsuperior's routes for the same. A version of the store has the content
//! and the description together; so a binary and its description have the same versions, each with an address below its own.
//!
//! * `name` is how a version is named in addresses, `links` the headers that lead from one to the other.
//! * `timemap` lists and makes versions, `gate` chooses one by date, `memento` shows one, removes it, and reverts to it; `page` shows
//!   both to people.

mod gate;
mod links;
mod memento;
mod name;
mod page;
mod timemap;

use axum::body::Body;
use axum::response::Response;
use cenote_rdf::{NamedNode, Triple};
use cenote_store::{At, Reading, Store, Version};

pub(crate) use gate::gate;
pub(crate) use links::{address, original};
pub(crate) use name::shown as version_name;

use crate::ldp::representation::resource::LoadedResource;
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::target::{Part, Side};

/// Answers a request that names the versions of a resource, or one of them.
pub(crate) async fn answer(call: Call, body: Body) -> Result<Response, Fault> {
    let (side, name) = match call.target.part.clone() {
        Part::Version(side, name) => (side, Some(name)),
        Part::Versions(side) => (side, None),
        _ => return Err(Fault::missing("it has no versions")),
    };
    let about = about(call.clone(), &side);
    match (name, call.method.as_str()) {
        (None, "POST") => timemap::keep(about, body).await,
        (None, "GET" | "HEAD" | "OPTIONS") => timemap::show(about).await,
        (None, _) => Err(Fault::method(timemap::METHODS)),
        (Some(name), "GET" | "HEAD" | "OPTIONS") => memento::show(about, name).await,
        (Some(name), "DELETE") => memento::remove(about, name).await,
        (Some(name), "PATCH") if call.dialect.restores => memento::revert(about, name).await,
        (Some(_), _) => Err(Fault::method(memento::methods(call.dialect))),
    }
}

/// The call, as if it named what the versions are of.
fn about(mut call: Call, side: &Side) -> Call {
    call.target.part = match side {
        Side::Whole => Part::Whole,
        Side::Description => Part::Description,
    };
    call
}

/// The address of what has the versions.
fn own_address(call: &Call) -> String {
    match call.target.part {
        Part::Description => call.web.part(call.path(), "fcr:metadata"),
        _ => call.address(),
    }
}

/// The address of the list of its versions.
fn list_address(call: &Call) -> String {
    match call.target.part {
        Part::Description => call.web.part(call.path(), "fcr:metadata/fcr:versions"),
        _ => call.web.part(call.path(), "fcr:versions"),
    }
}

/// A resource with its versions, the oldest time first.
fn versions(store: &Store, call: &Call) -> Result<(LoadedResource, Vec<Version>), Fault> {
    let loaded = call.load(store)?;
    let mut versions = store.versions(&call.caller, &At::Id(loaded.stat.id))?;
    versions.sort_by_key(|version| (version.time, version.version));
    Ok((loaded, versions))
}

/// The triple that links a resource to its versions, in dialects that have it.
pub(crate) fn mention(
    reading: &Reading,
    call: &Call,
    loaded: &LoadedResource,
) -> Result<Option<Triple>, Fault> {
    let is_mentioned = call.dialect.mentions_versions && !call.is_memento;
    let node = |iri: String| NamedNode::new_unchecked(iri);
    // Callers who may not read the content do not see its versions.
    Ok((is_mentioned && reading.has_versions(&loaded.stat)?).then(|| {
        let versions = node(call.web.part(call.path(), "fcr:versions"));
        Triple::new(
            node(call.address()),
            node(format!("{}hasVersions", call.dialect.fedora)),
            versions,
        )
    }))
}
