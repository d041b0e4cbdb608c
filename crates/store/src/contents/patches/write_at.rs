//! Writing in place: bytes at a position, appended, or cut off.
//!
//! A write adds one patch over the extents, so its cost does not grow with the content. A content
//! that something else refers to is not touched: the object gets one of its own first.

use crate::access::{Chain, Operation};
use crate::catalog::{ChangeKind, Reads, Record, Transaction, keys};
use crate::contents::incoming::intake::{Intake, Running};
use crate::contents::media_type::MediaType;
use crate::contents::patches::extents;
use crate::contents::read::content_of;
use crate::contents::replicas::record::Base;
use crate::contents::{Expected, NewBlob, Received, put_blob, refs, store_content};
use crate::model::{
    At, Changed, Content, ContentHead, ContentId, Digests, Extent, PlaceId, Placement, Resource,
    Stat,
};
use crate::resources::{count_change, find, update};
use crate::{Bytes, Caller, Conditions, Error, ErrorKind, Result, Store, Stream, versions};

/// Where bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// From this byte on; the gap after the end becomes zeros.
    Offset(u64),
    /// At the end.
    Append,
}

/// After this many patches they are folded in.
pub(in crate::contents) const FOLD_AT: u32 = 64;

impl Store {
    /// Writes bytes into an object. Needs `Rights::WRITE_CONTENT`, or `Rights::APPEND` if they come after what it has.
    pub async fn write_at<E>(
        &self,
        caller: &Caller,
        at: &At,
        position: Where,
        bytes: impl Stream<Item = Result<Bytes, E>>,
        (conditions, expected): (&Conditions, &Expected),
    ) -> Result<Stat>
    where
        E: std::fmt::Display,
    {
        let (owned_caller, to, first) = (caller.clone(), at.clone(), conditions.clone());
        let destination = self
            .blocking(move |store| {
                let view = store.view()?;
                let (chain, head) = writable(&view, &owned_caller, &to, &first, position)?;
                store.base(chain.resource(), &head, None)?.destination(&store.known())
            })
            .await?;
        let inline = self.parts().limits.inline;
        let intake = Intake { destination, expected, inline, running: Running::Apart };
        let received = intake.receive(self, bytes).await?;
        self.write_received(caller, at, position, received, conditions).await
    }

    /// Writes bytes that have been received into an object; into the replica in the place for which they were
    /// received, if one was named ([`Store::receive`]), which becomes the good one if it was stale. Needs
    /// `Rights::WRITE_CONTENT`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the object has no replica there.
    pub async fn write_received(
        &self,
        caller: &Caller,
        at: &At,
        position: Where,
        received: Received,
        conditions: &Conditions,
    ) -> Result<Stat> {
        let blob = received.blob.clone();
        let (owned_caller, at, conditions) = (caller.clone(), at.clone(), conditions.clone());
        let patched = self
            .blocking(move |store| {
                store.patch(&owned_caller, &at, position, &received, &conditions)
            })
            .await;
        let stat = self.published(blob, patched).await?;
        if stat.resource.content.as_ref().is_some_and(|content| content.patches >= FOLD_AT)
            && let Err(error) = self.compact(stat.id).await
        {
            // The bytes are written and acknowledged; the next write tries again.
            tracing::warn!(id = %stat.id, %error, "could not fold patches");
        }
        Ok(stat)
    }

    /// Cuts an object to `size` bytes, or fills it up with zeros. Needs `Rights::WRITE_CONTENT`.
    pub fn truncate(
        &self,
        caller: &Caller,
        at: &At,
        size: u64,
        conditions: &Conditions,
    ) -> Result<Stat> {
        self.truncate_in(caller, at, size, conditions, None)
    }

    /// The same with the replica in a place or group, which becomes the good one if it was stale.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the object has no replica there.
    pub fn truncate_in(
        &self,
        caller: &Caller,
        at: &At,
        size: u64,
        conditions: &Conditions,
        place: Option<PlaceId>,
    ) -> Result<Stat> {
        self.check_content_size(size)?;
        self.transact(|tx| {
            let (chain, head) = writable(tx, caller, at, conditions, Where::Append)?;
            chain.require(caller, Operation::Write, at)?;
            let base = self.base(chain.resource(), &head, place)?;
            let mut stat = Stat::from(chain.clone());
            versions::keep_replaced(tx, caller, &chain, &mut stat.resource, None)?;
            let placement = self.placement_after_patch(chain.resource(), &base);
            let seen = extents::overlay(refs::resolve(tx, &base.head)?, Vec::new(), size);
            let id = ContentId(self.new_id()?);
            store_content(tx, id, &Content { extents: seen }, None)?;
            let digests = Digests::default();
            let cut = ContentHead { id, size, patches: 0, digests, stamp: id.0, ..base.head };
            Ok(finish(tx, caller, (&chain, stat), (cut, placement)))
        })
    }

