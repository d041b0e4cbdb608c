//! The feed that one request follows.
//!
//! Invariant: each look at the feed has the rights that its caller has then, and there is none once the account, token or ticket has ended.

use std::time::Duration;

use cenote_store::{Caller, ChangePage, Position, ResourceId, Store};
use tokio::time::Instant;

use crate::app::App;
use crate::layer::Admission;
use crate::problem::Problem;

/// How often a waiting request polls when other processes share the catalog, in case the engine does not announce their changes.
const LOOK: Duration = Duration::from_secs(1);

/// Follows the feed, or the part of it that is of one subtree.
#[derive(Debug)]
pub(crate) struct Feed {
    app: App,
    caller: Caller,
    admission: Admission,
    top: Option<ResourceId>,
    since: Position,
    limit: usize,
}

impl Feed {
    /// Begins after a position: `now`, or that of an earlier answer; without one, with all that is kept.
    pub(crate) async fn open(
        (app, caller, admission): (App, Caller, Admission),
        top: Option<ResourceId>,
        (since, limit): (Option<String>, usize),
    ) -> Result<Self, Problem> {
        let since = match since.as_deref() {
            Some("now") => app.blocking(Store::newest_change).await?,
            since => since.map(str::parse).transpose()?.unwrap_or_default(),
        };
        Ok(Self { app, caller, admission, top, since, limit })
    }

    /// The next changes; none if nothing happened `until` then, or the server stops.
    pub(crate) async fn next(&mut self, until: Instant) -> Result<ChangePage, Problem> {
        let (app, store) = (self.app.clone(), self.app.store().clone());
        loop {
            // Subscribed before the read, so that no change is missed between the two.
            let changed = store.changed();
            let page = self.look().await?;
            self.since = page.next;
            let is_empty = page.changes.is_empty() && page.access.is_none();
            if !is_empty || Instant::now() >= until || self.is_stopping() {
                return Ok(page);
            }
            if page.more {
                continue;
            }
            let look = self.next_look(until);
            let something = async {
                tokio::select! {
                    () = changed => {}
                    () = tokio::time::sleep_until(look) => {}
                    () = app.stopping().cancelled() => {}
                }
            };
            self.admission.aside(something).await?;
        }
    }

    /// Whether the server stops, so that nothing more comes.
    pub(crate) fn is_stopping(&self) -> bool {
        self.app.stopping().is_cancelled()
    }

    /// When to look again if nothing was announced: the token or ticket of the caller may have ended by then.
    fn next_look(&self, until: Instant) -> Instant {
        let (now, store) = (Instant::now(), self.app.store());
        let until = match store.is_shared() {
            true => until.min(now + LOOK),
            false => until,
        };
        let end = store.time_left(&self.caller).and_then(|left| now.checked_add(left));
        end.map_or(until, |end| until.min(end))
    }

    async fn look(&mut self) -> Result<ChangePage, Problem> {
        let (caller, top, since, limit) = (self.caller.clone(), self.top, self.since, self.limit);
        let look = move |store: &Store| {
            let caller = store.renewed(&caller)?;
            let page = match top {
                Some(top) => store.changes_below(&caller, top, since, limit),
                None => store.changes(&caller, since, limit),
            };
            Ok((caller, page?))
        };
        let (caller, page) = self.app.blocking(look).await?;
        self.caller = caller;
        Ok(page)
    }

    /// The data of a page.
    pub(crate) async fn show<T: Send + 'static>(
        &self,
        page: ChangePage,
        show: impl FnOnce(&Store, ChangePage) -> cenote_store::Result<T> + Send + 'static,
    ) -> Result<T, Problem> {
        self.app.blocking(move |store| show(store, page)).await
    }
}
