//! Records: how a group is written to the log, and how every whole one is found again.
//!
//! A record, integers little-endian: [`MAGIC`], length of the body `u32`, XXH3 of the body `u64` with the seed of this
//! log, the body. A body: version before the group `u64`, version after it `u64`, then its rows, none for a group that
//! was synced into the tree itself. A row: length of the key `u16`, of the value `u32` ([`REMOVED`] for none), key, value.
//! Each record is written twice, one copy behind the other.
//!
//! Invariant: only what was written as a record is ever read as one. The seed is random and known to nobody who
//! writes rows, so that no value can contain a record.

use bytes::{Buf, Bytes};
use memchr::memmem;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::Version;

/// What each record begins with.
const MAGIC: [u8; 4] = *b"cLog";
/// What stands for the length of a value that is not there.
const REMOVED: u32 = u32::MAX;
/// Length and checksum.
const HEAD: usize = 12;
/// The two versions.
const VERSIONS: usize = 16;

/// Keys with what they hold from then on; none if they are removed.
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

/// Both copies of the record of `group`.
pub(super) fn copies(group: &Group, seed: u64) -> Vec<u8> {
    let mut record = MAGIC.to_vec();
    record.resize(MAGIC.len() + HEAD, 0);
    record.extend(group.before.to_le_bytes());
    record.extend(group.after.to_le_bytes());
    for (key, value) in &group.rows {
        let length = value.as_ref().map_or(REMOVED, |value| value.len() as u32);
        record.extend((key.len() as u16).to_le_bytes());
        record.extend(length.to_le_bytes());
        record.extend_from_slice(key);
        record.extend_from_slice(value.as_deref().unwrap_or_default());
    }
    let (head, body) = record[MAGIC.len()..].split_at_mut(HEAD);
    head[..4].copy_from_slice(&(body.len() as u32).to_le_bytes());
    head[4..].copy_from_slice(&xxh3_64_with_seed(body, seed).to_le_bytes());
    record.extend_from_within(..);
    record
}

/// Every whole record in `bytes`, wherever it lies: a fault hides no record behind it.
pub(super) fn all(mut bytes: Bytes, seed: u64) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    while let Some(start) = memmem::find(&bytes, &MAGIC) {
        bytes.advance(start);
        match next(&mut bytes, seed) {
            // Its second copy.
            Some(group) if groups.last() == Some(&group) => {}
            Some(group) => groups.push(group),
            None => bytes.advance(1),
        }
    }
    groups
}

fn next(bytes: &mut Bytes, seed: u64) -> Option<Group> {
    let mut rest = bytes.slice(MAGIC.len()..);
    let group = unmarked(&mut rest, |body| xxh3_64_with_seed(body, seed))?;
    *bytes = rest;
    Some(group)
}

/// Takes a record without the magic, as programs before the second layout wrote it.
fn unmarked(bytes: &mut Bytes, hash: impl Fn(&[u8]) -> u64) -> Option<Group> {
    let length = bytes.try_get_u32_le().ok()? as usize;
    let checksum = bytes.try_get_u64_le().ok()?;
    if length < VERSIONS || length > bytes.len() {
        return None;
    }
    let mut body = bytes.split_to(length);
    (hash(&body) == checksum).then_some(())?;
    let (before, after) = (body.get_u64_le(), body.get_u64_le());
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
    while let Some(group) = unmarked(&mut bytes, xxh3_64) {
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

    fn any_group() -> impl Strategy<Value = Group> {
        vec((vec(any::<u8>(), 0..40), any::<Option<Vec<u8>>>()), 0..9).prop_map(|rows| {
            let rows = rows.into_iter().map(|(key, value)| (key.into(), value.map(Bytes::from)));
            Group { before: 1, after: 9, rows: rows.collect() }
        })
    }

    #[test]
    fn one_flipped_bit_anywhere_is_harmless() {
        let written: Vec<Group> = (5..8).map(|version| group(version, b"value")).collect();
        let bytes: Vec<u8> = written.iter().flat_map(|group| copies(group, 7)).collect();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert_eq!(all(damaged.into(), 7), written, "bit {bit} at {at}");
            }
        }
    }

    #[test]
    fn a_record_within_a_value_is_not_read() {
        let inner = copies(&group(5, b"forged"), 8);
        let outer = group(5, &inner);
        let mut bytes = copies(&outer, 7);
        assert_eq!(all(bytes.clone().into(), 7), [outer]);
        let half = bytes.len() / 2;
        (bytes[0], bytes[half]) = (0, 0);
        assert!(all(bytes.into(), 7).is_empty());
    }

    #[test]
    fn records_of_the_first_layout_are_read_as_far_as_one_follows_from_the_other() {
        let mut bytes = settled_of_first_layout(4, 5);
        bytes.extend(&copies(&group(5, b"one"), 0)[MAGIC.len()..][..HEAD + VERSIONS + 20]);
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
            all(bytes.join(&MAGIC[..]).into(), 7);
        }

        #[test]
        fn any_group_reads_back(group in any_group()) {
            prop_assert_eq!(all(copies(&group, 7).into(), 7), [group.clone()]);
            let single = copies(&group, 0);
            let single = &single[MAGIC.len()..single.len() / 2];
            prop_assert_eq!(of_first_layout(Bytes::copy_from_slice(single)), [group]);
        }
    }
}
