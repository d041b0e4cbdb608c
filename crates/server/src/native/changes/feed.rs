//! The feed that one request follows.

use std::time::Duration;

use cenote_store::{At, Caller, ChangePage, Position, ResourceId, Store};
use tokio::time::Instant;

use super::super::json::{Change, Changes, Names, Target};
use crate::app::App;
use crate::layer::Admission;
use crate::native::request::address;
use crate::native::request::query::page_limit;
use crate::problem::Problem;

/// The longest page.
const MOST: usize = 10_000;
/// How often a waiting request looks by itself where other processes share the catalog, of whose changes nothing tells.
const LOOK: Duration = Duration::from_secs(1);

/// Follows the feed, or the part of it that is of one subtree.
#[derive(Debug)]
pub(super) struct Feed {
    app: App,
    caller: Caller,
    admission: Admission,
    top: Option<ResourceId>,
    since: Position,
    limit: usize,
}

impl Feed {
    /// Begins after a position: `now`, or that of an earlier answer; without one, with all that is kept.
    pub(super) async fn open(
        (app, caller, admission): (App, Caller, Admission),
        target: &Target,
        (since, limit): (Option<String>, Option<u32>),
    ) -> Result<Self, Problem> {
        let limit = page_limit(limit, MOST)?;
        let since = match since.as_deref() {
            Some("now") => app.blocking(Store::newest_change).await?,
            since => since.map(str::parse).transpose()?.unwrap_or_default(),
        };
        let top = match target {
            Target { path: None, id: None } => None,
            Target { path, id } => {
                let (at, asker) = (address::at(path.as_deref(), *id)?, caller.clone());
                Some(app.blocking(move |store| id_of(store, &asker, &at)).await?)
            }
        };
        Ok(Self { app, caller, admission, top, since, limit })
    }

    /// The next changes; none if nothing happened `until` then, or the server stops.
    pub(super) async fn next(&mut self, until: Instant) -> Result<ChangePage, Problem> {
        let (app, store) = (self.app.clone(), self.app.store().clone());
        loop {
            // Begun before the look, so that no change falls between the two.
            let changed = store.changed();
            let page = self.look().await?;
            self.since = page.next;
            if !page.changes.is_empty() || Instant::now() >= until || self.is_stopping() {
                return Ok(page);
            }
            if page.more {
                continue;
            }
            let look = match store.is_shared() {
                true => until.min(Instant::now() + LOOK),
                false => until,
            };
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
    pub(super) fn is_stopping(&self) -> bool {
        self.app.stopping().is_cancelled()
    }

    async fn look(&self) -> Result<ChangePage, Problem> {
        let (caller, top, since, limit) = (self.caller.clone(), self.top, self.since, self.limit);
        let look = move |store: &Store| match top {
            Some(top) => store.changes_below(&caller, top, since, limit),
            None => store.changes(&caller, since, limit),
        };
        self.app.blocking(look).await
    }

    /// A page as JSON.
    pub(super) async fn show(&self, page: ChangePage) -> Result<Changes, Problem> {
        let show = move |store: &Store| {
            let mut names = Names::new(store);
            let items = page.changes.into_iter().map(|change| Change::of(change, &mut names));
            let items = items.collect::<Result<_, _>>()?;
            Ok(Changes { items, next: page.next.to_string(), more: page.more })
        };
        self.app.blocking(show).await
    }
}

fn id_of(store: &Store, caller: &Caller, at: &At) -> cenote_store::Result<ResourceId> {
    store.stat(caller, at).map(|entry| entry.id)
}
