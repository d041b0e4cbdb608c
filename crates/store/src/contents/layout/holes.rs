//! Digests of contents with holes. The CRC of zeros follows from their number; a SHA-256 would have to be computed of all of them.

use cenote_blob::{append_crc64nvme, crc64nvme_of_zeros};

use super::Layout;
use crate::Result;
use crate::model::{Extent, Piece};

/// The most zeros of holes, in bytes, of which a SHA-256 is computed: about a minute's work.
pub(super) const MOST: u64 = 64 << 30;

/// How many bytes are zeros of holes.
pub(super) fn size(extents: &[Extent]) -> u64 {
    extents.iter().filter(|extent| is_hole(extent)).map(|extent| extent.length).sum()
}

fn is_hole(extent: &Extent) -> bool {
    matches!(extent.piece, Piece::Hole)
}

/// The CRC-64/NVME of a content, without going through its holes.
pub(super) async fn crc64nvme(layout: Layout) -> Result<u64> {
    let extents = layout.extents.clone();
    let mut whole = 0;
    for run in extents.chunk_by(|one, next| is_hole(one) == is_hole(next)) {
        let start = run.first().map_or(0, |extent| extent.offset);
        let end = run.last().map_or(start, Extent::end);
        let crc = match is_hole(&run[0]) {
            true => crc64nvme_of_zeros(end - start),
            false => layout.clone().hashed(start..end).await?.finish().crc64nvme,
        };
        whole = append_crc64nvme(whole, crc, end - start);
    }
    Ok(whole)
}
