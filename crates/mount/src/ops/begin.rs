//! How a mount starts: with the state of the server, or, if that cannot be reached, with the last known state.

use std::time::Duration;

use cenote_client::{At, Resource};
use tokio::time::timeout;

use crate::attr::Attr;
use crate::cache::{Cache, ROOT};
use crate::error::{Fault, Result};
use crate::journal::{Journal, Note, ResourceState};
use crate::layout::Layout;
use crate::options::{Manners, Options};
use crate::source::Source;

/// How long a mount waits for the server if it can start without it.
const FIRST: Duration = Duration::from_secs(5);

/// The initial state of a file system.
#[derive(Debug)]
pub(super) struct Beginning {
    pub(super) cache: Cache,
    /// The collection that is mounted, and when it was created: a recreated store at the same address has another one.
    pub(super) root: u64,
    /// What is followed of the feed; all where there are several places.
    pub(super) below: Option<u64>,
    pub(super) created: String,
    /// What the journal has to say of it first.
    pub(super) noted: Note,
    pub(super) position: String,
    pub(super) follows: bool,
    pub(super) offline: bool,
    pub(super) journal: Option<Journal>,
}

impl Beginning {
    pub(super) async fn find(source: &Source, options: &Options) -> Result<Self> {
        let journal = journal(options)?;
        let Some(journal) = journal else {
            return Self::online(source, options).await;
        };
        if options.offline {
            return Self::offline(journal, options)?.ok_or_else(|| {
                Fault::warning(libc::ENETUNREACH, "nothing of this collection is in the cache")
            });
        }
        let limit = if journal.exists() { FIRST.min(options.deadline) } else { options.deadline };
        let begun = timeout(limit, Self::online(source, options)).await;
        match begun.unwrap_or_else(|_| Err(Fault::late())) {
            Ok(begun) => Ok(Self { journal: Some(journal).filter(|_| begun.follows), ..begun }),
            Err(fault) if fault.away || fault.is_late() => {
                Self::offline(journal, options)?.ok_or(fault)
            }
            Err(fault) => Err(fault),
        }
    }

    async fn online(source: &Source, options: &Options) -> Result<Self> {
        if let Some(layout) = &options.layout {
            return Self::placed(source, options, layout).await;
        }
        let root = source.root(&options.root).await?;
        if options.as_of.is_some() {
            return Ok(Self::of(&root, options, (String::new(), true)));
        }
        let at = At::Id(root.id);
        let now = source.client.changes(Some(&at), Some("now"), 0);
        match source.within(now).await {
            Ok(changes) => {
                // Read again, since it may have changed before that position.
                let root = source.root(&options.root).await?;
                Ok(Self::of(&root, options, (changes.next, true)))
            }
            // Without the right to follow changes, nothing is cached.
            Err(fault) if [libc::EACCES, libc::ENOENT].contains(&fault.errno) => {
                Ok(Self::of(&root, options, (String::new(), false)))
            }
            Err(fault) => Err(fault),
        }
    }

    /// For places. The first one identifies the store for a cache on the disk.
    async fn placed(source: &Source, options: &Options, layout: &Layout) -> Result<Self> {
        if options.as_of.is_some() || options.offline {
            let message = "places are shown as they are now, with the server";
            return Err(Fault::new(libc::EINVAL, message));
        }
        let position = source.within(source.client.changes(None, Some("now"), 0)).await;
        let position = position.ok().map(|changes| changes.next);
        let found = source.stat_many(layout.places()).await?;
        let Some((_, first)) = found.first() else { return Err(Fault::missing("a place")) };
        let follows = position.is_some();
        let begun = Self::of(first, options, (position.unwrap_or_default(), follows));
        let mut cache = Cache::placed(&found, (options.now)(), options.max_nodes);
        if let Manners::Dxfuse { overwrite } = options.manners {
            cache.number(overwrite);
        }
        Ok(Self { cache, below: None, ..begun })
    }

    fn of(root: &Resource, options: &Options, (position, follows): (String, bool)) -> Self {
        let created = root.created.map(|created| created.to_string()).unwrap_or_default();
        let attr = Attr::of(root);
        let noted = Note::Root(ResourceState::new(root.id, &attr), created.clone());
        let mut cache = Cache::new(&options.root, (root.id, attr), options.max_nodes);
        cache.update(ROOT, root);
        Self {
            noted,
            cache,
            root: root.id,
            below: Some(root.id),
            created,
            position,
            follows,
            offline: false,
            journal: None,
        }
    }

    /// With the state recorded by an earlier mount, if there is any.
    fn offline(journal: Journal, options: &Options) -> Result<Option<Self>> {
        let tree = journal.read().map_err(unreadable)?;
        let (position, root) = (tree.position.clone().unwrap_or_default(), tree.root.clone());
        let cache = Cache::restored(&options.root, tree, options.max_nodes);
        let Some((cache, (root, created))) = cache.zip(root) else { return Ok(None) };
        Ok(Some(Self {
            cache,
            root: root.id,
            below: Some(root.id),
            noted: Note::Root(root, created.clone()),
            created,
            position,
            follows: true,
            offline: true,
            journal: Some(journal),
        }))
    }
}

/// The journal of the mounted collection; `None` without a cache, and for mounts of the past and of places.
fn journal(options: &Options) -> Result<Option<Journal>> {
    let is_one = options.as_of.is_none() && options.layout.is_none();
    let Some(cache) = options.cache.as_ref().filter(|_| is_one) else {
        return Ok(None);
    };
    let of = format!("{}\n{}\n{}", cache.store, cache.user, options.root);
    Journal::at(&cache.dir, &of).map(Some).map_err(unreadable)
}

fn unreadable(error: std::io::Error) -> Fault {
    Fault::warning(libc::EIO, format!("what was seen before: {error}"))
}
