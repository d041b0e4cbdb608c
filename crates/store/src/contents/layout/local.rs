//! The files of a content on the disks of this machine.

use std::path::PathBuf;

use super::Layout;
use super::reachable::ReachableBlob;
use super::stream::steps;
use crate::model::{Extent, Piece, PlaceId};
use crate::places::Source;
use crate::{BlobId, Result};

/// A run of the bytes of a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalPiece {
    /// Its first byte in the content.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
    /// Where they are.
    pub bytes: LocalBytes,
}

/// Where bytes of a content are, for a client on the same machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LocalBytes {
    /// In a file of the store, from this byte on. The file must not be written to.
    File(PathBuf, u64),
    /// They are zeros.
    Zeros,
    /// They are read from the store: they are in its catalog, in a bucket or in a registered file, or the file is known to be
    /// damaged.
    Store,
}

impl Layout {
    /// Where the bytes are, in order; after `most` pieces the rest is one that is read from the store. A file is named if `keeps` says
    /// that its copy is kept where it is.
    pub(crate) fn local(
        &self,
        most: usize,
        mut keeps: impl FnMut(BlobId, PlaceId) -> Result<bool>,
    ) -> Result<Vec<LocalPiece>> {
        let mut pieces: Vec<LocalPiece> = Vec::new();
        let listed = 0..self.extents.len().min(most);
        for step in steps(vec![listed.clone()]) {
            let extents = &self.extents[step];
            let blobs = self.finder.blobs_of(extents)?;
            for extent in extents {
                let bytes = where_is(extent, &blobs, &mut keeps)?;
                pieces.push(LocalPiece { offset: extent.offset, length: extent.length, bytes });
            }
        }
        if let Some(rest) = self.extents.get(listed.end) {
            let (offset, length) = (rest.offset, self.size - rest.offset);
            pieces.push(LocalPiece { offset, length, bytes: LocalBytes::Store });
        }
        Ok(pieces)
    }
}

fn where_is(
    extent: &Extent,
    blobs: &[ReachableBlob],
    keeps: &mut impl FnMut(BlobId, PlaceId) -> Result<bool>,
) -> Result<LocalBytes> {
    let id = match &extent.piece {
        Piece::Hole => return Ok(LocalBytes::Zeros),
        Piece::Inline(_) => return Ok(LocalBytes::Store),
        Piece::Blob(id) => *id,
    };
    for source in blobs.iter().filter(|blob| blob.id == id).flat_map(|blob| &blob.sources) {
        // A registered file does not belong to the store: anybody may change it.
        let Source::Kept(place, files) = source else { continue };
        if let Some(path) = files.local_path(id)
            && keeps(id, *place)?
        {
            return Ok(LocalBytes::File(path, extent.start));
        }
    }
    Ok(LocalBytes::Store)
}
