//! What contents consist of: their references to blobs, and where those are. Who refers to contents is in
//! [`crate::resources`].
//!
//! Invariant: a reference is a key of its own, written and deleted with what refers.

use std::sync::Arc;

use cenote_blob::BlobId;

use crate::catalog::keys::{self, Counter};
use crate::catalog::{BlobCopy, BlobRecord, Reads, Transaction};
use crate::contents::blocks::put_sums;
use crate::contents::{NewBlob, overlay};
use crate::model::{
    Content, ContentHead, ContentId, Extent, Piece, PlaceId, PlaceInfo, PlaceState,
};
use crate::{Error, ErrorKind, Result};

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
        _ => Err(Error::new(
            ErrorKind::Unavailable,
            format!("place #{place} does not accept contents"),
        )
        .with_hint("check it with `cenote place ls`")),
    }
}

/// Counts a copy of a blob of this size in its place, or takes it from there.
pub(crate) fn count_copy(tx: &mut Transaction, copy: &BlobCopy, size: u64, sign: i64) {
    tx.add(copy.place().0, Counter::Resources, sign);
    tx.add(copy.place().0, Counter::Bytes, sign * size as i64);
}

/// The blobs that extents use.
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
