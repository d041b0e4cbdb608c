//! Who refers to what: resources and versions to contents, contents to blobs.
//!
//! Invariant: a reference is a key of its own, written and deleted with what refers; counts
//! cannot drift, because there are none. A content that loses a reference is noted for the
//! sweep, which looks whether it was the last.

use std::sync::Arc;

use cenote_blob::BlobId;

use crate::catalog::keys::{self, Counter};
use crate::catalog::{BlobCopy, BlobRecord, Reads, Transaction};
use crate::contents::blocks::put_sums;
use crate::contents::{NewBlob, overlay};
use crate::model::{
    Content, ContentHead, ContentId, Extent, Piece, PlaceId, PlaceInfo, PlaceState, Resource,
    ResourceId,
};
use crate::{Error, ErrorKind, Result};

/// The version number that stands for the current content of a resource.
pub(crate) const CURRENT: u64 = 0;

/// Notes that a resource, or a version of it, refers to a content.
pub(crate) fn refer(tx: &mut Transaction, content: ContentId, id: ResourceId, version: u64) {
    tx.mark(keys::content_user(content, id, version));
}

/// Takes that back.
pub(crate) fn release(tx: &mut Transaction, content: ContentId, id: ResourceId, version: u64) {
    tx.delete(keys::content_user(content, id, version));
    tx.mark(keys::garbage(tx.now(), content));
}

/// The version number that stands for the stale replica of this number. No version comes near it.
pub(crate) fn replica_user(number: u32) -> u64 {
    u64::MAX - u64::from(number)
}

/// Whether a reference of this number comes from the resource itself, not from a version of it.
pub(crate) fn is_held(user: u64) -> bool {
    user == CURRENT || user >= replica_user(u32::MAX)
}

/// Notes what a resource refers to now, instead of before, as its content and in its stale replicas; and where its
/// replicas are.
pub(crate) fn exchange(
    tx: &mut Transaction,
    id: ResourceId,
    before: Option<&Resource>,
    after: Option<&Resource>,
) {
    let [old, new] = [before, after].map(|resource| resource.map(held).unwrap_or_default());
    for (content, user) in old.iter().filter(|held| !new.contains(held)) {
        release(tx, *content, id, *user);
    }
    for (content, user) in new.iter().filter(|held| !old.contains(held)) {
        refer(tx, *content, id, *user);
    }
    for (resource, sign) in [(before, -1), (after, 1)] {
        for replica in resource.iter().flat_map(|resource| resource.replicas.iter()) {
            tx.add(replica.place.0, Counter::Replicas, sign);
        }
    }
}

/// The contents that a resource holds, each with the number of its reference.
fn held(resource: &Resource) -> Vec<(ContentId, u64)> {
    let current = resource.content.iter().map(|head| (head.id, CURRENT));
    let stale = resource.replicas.iter().filter_map(|replica| {
        replica.stale.as_ref().map(|head| (head.id, replica_user(replica.number)))
    });
    current.chain(stale).collect()
}

/// Whether anything else refers to the content of a resource.
pub(super) fn is_shared(tx: &Transaction, content: ContentId) -> Result<bool> {
    Ok(tx.rows(&keys::content_users(content), 2)?.len() > 1)
}

/// Writes the record of a new content, and its references to blobs.
pub(crate) fn store_content(
    tx: &mut Transaction,
    id: ContentId,
    content: &Content,
    blob: Option<&NewBlob>,
) -> Result<()> {
    if let Some(blob) = blob {
        put_blob(tx, blob)?;
    }
    for blob in blob_ids(&content.extents) {
        tx.mark(keys::blob_user(blob, id));
    }
    tx.put(keys::content(id), content);
    Ok(())
}

/// Writes the record of a new blob and the checksums of its blocks, if its places still take contents.
pub(crate) fn put_blob(tx: &mut Transaction, new: &NewBlob) -> Result<()> {
    let NewBlob { id, record, blocks, claims } = new;
    for copy in &record.copies {
        require_up(tx, copy.place())?;
        count_copy(tx, copy, record.size, 1);
    }
    for claim in claims {
        tx.announce(Arc::new(claim.clone()));
    }
    let block = blocks.as_ref().and_then(|blocks| put_sums(tx, *id, blocks));
    tx.put(keys::blob(*id), &BlobRecord { block, ..record.clone() });
    Ok(())
}

/// Refuses a place that was closed or removed since bytes were sent to it. The main place is not looked up, as it
/// stays: a drain looks again at its end.
pub(crate) fn require_up(reads: &impl Reads, place: PlaceId) -> Result<()> {
    if place == PlaceId::MAIN {
        return Ok(());
    }
    match reads.get::<PlaceInfo>(&keys::place(place))?.map(|info| info.state) {
        Some(PlaceState::Up) => Ok(()),
        _ => Err(Error::new(ErrorKind::Unavailable, format!("place #{place} takes no contents"))
            .with_hint("look at it with `cenote place ls`")),
    }
}

/// Counts a copy of a blob of this size in its place, or takes it from there.
pub(crate) fn count_copy(tx: &mut Transaction, copy: &BlobCopy, size: u64, sign: i64) {
    tx.add(copy.place().0, Counter::Resources, sign);
    tx.add(copy.place().0, Counter::Bytes, sign * size as i64);
}

/// The blobs that extents lie in.
pub(crate) fn blob_ids(extents: &[Extent]) -> impl Iterator<Item = BlobId> {
    extents.iter().filter_map(|extent| match extent.piece {
        Piece::Blob(blob) => Some(blob),
        _ => None,
    })
}

/// The extents of a content as it is seen, patches applied.
pub(crate) fn resolve(reads: &impl Reads, head: &ContentHead) -> Result<Vec<Extent>> {
    let content = reads
        .get::<Content>(&keys::content(head.id))?
        .ok_or_else(|| Error::damaged(format!("content {} has no record", head.id)))?;
    if head.patches == 0 {
        return Ok(overlay(content.extents, Vec::new(), head.size));
    }
    // Others may have written more of them since the head was read.
    let patches = some_patches(reads, head.id, head.patches as usize)?;
    Ok(overlay(content.extents, patches, head.size))
}

/// The patches of a content, in the order in which they were written.
pub(crate) fn patches(reads: &impl Reads, id: ContentId) -> Result<Vec<Extent>> {
    some_patches(reads, id, usize::MAX)
}

fn some_patches(reads: &impl Reads, id: ContentId, most: usize) -> Result<Vec<Extent>> {
    let rows = reads.rows(&keys::patches(id), most)?;
    rows.iter().map(|(_, value)| crate::catalog::Record::from_value(value)).collect()
}
