//! Cursors of searches, which can name what their caller may not see: they go out sealed.
//!
//! The key is made when the server starts, so a cursor ends with it.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use cenote_store::{Entropy, ErrorKind, SearchCursor, SystemEntropy};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::problem::{Problem, ProblemKind};

/// Seals cursors, and opens those that it sealed.
#[derive(Debug)]
pub(crate) struct CursorSeal(LessSafeKey);

impl CursorSeal {
    /// A seal with a key of its own.
    pub(crate) fn new() -> Self {
        let mut key = [0; 32];
        SystemEntropy.fill(&mut key);
        let key =
            UnboundKey::new(&CHACHA20_POLY1305, &key).expect("the key has the cipher's length");
        Self(LessSafeKey::new(key))
    }

    /// The cursor as a text that says nothing.
    pub(crate) fn close(&self, cursor: &SearchCursor) -> String {
        let mut nonce = [0; NONCE_LEN];
        SystemEntropy.fill(&mut nonce);
        let mut sealed = cursor.to_bytes();
        let unique = Nonce::assume_unique_for_key(nonce);
        let done = self.0.seal_in_place_append_tag(unique, Aad::empty(), &mut sealed);
        done.expect("a cursor is shorter than what the cipher can take");
        BASE64_URL_SAFE_NO_PAD.encode([nonce.as_slice(), sealed.as_slice()].concat())
    }

    /// The cursor in a text that [`CursorSeal::close`] gave.
    pub(crate) fn open(&self, text: &str) -> Result<SearchCursor, Problem> {
        let mut bytes = BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| ended())?;
        let (nonce, sealed) = bytes.split_first_chunk_mut::<NONCE_LEN>().ok_or_else(ended)?;
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = self.0.open_in_place(nonce, Aad::empty(), sealed).map_err(|_| ended())?;
        SearchCursor::from_bytes(opened).map_err(Problem::from)
    }
}

fn ended() -> Problem {
    Problem::new(
        ProblemKind::Store(ErrorKind::Expired),
        "`after` is no cursor that this server gave",
    )
    .with_hint("begin the search again: cursors end when the server stops")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_cursor_is_opened_by_who_sealed_it_and_says_nothing() {
        let seal = CursorSeal::new();
        let cursor = SearchCursor::from_bytes(b"thidden/name").unwrap();
        let text = seal.close(&cursor);
        assert_eq!(seal.open(&text).unwrap(), cursor);
        assert_ne!(seal.close(&cursor), text);
        assert!(CursorSeal::new().open(&text).is_err());
        let mut wrong = text.clone().into_bytes();
        wrong[20] = if wrong[20] == b'A' { b'B' } else { b'A' };
        for text in
            [String::from_utf8(wrong).unwrap(), String::new(), "?".to_owned(), "AAAA".to_owned()]
        {
            assert!(seal.open(&text).is_err(), "{text}");
        }
    }
}
