//! Conditions on attributes.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use cenote_kv::KeyRange;

use crate::Result;
use crate::catalog::View;
use crate::metadata::index::order::{compare, ranges};
use crate::metadata::index::{Sought, of_attribute};
use crate::metadata::links::Links;
use crate::metadata::vocabulary::predicates_of;
use crate::model::Graph;

/// A condition on an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The attribute.
    pub attribute: String,
    /// How its value compares.
    pub comparison: Comparison,
    /// With what.
    pub value: String,
    /// Only values with this unit.
    pub unit: Option<String>,
}

/// How a value compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// It exists, in any state.
    Exists,
    /// It is the same text.
    Equal,
    /// It is another text.
    NotEqual,
    /// It is less: as a number or a moment (ISO 8601) where both are, else as text.
    Less,
    /// It is less or the same.
    LessOrEqual,
    /// It is greater.
    Greater,
    /// It is greater or the same.
    GreaterOrEqual,
    /// It matches a pattern: see [`like`].
    Like,
}

impl Condition {
    /// How much of the index a scan for it reads, roughly.
    pub(super) fn breadth(&self) -> usize {
        match self.comparison {
            Comparison::Equal => 0,
            _ => 4 - self.objects().len(),
        }
    }

    /// Where the index has all for which it holds.
    pub(super) fn ranges(&self, links: &Links<'_, View>) -> Result<Vec<KeyRange>> {
        match self.comparison {
            Comparison::Equal => Ok(Sought::new(links, &self.value)?.of_attribute(&self.attribute)),
            _ => Ok(of_attribute(&self.attribute, &self.objects())),
        }
    }

    /// The keys of all objects for which it holds, unless they have to be equal.
    fn objects(&self) -> Vec<RangeInclusive<u64>> {
        match self.comparison {
            Comparison::Less | Comparison::LessOrEqual => ranges(&self.value, Ordering::Less),
            Comparison::Greater | Comparison::GreaterOrEqual => {
                ranges(&self.value, Ordering::Greater)
            }
            _ => vec![0..=u64::MAX],
        }
    }

    pub(super) fn holds(&self, graph: &Graph) -> bool {
        let predicates = predicates_of(&self.attribute);
        graph.iter().any(|statement| {
            statement.subject.is_none()
                && predicates.contains(&statement.predicate)
                && self.unit.as_ref().is_none_or(|unit| statement.unit.as_ref() == Some(unit))
                && self.comparison.holds(statement.object.text(), &self.value)
        })
    }
}

impl Comparison {
    fn holds(self, have: &str, want: &str) -> bool {
        match self {
            Self::Exists => true,
            Self::Equal => have == want,
            Self::NotEqual => have != want,
            Self::Less => compare(have, want).is_lt(),
            Self::LessOrEqual => compare(have, want).is_le(),
            Self::Greater => compare(have, want).is_gt(),
            Self::GreaterOrEqual => compare(have, want).is_ge(),
            Self::Like => like(have, want),
        }
    }
}

/// SQL's `LIKE`: `%` is any text, `_` one character, and `\` makes the next character stand for itself, as
/// it does at the end. Takes time proportional to the product of the lengths at worst.
pub fn like(text: &str, pattern: &str) -> bool {
    let (text, pattern): (Vec<char>, Vec<Piece>) = (text.chars().collect(), pieces(pattern));
    let (mut t, mut p, mut retry) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some(Piece::Any) => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(piece) if *piece == Piece::One || *piece == Piece::This(text[t]) => {
                (t, p) = (t + 1, p + 1);
            }
            _ => match retry {
                Some((after, from)) => {
                    (t, p) = (from + 1, after);
                    retry = Some((after, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|piece| *piece == Piece::Any)
}

/// A part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Any,
    One,
    This(char),
}

fn pieces(pattern: &str) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        pieces.push(match c {
            '%' => Piece::Any,
            '_' => Piece::One,
            '\\' => Piece::This(chars.next().unwrap_or(c)),
            c => Piece::This(c),
        });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn like_has_two_wildcards() {
        for (text, pattern, matches) in [
            ("abc", "a%", true),
            ("abc", "%c", true),
            ("abc", "a_c", true),
            ("abc", "a_", false),
            ("", "%", true),
            ("", "_", false),
            ("aab", "%ab", true),
            ("a_c", r"a\_c", true),
            ("abc", r"a\_c", false),
            ("a%", r"a\%", true),
            ("ab", r"a\%", false),
            (r"a\b", r"a\\b", true),
            ("ab", r"a\b", true),
            (r"a\", r"a\", true),
        ] {
            assert_eq!(like(text, pattern), matches, "{text} like {pattern}");
        }
    }

    #[test]
    fn numbers_compare_as_numbers() {
        assert!(Comparison::Less.holds("9", "10"));
        assert!(Comparison::Greater.holds("9", "1e0"));
        assert!(Comparison::Greater.holds("b", "a"));
        assert!(!Comparison::Equal.holds("1", "1.0"));
    }

    proptest! {
        #[test]
        fn like_agrees_with_a_regular_expression(text in r"[ab%_\\]{0,6}", pattern in r"[ab%_\\]{0,6}") {
            let mut expression = String::new();
            let mut chars = pattern.chars();
            while let Some(c) = chars.next() {
                expression += &match c {
                    '%' => ".*".to_owned(),
                    '_' => ".".to_owned(),
                    '\\' => regex::escape(&chars.next().unwrap_or('\\').to_string()),
                    c => c.to_string(),
                };
            }
            let expected = regex::Regex::new(&format!("^{expression}$")).unwrap().is_match(&text);
            prop_assert_eq!(like(&text, &pattern), expected);
        }
    }
}
