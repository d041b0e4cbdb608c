//! Cursors that can name what their caller may not see: a client gets them sealed.
//!
//! The key is generated when the server starts, so cursors become invalid when it stops. Servers over one catalog have one key,
//! which is in it.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use cenote_store::{Entropy, ErrorKind, Store, SystemEntropy};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::app::App;
use crate::native::request::query::page_limit;
use crate::problem::{Problem, ProblemKind};

/// The length of a page, and the sealed cursor at which it begins. The length is checked first: that a cursor has ended is
/// reported only where the rest of the request is valid.
pub(crate) fn page<C>(
    app: &App,
    of: &str,
    (limit, most): (Option<u32>, usize),
    after: Option<&str>,
    read: impl FnOnce(&[u8]) -> cenote_store::Result<C>,
) -> Result<(usize, Option<C>), Problem> {
    let limit = page_limit(limit, most)?;
    let after = after.map(|text| app.cursors().open(of, text)).transpose()?;
    Ok((limit, after.map(|bytes| read(&bytes)).transpose()?))
}

/// Seals cursors, and opens those that it sealed.
#[derive(Debug)]
pub(crate) struct CursorSeal(LessSafeKey);

impl CursorSeal {
    /// A seal with the key of the servers over a catalog, or one of its own.
    pub(crate) fn of(store: &Store) -> Self {
        let shared = store.in_place(|store| store.shared_key("cursors"));
        match shared {
            Ok(Some(key)) => Self::with(key),
            Ok(None) => Self::new(),
            Err(error) => {
                tracing::warn!(target: "cenote", %error, "cursors of this server are its own");
                Self::new()
            }
        }
    }

    /// A seal with a key of its own.
    pub(crate) fn new() -> Self {
        let mut key = [0; 32];
        SystemEntropy.fill(&mut key);
        Self::with(key)
    }

    fn with(key: [u8; 32]) -> Self {
        let key =
            UnboundKey::new(&CHACHA20_POLY1305, &key).expect("the key has the cipher's length");
        Self(LessSafeKey::new(key))
    }

    /// The bytes of a cursor as an opaque text. `of` names the kind of listing that it belongs to.
    pub(crate) fn close(&self, of: &str, cursor: Vec<u8>) -> String {
        let mut nonce = [0; NONCE_LEN];
        SystemEntropy.fill(&mut nonce);
        let mut sealed = cursor;
        let unique = Nonce::assume_unique_for_key(nonce);
        let done = self.0.seal_in_place_append_tag(unique, Aad::from(of), &mut sealed);
        done.expect("a cursor is shorter than what the cipher can take");
        BASE64_URL_SAFE_NO_PAD.encode([nonce.as_slice(), sealed.as_slice()].concat())
    }

    /// The bytes in a text that [`CursorSeal::close`] gave for the same kind of listing.
    pub(crate) fn open(&self, of: &str, text: &str) -> Result<Vec<u8>, Problem> {
        let mut bytes = BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| ended())?;
        let (nonce, sealed) = bytes.split_first_chunk_mut::<NONCE_LEN>().ok_or_else(ended)?;
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = self.0.open_in_place(nonce, Aad::from(of), sealed).map_err(|_| ended())?;
        Ok(opened.to_vec())
    }
}

fn ended() -> Problem {
    Problem::new(ProblemKind::Store(ErrorKind::Expired), "`after` is not a cursor of this server")
        .with_hint("begin again without it: cursors become invalid when the server stops")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_cursor_is_opaque_and_opened_only_by_its_issuer() {
        let seal = CursorSeal::new();
        let cursor = b"thidden/name".to_vec();
        let text = seal.close("search", cursor.clone());
        assert_eq!(seal.open("search", &text).unwrap(), cursor);
        assert!(seal.open("shared", &text).is_err());
        assert_ne!(seal.close("search", cursor), text);
        assert!(CursorSeal::new().open("search", &text).is_err());
        let mut wrong = text.clone().into_bytes();
        wrong[20] = if wrong[20] == b'A' { b'B' } else { b'A' };
        for text in
            [String::from_utf8(wrong).unwrap(), String::new(), "?".to_owned(), "AAAA".to_owned()]
        {
            assert!(seal.open("search", &text).is_err(), "{text}");
        }
    }
}
