//! Times in answers of which there are very many: read at once in the form that the server writes, and by the general parser in every other.

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::Offset;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// A time as text.
pub(super) fn required<'de, D: Deserializer<'de>>(value: D) -> Result<Timestamp, D::Error> {
    read(<&str>::deserialize(value)?).map_err(D::Error::custom)
}

/// The same where there may be none.
pub(super) fn optional<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<&str>::deserialize(value)?;
    text.map(read).transpose().map_err(D::Error::custom)
}

fn read(text: &str) -> Result<Timestamp, jiff::Error> {
    match text.as_bytes().try_into().ok().and_then(plain) {
        Some(time) => Ok(time),
        None => text.parse(),
    }
}

/// A time in UTC with nanoseconds: `2026-11-21T20:24:00.123456789Z`.
fn plain(text: &[u8; 30]) -> Option<Timestamp> {
    let marks = [4, 7, 10, 13, 16, 19, 29].map(|at| text[at]);
    if marks != *b"--T::.Z" {
        return None;
    }
    let [year, month, day, hour, minute, second] =
        [0..4, 5..7, 8..10, 11..13, 14..16, 17..19].map(|part| number(&text[part]));
    let date = Date::new(year? as i16, month? as i8, day? as i8).ok()?;
    let nanosecond = number(&text[20..29])?;
    let time = Time::new(hour? as i8, minute? as i8, second? as i8, nanosecond).ok()?;
    Offset::UTC.to_timestamp(date.to_datetime(time)).ok()
}

fn number(digits: &[u8]) -> Option<i32> {
    digits.iter().try_fold(0, |number, digit| {
        digit.is_ascii_digit().then(|| number * 10 + i32::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_form_of_a_time_is_read_as_the_general_parser_reads_it() {
        for text in [
            "2026-11-21T20:24:00.123456789Z",
            "2026-11-21T20:24:60.123456789Z",
            "2026-11-21T20:24:00Z",
            "2026-11-21T21:24:00.123456789+01:00",
            "2026-02-30T20:24:00.123456789Z",
            "2026-11-21T20:24:00.12345678xZ",
            "+999-11-21T20:24:00.123456789Z",
            "",
        ] {
            assert_eq!(read(text).ok(), text.parse().ok(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_time_that_the_server_writes_is_read_at_once(nanos: i64) {
            let time = Timestamp::from_nanosecond(nanos.into()).unwrap();
            let text = format!("{time:.9}");
            prop_assert_eq!(plain(text.as_bytes().try_into().unwrap()), Some(time));
        }
    }
}
