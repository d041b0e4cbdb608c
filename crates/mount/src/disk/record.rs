//! The log of a disk cache: which blocks of which contents its files have.
//!
//! | bytes | what |
//! |---|---|
//! | 0–15 | the key of the content |
//! | 16–19 | the number of the block, little-endian; `ffffffff` if the content was removed |
//! | 20–23 | its length |
//! | 24–31 | the CRC-64/NVME of its bytes |
//! | 32–39 | the CRC-64/NVME of the 32 bytes before |
//!
//! Invariant: a record is appended after the bytes of its block were written. One that was torn, or whose bytes never reached the disk,
//! does not have its checksum, and counts as missing.

use crc_fast::CrcAlgorithm::Crc64Nvme;

use super::Key;

/// The bytes of one record.
pub(super) const LENGTH: usize = 40;
/// The number that marks a content as removed.
const REMOVED: u32 = u32::MAX;

/// A block of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) length: u32,
    pub(super) sum: u64,
}

impl Block {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self { length: bytes.len() as u32, sum: checksum(bytes) }
    }
}

/// The meaning of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Record {
    /// A content has a block with this number.
    Kept(Key, u32, Block),
    /// A content has no blocks any more.
    Removed(Key),
}

impl Record {
    pub(super) fn encode(self) -> [u8; LENGTH] {
        let (key, number, block) = match self {
            Self::Kept(key, number, block) => (key, number, block),
            Self::Removed(key) => (key, REMOVED, Block { length: 0, sum: 0 }),
        };
        let mut bytes = [0; LENGTH];
        bytes[..16].copy_from_slice(&key);
        bytes[16..20].copy_from_slice(&number.to_le_bytes());
        bytes[20..24].copy_from_slice(&block.length.to_le_bytes());
        bytes[24..32].copy_from_slice(&block.sum.to_le_bytes());
        let sum = checksum(&bytes[..32]);
        bytes[32..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads a record; `None` if it is not whole.
    pub(super) fn decode(bytes: &[u8; LENGTH]) -> Option<Self> {
        let (body, sum) = bytes.split_first_chunk::<32>()?;
        if checksum(body) != u64::from_le_bytes(sum.try_into().ok()?) {
            return None;
        }
        let (key, rest) = body.split_first_chunk::<16>()?;
        let (number, rest) = rest.split_first_chunk::<4>()?;
        let (length, sum) = rest.split_first_chunk::<4>()?;
        let block = Block {
            length: u32::from_le_bytes(*length),
            sum: u64::from_le_bytes(sum.try_into().ok()?),
        };
        Some(match u32::from_le_bytes(*number) {
            REMOVED => Self::Removed(*key),
            number => Self::Kept(*key, number, block),
        })
    }
}

pub(super) fn checksum(bytes: &[u8]) -> u64 {
    crc_fast::checksum(Crc64Nvme, bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_record_reads_back_and_a_damaged_one_is_ignored(
            key: Key, number in 0..REMOVED, length: u32, sum: u64, at in 0..LENGTH, flip in 1..=255_u8,
        ) {
            for record in [Record::Kept(key, number, Block { length, sum }), Record::Removed(key)] {
                let mut bytes = record.encode();
                prop_assert_eq!(Record::decode(&bytes), Some(record));
                bytes[at] ^= flip;
                prop_assert_eq!(Record::decode(&bytes), None);
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: [u8; 32], tail: u64) {
            let mut record = [0; LENGTH];
            record[..32].copy_from_slice(&bytes);
            record[32..].copy_from_slice(&tail.to_le_bytes());
            let _ = Record::decode(&record);
        }
    }
}
