//! The activities of `fcr:events`, sent to the receivers of the server's settings: addresses (`post`), and brokers (`stomp`).
//!
//! Invariant: activities are sent in the order of the commits, each until it is taken, and the position up to which they were taken is a
//! note of the store. A receiver that was away, or a server that was stopped, misses nothing for as long as changes are kept; what was
//! taken shortly before a server was killed, or a connection broke, may come twice, with the same id. Of several servers over one catalog
//! the one that does the background work sends; who takes that over goes on from the note.

mod look;
mod post;
pub(super) mod stomp;

use std::sync::Arc;
use std::time::Duration;

use cenote_store::{Position, Store};
use futures_util::future::join_all;

use self::look::{Page, Terms};
use self::post::Receiver;
use self::stomp::Connection;
use crate::app::App;
use crate::config::{Broker, Ldp, Webhook};
use crate::problem::Problem;

/// How often others' changes are looked for where other servers share the catalog.
const LOOK: Duration = Duration::from_secs(1);

/// One receiver of the settings.
#[derive(Debug)]
pub(crate) struct Publication {
    terms: Terms,
    way: Way,
    retry: Duration,
    longest_retry: Duration,
}

/// How activities are sent.
#[derive(Debug)]
enum Way {
    Webhook(Box<Receiver>),
    Stomp(Box<Connection>),
}

/// Why an activity was not accepted, and how long the receiver asks to wait, if it does.
#[derive(Debug)]
struct NotTaken {
    why: String,
    pause: Option<Duration>,
}

impl NotTaken {
    fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), pause: None }
    }
}

impl Publication {
    /// All receivers that the settings name.
    ///
    /// # Errors
    /// The errors in them.
    pub(crate) fn all(settings: &Ldp) -> Result<Vec<Arc<Self>>, String> {
        let webhooks = settings
            .webhooks
            .iter()
            .map(|it| Self::webhook(it).map_err(|why| format!("webhook {:?}: {why}", it.name)));
        let brokers = settings
            .stomp
            .iter()
            .map(|it| Self::stomp(it).map_err(|why| format!("broker {:?}: {why}", it.name)));
        webhooks.chain(brokers).map(|it| it.map(Arc::new)).collect()
    }

    fn webhook(settings: &Webhook) -> Result<Self, String> {
        let Webhook { name, user, mount, address, below, .. } = settings;
        Ok(Self {
            terms: Terms::new(format!("webhook/{name}"), user, [mount, address, below])?,
            way: Way::Webhook(Box::new(Receiver::new(&settings.url, &settings.secret_file)?)),
            retry: settings.retry_seconds.get(),
            longest_retry: settings.longest_retry_seconds.get(),
        })
    }

    fn stomp(settings: &Broker) -> Result<Self, String> {
        let Broker { name, user, mount, address, below, .. } = settings;
        Ok(Self {
            terms: Terms::new(format!("stomp/{name}"), user, [mount, address, below])?,
            way: Way::Stomp(Box::new(Connection::new(settings)?)),
            retry: settings.retry_seconds.get(),
            longest_retry: settings.longest_retry_seconds.get(),
        })
    }

    /// The pause after so many failures.
    fn pause(&self, failures: u32, requested: Option<Duration>) -> Duration {
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
        let own = self.retry.saturating_mul(doubled);
        own.max(requested.unwrap_or_default()).min(self.longest_retry)
    }
}

/// Sends changes to all receivers, until the server stops.
pub(crate) async fn maintain(app: App, publications: Vec<Arc<Publication>>) {
    let publish = |publication| Publisher { app: app.clone(), publication }.follow();
    join_all(publications.into_iter().map(publish)).await;
}

/// Sends changes to one receiver of a running server.
struct Publisher {
    app: App,
    publication: Arc<Publication>,
}

impl Publisher {
    async fn follow(self) {
        let (store, mut failures, mut since) = (self.app.store().clone(), 0, None);
        while !self.app.stopping().is_cancelled() {
            if !store.leads() {
                since = None;
                let _ = self.unless_stopping(tokio::time::sleep(LOOK)).await;
                continue;
            }
            // Begun before the look, so that no change falls between the two.
            let changed = store.changed();
            match self.round(&mut since).await {
                Ok(true) => failures = 0,
                Ok(false) => {
                    failures = 0;
                    let look = if store.is_shared() { LOOK } else { Duration::MAX };
                    let _ =
                        self.unless_stopping(tokio::time::timeout(look, self.idle(changed))).await;
                }
                Err(not) => {
                    failures += 1;
                    let pause = self.publication.pause(failures, not.pause);
                    let receiver = self.publication.terms.note();
                    tracing::warn!(target: "cenote", receiver, failures, ?pause, "not told: {}", not.why);
                    let _ = self.unless_stopping(tokio::time::sleep(pause)).await;
                }
            }
        }
        if let Way::Stomp(connection) = &self.publication.way {
            connection.end().await;
        }
    }

    /// Keeps a connection alive until something has changed.
    async fn idle(&self, changed: impl Future) {
        let alive = async {
            match &self.publication.way {
                Way::Webhook(_) => std::future::pending().await,
                Way::Stomp(connection) => connection.keep_alive().await,
            }
        };
        tokio::select! {
            _ = changed => {}
            () = alive => {}
        }
    }

    /// What comes first; none if that is the end of the server.
    async fn unless_stopping<T>(&self, what: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            done = what => Some(done),
            () = self.app.stopping().cancelled() => None,
        }
    }

    /// Sends the changes since then, and returns whether there are more.
    async fn round(&self, since: &mut Option<Position>) -> Result<bool, NotTaken> {
        let begun = match *since {
            Some(begun) => begun,
            None => self.blocking(Terms::begin).await?,
        };
        *since = Some(begun);
        let page = self.blocking(move |terms, store| terms.look(store, begun)).await?;
        let mut taken = begun;
        let sent = self.send(&page, &mut taken).await;
        *since = Some(taken);
        // Changes that are not sent are not worth a commit each.
        if taken != begun && (page.more || !page.activities.is_empty()) {
            self.blocking(move |terms, store| terms.keep(store, taken)).await?;
        }
        sent.map(|()| page.more)
    }

    /// Sends activities until one is not accepted, or the server stops; the current one is waited for.
    async fn send(&self, page: &Page, taken: &mut Position) -> Result<(), NotTaken> {
        for (position, activity) in &page.activities {
            if self.app.stopping().is_cancelled() || !self.app.store().leads() {
                return Ok(());
            }
            let id = position.to_string();
            match &self.publication.way {
                Way::Webhook(receiver) => {
                    receiver.post(&id, self.app.store().now(), activity.to_string()).await?;
                }
                Way::Stomp(connection) => {
                    let Some(open) = self.unless_stopping(connection.open()).await else {
                        return Ok(());
                    };
                    open?;
                    connection.send(&id, activity).await?;
                }
            }
            *taken = *position;
        }
        *taken = page.next;
        Ok(())
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Terms, &Store) -> cenote_store::Result<T> + Send + 'static,
    ) -> Result<T, NotTaken> {
        let publication = Arc::clone(&self.publication);
        let done = self.app.blocking(move |store| work(&publication.terms, store)).await;
        done.map_err(|problem: Problem| NotTaken::new(problem.to_string()))
    }
}
