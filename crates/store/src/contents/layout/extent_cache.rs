//! The extents of contents with many, from when they were last read: to put them together again for each range takes as long as reading many ranges.
//!
//! Invariant: an entry is never wrong. The records of a content are not changed, but for patches, which are added; and each write gives the head a
//! stamp that was not used before, also if the write is undone. That the content is still there is what its pin says.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::catalog::Reads;
use crate::contents::resolve;
use crate::model::{ContentHead, ContentId, Extent, Piece};
use crate::{Result, Store};

/// Contents with fewer are put together each time.
const MANY: usize = 128;
/// How many bytes of memory they take, all together.
const MOST_BYTES: u64 = 32 << 20;
/// How many contents there are at first: so few are in one shard, which may be filled by one of them.
const FIRST: usize = 16;

/// One state of a content.
type State = (ContentId, u32, u64, u64);

/// The extents of contents that were read.
#[derive(Debug)]
pub(crate) struct ExtentCache(Cache<State, Arc<Vec<Extent>>, Size>);

#[derive(Debug, Clone)]
struct Size;

impl Weighter<State, Arc<Vec<Extent>>> for Size {
    fn weight(&self, _: &State, extents: &Arc<Vec<Extent>>) -> u64 {
        let inline = |extent: &Extent| match &extent.piece {
            Piece::Inline(bytes) => bytes.len() as u64,
            _ => 0,
        };
        let each = size_of::<Extent>() as u64;
        extents.iter().map(|extent| each + inline(extent)).sum()
    }
}

impl Default for ExtentCache {
    fn default() -> Self {
        Self(Cache::with_weighter(FIRST, MOST_BYTES, Size))
    }
}

impl Store {
    /// The extents of a content that is pinned.
    pub(super) fn extents_of(
        &self,
        view: &impl Reads,
        head: &ContentHead,
    ) -> Result<Arc<Vec<Extent>>> {
        let (cache, state) =
            (&self.inner.extents.0, (head.id, head.patches, head.stamp, head.size));
        if let Some(extents) = cache.get(&state) {
            return Ok(extents);
        }
        let extents = Arc::new(resolve(view, head)?);
        if extents.len() >= MANY {
            cache.insert(state, Arc::clone(&extents));
        }
        Ok(extents)
    }
}
