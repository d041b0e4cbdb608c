//! The arithmetic of extents: patches over extents give extents.
//!
//! Invariant of every result: sorted, without overlap, without a gap, covering exactly
//! `0..size`.

use std::ops::Range;

use crate::model::{Extent, Piece};

/// The visible content of `base` with `patches` applied in order, `size` bytes long. What nothing
/// covers is a hole.
pub(crate) fn overlay(base: Vec<Extent>, patches: Vec<Extent>, size: u64) -> Vec<Extent> {
    let mut top = Vec::with_capacity(patches.len());
    for patch in patches {
        write_over(&mut top, patch);
    }
    fill(lay_over(base, top), size)
}

/// `base` where `top` has nothing. One pass, whatever the number of both: a content that was written at many places has many extents.
fn lay_over(base: Vec<Extent>, top: Vec<Extent>) -> Vec<Extent> {
    let mut seen = Vec::with_capacity(base.len() + 2 * top.len());
    let (mut top, mut covered) = (top.into_iter().peekable(), 0);
    for extent in base {
        while let Some(over) = top.next_if(|over| over.offset < extent.end()) {
            seen.extend(clip(&extent, &(covered..over.offset)));
            covered = over.end();
            seen.push(over);
        }
        match covered <= extent.offset {
            true => seen.push(extent),
            false => seen.extend(clip(&extent, &(covered..u64::MAX))),
        }
    }
    seen.extend(top);
    seen
}

/// Which of `extents` have bytes in `range`.
pub(crate) fn within(extents: &[Extent], range: &Range<u64>) -> Range<usize> {
    let first = extents.partition_point(|extent| extent.end() <= range.start);
    let last = extents.partition_point(|extent| extent.offset < range.end);
    first..last.max(first)
}

fn write_over(seen: &mut Vec<Extent>, patch: Extent) {
    let covered = within(seen, &(patch.offset..patch.end()));
    let mut replacement = Vec::with_capacity(3);
    if let [first, ..] = &seen[covered.clone()] {
        replacement.extend(clip(first, &(0..patch.offset)));
    }
    let last = seen[covered.clone()].last();
    let tail = last.and_then(|last| clip(last, &(patch.end()..u64::MAX)));
    replacement.push(patch);
    replacement.extend(tail);
    seen.splice(covered, replacement);
}

/// The part of one extent within `range`, at the same offset; inline bytes outside it are dropped.
pub(crate) fn clip(extent: &Extent, range: &Range<u64>) -> Option<Extent> {
    let offset = extent.offset.max(range.start);
    let end = extent.end().min(range.end);
    let length = end.checked_sub(offset).filter(|length| *length > 0)?;
    let start = extent.start + (offset - extent.offset);
    Some(match &extent.piece {
        Piece::Inline(bytes) => {
            let bytes = bytes[start as usize..(start + length) as usize].to_vec();
            Extent { offset, length, start: 0, piece: Piece::Inline(bytes) }
        }
        piece => Extent { offset, length, start, piece: piece.clone() },
    })
}

fn fill(seen: Vec<Extent>, size: u64) -> Vec<Extent> {
    let mut filled = Vec::with_capacity(seen.len());
    let mut end = 0;
    for extent in seen.into_iter().filter_map(|extent| end_at(extent, size)) {
        filled.extend(hole(end, extent.offset));
        end = extent.end();
        filled.push(extent);
    }
    filled.extend(hole(end, size));
    filled
}

/// The part of one extent before `size`; most are not copied.
fn end_at(extent: Extent, size: u64) -> Option<Extent> {
    match extent.length > 0 && extent.end() <= size {
        true => Some(extent),
        false => clip(&extent, &(0..size)),
    }
}

fn hole(offset: u64, end: u64) -> Option<Extent> {
    let length = end.checked_sub(offset).filter(|length| *length > 0)?;
    Some(Extent { offset, length, start: 0, piece: Piece::Hole })
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn inline(offset: u64, bytes: &[u8]) -> Extent {
        let length = bytes.len() as u64;
        Extent { offset, length, start: 0, piece: Piece::Inline(bytes.to_vec()) }
    }

    fn bytes(extents: &[Extent]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for extent in extents {
            assert_eq!(extent.offset, bytes.len() as u64, "no gap, no overlap");
            match &extent.piece {
                Piece::Inline(piece) => {
                    let start = extent.start as usize;
                    bytes.extend(&piece[start..start + extent.length as usize]);
                }
                _ => bytes.resize(bytes.len() + extent.length as usize, 0),
            }
        }
        bytes
    }

    fn run() -> impl Strategy<Value = (usize, Vec<u8>)> {
        (0usize..60, vec(1u8.., 1..30))
    }

    proptest! {
        #[test]
        fn an_overlay_has_the_effect_of_writing_bytes(base in vec(1u8.., 0..40), runs in vec(run(), 0..8), size in 0usize..100) {
            let mut expected = base.clone();
            for (offset, run) in &runs {
                expected.resize(expected.len().max(offset + run.len()), 0);
                expected[*offset..offset + run.len()].copy_from_slice(run);
            }
            expected.resize(size, 0);
            let base = if base.is_empty() { vec![] } else { vec![inline(0, &base)] };
            let patches = runs.iter().map(|(offset, run)| inline(*offset as u64, run)).collect();
            prop_assert_eq!(bytes(&overlay(base, patches, size as u64)), expected);
        }

        #[test]
        fn the_clipped_extents_are_a_slice(runs in vec(run(), 0..8), range in (0u64..100, 0u64..100)) {
            let patches = runs.iter().map(|(offset, run)| inline(*offset as u64, run)).collect();
            let whole = overlay(vec![], patches, 100);
            let range = range.0.min(range.1)..range.0.max(range.1);
            let clipped = whole[within(&whole, &range)].iter().map(|extent| clip(extent, &range));
            let mut part: Vec<_> = clipped.flatten().collect();
            part.iter_mut().for_each(|extent| extent.offset -= range.start);
            prop_assert_eq!(bytes(&part), &bytes(&whole)[range.start as usize..range.end as usize]);
        }
    }
}
