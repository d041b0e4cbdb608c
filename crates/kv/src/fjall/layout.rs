//! The engine's own rows, all below 0xff, which no caller's key starts with.
//!
//! | key | value |
//! |---|---|
//! | `ff 'v'` | the version of the newest commit, big-endian `u64` |
//! | `ff 'm'` | nothing; written when the tree is merged as a whole |
//! | `ff 't'` + slot, big-endian `u32` | version, big-endian `u64`, and token of a commit |
//! | `ff 'l'` | 2: the log has its second layout, and there is a mark beside it |
//!
//! Tokens are stored in a ring: the slot is the version modulo [`SLOTS`], so that a commit
//! overwrites the token that has expired and nothing has to be pruned.

use bytes::Bytes;

use crate::{Token, Version};

/// Where the keys of callers end.
pub(super) const END: [u8; 1] = [0xff];
/// The newest version.
pub(super) const VERSION: [u8; 2] = [0xff, b'v'];
/// Written when the tree is merged as a whole.
pub(super) const MERGED: [u8; 2] = [0xff, b'm'];
/// The prefix of the ring of tokens.
pub(super) const TOKENS: [u8; 2] = [0xff, b't'];

/// Whether there are a log and a mark, with the layout of the log.
pub(super) const LOG: [u8; 2] = [0xff, b'l'];
/// The layout of the log.
pub(super) const LOG_LAYOUT: u8 = 2;

/// Commits whose tokens are remembered.
pub(super) const SLOTS: u64 = 1 << 17;

/// The row that remembers `token`.
pub(super) fn token_row(version: Version, token: &Token) -> (Bytes, Bytes) {
    let slot = (version % SLOTS) as u32;
    let key = [TOKENS.as_slice(), &slot.to_be_bytes()].concat();
    let value = [version.to_be_bytes().as_slice(), token].concat();
    (key.into(), value.into())
}

/// Reads a row of the ring; none if it is not one.
pub(super) fn parse_token(value: &[u8]) -> Option<(Version, &Token)> {
    let (version, token) = value.split_first_chunk()?;
    Some((Version::from_be_bytes(*version), token.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_row_reads_back() {
        let (key, value) = token_row(7, &[3; 16]);
        assert!(key.starts_with(&TOKENS));
        assert_eq!(parse_token(&value), Some((7, &[3; 16])));
        assert_eq!(parse_token(&value[1..]), None);
        assert_eq!(parse_token(b""), None);
    }

    #[test]
    fn a_commit_overwrites_the_token_that_it_expires() {
        let key = |version| token_row(version, &[0; 16]).0;
        assert_eq!(key(5), key(5 + SLOTS));
        assert_ne!(key(5), key(6));
        assert_ne!(key(5), key(4 + SLOTS));
    }
}
