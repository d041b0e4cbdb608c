//! Records what a file system learns while it is mounted, and the changes made while it was not.

use std::sync::{Arc, Weak};
use std::time::Duration;

use cenote_client::{At, Change, ChangeKind, Kind};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::{Journal, Note, Tree};
use crate::error::{Fault, Result};
use crate::ops::{FileSystem, Inner};

/// The interval between records.
const PERIOD: Duration = Duration::from_secs(1);
/// After more pages of changes than this, nothing that was seen before counts.
const PAGES: usize = 10;

impl FileSystem {
    /// Keeps a journal until the file system is dropped.
    pub(crate) fn keep_journal(&self, root: (u64, Note)) {
        self.lock().note_from_now_on();
        tokio::spawn(keep(Arc::downgrade(&self.0), root));
    }

    /// Immediately records what was learned.
    pub(crate) async fn note_now(&self) {
        let inner = Arc::clone(&self.0);
        // Resources that cannot be recorded are not available offline.
        let _failed = spawn_blocking(move || inner.note_learned()).await;
    }
}

async fn keep(inner: Weak<Inner>, (root, noted): (u64, Note)) {
    while let Some(inner) = inner.upgrade() {
        let outcome = match inner.journal.as_ref().is_some_and(Journal::is_begun) {
            true => spawn_blocking(move || inner.note_learned()).await,
            false => inner.begin_journal(root, noted.clone()).await,
        };
        if !matches!(outcome, Ok(Ok(()))) {
            return;
        }
        sleep(PERIOD).await;
    }
}

impl Inner {
    /// Continues the journal of an earlier mount, after applying the changes since then.
    async fn begin_journal(
        self: Arc<Self>,
        root: u64,
        noted: Note,
    ) -> std::result::Result<std::io::Result<()>, tokio::task::JoinError> {
        let inner = Arc::clone(&self);
        let tree = spawn_blocking(move || inner.earlier(&noted).map(|tree| (tree, noted))).await?;
        let (tree, noted) = match tree {
            Ok(found) => found,
            Err(error) => return Ok(self.noting_failed(error)),
        };
        let missed = match &tree.position {
            Some(since) if !self.source.is_offline() => match self.missed(root, since).await {
                Ok(missed) => missed,
                // This is retried later.
                Err(_) => return Ok(Ok(())),
            },
            _ => Vec::new(),
        };
        spawn_blocking(move || {
            let notes: Vec<Note> = std::iter::once(noted).chain(missed).collect();
            let Some(journal) = &self.journal else { return Ok(()) };
            journal.begin(tree, &notes).or_else(|error| self.noting_failed(error))
        })
        .await
    }

    /// What an earlier mount saw of the same collection.
    fn earlier(&self, noted: &Note) -> std::io::Result<Tree> {
        let Some(journal) = &self.journal else { return Ok(Tree::default()) };
        Ok(journal.read()?.if_of(noted))
    }

    /// The changes since a position that invalidate records.
    async fn missed(&self, root: u64, since: &str) -> Result<Vec<Note>> {
        let (mut notes, mut since, root) = (Vec::new(), since.to_owned(), At::Id(root));
        for _ in 0..PAGES {
            let page = self.source.client.changes(Some(&root), Some(&since), 0);
            let page = match self.source.within(page).await {
                Ok(page) => page,
                Err(fault) if fault.away || fault.is_late() => return Err(fault),
                Err(_) => break,
            };
            notes.extend(page.items.iter().flat_map(undone));
            notes.extend(page.access.is_some().then_some(Note::Clear));
            if !page.more {
                return Ok(notes);
            }
            since = page.next;
        }
        Ok(vec![Note::Clear])
    }

    /// Whether the server answers again; if so, it is used from now on.
    pub(crate) async fn come_back(&self, below: Option<u64>) {
        let root = below.map(At::Id);
        let now = self.source.client.changes(root.as_ref(), Some("now"), 0);
        let now = match timeout(self.source.deadline(), now).await {
            Err(_) => return,
            Ok(Err(error)) if matches!(error.kind(), Kind::Unreachable | Kind::Unavailable) => {
                return;
            }
            Ok(now) => now.map(|now| now.next),
        };
        self.source.set_offline(false);
        let since = self.position.borrow().clone();
        if let (Some(_), Some(below)) = (&self.journal, below) {
            let missed = self.missed(below, &since).await;
            self.lock().note_all(missed.unwrap_or_else(|_| vec![Note::Clear]));
        }
        // Without a position, opening the feed reports the reason.
        self.position.send_replace(now.unwrap_or(since));
        self.doubt();
    }

    /// Records what was learned since the last time, and the position reached.
    pub(crate) fn note_learned(&self) -> std::io::Result<()> {
        let Some(journal) = &self.journal else { return Ok(()) };
        if !journal.is_begun() {
            return Ok(());
        }
        // Before the notes are collected: they include everything up to this position.
        let position = self.position.borrow().clone();
        let notes = self.lock().take_notes();
        journal.append(notes, &position).or_else(|error| self.noting_failed(error))
    }

    fn noting_failed(&self, error: std::io::Error) -> std::io::Result<()> {
        let message = format!("the cache of the tree is no longer updated: {error}");
        (self.options.log.0)(&Fault::warning(libc::EIO, message));
        Err(error)
    }
}

/// The records that a change has invalidated earlier records.
fn undone(change: &Change) -> Vec<Note> {
    let id = change.id;
    match (change.kind, &change.from) {
        (ChangeKind::Removed, _) => vec![Note::Gone(change.parent, change.name.clone(), id)],
        (ChangeKind::Moved, Some(from)) => {
            let gone = Note::Gone(from.parent, from.name.clone(), id);
            // Elsewhere other rights are inherited.
            let below = (from.parent != change.parent).then_some(Note::Below(id));
            std::iter::once(gone).chain(below).collect()
        }
        (ChangeKind::Moved, None) => vec![Note::Below(id)],
        (ChangeKind::Granted, _) => vec![Note::Clear],
        _ => Vec::new(),
    }
}
