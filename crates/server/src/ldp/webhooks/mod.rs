//! Webhooks: the activities of `fcr:events`, posted to addresses of the server's settings.
//!
//! Invariant: activities are posted in the order of the commits, each until it is taken, and the position up to which they were taken is a
//! note of the store. A receiver that was away, or a server that was stopped, misses nothing for as long as changes are kept; what was
//! taken shortly before a server was killed may come twice, with the same id.

mod post;

use std::sync::Arc;
use std::time::Duration;

use axum::http::Uri;
use bytes::Bytes;
use cenote_store::{At, Caller, ErrorKind, Position, Store, StorePath};
use futures_util::future::join_all;
use serde_json::Value;
use url::Url;

use self::post::{NotTaken, Receiver};
use super::dialect::{self, Dialect};
use super::notifications::Teller;
use crate::app::App;
use crate::config::Webhook;
use crate::ldp::representation::web::Web;
use crate::problem::Problem;

/// The opening whose note a position is.
const OPENING: &str = "ldp";
/// Changes examined together.
const LOOKED_AT: usize = 1_000;
/// How often others' changes are looked for where other servers share the catalog.
const LOOK: Duration = Duration::from_secs(1);

/// One webhook.
#[derive(Debug)]
pub(crate) struct Hook {
    settings: Webhook,
    receiver: Receiver,
    dialect: &'static Dialect,
    web: Web,
    below: StorePath,
}

/// The next posts.
struct Page {
    activities: Vec<(Position, Value)>,
    next: Position,
    more: bool,
}

impl Hook {
    /// Reads what the settings name.
    ///
    /// # Errors
    /// The errors in them.
    pub(crate) fn new(settings: &Webhook) -> Result<Self, String> {
        let wrong = |why: String| format!("webhook {:?}: {why}", settings.name);
        let mounts = dialect::ALL.into_iter();
        let dialect = mounts.into_iter().find(|dialect| dialect.mount == settings.mount);
        let dialect =
            dialect.ok_or_else(|| wrong(format!("no mount point {:?}", settings.mount)))?;
        let address: Uri = settings.address.parse().map_err(|_| wrong("no address".to_owned()))?;
        let origin =
            Url::parse(&address.to_string()).map_err(|_| wrong("no address".to_owned()))?;
        let receiver = Receiver::new(&settings.url, &settings.secret_file).map_err(wrong)?;
        let below = settings.below.parse();
        let below = below.map_err(|_| wrong(format!("not a path: {:?}", settings.below)))?;
        let web = Web::at(&origin.origin().ascii_serialization(), dialect);
        Ok(Self { settings: settings.clone(), receiver, dialect, web, below })
    }

    fn note(&self) -> String {
        format!("webhook/{}", self.settings.name)
    }

    /// The position up to which activities were accepted; at first, only later changes are posted.
    fn begin(&self, store: &Store) -> cenote_store::Result<Position> {
        let kept = store.note(OPENING, &self.note())?;
        match kept.and_then(|note| serde_json::from_slice::<String>(&note).ok()?.parse().ok()) {
            Some(position) => Ok(position),
            None => {
                let newest = store.newest_change()?;
                self.keep(store, newest)?;
                Ok(newest)
            }
        }
    }

    fn keep(&self, store: &Store, position: Position) -> cenote_store::Result<()> {
        let note = Bytes::from(serde_json::json!(position.to_string()).to_string());
        store.tend_notes(OPENING, |notes| notes.put(&self.note(), note.clone()))
    }

    /// What happened after a position, as the user sees it now.
    fn look(&self, store: &Store, since: Position) -> cenote_store::Result<Page> {
        let caller = store.caller_for(store.person_named(&self.settings.user)?.0)?;
        let page = self.changes(store, &caller, since).or_else(|error| match error.kind() {
            ErrorKind::Expired => {
                tracing::warn!(target: "cenote", webhook = self.settings.name, "changes that were not reported are no longer kept");
                self.changes(store, &caller, Position::default())
            }
            _ => Err(error),
        })?;
        let teller = Teller { dialect: self.dialect, web: self.web.clone(), caller };
        let mut activities = Vec::new();
        for change in &page.changes {
            if let Some(activity) = teller.activity(store, change)? {
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

    /// The pause after so many failures.
    fn pause(&self, failures: u32, asked: Option<Duration>) -> Duration {
        let longest = self.settings.longest_retry_seconds.get();
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
        let own = self.settings.retry_seconds.get().saturating_mul(doubled);
        own.max(asked.unwrap_or_default()).min(longest)
    }
}

/// Posts changes to all receivers, until the server stops.
pub(crate) async fn maintain(app: App, hooks: Vec<Arc<Hook>>) {
    join_all(hooks.into_iter().map(|hook| Told { app: app.clone(), hook }.follow())).await;
}

/// One webhook of a running server.
struct Told {
    app: App,
    hook: Arc<Hook>,
}

impl Told {
    async fn follow(self) {
        let (store, mut failures, mut since) = (self.app.store().clone(), 0, None);
        while !self.app.stopping().is_cancelled() {
            // Subscribed before the read, so that no change is missed between the two.
            let changed = store.changed();
            match self.round(&mut since).await {
                Ok(true) => failures = 0,
                Ok(false) => {
                    failures = 0;
                    let look = if store.is_shared() { LOOK } else { Duration::MAX };
                    let _ = self.unless_stopping(tokio::time::timeout(look, changed)).await;
                }
                Err(not) => {
                    failures += 1;
                    let pause = self.hook.pause(failures, not.pause);
                    let webhook = &self.hook.settings.name;
                    tracing::warn!(target: "cenote", webhook, failures, ?pause, "not told: {}", not.why);
                    let _ = self.unless_stopping(tokio::time::sleep(pause)).await;
                }
            }
        }
    }

    /// What comes first; none if that is the end of the server.
    async fn unless_stopping<T>(&self, what: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            done = what => Some(done),
            () = self.app.stopping().cancelled() => None,
        }
    }

    /// Posts the changes since then, and returns whether there are more.
    async fn round(&self, since: &mut Option<Position>) -> Result<bool, NotTaken> {
        let begun = match *since {
            Some(begun) => begun,
            None => self.blocking(|hook, store| hook.begin(store)).await?,
        };
        *since = Some(begun);
        let page = self.blocking(move |hook, store| hook.look(store, begun)).await?;
        let mut taken = begun;
        let told = self.tell(&page, &mut taken).await;
        *since = Some(taken);
        // Changes that are not posted are not worth a commit each.
        if taken != begun && (page.more || !page.activities.is_empty()) {
            self.blocking(move |hook, store| hook.keep(store, taken)).await?;
        }
        told.map(|()| page.more)
    }

    /// Posts activities until one is not accepted, or the server stops; the current one is waited for.
    async fn tell(&self, page: &Page, taken: &mut Position) -> Result<(), NotTaken> {
        for (position, activity) in &page.activities {
            if self.app.stopping().is_cancelled() {
                return Ok(());
            }
            let (id, now) = (position.to_string(), self.app.store().now());
            self.hook.receiver.post(&id, now, activity.to_string()).await?;
            *taken = *position;
        }
        *taken = page.next;
        Ok(())
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Hook, &Store) -> cenote_store::Result<T> + Send + 'static,
    ) -> Result<T, NotTaken> {
        let hook = Arc::clone(&self.hook);
        let done = self.app.blocking(move |store| work(&hook, store)).await;
        done.map_err(|problem: Problem| not_taken(problem.to_string()))
    }
}

fn not_taken(why: impl Into<String>) -> NotTaken {
    NotTaken { why: why.into(), pause: None }
}
