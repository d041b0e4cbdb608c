//! Long records: written once, with enough redundancy to repair a fault of up to 4 KiB, wherever it starts.
//!
//! In this order: a head, the parity, the body, and the head again with another magic. A head, integers little-endian:
//! [`FIRST`] or [`LAST`], length of the body `u32`, XXH3 of these 8 bytes `u64`, the XXH3 of each sector of the body
//! `u64`, XXH3 of all this `u64`. All have the seed of the log. A sector is 512 bytes of the body, the last one what is
//! left. Sector *n* of the parity, 9 sectors long, is the exclusive or of the sectors *n*, *n* + 9, *n* + 18 … of the body,
//! the last of which is filled with zeros.
//!
//! Invariant: a run of 4 KiB lies in at most 9 neighbouring sectors of parity and body, so in at most one of those
//! that are in one sum, and never in both heads. So a fault of that length is repaired, and what was
//! repaired has the checksum that was written. What is worse is no record: the end of a write that a power cut tore, or rot.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The magic of the first head.
pub(super) const FIRST: [u8; 4] = *b"cLo<";
/// The magic of the second head.
pub(super) const LAST: [u8; 4] = *b"cLo>";
/// The bytes of which each has a checksum.
const SECTOR: usize = 512;
/// The bytes of the parity.
const PARITY: usize = 9 * SECTOR;
/// Magic, length and their checksum.
const LENGTH: usize = 16;
const SUM: usize = 8;

/// Shorter bodies are as short when they are written twice.
pub(super) const SHORTEST: usize = PARITY;

/// The size in bytes of a record with a body of `length` bytes.
fn size(length: usize) -> usize {
    2 * head_size(length) + PARITY + length
}

fn head_size(length: usize) -> usize {
    LENGTH + SUM * length.div_ceil(SECTOR) + SUM
}

/// The record of `body`.
pub(super) fn record(body: &[u8], seed: u64) -> Vec<u8> {
    let mut record = Vec::with_capacity(size(body.len()));
    let sums: Vec<u8> = sums(body, seed).flat_map(u64::to_le_bytes).collect();
    push_head(&mut record, FIRST, body.len(), &sums, seed);
    record.extend(parity(body));
    record.extend_from_slice(body);
    push_head(&mut record, LAST, body.len(), &sums, seed);
    record
}

fn push_head(record: &mut Vec<u8>, magic: [u8; 4], length: usize, sums: &[u8], seed: u64) {
    let start = record.len();
    record.extend(magic);
    record.extend((length as u32).to_le_bytes());
    record.extend(xxh3_64_with_seed(&record[start..], seed).to_le_bytes());
    record.extend_from_slice(sums);
    record.extend(xxh3_64_with_seed(&record[start..], seed).to_le_bytes());
}

fn sums(body: &[u8], seed: u64) -> impl Iterator<Item = u64> {
    body.chunks(SECTOR).map(move |sector| xxh3_64_with_seed(sector, seed))
}

fn parity(body: &[u8]) -> [u8; PARITY] {
    let mut parity = [0; PARITY];
    body.chunks(PARITY).for_each(|run| add(&mut parity, run));
    parity
}

fn add(sum: &mut [u8], bytes: &[u8]) {
    sum.iter_mut().zip(bytes).for_each(|(sum, byte)| *sum ^= byte);
}

/// The body of the record with a head at `at`, repaired if necessary, and the end of the record. None if there is no
/// such record, or none that can be repaired.
pub(super) fn read(bytes: &[u8], at: usize, seed: u64) -> Option<(Vec<u8>, usize)> {
    let (length, sums) = head(bytes.get(at..)?, seed)?;
    let parity = match bytes.get(at..)?.starts_with(&FIRST) {
        true => at + head_size(length),
        false => at.checked_sub(length + PARITY)?,
    };
    let end = parity + PARITY + length + head_size(length);
    let parts = bytes.get(parity..parity + PARITY + length)?;
    let (parity, body) = parts.split_at(PARITY);
    Some((mended(body.to_vec(), parity, sums, seed)?, end))
}

