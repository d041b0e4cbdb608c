//! How items are grouped into requests: many small items together, or a single large one.

/// Items up to this size, in bytes, are sent in batches.
const SMALL: u64 = 256 << 10;
/// A batch has this many entries at most.
const ENTRIES: usize = 512;
/// A batch has this many bytes of content at most.
const BYTES: u64 = 8 << 20;

/// The items of one request.
#[derive(Debug)]
pub(super) enum Work<T> {
    Batch(Vec<T>),
    Alone(T),
}

/// Groups small items, in order; large ones are separate.
pub(super) fn plan<T>(items: Vec<T>, size: impl Fn(&T) -> u64) -> Vec<Work<T>> {
    let mut works = Vec::new();
    let (mut batch, mut bytes) = (Vec::new(), 0);
    for item in items {
        let size = size(&item);
        if size > SMALL {
            works.push(Work::Alone(item));
            continue;
        }
        if batch.len() == ENTRIES || (bytes + size > BYTES && !batch.is_empty()) {
            works.push(Work::Batch(std::mem::take(&mut batch)));
            bytes = 0;
        }
        bytes += size;
        batch.push(item);
    }
    if !batch.is_empty() {
        works.push(Work::Batch(batch));
    }
    works
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_bounded_and_lose_nothing() {
        proptest::proptest!(|(sizes in proptest::collection::vec(0..3 * SMALL, 0..1_200))| {
            let mut seen = Vec::new();
            for work in plan(sizes.clone(), |size| *size) {
                match work {
                    Work::Alone(size) => {
                        proptest::prop_assert!(size > SMALL);
                        seen.push(size);
                    }
                    Work::Batch(sizes) => {
                        proptest::prop_assert!(!sizes.is_empty() && sizes.len() <= ENTRIES);
                        proptest::prop_assert!(sizes.iter().sum::<u64>() <= BYTES);
                        seen.extend(sizes);
                    }
                }
            }
            let mut sizes = sizes;
            sizes.sort_unstable();
            seen.sort_unstable();
            proptest::prop_assert_eq!(sizes, seen);
        });
    }
}
