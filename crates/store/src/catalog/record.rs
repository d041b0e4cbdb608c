//! How a record becomes a value of the catalog, and back.
//!
//! A value is a frame: one byte of format version, the CRC-32C of what follows as a
//! little-endian `u32`, then the record in CBOR (RFC 8949; structs as arrays, in the
//! order of their field numbers). The checksum is ours, whatever the engine checks.

use std::cell::RefCell;

use bytes::Bytes;
use minicbor::{Decode, Encode};

use super::{damage, keys};
use crate::{Error, Result};

const FORMAT: u8 = 1;
const HEADER: usize = 5;

/// The memory of a thread's [`SCRATCH`] that is kept from one record to the next, in bytes.
const KEPT: usize = 64 << 10;

thread_local! {
    /// Where records are encoded. Their length is not known before, so that each would either be measured first, or
    /// moved while it grows.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A value of the catalog.
pub(crate) trait Record: Sized {
    fn to_value(&self) -> Bytes;
    fn from_value(value: &[u8]) -> Result<Self>;
}

impl<T> Record for T
where
    T: Encode<()> + for<'b> Decode<'b, ()>,
{
    fn to_value(&self) -> Bytes {
        value_of(self)
    }

    fn from_value(value: &[u8]) -> Result<Self> {
        decoded(value, &mut ())
    }
}

/// The record in a value, or what of it a context asks for.
pub(crate) fn decoded<'b, C, T: Decode<'b, C>>(value: &'b [u8], context: &mut C) -> Result<T> {
    let decoded = body(value).and_then(|body| {
        minicbor::decode_with(body, context)
            .map_err(|fault| Error::damaged(format!("a record does not decode: {fault}")))
    });
    decoded.inspect_err(|error| damage::note(&error.to_string()))
}

/// The value of what is written as a record, and need not be one that is read.
pub(crate) fn value_of(record: &impl Encode<()>) -> Bytes {
    SCRATCH.with_borrow_mut(|frame| {
        frame.clear();
        frame.extend_from_slice(&[FORMAT, 0, 0, 0, 0]);
        minicbor::encode(record, &mut *frame).expect("writing to a Vec cannot fail");
        let checksum = crc32c::crc32c(&frame[HEADER..]);
        frame[1..HEADER].copy_from_slice(&checksum.to_le_bytes());
        let value = Bytes::copy_from_slice(frame);
        frame.shrink_to(KEPT);
        value
    })
}

/// The record in a frame, which is what was written.
fn body(value: &[u8]) -> Result<&[u8]> {
    let (header, body) =
        value.split_at_checked(HEADER).ok_or_else(|| Error::damaged("a record is cut short"))?;
    if header[0] != FORMAT {
        return Err(Error::damaged(format!("a record has unknown format {}", header[0]))
            .with_hint("the store may have been written by a newer cenote"));
    }
    match header[1..] == crc32c::crc32c(body).to_le_bytes() {
        true => Ok(body),
        false => Err(Error::damaged("the checksum of a record does not match")),
    }
}

/// Whether a row is what was written, as far as it has a checksum or a known length.
pub(crate) fn is_whole(key: &[u8], value: &[u8]) -> bool {
    match key.first() {
        Some(b'c' | b'h') => value.len() == 8,
        Some(b'y') => value.len() == 32,
        Some(b'O') => true,
        _ if *key == *keys::setting("feed-floor") => value.len() == 12,
        _ => value.is_empty() || body(value).is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ErrorKind;
    use crate::model::{Statement, Term};

    fn statement() -> Statement {
        Statement {
            subject: None,
            predicate: "cenote:a/x".into(),
            object: Term::string("y"),
            unit: Some("kg".into()),
        }
    }

    #[test]
    fn records_round_trip() {
        assert_eq!(Statement::from_value(&statement().to_value()).unwrap(), statement());
    }

    #[test]
    fn a_newer_format_is_refused() {
        let mut value = statement().to_value().to_vec();
        value[0] = 2;
        let error = Statement::from_value(&value).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged);
    }

    proptest! {
        #[test]
        fn every_flipped_bit_is_detected(at in 0usize..1_000, bit in 0u8..8) {
            let mut value = statement().to_value().to_vec();
            let at = at % value.len();
            value[at] ^= 1 << bit;
            prop_assert!(Statement::from_value(&value).is_err());
        }

        #[test]
        fn random_bytes_do_not_panic(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Statement::from_value(&noise);
        }
    }
}