    fn patch(
        &self,
        caller: &Caller,
        at: &At,
        position: Where,
        received: &Received,
        conditions: &Conditions,
    ) -> Result<Stat> {
        self.transact(|tx| {
            let (chain, head) = writable(tx, caller, at, conditions, position)?;
            if received.named.is_some() {
                // The content of a stale replica replaces that of the object.
                chain.require(caller, Operation::Write, at)?;
            }
            let base = self.patched_base(chain.resource(), &head, received)?;
            let start = match position {
                Where::Offset(offset) => offset,
                Where::Append => base.head.size,
            };
            if received.size == 0 {
                return Ok(chain.into());
            }
            let end = start.checked_add(received.size).ok_or_else(too_large)?;
            self.check_content_size(end)?;
            let mut stat = Stat::from(chain.clone());
            versions::keep_replaced(tx, caller, &chain, &mut stat.resource, None)?;
            let placement = self.placement_after_patch(chain.resource(), &base);
            let mut head = self.unshared(tx, base.head, &placement)?;
            if start == 0 && head.size == 0 {
                guess_again(&mut head, chain.resource(), received);
            }
            head.size = head.size.max(end);
            head.digests = Digests::default();
            head.stamp = self.new_id()?;
            add_patches(tx, &mut head, shifted(received, start), received.blob.as_ref())?;
            Ok(finish(tx, caller, (&chain, stat), (head, placement)))
        })
    }

    /// What the received bytes are laid over. Those that went to a blob must be in the same places.
    fn patched_base(
        &self,
        resource: &Resource,
        head: &ContentHead,
        received: &Received,
    ) -> Result<Base> {
        let mut base = self.base(resource, head, received.named)?;
        if let Some(blob) = &received.blob {
            base.written_to(&blob.record)?;
        }
        Ok(base)
    }

    /// The content, or a copy of its extents under an id of its own if something else refers to it, or will.
    fn unshared(
        &self,
        tx: &mut Transaction,
        head: ContentHead,
        placement: &Placement,
    ) -> Result<ContentHead> {
        if !refs::is_shared(tx, head.id)? && !placement.stale().any(|(_, was)| was.id == head.id) {
            return Ok(head);
        }
        let seen = refs::resolve(tx, &head)?;
        let id = ContentId(self.new_id()?);
        store_content(tx, id, &Content { extents: seen }, None)?;
        Ok(ContentHead { id, patches: 0, ..head })
    }

    fn check_content_size(&self, size: u64) -> Result<()> {
        if size > self.parts().limits.content { Err(too_large()) } else { Ok(()) }
    }
}

fn writable(
    reads: &impl Reads,
    caller: &Caller,
    at: &At,
    conditions: &Conditions,
    position: Where,
) -> Result<(Chain, ContentHead)> {
    let chain = find(reads, caller, at, Operation::Append)?;
    let end = chain.resource().content.as_ref().map_or(0, |content| content.size);
    if matches!(position, Where::Offset(offset) if offset < end) {
        chain.require(caller, Operation::Write, at)?;
    }
    conditions.check_content(Some(&chain))?;
    let head = content_of(&chain, at)?;
    Ok((chain, head))
}

/// The first bytes of an empty object determine its media type, like those of a put.
fn guess_again(head: &mut ContentHead, resource: &Resource, received: &Received) {
    let guess =
        MediaType::stated_or_guessed(head.stated_media_type(), &resource.name, received.sniffed);
    (head.media_type, head.media_type_guessed) = (guess.text, guess.guessed);
}

/// What was received, from `start` on.
pub(in crate::contents) fn shifted(received: &Received, start: u64) -> Vec<Extent> {
    let extents = received.content.extents.iter();
    extents.map(|extent| Extent { offset: extent.offset + start, ..extent.clone() }).collect()
}

pub(in crate::contents) fn add_patches(
    tx: &mut Transaction,
    head: &mut ContentHead,
    patches: Vec<Extent>,
    blob: Option<&NewBlob>,
) -> Result<()> {
    if let Some(blob) = blob {
        put_blob(tx, blob)?;
        tx.mark(keys::blob_user(blob.id, head.id));
    }
    for patch in patches {
        tx.put_raw(keys::patch(head.id, head.patches), patch.to_value());
        head.patches += 1;
    }
    Ok(())
}

fn finish(
    tx: &mut Transaction,
    caller: &Caller,
    (chain, mut stat): (&Chain, Stat),
    (head, placement): (ContentHead, Placement),
) -> Stat {
    (stat.resource.content, stat.resource.placement) = (Some(head), placement);
    stat.resource.mtime = None;
    count_change(tx, &mut stat.resource, Changed::Content, caller.user());
    update(tx, ChangeKind::Written, stat.id, chain.resource(), &stat.resource);
    stat
}

pub(in crate::contents) fn too_large() -> Error {
    Error::new(ErrorKind::TooLarge, "larger than a content may be")
}
