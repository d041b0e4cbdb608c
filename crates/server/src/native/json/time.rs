//! Times on the wire: RFC 3339 in UTC with nanoseconds.

use std::borrow::Cow;
use std::str::FromStr;

use cenote_store::Time;
use jiff::Timestamp;
use jiff::tz::Offset;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// A point in time, as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instant(pub(crate) Time);

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.text();
        serializer.serialize_str(std::str::from_utf8(&text).map_err(serde::ser::Error::custom)?)
    }
}

impl std::fmt::Display for Instant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(std::str::from_utf8(&self.text()).map_err(|_| std::fmt::Error)?)
    }
}

impl Instant {
    /// Its text, which always has the same length. A listing has several for each entry, and `write!` takes a multiple of the time.
    fn text(self) -> [u8; 30] {
        let timestamp = Timestamp::from_nanosecond(self.0.nanos().into());
        let timestamp = timestamp.expect("64 bits of nanoseconds lie within its 20,000 years");
        let at = Offset::UTC.to_datetime(timestamp);
        let mut text = *b"0000-00-00T00:00:00.000000000Z";
        write_digits(&mut text[..4], at.year() as u32);
        let parts = [at.month(), at.day(), at.hour(), at.minute(), at.second()];
        for (from, part) in [5, 8, 11, 14, 17].into_iter().zip(parts) {
            write_digits(&mut text[from..from + 2], part as u32);
        }
        write_digits(&mut text[20..29], at.subsec_nanosecond() as u32);
        text
    }
}

fn write_digits(text: &mut [u8], mut number: u32) {
    for digit in text.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl FromStr for Instant {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let timestamp: Timestamp =
            text.parse().map_err(|_| "a time is written like 2026-11-21T20:24:00Z")?;
        let nanos = i64::try_from(timestamp.as_nanosecond())
            .map_err(|_| "a time must be between the years 1678 and 2262")?;
        Ok(Self(Time::from_nanos(nanos)))
    }
}

impl PartialSchema for Instant {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .examples(["2026-11-21T20:24:00.123456789Z"])
            .into()
    }
}

impl ToSchema for Instant {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_time_round_trips(nanos: i64) {
            let text = serde_json::to_string(&Instant(Time::from_nanos(nanos))).unwrap();
            let back: Instant = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(back.0.nanos(), nanos);
            let timestamp = Timestamp::from_nanosecond(nanos.into()).unwrap();
            prop_assert_eq!(text, format!("\"{timestamp:.9}\""));
        }
    }

    #[test]
    fn a_time_has_nine_digits_and_any_offset_is_parsed() {
        let text = serde_json::to_string(&Instant(Time::from_secs(784_111_777))).unwrap();
        assert_eq!(text, "\"1994-11-06T08:49:37.000000000Z\"");
        let there: Instant = serde_json::from_str("\"1994-11-06T09:49:37+01:00\"").unwrap();
        assert_eq!(there.0, Time::from_secs(784_111_777));
        for wrong in ["\"\"", "\"1994-11-06\"", "7", "\"9999-01-01T00:00:00Z\""] {
            assert!(serde_json::from_str::<Instant>(wrong).is_err(), "{wrong}");
        }
    }
}
