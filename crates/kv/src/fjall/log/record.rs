//! Records: how a group is written to the log, and how every whole one is found again.
//!
//! A record, integers little-endian: [`MAGIC`], length of the body `u32`, XXH3 of the body `u64` with the seed of this
//! log, the body. A body: version before the group `u64`, version after it `u64`, then its rows, none for a group that
//! was synced into the tree itself. A row: length of the key `u16`, of the value `u32` ([`REMOVED`] for none), key, value.
//! Such a record is written twice, one copy behind the other; one with a longer body has another form ([`long`]).
//!
//! Invariant: only what was written as a record is ever read as one. The seed is random and unknown to callers that
//! write rows, so that no value can contain a record.

use bytes::{Buf, Bytes};
use memchr::memmem;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::long;
use crate::Version;

/// The magic of a record.
const MAGIC: [u8; 4] = *b"cLog";
/// The common prefix of all records, including long ones.
const PREFIX: &[u8] = b"cLo";
/// The length that represents a missing value.
const REMOVED: u32 = u32::MAX;
/// The two versions.
const VERSIONS: usize = 16;
/// The lengths of a row.
const ROW: usize = 6;

/// Keys with their new values; `None` if they are removed.
pub(in crate::fjall) type Rows = Vec<(Bytes, Option<Bytes>)>;

/// What one write to the tree did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::fjall) struct Group {
    pub(in crate::fjall) before: Version,
    pub(in crate::fjall) after: Version,
    pub(in crate::fjall) rows: Rows,
}

impl Group {
    /// How many bytes it writes.
    pub(in crate::fjall) fn size(&self) -> usize {
        let sizes = self.rows.iter();
        sizes.map(|(key, value)| key.len() + value.as_ref().map_or(0, Bytes::len)).sum()
    }

    /// Says that the group is in the tree, durably: nothing of it has to be kept here.
    pub(in crate::fjall) fn settled(&self) -> Self {
        Self { rows: Rows::new(), ..*self }
    }

    pub(in crate::fjall) fn is_settled(&self) -> bool {
        self.rows.is_empty()
    }
}

/// What is written for `group`.
pub(super) fn record(group: &Group, seed: u64) -> Vec<u8> {
    let body = body(group);
    match body.len() < long::SHORTEST {
        true => copies(&body, seed),
        false => long::record(&body, seed),
    }
}

fn body(group: &Group) -> Vec<u8> {
    let mut body = Vec::with_capacity(VERSIONS + group.rows.len() * ROW + group.size());
    body.extend(group.before.to_le_bytes());
    body.extend(group.after.to_le_bytes());
    for (key, value) in &group.rows {
        let length = value.as_ref().map_or(REMOVED, |value| value.len() as u32);
        body.extend((key.len() as u16).to_le_bytes());
        body.extend(length.to_le_bytes());
        body.extend_from_slice(key);
        body.extend_from_slice(value.as_deref().unwrap_or_default());
    }
    body
}

/// What programs before the third layout wrote for any group.
#[cfg(test)]
pub(super) fn twice(group: &Group, seed: u64) -> Vec<u8> {
    copies(&body(group), seed)
}

/// Both copies of a short record.
fn copies(body: &[u8], seed: u64) -> Vec<u8> {
    let mut record = MAGIC.to_vec();
    record.extend((body.len() as u32).to_le_bytes());
    record.extend(xxh3_64_with_seed(body, seed).to_le_bytes());
    record.extend_from_slice(body);
    record.extend_from_within(..);
    record
}

/// Every record in `bytes` that is intact or can be repaired, at any offset: a fault hides no later record. Short
/// records have bodies of less than `limit` bytes, so that a value with many beginnings of records costs little.
pub(super) fn all(bytes: &Bytes, seed: u64, limit: usize) -> Vec<Group> {
    let (mut groups, mut at): (Vec<Group>, usize) = (Vec::new(), 0);
    while let Some(found) = memmem::find(&bytes[at..], PREFIX) {
        at += found;
        match next(bytes, at, seed, limit) {
            Some((group, end)) => {
                // The second copy of a record is skipped.
                if groups.last() != Some(&group) {
                    groups.push(group);
                }
                at = end;
            }
            None => at += 1,
        }
    }
    groups
}

/// The record with a start or a second head at `at`, and its end.
fn next(bytes: &Bytes, at: usize, seed: u64, limit: usize) -> Option<(Group, usize)> {
    let mut rest = bytes.slice(at..);
    match *rest.first_chunk()? {
        MAGIC => {
            rest.advance(MAGIC.len());
            let group = unmarked(&mut rest, limit, |body| xxh3_64_with_seed(body, seed))?;
            Some((group, bytes.len() - rest.len()))
        }
        long::FIRST | long::LAST => {
            let (body, end) = long::read(bytes, at, seed)?;
            Some((parse(body.into())?, end))
        }
        _ => None,
    }
}

/// Takes a record without the magic, as programs before the second layout wrote it.
fn unmarked(bytes: &mut Bytes, limit: usize, hash: impl Fn(&[u8]) -> u64) -> Option<Group> {
    let length = bytes.try_get_u32_le().ok()? as usize;
    let checksum = bytes.try_get_u64_le().ok()?;
    if length >= limit {
        return None;
    }
    let body = take(bytes, length)?;
    (hash(&body) == checksum).then_some(())?;
    parse(body)
}

fn parse(mut body: Bytes) -> Option<Group> {
    let before = body.try_get_u64_le().ok()?;
    let after = body.try_get_u64_le().ok()?;
    let mut rows = Rows::new();
    while !body.is_empty() {
        rows.push(row(&mut body)?);
    }
    Some(Group { before, after, rows })
}