/// The length of the body and the checksums of its sectors.
fn head(bytes: &[u8], seed: u64) -> Option<(usize, &[u8])> {
    let length = checked(bytes.get(..LENGTH)?, seed)?[FIRST.len()..].try_into().ok()?;
    let length = u32::from_le_bytes(length) as usize;
    let head = checked(bytes.get(..head_size(length))?, seed)?;
    Some((length, &head[LENGTH..]))
}

/// The bytes before the checksum at the end of `bytes`, if it is correct.
fn checked(bytes: &[u8], seed: u64) -> Option<&[u8]> {
    let (bytes, sum) = bytes.split_last_chunk()?;
    (xxh3_64_with_seed(bytes, seed) == u64::from_le_bytes(*sum)).then_some(bytes)
}

/// The body, with each sector that has another checksum computed from the others.
fn mended(mut body: Vec<u8>, parity: &[u8], expected: &[u8], seed: u64) -> Option<Vec<u8>> {
    let differ = |(n, (found, expected)): (usize, (u64, &[u8]))| {
        (found.to_le_bytes() != expected).then_some(n)
    };
    let found = sums(&body, seed).zip(expected.chunks(SUM)).enumerate();
    let faults: Vec<usize> = found.filter_map(differ).collect();
    for n in &faults {
        let mended = sector_from_others(&body, parity, *n);
        let at = range(*n, body.len());
        body[at].copy_from_slice(&mended);
    }
    let is_whole = sums(&body, seed).flat_map(u64::to_le_bytes).eq(expected.iter().copied());
    is_whole.then_some(body)
}

fn sector_from_others(body: &[u8], parity: &[u8], n: usize) -> Vec<u8> {
    let lanes = PARITY / SECTOR;
    let mut sum = parity[range(n % lanes, PARITY)].to_vec();
    let others =
        (n % lanes..body.len().div_ceil(SECTOR)).step_by(lanes).filter(|other| *other != n);
    others.for_each(|other| add(&mut sum, &body[range(other, body.len())]));
    sum.truncate(range(n, body.len()).len());
    sum
}

/// Where sector `n` of this many bytes lies.
fn range(n: usize, length: usize) -> Range<usize> {
    n * SECTOR..length.min((n + 1) * SECTOR)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FAULT: usize = 4_096;

    fn noise(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }

    /// The body according to one of the heads.
    fn found(record: &[u8], length: usize) -> [Option<Vec<u8>>; 2] {
        [0, record.len() - head_size(length)].map(|at| {
            let (body, end) = read(record, at, 7)?;
            assert_eq!(end, record.len());
            Some(body)
        })
    }

    fn is_found(record: &[u8], body: &[u8]) -> bool {
        found(record, body.len()).into_iter().flatten().any(|found| found == body)
    }

    #[test]
    fn a_fault_of_4_kib_is_repaired_wherever_it_starts() {
        for length in [SHORTEST, 5_000, 20_001] {
            let body = noise(length);
            let record = record(&body, 7);
            assert_eq!(found(&record, length), [Some(body.clone()), Some(body.clone())]);
            for start in (0..record.len()).step_by(61) {
                let mut damaged = record.clone();
                let end = record.len().min(start + FAULT);
                damaged[start..end].iter_mut().for_each(|byte| *byte = !*byte);
                assert!(is_found(&damaged, &body), "{length}: {start}");
            }
        }
    }

    proptest! {
        /// As a power cut leaves a record over an older one of the same shape: some of its sectors are old.
        #[test]
        fn a_torn_record_is_read_completely_or_not_at_all(
            length in SHORTEST..60_000, kept in prop::collection::vec(any::<bool>(), 160), shift in 0..SECTOR,
        ) {
            let body = noise(length);
            let older = record(&body.iter().map(|byte| !byte).collect::<Vec<u8>>(), 7);
            let mut torn = record(&body, 7);
            for at in 0..torn.len() {
                if !kept[(shift + at) / SECTOR] {
                    torn[at] = older[at];
                }
            }
            let old: Vec<u8> = body.iter().map(|byte| !byte).collect();
            for found in found(&torn, length).into_iter().flatten() {
                prop_assert!(found == body || found == old);
            }
        }

        #[test]
        fn any_bytes_behind_a_magic_are_read_without_a_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..60), last in any::<bool>(),
        ) {
            let magic = if last { LAST } else { FIRST };
            read(&[&magic[..], &bytes].concat(), 0, 7);
        }
    }
}
