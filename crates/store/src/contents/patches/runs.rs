//! Which neighbouring extents become one blob when patches are folded.
//!
//! Inline runs become blobs, and small blobs become one once there are enough neighbours of about one size: the larger,
//! the older, as in a log-structured merge tree. So a content that is written bit by bit has as many extents as the
//! logarithm of its size, and each byte of it is written as often.

use std::ops::Range;

/// So many neighbours of about one size become one.
const FAN: usize = 8;
/// Sizes up to this many bytes, times [`FAN`], are about one.
const UNIT: u64 = 64 << 10;
/// Blobs of at least this many bytes are not merged any more. A mount sends runs of this length.
const LARGE: u64 = 16 << 20;

/// An extent, as merging sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) length: u64,
    pub(crate) kind: PartKind,
}

/// What the bytes of an extent are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartKind {
    /// In the catalog: they have to be written to a blob.
    Inline,
    /// A whole blob, of which nothing else is left.
    Whole,
    /// A part of a blob, or nothing.
    Other,
}

/// The runs of extents of which each becomes one, in order and without overlap.
pub(crate) fn runs(parts: &[Part]) -> Vec<Range<usize>> {
    let mut runs: Vec<Run> = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        runs.push(Run { parts: at..at + 1, length: part.length, kind: part.kind });
        while join(&mut runs) {}
    }
    let changed = |run: &Run| run.kind == PartKind::Inline || run.parts.len() > 1;
    runs.into_iter().filter(changed).map(|run| run.parts).collect()
}

/// Neighbouring parts that become one.
#[derive(Debug)]
struct Run {
    parts: Range<usize>,
    length: u64,
    kind: PartKind,
}

/// Joins the last runs, if there are enough that are not larger than the very last. Returns whether it did.
fn join(runs: &mut Vec<Run>) -> bool {
    let most = runs.last().map_or(0, |run| tier(run.length));
    let alike = |run: &&Run| run.is_small() && tier(run.length) <= most;
    let count = runs.iter().rev().take_while(alike).count();
    if count < FAN {
        return false;
    }
    let joined = runs.split_off(runs.len() - count);
    let length = joined.iter().map(|run| run.length).sum();
    let parts = joined[0].parts.start..joined[count - 1].parts.end;
    runs.push(Run { parts, length, kind: PartKind::Whole });
    true
}

impl Run {
    fn is_small(&self) -> bool {
        self.kind != PartKind::Other && self.length < LARGE
    }
}

/// The logarithm of a size.
fn tier(length: u64) -> u32 {
    (length / UNIT).max(1).ilog(FAN as u64)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::PartKind::{Inline, Other, Whole};
    use super::*;

    fn part(length: u64, kind: PartKind) -> Part {
        Part { length, kind }
    }

    /// Appends `step` bytes to the parts, folds, and returns the number of bytes written.
    fn fold(parts: &mut Vec<Part>, (step, kind): (u64, PartKind)) -> u64 {
        parts.push(part(step, kind));
        let mut written = 0;
        for run in runs(parts).into_iter().rev() {
            let length = parts[run.clone()].iter().map(|part| part.length).sum();
            written += length;
            parts.splice(run, [part(length, Whole)]);
        }
        written
    }

    #[test]
    fn the_cost_of_a_write_does_not_depend_on_the_content() {
        for (step, kind) in [(70 << 10, Inline), (128 << 10, Whole), (4 << 20, Inline)] {
            let (mut parts, mut written, mut size) = (Vec::new(), 0, 0);
            while size < 4 << 30 {
                written += fold(&mut parts, (step, kind));
                size += step;
                assert!(written <= 5 * size, "{written} bytes written for {size}");
                let large = (size / LARGE) as usize;
                assert!(parts.len() <= 4 * FAN + large, "{} extents of {size} bytes", parts.len());
            }
        }
    }

    #[test]
    fn the_runs_of_a_mount_are_not_copied() {
        let mut parts = Vec::new();
        let written: u64 = (0..200).map(|_| fold(&mut parts, (16 << 20, Whole))).sum();
        assert_eq!((written, parts.len()), (0, 200));
    }

    #[test]
    fn inline_runs_between_blob_extents_stay_separate() {
        let kind = |n| if n % 2 == 0 { Other } else { Inline };
        let parts: Vec<Part> = (0..99).map(|n| part(1_000, kind(n))).collect();
        let alone: Vec<_> = (0..99).filter(|n| n % 2 == 1).map(|n| n..n + 1).collect();
        assert_eq!(runs(&parts), alone);
    }

    proptest! {
        #[test]
        fn runs_are_in_order_and_contain_every_inline_part(
            parts in vec((0..3usize, 1..40u64 << 20), 0..60)
        ) {
            let kind = |kind: usize| [Inline, Whole, Other][kind];
            let parts: Vec<_> = parts.into_iter().map(|(k, length)| part(length, kind(k))).collect();
            let runs = runs(&parts);
            prop_assert!(runs.windows(2).all(|pair| pair[0].end <= pair[1].start));
            for (at, part) in parts.iter().enumerate() {
                let covered = runs.iter().any(|run| run.contains(&at));
                prop_assert!(covered || part.kind != Inline);
                prop_assert!(!covered || part.kind != Other);
            }
        }
    }
}
