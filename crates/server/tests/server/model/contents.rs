//! Bytes of a known pattern, and sizes and offsets around the boundaries of the store.

use proptest::prelude::*;

/// Bytes determined by a seed: zeros for 0, otherwise each run of eight differs from every other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Contents {
    pub(super) seed: u8,
    pub(super) length: usize,
}

impl Contents {
    pub(super) fn bytes(self) -> Vec<u8> {
        if self.seed == 0 {
            return vec![0; self.length];
        }
        let word = |at: u64| {
            // SplitMix64: one word per position, without state.
            let mixed = (at ^ (u64::from(self.seed) << 56)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (mixed ^ (mixed >> 27)).to_le_bytes()
        };
        let mut bytes: Vec<u8> = (0..self.length.div_ceil(8) as u64).flat_map(word).collect();
        bytes.truncate(self.length);
        bytes
    }
}

pub(super) const KIB: usize = 1 << 10;
pub(super) const MIB: usize = 1 << 20;

/// The sizes at which the store behaves differently.
pub(super) const BOUNDARIES: [usize; 4] = [64 * KIB, 512 * KIB, MIB, 8 * MIB];

fn around(boundary: usize) -> impl Strategy<Value = usize> {
    boundary - 2..boundary + 3
}

/// A length or an offset.
pub(super) fn length() -> impl Strategy<Value = usize> {
    prop_oneof![
        2 => 0..200_usize,
        3 => 0..70 * KIB,
        3 => around(BOUNDARIES[0]),
        3 => around(BOUNDARIES[1]),
        2 => around(BOUNDARIES[2]),
        1 => around(BOUNDARIES[3]),
        4 => 0..3 * MIB,
    ]
}

pub(super) fn contents() -> impl Strategy<Value = Contents> {
    (0..=9_u8, length()).prop_map(|(seed, length)| Contents { seed, length })
}

/// At least one byte.
pub(super) fn some() -> impl Strategy<Value = Contents> {
    contents().prop_map(|Contents { seed, length }| Contents { seed, length: length.max(1) })
}

/// Overwrites bytes, filling a gap with zeros.
pub(super) fn lay(content: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    content.resize(content.len().max(end), 0);
    content[offset..end].copy_from_slice(bytes);
}
