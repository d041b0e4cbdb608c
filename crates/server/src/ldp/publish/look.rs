//! The changes that are reported to a receiver: those that its user sees, after the position that the store keeps for it.

use axum::http::Uri;
use bytes::Bytes;
use cenote_store::{At, Caller, ErrorKind, Position, Store, StorePath};
use serde_json::Value;
use url::Url;

use crate::ldp::dialect::{self, Dialect};
use crate::ldp::notifications::ActivityWriter;
use crate::ldp::representation::web::Web;

/// The opening whose note a position is.
const OPENING: &str = "ldp";
/// Changes that are looked at together.
const LOOKED_AT: usize = 1_000;

/// Whose changes, and in which form.
#[derive(Debug)]
pub(super) struct Terms {
    note: String,
    user: String,
    dialect: &'static Dialect,
    web: Web,
    below: StorePath,
}

/// What is to be sent next.
pub(super) struct Page {
    pub(super) activities: Vec<(Position, Value)>,
    pub(super) next: Position,
    pub(super) more: bool,
}

impl Terms {
    /// The note of the position, the user, and where resources are: mount point, address and collection.
    pub(super) fn new(
        note: String,
        user: &str,
        [mount, address, below]: [&String; 3],
    ) -> Result<Self, String> {
        let mounts = dialect::ALL.into_iter();
        let dialect = mounts.into_iter().find(|dialect| dialect.mount == mount);
        let dialect = dialect.ok_or_else(|| format!("no mount point {mount:?}"))?;
        let parsed: Uri = address.parse().map_err(|_| "no address".to_owned())?;
        let origin = Url::parse(&parsed.to_string()).map_err(|_| "no address".to_owned())?;
        let below = below.parse().map_err(|_| format!("not a path: {below:?}"))?;
        let web = Web::at(&origin.origin().ascii_serialization(), dialect);
        Ok(Self { note, user: user.to_owned(), dialect, web, below })
    }

    pub(super) fn note(&self) -> &str {
        &self.note
    }

    /// The position up to which activities were accepted; at first, only later changes are sent.
    pub(super) fn begin(&self, store: &Store) -> cenote_store::Result<Position> {
        let kept = store.note(OPENING, &self.note)?;
        match kept.and_then(|note| serde_json::from_slice::<String>(&note).ok()?.parse().ok()) {
            Some(position) => Ok(position),
            None => {
                let newest = store.newest_change()?;
                self.keep(store, newest)?;
                Ok(newest)
            }
        }
    }

    pub(super) fn keep(&self, store: &Store, position: Position) -> cenote_store::Result<()> {
        let note = Bytes::from(serde_json::json!(position.to_string()).to_string());
        store.tend_notes(OPENING, |notes| notes.put(&self.note, note.clone()))
    }

    /// What happened after a position, as the user sees it now.
    pub(super) fn look(&self, store: &Store, since: Position) -> cenote_store::Result<Page> {
        let caller = store.caller_for(store.person_named(&self.user)?.0)?;
        let page = self.changes(store, &caller, since).or_else(|error| match error.kind() {
            ErrorKind::Expired => {
                tracing::warn!(target: "cenote", receiver = self.note, "changes that were not reported are no longer kept");
                self.changes(store, &caller, Position::default())
            }
            _ => Err(error),
        })?;
        let writer = ActivityWriter { dialect: self.dialect, web: self.web.clone(), caller };
        let mut activities = Vec::new();
        for change in &page.changes {
            if let Some(activity) = writer.activity(store, change)? {
                activities.push((change.position, activity));
            }
        }
        Ok(Page { activities, next: page.next, more: page.more })
    }

    fn changes(
        &self,
        store: &Store,
        caller: &Caller,
        since: Position,
    ) -> cenote_store::Result<cenote_store::ChangePage> {
        if self.below.names().is_empty() {
            return store.changes(caller, since, LOOKED_AT);
        }
        let top = store.stat(caller, &At::from(self.below.clone()))?.id;
        store.changes_below(caller, top, since, LOOKED_AT)
    }
}
