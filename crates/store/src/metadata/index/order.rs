//! How the index orders objects: texts, numbers, moments, then links to resources.
//!
//! A key is 64 bits, of which the first two say which of the four it is. Those of numbers and moments grow with the value, so
//! that a range of values is a range of keys. Several objects may share a key: a match is verified in the graph.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use jiff::Timestamp;
use jiff::civil::Time;
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;

use super::hash;
use crate::model::ResourceId;

/// Bits of a key after the class.
const BITS: u32 = 62;
const NUMBERS: u64 = 1 << BITS;
const MOMENTS: u64 = 2 << BITS;
const LINKS: u64 = 3 << BITS;

/// What a text is compared as, if not as text.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Value {
    /// Never NaN.
    Number(f64),
    Moment(Timestamp),
}

/// The order of two values: as numbers if both are, as moments if both are, else as text.
pub(in crate::metadata) fn compare(one: &str, other: &str) -> Ordering {
    match (Value::of(one), Value::of(other)) {
        (Some(Value::Number(one)), Some(Value::Number(other))) => one.total_cmp(&other),
        (Some(Value::Moment(one)), Some(Value::Moment(other))) => one.cmp(&other),
        _ => one.cmp(other),
    }
}

/// The keys of each class: texts, numbers, moments, links.
pub(in crate::metadata) fn classes() -> [RangeInclusive<u64>; 4] {
    [0, NUMBERS, MOMENTS, LINKS].map(|class| class..=class + (NUMBERS - 1))
}

/// The key of a text.
pub(in crate::metadata) fn text_key(text: &str) -> u64 {
    Value::of(text).map_or_else(|| plain_key(text), Value::key)
}

/// Whether it is neither a number nor a moment: no other text has its key, but by chance.
pub(super) fn is_plain(text: &str) -> bool {
    Value::of(text).is_none()
}

/// The key of a text that is neither a number nor a moment.
pub(super) fn plain_key(text: &str) -> u64 {
    hash(text) >> 2
}

/// The key of a link to a resource. Ids are assigned in sequence, so that none has more bits.
pub(in crate::metadata) fn link_key(id: ResourceId) -> u64 {
    LINKS | id.0
}

/// Ranges in which the key of each text is that is at most, or at least, the one given; others can be in them, too.
pub(in crate::metadata) fn ranges(text: &str, order: Ordering) -> Vec<RangeInclusive<u64>> {
    let Some(value) = Value::of(text) else { return vec![0..=u64::MAX] };
    // Values of different classes are compared as text.
    let class = value.class();
    let same = match order {
        Ordering::Less => class..=value.key(),
        Ordering::Equal => value.key()..=value.key(),
        Ordering::Greater => value.key()..=class + (NUMBERS - 1),
    };
    vec![0..=class - 1, same, class + NUMBERS..=u64::MAX]
}

/// Ranges in which the key of each number or moment is that is between two, and the keys of all that is neither, or not of their kind.
pub(in crate::metadata) fn between(
    least: Option<&str>,
    most: Option<&str>,
) -> Vec<RangeInclusive<u64>> {
    let ends = [(least, Ordering::Greater), (most, Ordering::Less)];
    let given = ends.into_iter().filter_map(|(text, order)| Some(ranges(text?, order)));
    given.fold(vec![0..=u64::MAX], |all, some| {
        let of = |one: &RangeInclusive<u64>| {
            let (start, end) = (*one.start(), *one.end());
            some.iter().map(move |it| start.max(*it.start())..=end.min(*it.end()))
        };
        all.iter().flat_map(of).filter(|both| !both.is_empty()).collect()
    })
}

impl Value {
    fn of(text: &str) -> Option<Self> {
        // No number or time starts with any other byte.
        text.starts_with(|c: char| c.is_ascii_digit() || "+-.iI".contains(c)).then_some(())?;
        number(text).map(Self::Number).or_else(|| moment(text).map(Self::Moment))
    }

    fn class(self) -> u64 {
        match self {
            Self::Number(_) => NUMBERS,
            Self::Moment(_) => MOMENTS,
        }
    }

