//! POST: creates a resource in a container, under the name that the client suggests (`Slug`, RFC 5023) if that is free, else under a
//! new one.

use axum::body::Body;
use axum::response::Response;
use cenote_store::{Conditions, Entropy, ErrorKind, Kind, Name, Store, StorePath, SystemEntropy};
use percent_encoding::percent_decode_str;

use super::intake::{Sent, create_graph, triples, unfolded};
use super::put::{created, publish};
use crate::ldp::representation::membership::Inferred;
use crate::ldp::representation::model::Model;
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::allow;
use crate::ldp::request::target::{Part, RESERVED};
use axum::http::StatusCode;

pub(crate) async fn post(call: Call, body: Body) -> Result<Response, Fault> {
    let (path, inferred) = call.blocking(destination).await?;
    let (call, body) = unfolded(call, body).await?;
    let requested = Model::requested(&call.headers)?;
    let mut child = call.clone();
    child.target.path = path;
    match Sent::of(&call, &body, requested)? {
        Sent::Graph(syntax) => {
            let bytes = call.gather(body).await?;
            let made = child.blocking(move |store, child| {
                let triples = triples(&bytes, syntax, &child.address())?;
                let seen =
                    create_graph(child, store, child.path(), triples, (requested, inferred))?;
                Ok(created(child, &seen))
            });
            made.await
        }
        Sent::Bytes => {
            let absent = Conditions { if_match: None, if_absent: true };
            publish(&child, child.path().clone(), body, absent).await?;
            let made = child.blocking(|store, child| Ok(created(child, &child.seen(store)?)));
            made.await.map_err(Fault::after_change)
        }
    }
}

/// The path to create, with what follows of it from the container.
fn destination(store: &Store, call: &Call) -> Result<(StorePath, Option<Inferred>), Fault> {
    let reading = call.reading(store)?;
    let seen = call.seen_in(&reading, store)?;
    if seen.stat.resource.kind == Kind::Object {
        return Err(Fault::new(StatusCode::CONFLICT, "a binary cannot contain resources"));
    }
    if !seen.model.is_container() || call.target.part != Part::Whole {
        return Err(Fault::method(allow(call, &seen)));
    }
    let suggested = call.header("slug").and_then(suggested);
    let suggested = suggested.map(|name| call.path().join(name)).transpose()?;
    let path = match suggested {
        Some(path) if is_free(store, call, &path)? => path,
        _ => call.path().join(Name::new(new_name())?)?,
    };
    let inferred = Inferred::of_new(&reading, &path)?;
    Ok((path, inferred))
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
