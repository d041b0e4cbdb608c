//! Who refers to what: resources and versions to contents, contents to blobs.
//!
//! Invariant: a reference is a key of its own, written and deleted with what refers; counts
//! cannot drift, because there are none. A content that loses a reference is noted for the
//! sweep, which looks whether it was the last.

use cenote_blob::BlobId;

use crate::catalog::{BlobRecord, Reads, Transaction, keys};
use crate::contents::overlay;
use crate::model::{Content, ContentHead, ContentId, Extent, Piece, ResourceId};
use crate::{Error, Result};

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

/// Whether anything else refers to the content of a resource.
pub(super) fn is_shared(tx: &Transaction, content: ContentId) -> Result<bool> {
    Ok(tx.rows(&keys::content_users(content), 2)?.len() > 1)
}

/// Writes the record of a new content, and its references to blobs.
pub(crate) fn store_content(
    tx: &mut Transaction,
    id: ContentId,
    content: &Content,
    blobs: &[(BlobId, BlobRecord)],
) {
    for (blob, record) in blobs {
        tx.put(keys::blob(*blob), record);
    }
    for blob in blob_ids(&content.extents) {
        tx.mark(keys::blob_user(blob, id));
    }
    tx.put(keys::content(id), content);
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
    Ok(overlay(content.extents, patches(reads, head.id)?, head.size))
}

/// The patches of a content, in the order in which they were written.
pub(crate) fn patches(reads: &impl Reads, id: ContentId) -> Result<Vec<Extent>> {
    let rows = reads.rows(&keys::patches(id), usize::MAX)?;
    rows.iter().map(|(_, value)| crate::catalog::Record::from_value(value)).collect()
}
