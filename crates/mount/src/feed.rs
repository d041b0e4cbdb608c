//! Follows the change feed, so that changes by others are visible within a second.

use std::sync::{Arc, Weak};
use std::time::Duration;

use cenote_client::{At, Client, Event, Kind};
use futures_util::{StreamExt, pin_mut};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::cache::Stale;
use crate::ops::{FileSystem, Inner};

/// How long to wait before the feed is opened again.
const PAUSE: Duration = Duration::from_millis(500);

/// The server sends its position every 15 seconds if nothing happens.
const SILENCE: Duration = Duration::from_secs(40);

/// What the kernel has to drop, in order.
pub(crate) type Drops = mpsc::UnboundedSender<Stale>;

/// The position that the cache has reached.
pub(crate) type Position = watch::Sender<String>;

impl FileSystem {
    /// Follows the feed, of one collection or of all, until the file system is dropped.
    pub(crate) fn follow(&self, below: Option<u64>) {
        let inner = Arc::downgrade(&self.0);
        tokio::spawn(follow(inner, below));
    }
}

async fn follow(inner: Weak<Inner>, below: Option<u64>) {
    while let Some((client, since)) = to_follow(&inner, below).await {
        let events = client.follow(below.map(At::Id), Some(since));
        pin_mut!(events);
        // Without a sign of life the connection may be dead, so it is opened again.
        while let Ok(Some(event)) = timeout(SILENCE, events.next()).await {
            let Some(inner) = inner.upgrade() else { return };
            match event {
                Ok(event) => inner.take(event),
                Err(error) if matches!(error.kind(), Kind::Unauthenticated | Kind::Denied) => {
                    inner.withdraw();
                    break;
                }
                Err(error) if matches!(error.kind(), Kind::Expired | Kind::NotFound) => {
                    inner.restart(below).await;
                    break;
                }
                Err(_) => break,
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The server and the position to continue from, once it is available.
async fn to_follow(inner: &Weak<Inner>, below: Option<u64>) -> Option<(Client, String)> {
    loop {
        let strong = inner.upgrade()?;
        if strong.source.is_offline() {
            strong.come_back(below).await;
        }
        if !strong.source.is_offline() {
            return Some(strong.to_follow());
        }
        drop(strong);
        tokio::time::sleep(PAUSE).await;
    }
}

impl Inner {
    fn to_follow(&self) -> (Client, String) {
        (self.source.client.clone(), self.position.borrow().clone())
    }

    fn take(&self, event: Event) {
        let position = match event {
            Event::Change(change) => {
                let stale = self.lock().apply(&change);
                self.drop_from_kernel(stale);
                change.position
            }
            Event::Access(position) => {
                self.withdraw();
                position
            }
            Event::Position(position) => position,
        };
        self.drop_from_kernel(vec![Stale::Reached(position.clone())]);
        self.position.send_replace(position);
    }

    /// Changes were missed: nothing that is cached can be relied on.
    async fn restart(&self, below: Option<u64>) {
        let below = below.map(At::Id);
        let now = self.source.client.changes(below.as_ref(), Some("now"), 0);
        if let Ok(now) = self.source.within(now).await {
            self.position.send_replace(now.next);
        }
        self.withdraw();
    }

    /// What was known may not be shown any more.
    fn withdraw(&self) {
        let stale = self.lock().withdraw_all();
        self.drop_from_kernel(stale);
    }

    /// What was known may not be known any more.
    pub(crate) fn doubt(&self) {
        let stale = self.lock().doubt_all();
        self.drop_from_kernel(stale);
    }

    pub(crate) fn drop_from_kernel(&self, stale: Vec<Stale>) {
        for stale in stale {
            // Without a kernel there is no receiver.
            let _no_kernel = self.drops.send(stale);
        }
    }
}
