//! Space for a range of an open file (`fallocate`), and ranges of zeros in it.
//!
//! A store does not reserve space, so allocating a range only makes the file long enough, if there is space for that: without an answer to it, glibc writes a byte into each block of
//! the range. Ranges of zeros are written.

use std::ops::Range;

use bytes::Bytes;

use super::FileSystem;
use crate::error::{Fault, Result};
use crate::write::{Draft, Target};

/// How many zeros are written at a time.
const PIECE: u64 = 1 << 20;

/// How much is allocated whatever space there is.
const LITTLE: u64 = 16 << 20;

/// What becomes of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// Whether its bytes become zeros.
    pub zero: bool,
    /// Whether the file becomes long enough to have it.
    pub extend: bool,
}

impl Allocation {
    /// What the flags of `fallocate(2)` ask for.
    ///
    /// # Errors
    /// `EOPNOTSUPP` for flags that a store cannot follow, such as those that move what is behind the range.
    pub fn of(mode: i32) -> Result<Self> {
        let extend = mode & libc::FALLOC_FL_KEEP_SIZE == 0;
        match mode & !libc::FALLOC_FL_KEEP_SIZE {
            0 => Ok(Self { zero: false, extend }),
            libc::FALLOC_FL_ZERO_RANGE => Ok(Self { zero: true, extend }),
            libc::FALLOC_FL_PUNCH_HOLE if !extend => Ok(Self { zero: true, extend }),
            _ => Err(Fault::new(libc::EOPNOTSUPP, "not a way to allocate a file of a store")),
        }
    }
}

impl FileSystem {
    /// Allocates a range of an open file, or makes it zeros.
    pub async fn allocate(&self, handle: u64, range: Range<u64>, how: Allocation) -> Result<()> {
        let ino = self.writing(handle)?;
        let mut draft = self.draft(ino).await?;
        self.require_space(range.end.saturating_sub(draft.size())).await?;
        let allocated = allocate(&mut draft, &self.target(ino)?, range, how).await;
        self.written(ino, &draft)?;
        allocated
    }

    /// Refuses to allocate more than is left, which is only known at this moment. A little is not compared with it, since that takes several requests.
    async fn require_space(&self, bytes: u64) -> Result<()> {
        match bytes > LITTLE && bytes > self.space().await.bytes.free {
            true => Err(Fault::new(libc::ENOSPC, "more is allocated than there is space for")),
            false => Ok(()),
        }
    }
}

async fn allocate(
    draft: &mut Draft,
    to: &Target,
    range: Range<u64>,
    how: Allocation,
) -> Result<()> {
    let size = draft.size();
    let zeros = Bytes::from_static(&[0; PIECE as usize]);
    let mut next = range.start;
    while how.zero && next < range.end.min(size) {
        let length = PIECE.min(range.end.min(size) - next);
        draft.write(to, next, zeros.slice(..length as usize)).await?;
        next += length;
    }
    match how.extend && range.end > size {
        true => draft.truncate(to, range.end).await,
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_a_store_cannot_follow_are_refused() {
        use libc::{
            FALLOC_FL_COLLAPSE_RANGE, FALLOC_FL_INSERT_RANGE, FALLOC_FL_KEEP_SIZE,
            FALLOC_FL_PUNCH_HOLE, FALLOC_FL_UNSHARE_RANGE, FALLOC_FL_ZERO_RANGE,
        };
        let of = |mode| Allocation::of(mode).map(|how| (how.zero, how.extend)).ok();
        assert_eq!(of(0), Some((false, true)));
        assert_eq!(of(FALLOC_FL_KEEP_SIZE), Some((false, false)));
        assert_eq!(of(FALLOC_FL_ZERO_RANGE), Some((true, true)));
        assert_eq!(of(FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE), Some((true, false)));
        assert_eq!(of(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE), Some((true, false)));
        let refused = [
            FALLOC_FL_PUNCH_HOLE,
            FALLOC_FL_COLLAPSE_RANGE,
            FALLOC_FL_INSERT_RANGE,
            FALLOC_FL_UNSHARE_RANGE,
            FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
            1 << 20,
        ];
        assert!(refused.into_iter().all(|mode| of(mode).is_none()));
    }
}
