//! Where the bytes of one write to a stage go: from a position on, or to several ranges.
//!
//! Invariant: ranges are in ascending order, and none is empty or overlaps another one, so each byte that arrives has one place.

use std::ops::Range;

use crate::contents::patches::extents::{clip, within};
use crate::contents::patches::write_at::{shifted, too_large};
use crate::contents::{Received, Where};
use crate::model::Extent;
use crate::{Error, ErrorKind, Result};

/// Where the bytes of one write to a stage go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Positions {
    /// From there on.
    From(Where),
    /// To several ranges, in their order.
    Ranges(Ranges),
}

impl From<Where> for Positions {
    fn from(position: Where) -> Self {
        Self::From(position)
    }
}

impl From<Ranges> for Positions {
    fn from(ranges: Ranges) -> Self {
        Self::Ranges(ranges)
    }
}

/// Ranges in ascending order, of which none overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranges(Vec<Range<u64>>);

impl Ranges {
    /// The most ranges of one write.
    pub const MOST: usize = 1 << 14;

    /// # Errors
    /// [`ErrorKind::Invalid`] if they are not in ascending order, if they overlap or are empty, or if there are too many.
    pub fn new(ranges: Vec<Range<u64>>) -> Result<Self> {
        let ascending = ranges.windows(2).all(|pair| pair[0].end <= pair[1].start);
        if !ascending || ranges.iter().any(|range| range.start >= range.end) {
            return Err(Error::invalid(
                "ranges are in ascending order, and none is empty or overlaps another one",
            ));
        }
        match ranges.len() <= Self::MOST {
            true => Ok(Self(ranges)),
            false => {
                Err(Error::invalid(format!("at most {} ranges are written at once", Self::MOST)))
            }
        }
    }

    /// How many bytes there are in all.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// The received bytes, each where it belongs.
    fn spread(&self, received: &Received) -> Result<Vec<Extent>> {
        if received.size() != self.bytes() {
            let message = format!("{} bytes for ranges of {}", received.size(), self.bytes());
            return Err(Error::new(ErrorKind::Mismatch, message));
        }
        let (extents, mut spread, mut from) = (&received.content.extents, Vec::new(), 0);
        for range in &self.0 {
            let part = from..from + (range.end - range.start);
            for extent in extents[within(extents, &part)].iter().filter_map(|it| clip(it, &part)) {
                spread.push(Extent { offset: extent.offset - part.start + range.start, ..extent });
            }
            from = part.end;
        }
        Ok(spread)
    }
}

impl Positions {
    /// The patches that write what was received over a content of `size` bytes.
    pub(super) fn patches(&self, received: &Received, size: u64) -> Result<Vec<Extent>> {
        let start = match self {
            Self::Ranges(ranges) => return ranges.spread(received),
            Self::From(Where::Offset(offset)) => *offset,
            Self::From(Where::Append) => size,
        };
        start.checked_add(received.size()).ok_or_else(too_large)?;
        Ok(shifted(received, start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_are_not_in_order_are_refused() {
        let new = |ranges: &[Range<u64>]| Ranges::new(ranges.to_vec());
        assert_eq!(new(&[0..5, 5..7, u64::MAX - 1..u64::MAX]).unwrap().bytes(), 8);
        for wrong in
            [&[0..5, 4..6][..], &[7..9, 0..1], &[0..1, 3..3], &[0..1, Range { start: 9, end: 2 }]]
        {
            assert_eq!(new(wrong).unwrap_err().kind(), ErrorKind::Invalid, "{wrong:?}");
        }
        let many = (0..=Ranges::MOST as u64).map(|n| n * 2..n * 2 + 1).collect();
        assert_eq!(Ranges::new(many).unwrap_err().kind(), ErrorKind::Invalid);
    }
}
