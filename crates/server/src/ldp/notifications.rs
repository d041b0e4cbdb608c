//! `fcr:events`: what happens to a resource and below it, as activities in server-sent events.
//!
//! Source: ActivityStreams 2.0, in the form of fcrepo 6 and in that of LAKEsuperior, as the dialect has it. The change feed decides what is
//! reported: in commit order, to those who see the resource. A client that reconnects names the last event it has seen
//! (`Last-Event-ID`) and misses nothing, for as long as changes are kept.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cenote_store::{At, Caller, Change, ChangeKind, ChangePage, Name, Store, StorePath};
use serde_json::{Value, json};

use super::dialect::Dialect;
use crate::changes::{Feed, events};
use crate::ldp::representation::model::Model;
use crate::ldp::representation::resource::{rfc3339, types};
use crate::ldp::representation::vocabulary::LDP;
use crate::ldp::representation::web::Web;
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;

const METHODS: &str = "GET,HEAD,OPTIONS";
const CONTEXT: &str = "https://www.w3.org/ns/activitystreams";
/// Changes examined for a page of events.
const LOOKED_AT: usize = 1_000;

/// The form of activities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// fcrepo's.
    Fcrepo,
    /// LAKEsuperior's.
    Lakesuperior,
}

pub(crate) async fn answer(call: Call) -> Result<Response, Fault> {
    match call.method.as_str() {
        "GET" => {}
        "HEAD" | "OPTIONS" => {
            call.blocking(|store, call| call.headings(store)).await?;
            let allow = [(axum::http::header::ALLOW, METHODS)];
            return Ok((StatusCode::NO_CONTENT, allow).into_response());
        }
        _ => return Err(Fault::method(METHODS)),
    }
    let top = call.blocking(|store, call| Ok(call.headings(store)?.stat.id)).await?;
    let since = events::last_event_id(&call.headers).unwrap_or_else(|| "now".to_owned());
    let writer = ActivityWriter {
        dialect: call.dialect,
        web: call.web.clone(),
        caller: call.caller.clone(),
    };
    let feed = Feed::open(call.follower(), Some(top), (Some(since), LOOKED_AT)).await?;
    let show = move |store: &Store, page| writer.events(store, page);
    Ok(events::answer(feed, show).await?)
}

/// Writes changes for one reader.
#[derive(Clone)]
pub(super) struct ActivityWriter {
    pub(super) dialect: &'static Dialect,
    pub(super) web: Web,
    pub(super) caller: Caller,
}

impl ActivityWriter {
    fn events(&self, store: &Store, page: ChangePage) -> cenote_store::Result<String> {
        let mut text = String::new();
        let mut last = None;
        for change in &page.changes {
            if let Some(activity) = self.activity(store, change)? {
                text += &events::event("activity", change.position, &activity);
                last = Some(change.position);
            }
        }
        match last == Some(page.next) {
            true => Ok(text),
            false => Ok(text + &events::position(page.next)),
        }
    }

    /// The activity that a change was; none, if the caller does not see any more where it was.
    pub(super) fn activity(
        &self,
        store: &Store,
        change: &Change,
    ) -> cenote_store::Result<Option<Value>> {
        let Some((path, types)) = self.object(store, change) else { return Ok(None) };
        let (kind, name) = match change.kind {
            ChangeKind::Created => ("Create", "creation"),
            ChangeKind::Removed => ("Delete", "deletion"),
            ChangeKind::Moved => ("Move", "relocation"),
            ChangeKind::Written | ChangeKind::Described | ChangeKind::Granted => {
                ("Update", "modification")
            }
        };
        let who = store.reading(&self.caller)?.person_name(change.by)?;
        let (id, at) = (self.id(change), rfc3339(change.at));
        let object = self.web.address(&path);
        Ok(Some(match self.dialect.activities {
            Form::Fcrepo => json!({
                "@context": [CONTEXT, {
                    "prov": "http://www.w3.org/ns/prov#",
                    "dcterms": "http://purl.org/dc/terms/",
                    "type": "@type",
                    "id": "@id",
                    "isPartOf": { "@id": "dcterms:isPartOf", "@type": "@id" },
                }],
                "id": id,
                "type": [kind],
                "name": format!("resource {name}"),
                "published": at,
                "actor": [{ "type": ["Person"], "name": who }],
                "object": { "id": object, "type": types, "isPartOf": self.web.address(&StorePath::root()) },
            }),
            Form::Lakesuperior => json!({
                "@context": CONTEXT,
                "id": id,
                "type": kind,
                "name": format!("Resource {}{}", name[..1].to_uppercase(), &name[1..]),
                "object": { "id": object, "updated": at, "type": types },
                "actor": who,
            }),
        }))
    }

    /// The same for the same change, whenever and to whomever it is reported.
    fn id(&self, change: &Change) -> String {
        format!("{}fcr:events#{}", self.web.address(&StorePath::root()), change.position)
    }

    /// Where the resource is, or was, and its types as far as the caller may know them.
    fn object(&self, store: &Store, change: &Change) -> Option<(StorePath, Vec<String>)> {
        if change.kind != ChangeKind::Removed
            && let Ok((stat, description)) = store.graph(&self.caller, &At::Id(change.id))
        {
            let model = Model::of(stat.resource.kind, &description);
            let types = types(model, &stat.path, self.dialect);
            return Some((stat.path, types));
        }
        let parent = store.stat(&self.caller, &At::Id(change.parent)).ok()?.path;
        let path = parent.join(Name::new(&*change.name).ok()?).ok()?;
        Some((path, vec![format!("{LDP}Resource")]))
    }
}
