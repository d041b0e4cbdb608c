//! Data in listings other than the records of entries.
//!
//! Cost: one scan for the descriptions of 64 entries, and one more for each that is spread over rows. At most 2 MiB of records are read
//! at a time, and a page has at most 5 MiB of descriptions.

use super::Page;
use crate::access::Operation;
use crate::catalog::{GraphRecord, View};
use crate::metadata::{self, Links};
use crate::model::{Graph, Rights, Stat, Statement};
use crate::{Caller, Result};

/// A page of a listing with more of each entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetailedPage {
    /// The page.
    pub page: Page,
    /// Of each of its entries, in their order.
    pub details: Vec<Details>,
}

/// More of an entry of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Details {
    /// What the caller may do with it.
    pub rights: Rights,
    /// Its description as the caller sees it; none if it was not requested, may not be read or has more than 1 MiB.
    pub description: Option<Graph>,
}

/// How many descriptions are read at a time.
const STEP: usize = 64;
/// A page ends once its descriptions have this many bytes.
const PAGE: u64 = 4 << 20;
/// The largest description in a page, in bytes.
const LARGEST: u64 = 1 << 20;

/// The details of so many of the first entries as make a page, of one at least.
pub(super) fn read(
    view: &View,
    caller: &Caller,
    entries: &[Stat],
    rights: Vec<Rights>,
) -> Result<Vec<Details>> {
    let links = Links::new(view, caller);
    let (mut details, mut bytes) = (Vec::with_capacity(entries.len()), 0);
    for (entries, rights) in entries.chunks(STEP).zip(rights.chunks(STEP)) {
        let ids: Vec<_> = entries.iter().map(|entry| entry.id).collect();
        for ((id, record), rights) in ids.iter().zip(view.graphs(&ids)?).zip(rights) {
            if bytes >= PAGE {
                return Ok(details);
            }
            let record = record.unwrap_or_default();
            let may = rights.allow(Operation::ReadDescription) && !is_large(&record);
            let description = match may {
                true => Some(links.graph(metadata::whole(view, id.0, record)?)?),
                false => None,
            };
            bytes += description.iter().flatten().map(size).sum::<u64>();
            details.push(Details { rights: *rights, description });
        }
    }
    Ok(details)
}

/// A description in one record has at most 32 KiB, unless an earlier program wrote it.
fn is_large(record: &GraphRecord) -> bool {
    record.spread.map_or(0, |spread| spread.bytes).max(record.statements.iter().map(size).sum())
        > LARGEST
}

fn size(statement: &Statement) -> u64 {
    minicbor::len(statement) as u64
}
