//! POST: creates a resource in a container, under the name that the client suggests (`Slug`, RFC 5023) if that is free, else under a
//! new one.

use axum::body::Body;
use axum::response::Response;
use cenote_store::{Entropy, ErrorKind, Kind, Name, Store, StorePath, SystemEntropy};
use percent_encoding::percent_decode_str;

use super::intake::{New, Sent, create_graph, triples, unfolded};
use super::put::{created, publish_new};
use crate::ldp::representation::membership::Inferred;
use crate::ldp::representation::model::Model;
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::allow;
use crate::ldp::request::target::{Part, RESERVED};
use axum::http::StatusCode;

pub(crate) async fn post(call: Call, body: Body) -> Result<Response, Fault> {
    let inferred = call.blocking(require_container).await?;
    let (call, body) = unfolded(call, body).await?;
    let requested = Model::requested(&call.headers)?;
    match Sent::of(&call, &body, requested)? {
        Sent::Graph(syntax) => {
            let bytes = call.gather(body).await?;
            let make = move |store: &Store, call: &Call| {
                create(store, call, |child| {
                    let triples = triples(&bytes, syntax, &child.address())?;
                    let new = New { requested, parents: false, inferred: inferred.clone() };
                    Ok(created(child, &create_graph(child, store, triples, new)?))
                })
            };
            call.blocking(make).await
        }
        Sent::Bytes => {
            let paths = call.blocking(names).await?;
            let child = at(&call, publish_new(&call, &paths, body).await?);
            let made = child.blocking(|store, child| Ok(created(child, &child.headings(store)?)));
            made.await.map_err(Fault::after_change)
        }
    }
}

/// Refuses to post to what is no container; what follows from it of new children.
fn require_container(store: &Store, call: &Call) -> Result<Option<Inferred>, Fault> {
    let reading = call.reading(store)?;
    let loaded = call.headings_in(&reading, store)?;
    if loaded.stat.resource.kind == Kind::Object {
        return Err(Fault::new(StatusCode::CONFLICT, "a binary cannot contain resources"));
    }
    match loaded.model.is_container() && call.target.part == Part::Whole {
        true => Ok(Inferred::of_child(&reading, call.path())?),
        false => Err(Fault::method(allow(call, &loaded))),
    }
}

/// Creates a resource under the first of the names that is free. Only the store knows which one is: a name may be taken at any moment, or
/// by something that the caller does not see.
fn create<T>(
    store: &Store,
    call: &Call,
    make: impl Fn(&Call) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let mut made = Err(Fault::missing("no name is free"));
    for path in names(store, call)? {
        made = make(&at(call, path));
        match &made {
            Err(fault) if fault.of_store() == Some(ErrorKind::Exists) => {}
            _ => break,
        }
    }
    made.map_err(|fault| lost(store, call, fault))
}

/// The paths to try: with the suggested name, if it seems to be free, and with a new one.
fn names(store: &Store, call: &Call) -> Result<Vec<StorePath>, Fault> {
    let mut paths = Vec::new();
    if let Some(name) = call.header("slug").and_then(suggested) {
        let path = call.path().join(name)?;
        paths.extend(is_free(store, call, &path)?.then_some(path));
    }
    paths.push(call.path().join(Name::new(new_name())?)?);
    Ok(paths)
}

/// The same call, of a resource in the container.
fn at(call: &Call, path: StorePath) -> Call {
    let mut child = call.clone();
    child.target.path = path;
    child
}

/// The refusal of a POST to a container that was removed in the meantime.
pub(super) fn lost(store: &Store, call: &Call, fault: Fault) -> Fault {
    match fault.of_store() {
        Some(ErrorKind::NotFound) => call.headings(store).err().unwrap_or(fault),
        _ => fault,
    }
}

/// The name that a client suggests, if a resource can have it.
fn suggested(slug: &str) -> Option<Name> {
    let name = percent_decode_str(slug.trim()).decode_utf8().ok()?;
    Name::new(name.trim_matches('/')).ok().filter(|name| !name.as_str().starts_with(RESERVED))
}

/// Whether nothing is at a path, and nothing was that left a tombstone.
fn is_free(store: &Store, call: &Call, path: &StorePath) -> Result<bool, Fault> {
    match store.stat(&call.caller, &path.into()) {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Ok(store.tombstone(&call.caller, path)?.is_none())
        }
        Err(error) => Err(error.into()),
    }
}

/// A random UUID (RFC 9562, version 4).
fn new_name() -> String {
    let mut bytes = [0; 16];
    SystemEntropy.fill(&mut bytes);
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex = hex::encode(bytes);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    parts.map(|part| &hex[part]).join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_a_name_or_ignored() {
        for (slug, name) in [
            ("a", Some("a")),
            (" a%20b ", Some("a b")),
            ("/a/", Some("a")),
            ("a/b", None),
            ("", None),
            ("..", None),
            ("fcr:metadata", None),
            ("%ff", None),
        ] {
            assert_eq!(suggested(slug).as_ref().map(Name::as_str), name, "{slug}");
        }
        assert_eq!(new_name().len(), 36);
    }
}
