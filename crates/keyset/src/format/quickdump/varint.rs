//! The variable-length integers of quickdump version 3: the number of trailing zero bits of the first byte is the
//! number of bytes that follow it; a zero byte is followed by eight.

use crate::format::Fault;
use crate::format::input::Input;

/// The maximum for eight bytes: seven bits of each.
const EIGHT_BYTES_MAX: u64 = (1 << 56) - 1;

/// Appends a number in its shortest form.
#[inline]
pub(crate) fn write(value: u64, out: &mut Vec<u8>) {
    if value < 0x80 {
        out.push((value as u8) << 1 | 1);
    } else if value <= EIGHT_BYTES_MAX {
        let width = width(value);
        let coded = (value << 1 | 1) << (width - 1);
        out.extend_from_slice(&coded.to_le_bytes()[..width as usize]);
    } else {
        out.push(0);
        out.extend_from_slice(&value.to_le_bytes());
    }
}

/// The number of bytes that a number takes, up to eight.
#[inline]
pub(crate) fn width(value: u64) -> u64 {
    if value < 0x80 {
        return 1;
    }
    let bits = u64::from(u64::BITS - value.leading_zeros());
    1 + (bits - 1) / 7
}

/// The number whose first byte has already been taken.
#[inline]
pub(crate) fn read_from(first: u8, input: &mut impl Input) -> Result<Number, Box<Fault>> {
    if first & 1 == 1 {
        return Ok(Number { value: u64::from(first >> 1), shortest: true });
    }
    read_long(first, input)
}

/// A number, and whether it was in its shortest form.
pub(crate) struct Number {
    pub(crate) value: u64,
    pub(crate) shortest: bool,
}

fn read_long(first: u8, input: &mut impl Input) -> Result<Number, Box<Fault>> {
    let mut bytes = [0; 8];
    if first == 0 {
        bytes.copy_from_slice(input.exactly(8)?.as_ref());
        let value = u64::from_le_bytes(bytes);
        return Ok(Number { value, shortest: value > EIGHT_BYTES_MAX });
    }
    let follow = first.trailing_zeros();
    bytes[0] = first;
    bytes[1..=follow as usize].copy_from_slice(input.exactly(u64::from(follow))?.as_ref());
    let value = u64::from_le_bytes(bytes) >> (follow + 1);
    Ok(Number { value, shortest: width(value) == u64::from(follow) + 1 })
}
