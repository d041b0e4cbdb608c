//! Sweeping contents that lost their last reference.
//!
//! Invariants: a record is deleted only in a commit that saw that nothing refers to it, and only while the content has
//! no readers ([`pins`]), and no change set sees it in use; a blob's bytes go only after its record ([`blobs`]).

mod blobs;
mod due;
mod pins;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

pub(crate) use self::due::Due;
pub(crate) use self::pins::{Hold, Pin, Pins};
use crate::catalog::{BlobCopy, BlobRecord, Reads, Transaction, View, keys};
use crate::contents::delete_blob;
use crate::contents::refs::{blob_ids, count_copy, patches};
use crate::faults::Faults;
use crate::maintain::Pace;
use crate::model::{Content, ContentId, Extent, PlaceId};
use crate::{BlobId, Error, ErrorKind, Result, Store};

/// What a sweep removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Contents.
    pub contents: u64,
    /// Blobs.
    pub blobs: u64,
}

/// A blob whose record is gone, and its copies.
type Freed = (BlobId, Vec<BlobCopy>);

/// Contents, and the notes that say that they lost a reference.
type Noted = BTreeMap<ContentId, Vec<Bytes>>;

/// How many notes one step of the sweep looks at.
const STEP: usize = 256;

/// A commit of the sweep takes no more contents once it has this many bytes.
const ROOM: usize = 1 << 20;

/// What one commit did.
#[derive(Default)]
struct Erased {
    contents: u64,
    freed: Vec<Freed>,
}

impl Store {
    /// How long a content is kept after it lost its last reference. In a catalog of this process alone, pins show its readers.
    pub(crate) fn grace(&self, shared: Duration) -> Duration {
        if self.parts().engine.is_shared() { shared } else { Duration::ZERO }
    }

    /// Keeps a content that was found in a view from being swept; none, if it was swept since.
    pub(crate) fn pin(&self, view: &View, content: ContentId) -> Result<Option<Arc<Pin>>> {
        let Some(pin) = self.inner.pins.pin(content) else { return Ok(None) };
        let pin = Arc::new(pin);
        if self.inner.pins.moment() == view.moment || self.view()?.has(&keys::content(content))? {
            return Ok(Some(pin));
        }
        Ok(None)
    }

    /// Keeps a content from being swept that is not there yet.
    pub(crate) fn pin_new(&self, content: ContentId) -> Result<Arc<Pin>> {
        let pin = self.inner.pins.pin(content);
        pin.map(Arc::new)
            .ok_or_else(|| Error::damaged(format!("content {content} is there already")))
    }

    /// Removes contents that lost their last reference more than `grace` ago and that have no readers; zero means no
    /// grace period.
    ///
    /// # Errors
    /// The first fault, after all were tried.
    pub async fn sweep_contents(&self, grace: Duration) -> Result<Swept> {
        let mut range = self.blocking(move |store| store.unread(grace)).await?;
        let (mut swept, mut faults) = (Swept::default(), Faults::default());
        loop {
            let found = range.clone();
            let notes = self.blocking(move |store| store.view()?.rows(&found, STEP)).await?;
            let keys: Vec<Bytes> = notes.into_iter().map(|(note, _)| note).collect();
            let next = keys.last().filter(|_| keys.len() == STEP).cloned();
            swept += self.sweep_noted(keys, &mut faults).await;
            match next {
                Some(last) => range = range.after(&last),
                None => return faults.first().map(|()| swept),
            }
        }
    }

    /// Removes what was reported since the last time, if nobody reads it: says how much, or none, if it has to be looked at
    /// all notes, since there were too many.
    pub(crate) async fn sweep_due(&self) -> Result<Option<Swept>> {
        let mut work = self.inner.due.take();
        if self.is_shared() {
            // Other servers may be reading.
            let unread = self.unread(self.grace(Pace::default().grace))?;
            work.notes.retain(|note| unread.contains(note));
        }
        let (mut swept, mut faults) = (Swept::default(), Faults::default());
        for notes in work.notes.chunks(STEP) {
            swept += self.sweep_noted(notes.to_vec(), &mut faults).await;
        }
        swept.blobs += self.delete_reported(work.copies).await;
        faults.first().map(|()| (!work.missed).then_some(swept))
    }

    /// Sweeps in one commit, or each by itself if that fails: damage does not prevent others from being swept.
    async fn sweep_noted(&self, notes: Vec<Bytes>, faults: &mut Faults) -> Swept {
        let noted = by_content(notes);
        let together = noted.clone();
        match self.blocking(move |store| store.erase_unused(together)).await {
            Err(error) if error.kind() == ErrorKind::Damaged => {}
            erased => return self.delete_freed(faults.add(erased).unwrap_or_default()).await,
        }
        let mut swept = Swept::default();
        for one in noted {
            let one = Noted::from([one]);
            let erased = self.blocking(move |store| store.erase_unused(one)).await;
            if let Some(erased) = faults.add(erased) {
                swept += self.delete_freed(erased).await;
            }
        }
        swept
    }

