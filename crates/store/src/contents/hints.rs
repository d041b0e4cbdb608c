//! Hints about which content an object has, so that both are read at once.
//!
//! Invariant: a hint decides nothing, as those about paths ([`crate::catalog::Edges`]): whoever follows it reads on their snapshot which
//! content the object has. A wrong one costs one more read.

use bytes::Bytes;
use quick_cache::sync::Cache;

use crate::Store;
use crate::catalog::keys;
use crate::model::{At, ContentId, ResourceId};
use crate::resources::likely;

/// How many objects are remembered.
const MOST: usize = 40_000;

/// The contents with which objects were met.
#[derive(Debug)]
pub(crate) struct ContentHints(Cache<ResourceId, ContentId>);

impl Default for ContentHints {
    fn default() -> Self {
        Self(Cache::new(MOST))
    }
}

impl Store {
    /// The key of the content that is likely at a place.
    pub(crate) fn likely_content(&self, at: &At) -> Option<Bytes> {
        let object = likely(&self.inner.edges, at)?;
        self.inner.contents.0.get(&object).map(keys::content)
    }

    /// Remembers with which content an object was met.
    pub(super) fn met_content(&self, object: ResourceId, content: ContentId) {
        // An embedded engine reads nothing ahead.
        if self.parts().engine.is_shared() && self.inner.contents.0.get(&object) != Some(content) {
            self.inner.contents.0.insert(object, content);
        }
    }
}
