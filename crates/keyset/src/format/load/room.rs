//! Reserves memory for all keys at once.

use super::Loader;
use crate::block::{Entry, MetaEntry};

impl Loader {
    /// Reserves memory for all keys, once the first ones show how large they are.
    pub(super) fn reserve(&mut self) {
        const SAMPLE: usize = 1024;
        if self.block.entries.len() != SAMPLE {
            return;
        }
        let (read, total) = (self.block.entries[SAMPLE - 1].value().at, self.block.bytes.len());
        let metas = self.block.metas.len();
        self.block.entries.reserve_exact(room::<Entry>(SAMPLE, read, total));
        self.block.metas.reserve_exact(room::<MetaEntry>(metas, read, total));
    }
}

/// An estimate of how many more items there will be if the first `read` of `total` bytes contained `seen`; limited to
/// as much memory as the size of the file.
fn room<T>(seen: usize, read: u64, total: usize) -> usize {
    let ratio = total as f64 / read.max(1) as f64;
    let more = seen as f64 * (ratio - 1.0).max(0.0);
    (more as usize).min(total / size_of::<T>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_reserved_for_the_remaining_items_within_the_size_of_the_file() {
        assert_eq!(room::<Entry>(1000, 100_000, 1_000_000), 9000);
        assert_eq!(room::<Entry>(1000, 1_000_000, 1_000_000), 0);
        assert_eq!(room::<Entry>(1000, 2_000_000, 1_000_000), 0, "the last one was out of place");
        assert_eq!(room::<Entry>(1000, 0, 64_000), 2000);
        assert_eq!(room::<Entry>(1000, 4000, 64_000), 2000);
    }
}