    /// Settles notes: unreferenced contents are deleted, unless they are being read.
    fn erase_unused(&self, noted: Noted) -> Result<Erased> {
        let view = self.view()?;
        let (mut used, mut unused) = (Noted::new(), Noted::new());
        for (content, notes) in noted {
            let users = view.rows(&keys::content_users(content), 1)?;
            if users.is_empty() && self.inner.change_sets.use_content(content)? {
                // Examined again when the change set ends.
                continue;
            }
            if users.is_empty() { &mut unused } else { &mut used }.insert(content, notes);
        }
        let erasing = self.inner.pins.erase(unused);
        self.transact(|tx| {
            tx.frees_space();
            for (content, notes) in &used {
                if is_used(tx, *content)? {
                    forget(tx, notes);
                }
            }
            let mut erased = Erased::default();
            for (content, notes) in &erasing.contents {
                if tx.size() > ROOM {
                    self.inner.due.add(notes.clone());
                    continue;
                }
                forget(tx, notes);
                if !is_used(tx, *content)? {
                    erase_content(tx, *content, &mut erased)?;
                }
            }
            Ok(erased)
        })
    }

    async fn delete_freed(&self, erased: Erased) -> Swept {
        let blobs = erased.freed.len() as u64;
        let copies = erased
            .freed
            .into_iter()
            .flat_map(|(blob, copies)| copies.into_iter().map(move |copy| (blob, copy)));
        self.delete_copies(copies.collect()).await;
        Swept { contents: erased.contents, blobs }
    }

    /// Removes contents that have lost their last reference and are stored in a place, unless they are being read.
    pub(crate) async fn sweep_place(&self, place: PlaceId) -> Result<()> {
        let found = self.blocking(move |store| {
            let view = store.view()?;
            let notes =
                view.rows(&store.unread(store.grace(Pace::default().grace))?, usize::MAX)?;
            let mut noted = by_content(notes.into_iter().map(|(note, _)| note).collect());
            let contents: Vec<ContentId> = noted.keys().copied().collect();
            for content in contents {
                if !lies_in(&view, content, place)? {
                    noted.remove(&content);
                }
            }
            Ok(noted)
        });
        for one in found.await? {
            let one = Noted::from([one]);
            let erased = self.blocking(move |store| store.erase_unused(one)).await?;
            self.delete_freed(erased).await;
        }
        Ok(())
    }
}

impl std::ops::AddAssign for Swept {
    fn add_assign(&mut self, other: Self) {
        self.contents += other.contents;
        self.blobs += other.blobs;
    }
}

fn by_content(notes: Vec<Bytes>) -> Noted {
    let mut noted = Noted::new();
    for note in notes {
        if let Some(content) = keys::garbage_content(&note) {
            noted.entry(content).or_default().push(note);
        }
    }
    noted
}

fn is_used(tx: &Transaction, content: ContentId) -> Result<bool> {
    Ok(!tx.rows(&keys::content_users(content), 1)?.is_empty())
}

fn forget(tx: &mut Transaction, notes: &[Bytes]) {
    notes.iter().for_each(|note| tx.delete(note.clone()));
}

/// Whether a blob of a content has a copy in a place.
fn lies_in(reads: &impl Reads, id: ContentId, place: PlaceId) -> Result<bool> {
    let Some(content) = reads.get::<Content>(&keys::content(id))? else { return Ok(false) };
    let patches = patches(reads, id)?;
    for blob in blob_ids(&content.extents).chain(blob_ids(&patches)) {
        let record = reads.get::<BlobRecord>(&keys::blob(blob))?;
        if record.is_some_and(|record| record.copy_in(place).is_some()) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn erase_content(tx: &mut Transaction, id: ContentId, erased: &mut Erased) -> Result<()> {
    let Some(content) = tx.get::<Content>(&keys::content(id))? else { return Ok(()) };
    let patches = patches(tx, id)?;
    for (key, _) in tx.rows(&keys::patches(id), usize::MAX)? {
        tx.delete(key);
    }
    tx.delete(keys::content(id));
    erased.contents += 1;
    release_blobs(tx, id, content.extents.iter().chain(&patches), erased)
}

fn release_blobs<'a>(
    tx: &mut Transaction,
    id: ContentId,
    extents: impl Iterator<Item = &'a Extent>,
    erased: &mut Erased,
) -> Result<()> {
    let blobs: HashSet<BlobId> =
        extents.flat_map(|extent| blob_ids(std::slice::from_ref(extent))).collect();
    for blob in blobs {
        tx.delete(keys::blob_user(blob, id));
        if tx.rows(&keys::blob_users(blob), 2)?.is_empty() {
            let Some(record) = tx.get::<BlobRecord>(&keys::blob(blob))? else { continue };
            record.copies.iter().for_each(|copy| count_copy(tx, copy, record.size, -1));
            delete_blob(tx, blob, &record);
            erased.freed.push((blob, record.copies));
        }
    }
    Ok(())
}