fn row(body: &mut Bytes) -> Option<(Bytes, Option<Bytes>)> {
    let key = usize::from(body.try_get_u16_le().ok()?);
    let value = body.try_get_u32_le().ok()?;
    let key = take(body, key)?;
    match value {
        REMOVED => Some((key, None)),
        length => Some((key, Some(take(body, length as usize)?))),
    }
}

fn take(body: &mut Bytes, length: usize) -> Option<Bytes> {
    (length <= body.len()).then(|| body.split_to(length))
}

/// The records at the start of a log of the first layout: single, and each begins at the version at which the one
/// before it ends; the first that does not, or is not whole, is the end.
pub(super) fn of_first_layout(mut bytes: Bytes) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    while let Some(group) = unmarked(&mut bytes, usize::MAX, xxh3_64) {
        if groups.last().is_some_and(|last| last.after != group.before) {
            break;
        }
        groups.push(group);
    }
    groups
}

/// A record of the first layout, for a group without rows.
pub(super) fn settled_of_first_layout(before: Version, after: Version) -> Vec<u8> {
    let body = [before.to_le_bytes(), after.to_le_bytes()].concat();
    let length = (body.len() as u32).to_le_bytes();
    [&length[..], &xxh3_64(&body).to_le_bytes(), &body].concat()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn group(before: Version, value: &[u8]) -> Group {
        let put = (Bytes::from_static(b"k"), Some(Bytes::copy_from_slice(value)));
        let removed = (Bytes::from_static(b"gone"), None);
        Group { before, after: before + 1, rows: vec![put, removed] }
    }

    /// A record of the first layout.
    fn first_copy(group: &Group) -> Vec<u8> {
        let copies = twice(group, 0);
        copies[MAGIC.len()..copies.len() / 2].to_vec()
    }

    fn any_group() -> impl Strategy<Value = Group> {
        vec((vec(any::<u8>(), 0..40), any::<Option<Vec<u8>>>()), 0..9).prop_map(|rows| {
            let rows = rows.into_iter().map(|(key, value)| (key.into(), value.map(Bytes::from)));
            Group { before: 1, after: 9, rows: rows.collect() }
        })
    }

    fn all(bytes: Vec<u8>) -> Vec<Group> {
        super::all(&bytes.into(), 7, long::SHORTEST)
    }

    /// Of values of these sizes the first gives short records, the second long ones.
    const SIZES: [usize; 2] = [5, 6_000];

    fn sized(version: Version, size: usize) -> Group {
        group(version, &vec![version as u8; size])
    }

    #[test]
    fn one_flipped_bit_anywhere_is_harmless() {
        for size in SIZES {
            let written: Vec<Group> = (5..8).map(|version| sized(version, size)).collect();
            let mut bytes: Vec<u8> = written.iter().flat_map(|group| record(group, 7)).collect();
            for at in (0..bytes.len()).step_by(1 + size / 500) {
                for bit in [0, at % 7 + 1] {
                    bytes[at] ^= 1 << bit;
                    assert_eq!(all(bytes.clone()), written, "bit {bit} at {at}");
                    bytes[at] ^= 1 << bit;
                }
            }
        }
    }

    #[test]
    fn a_record_within_a_value_is_not_read() {
        for size in SIZES {
            let inner = record(&group(5, &vec![1; size]), 8);
            let outer = group(5, &inner);
            let mut bytes = record(&outer, 7);
            assert_eq!(all(bytes.clone()), [outer]);
            let beginnings: Vec<usize> = memmem::find_iter(&bytes, PREFIX).collect();
            // Headers of the outer record, or starts of its copies, none of which contains a complete inner record.
            beginnings.into_iter().for_each(|at| bytes[at] = 0);
            assert!(all(bytes).is_empty());
        }
    }

    #[test]
    fn a_partly_overwritten_record_hides_no_other() {
        let (short, long) = (sized(5, 500), sized(6, 60_000));
        let written = [record(&long, 7), record(&short, 7), record(&long, 7)].concat();
        assert_eq!(all(written.clone()), [long.clone(), short.clone(), long.clone()]);
        for at in [20_000, written.len() - 20_000] {
            let mut damaged = written.clone();
            damaged[at..at + 10_000].fill(0);
            let found = all(damaged);
            assert_eq!(found.iter().filter(|found| **found == short).count(), 1);
            assert_eq!(found.len(), 2);
        }
    }

    /// As programs before the third layout wrote them.
    #[test]
    fn long_records_that_were_written_twice_are_read() {
        let group = sized(5, 60_000);
        let mut bytes: Bytes = twice(&group, 7).into();
        assert_eq!(super::all(&bytes, 7, usize::MAX), [group]);
        assert!(super::all(&bytes.split_to(9), 7, usize::MAX).is_empty());
    }

    #[test]
    fn records_of_the_first_layout_are_read_as_far_as_one_follows_from_the_other() {
        let mut bytes = settled_of_first_layout(4, 5);
        bytes.extend(first_copy(&group(5, b"one")));
        assert_eq!(of_first_layout(bytes.into())[0].after, 5);
        let bytes = [settled_of_first_layout(4, 5), settled_of_first_layout(6, 7)].concat();
        assert_eq!(of_first_layout(bytes.into()).len(), 1);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in vec(0..9u8, 0..200)) {
            of_first_layout(bytes.into());
        }

        #[test]
        fn any_bytes_behind_a_magic_are_read_without_a_panic(bytes in vec(vec(0..9u8, 0..50), 0..9)) {
            all(bytes.join(&MAGIC[..]));
        }

        #[test]
        fn any_group_reads_back(group in any_group()) {
            prop_assert_eq!(all(record(&group, 7)), [group.clone()]);
            prop_assert_eq!(of_first_layout(first_copy(&group).into()), [group]);
        }
    }
}
