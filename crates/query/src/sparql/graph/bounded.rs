//! The values that conditions leave of the objects of a predicate, as the index of the store has them in order.
//!
//! Invariant: every literal that SPARQL compares as between two constants is between their texts here. So both are moved apart a little: by the
//! precision of an `xsd:float`, and by the offsets that a moment without one may have.

use cenote_rdf::{Bounds, Literal, NamedNode};
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

use super::Graph;
use super::managed::XSD;
use super::node::Node;
use crate::Result;

/// The texts of two numbers or moments; none means no end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Between {
    least: Option<String>,
    most: Option<String>,
}

/// The types that are compared as numbers.
const NUMBERS: [&str; 16] = [
    "integer",
    "decimal",
    "float",
    "double",
    "nonPositiveInteger",
    "negativeInteger",
    "long",
    "int",
    "short",
    "byte",
    "nonNegativeInteger",
    "unsignedLong",
    "unsignedInt",
    "unsignedShort",
    "unsignedByte",
    "positiveInteger",
];

/// Which number is moved, and how far: numbers that are the same as `xsd:float` are nearer.
const LARGEST: f64 = 1e30;
const RELATIVE: f64 = 1e-6;
const ABSOLUTE: f64 = 1e-30;

/// No offset is further from UTC.
const FARTHEST: SignedDuration = SignedDuration::from_hours(15);

impl Graph<'_> {
    /// Reads of predicates with bounds only what is within them.
    pub(super) fn bound(
        &mut self,
        bounds: impl IntoIterator<Item = (NamedNode, Bounds)>,
    ) -> Result<()> {
        for (predicate, bounds) in bounds {
            let node = self.inward(predicate.into())?;
            self.bounds.extend(Between::of(&bounds).map(|between| (node, between)));
        }
        Ok(())
    }

    pub(super) fn between(&self, predicate: &Node) -> Option<&Between> {
        self.bounds.get(predicate)
    }
}

impl Between {
    fn of(bounds: &Bounds) -> Option<Self> {
        let least = bounds.least.as_ref().and_then(|literal| moved(literal, -1));
        let most = bounds.most.as_ref().and_then(|literal| moved(literal, 1));
        (least.is_some() || most.is_some()).then_some(Self { least, most })
    }

    pub(super) fn texts(&self) -> (Option<&str>, Option<&str>) {
        (self.least.as_deref(), self.most.as_deref())
    }
}

/// The text of a number or moment, moved down or up; none for what is neither.
fn moved(literal: &Literal, direction: i32) -> Option<String> {
    let datatype = literal.datatype();
    match datatype.as_str().strip_prefix(XSD)? {
        "dateTime" | "date" => moment(literal.value(), direction),
        name if NUMBERS.contains(&name) => number(literal.value(), direction),
        _ => None,
    }
}

fn number(text: &str, direction: i32) -> Option<String> {
    let number = text.parse::<f64>().ok().filter(|number| number.abs() < LARGEST)?;
    let distance = number.abs() * RELATIVE + ABSOLUTE;
    Some((number + distance * f64::from(direction)).to_string())
}

fn moment(text: &str, direction: i32) -> Option<String> {
    let in_utc = || Offset::UTC.to_timestamp(text.parse().ok()?).ok();
    let moment = text.parse::<Timestamp>().ok().or_else(in_utc)?;
    Some(moment.checked_add(FARTHEST * direction).ok()?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(text: &str, datatype: &str) -> Option<Between> {
        let literal =
            Literal::new_typed_literal(text, NamedNode::new_unchecked(format!("{XSD}{datatype}")));
        Between::of(&Bounds { least: Some(literal.clone()), most: Some(literal) })
    }

    #[test]
    fn equal_values_are_within_the_bounds_of_a_constant() {
        for (text, datatype) in
            [("0.1", "decimal"), ("-7", "integer"), ("0", "int"), ("1e29", "double")]
        {
            let between = between(text, datatype).unwrap();
            let [least, most] =
                [between.least, between.most].map(|it| it.unwrap().parse::<f64>().unwrap());
            let number: f64 = text.parse().unwrap();
            assert!(least < number && number < most, "{text}");
            assert!(least as f32 <= number as f32 && number as f32 <= most as f32, "{text}");
        }
        let local = between("2020-01-02T03:04:05", "dateTime").unwrap();
        assert_eq!(local.least.as_deref(), Some("2020-01-01T12:04:05Z"));
        assert_eq!(local.most.as_deref(), Some("2020-01-02T18:04:05Z"));
        assert_eq!(
            between("2020-01-02", "date").unwrap().most.as_deref(),
            Some("2020-01-02T15:00:00Z")
        );
    }

    #[test]
    fn other_constants_bound_nothing() {
        for (text, datatype) in [
            ("5", "string"),
            ("INF", "double"),
            ("NaN", "double"),
            ("x", "integer"),
            ("2020-01-02T24:00:00", "dateTime"),
            ("true", "boolean"),
        ] {
            assert_eq!(between(text, datatype), None, "{text}");
        }
    }
}
