//! All names below a collection, as one JSON text that is written while the names are read: a listing of
//! millions needs only the memory of a page, and starts at once.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cenote_query::genquery::is_in_trash;
use cenote_store::{At, Caller, ErrorKind, NamedEntry, NamesPage, Store, StorePath};
use futures_util::{Stream, StreamExt, stream};

use super::trash;
use crate::app::App;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::Refusal;
use crate::irods::call::lpath;
use crate::irods::call::request::Call;

/// How many names are read from the store at a time.
const PAGE: usize = 10_000;

/// Responds with the names below the collection at `path`.
pub(crate) async fn names_below(call: &Call, path: StorePath, deep: bool) -> Answer {
    let (app, caller) = (call.app.clone(), call.caller.clone());
    let zone = call.settings().zone.clone();
    let listing = Listing { app, caller, top: At::from(&path), path, deep, zone };
    let (first, next) = listing.page(Begin::Top).await?;
    let body = match next {
        None => Body::from(first),
        Some(after) => {
            let rest = listing.rest(after);
            Body::from_stream(stream::once(async { Ok(Bytes::from(first)) }).chain(rest))
        }
    };
    Ok(respond(body))
}

fn respond(body: Body) -> Response {
    let json = HeaderValue::from_static("application/json");
    (StatusCode::OK, [(header::CONTENT_TYPE, json)], body).into_response()
}

/// A listing in progress.
#[derive(Clone)]
struct Listing {
    app: App,
    caller: Caller,
    top: At,
    path: StorePath,
    deep: bool,
    zone: String,
}

/// Where a page starts.
#[derive(Debug)]
enum Begin {
    Top,
    After(NamedEntry),
}

impl Listing {
    /// The text of a page, and where the next one starts.
    async fn page(&self, begin: Begin) -> Result<(String, Option<NamedEntry>), Refusal> {
        let listing = self.clone();
        Ok(self.app.blocking(move |store| listing.text(store, &begin)).await?)
    }

    fn text(
        &self,
        store: &Store,
        begin: &Begin,
    ) -> cenote_store::Result<(String, Option<NamedEntry>)> {
        let after = match begin {
            Begin::Top => None,
            Begin::After(entry) => Some(entry),
        };
        let page = match store.names(&self.caller, &self.top, self.deep, after, PAGE) {
            // A collection of the trash, which is not in the tree.
            Err(error) if error.kind() == ErrorKind::NotFound && is_in_trash(&self.path) => {
                NamesPage { entries: Vec::new(), next: None }
            }
            page => page?,
        };
        let mut names: Vec<_> = page.entries.into_iter().map(|entry| entry.path).collect();
        if page.next.is_none() {
            let removed = trash::below(store, &self.caller, &self.path, self.deep)?;
            names.extend(removed.into_iter().map(|stat| stat.path));
        }
        let mut text = String::with_capacity(names.len() * 64 + 64);
        if after.is_none() {
            text.push_str("{\"entries\":");
        }
        for (place, path) in names.iter().enumerate() {
            text.push(if place == 0 && after.is_none() { '[' } else { ',' });
            lpath::write_json(&mut text, &self.zone, path);
        }
        if page.next.is_none() {
            let empty = names.is_empty() && after.is_none();
            text.push_str(if empty { "null" } else { "]" });
            text.push_str(",\"irods_response\":{\"status_code\":0}}");
        }
        Ok((text, page.next))
    }

    /// The pages after the first. A failure aborts the response, so that a truncated listing does not look complete.
    fn rest(self, after: NamedEntry) -> impl Stream<Item = Result<Bytes, BrokenOff>> {
        stream::try_unfold((self, Some(after)), async |(listing, after)| {
            let Some(after) = after else { return Ok(None) };
            let page = listing.page(Begin::After(after)).await;
            let (text, next) = page.map_err(|_| BrokenOff)?;
            Ok(Some((Bytes::from(text), (listing, next))))
        })
    }
}

/// The rest of a listing could not be read.
#[derive(Debug, thiserror::Error)]
#[error("reading the listing failed")]
struct BrokenOff;
