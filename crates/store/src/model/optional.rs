//! Optional fields in the middle of records that are read in large numbers.
//!
//! The same bytes as those of `Option`. An absent field is passed over as the one byte that it is: a general skip of a value, as the
//! decoder of `Option` does it, takes ten times as long, which is seen in a listing of many objects.

use minicbor::encode::Write;
use minicbor::{Decode, Decoder, Encode, Encoder};

/// The byte of an absent value (RFC 8949, section 3.3).
const NULL: u8 = 0xf6;

pub(super) fn encode<C, T: Encode<C>, W: Write>(
    value: &Option<T>,
    e: &mut Encoder<W>,
    ctx: &mut C,
) -> Result<(), minicbor::encode::Error<W::Error>> {
    value.encode(e, ctx)
}

pub(super) fn decode<'b, C, T: Decode<'b, C>>(
    d: &mut Decoder<'b>,
    ctx: &mut C,
) -> Result<Option<T>, minicbor::decode::Error> {
    let at = d.position();
    if d.input().get(at) == Some(&NULL) {
        d.set_position(at + 1);
        return Ok(None);
    }
    T::decode(d, ctx).map(Some)
}

pub(super) fn nil<T>() -> Option<Option<T>> {
    Some(None)
}

pub(super) fn is_nil<T>(value: &Option<T>) -> bool {
    value.is_none()
}