    fn key(self) -> u64 {
        self.class()
            | match self {
                Self::Number(number) => {
                    let bits = number.to_bits();
                    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
                    ordered >> 2
                }
                // Less than 2^39 seconds from 1970 in either direction, with 2^20 steps in a second.
                Self::Moment(moment) => {
                    let seconds = moment.as_nanosecond().div_euclid(1_000_000_000) as i64;
                    let nanos = moment.as_nanosecond().rem_euclid(1_000_000_000) as u64;
                    ((seconds + (1 << 40)) as u64) << 20 | nanos >> 10
                }
            }
    }
}

/// A number, as `xsd:integer`, `xsd:decimal` and `xsd:double` are written, to the precision of the last. Minus zero is zero.
fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| !number.is_nan()).map(|number| number + 0.0)
}

/// A point in time, as `xsd:dateTime` and `xsd:date` are written (ISO 8601): in UTC if there is no offset, at the beginning of
/// the day where no time is.
fn moment(text: &str) -> Option<Timestamp> {
    let pieces = Pieces::parse(text).ok()?;
    if pieces.time_zone_annotation().is_some() {
        return None;
    }
    let time = pieces.time().unwrap_or(Time::midnight());
    let offset = pieces.to_numeric_offset().unwrap_or(Offset::UTC);
    offset.to_timestamp(pieces.date().to_datetime(time)).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Texts of all classes, near to each other.
    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[-+]?[0-9]{1,3}(\\.[0-9]{0,2})?(e-?[0-9])?",
            any::<f64>().prop_map(|number| number.to_string()),
            any::<i64>().prop_map(|number| number.to_string()),
            "20(19|20)-0[12]-(0[1-9]|[12][0-9])",
            "2020-01-0[12]T0[0-9]:[0-5]0(:[0-5][0-9](\\.[0-9]{1,7})?)?(Z|[-+]0[0-9]:00)?",
            "-00[0-9]{4}-01-01",
            "(inf|-inf|INF|NaN|nan|infinity|2020-01-01\\[UTC\\]|[a-c]{0,2})",
        ]
    }

    proptest! {
        #[test]
        fn keys_grow_with_the_value(one in text(), other in text()) {
            if let (Some(a), Some(b)) = (Value::of(&one), Value::of(&other))
                && a.class() == b.class()
            {
                match compare(&one, &other) {
                    Ordering::Less => prop_assert!(a.key() <= b.key(), "{} {}", one, other),
                    Ordering::Equal => prop_assert_eq!(a.key(), b.key()),
                    Ordering::Greater => prop_assert!(a.key() >= b.key(), "{} {}", one, other),
                }
            }
        }

        #[test]
        fn the_ranges_contain_smaller_and_greater_values(have in text(), want in text()) {
            let key = text_key(&have);
            let within = |order| ranges(&want, order).iter().any(|range| range.contains(&key));
            let order = compare(&have, &want);
            prop_assert!(within(order), "{} {:?} {}", have, order, want);
            prop_assert!(order != Ordering::Equal || within(Ordering::Less) && within(Ordering::Greater));
        }

        #[test]
        fn any_text_has_a_key_in_its_class(text in ".{0,12}") {
            let class = text_key(&text) >> BITS;
            prop_assert_eq!(class, Value::of(&text).map_or(0, |value| value.class() >> BITS));
        }
    }

    #[test]
    fn numbers_and_times_are_distinguished_from_text() {
        for (less, greater) in [
            ("9", "10"),
            ("-10", "-9.5"),
            ("1e3", "1001"),
            ("-INF", "0"),
            ("2019-12-31", "2020-01-01T00:00:00Z"),
            ("2020-01-01T10:00:00+02:00", "2020-01-01T09:00:00Z"),
            ("-000044-03-15", "0014-08-19"),
            ("2020-01-01T00:00:00.5Z", "2020-01-01T00:00:00.6Z"),
            ("10 m", "9 m"),
        ] {
            assert_eq!(compare(less, greater), Ordering::Less, "{less} {greater}");
        }
        for (one, other) in
            [("0", "-0.0"), ("1", "1.0"), ("2020-01-01", "2020-01-01T01:00:00+01:00")]
        {
            assert_eq!(compare(one, other), Ordering::Equal);
            assert_eq!(text_key(one), text_key(other));
        }
    }
}
