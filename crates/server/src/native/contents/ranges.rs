//! A body with several ranges: first an index, the offset and the length of each, then their bytes in the same order.

use axum::body::{Body, Bytes};
use cenote_store::Ranges;
use futures_util::{Stream, StreamExt, stream};

use crate::problem::Problem;

/// The offset and the length of a range, 8 bytes each, the most significant first.
const ENTRY: usize = 16;

/// Reads the index of a body with `count` ranges; returns them, and what follows.
pub(super) async fn indexed(
    count: usize,
    body: Body,
) -> Result<(Ranges, impl Stream<Item = Result<Bytes, axum::Error>>), Problem> {
    let length = count.min(Ranges::MOST + 1) * ENTRY;
    let (mut bytes, mut index) = (body.into_data_stream(), Vec::with_capacity(length));
    while index.len() < length {
        let more = bytes.next().await.ok_or_else(cut_short)?;
        index.extend_from_slice(&more.map_err(|_| cut_short())?);
    }
    let rest = Bytes::from(index.split_off(length));
    let entries = index.chunks_exact(ENTRY).map(|entry| (number(&entry[..8]), number(&entry[8..])));
    let ranges = entries.map(|(offset, length)| offset..offset.saturating_add(length)).collect();
    Ok((Ranges::new(ranges)?, stream::iter([Ok(rest)]).chain(bytes)))
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn cut_short() -> Problem {
    Problem::invalid("the body ends before the index of its ranges does")
}
