//! A query as data.

use super::super::answer::groups::Aggregate;
use super::super::column::Column;

/// A whole query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) outputs: Vec<Output>,
    /// All of them have to hold.
    pub(crate) tests: Vec<Test>,
}

/// What a column of the answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) column: Column,
    pub(crate) function: Option<Function>,
}

/// What is done with a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Ascending,
    Descending,
    Minimum,
    Maximum,
    Sum,
    Average,
    Count,
}

impl Function {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "order" | "order_asc" => Self::Ascending,
            "order_desc" => Self::Descending,
            "min" => Self::Minimum,
            "max" => Self::Maximum,
            "sum" => Self::Sum,
            "avg" => Self::Average,
            "count" => Self::Count,
            _ => return None,
        })
    }

    /// What it makes of many rows; none, if it orders them.
    pub(crate) fn aggregate(self) -> Option<Aggregate> {
        Some(match self {
            Self::Ascending | Self::Descending => return None,
            Self::Minimum => Aggregate::Minimum,
            Self::Maximum => Aggregate::Maximum,
            Self::Sum => Aggregate::Sum,
            Self::Average => Aggregate::Average,
            Self::Count => Aggregate::Count,
        })
    }
}

/// A condition on one column: any of these comparisons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Test {
    pub(crate) column: Column,
    pub(crate) any: Vec<Comparison>,
}

impl Test {
    /// The only value that the column may have, if there is just one.
    pub(crate) fn only_value(&self) -> Option<&str> {
        match &self.any[..] {
            [Comparison { operator: Operator::Equal, negated: false, numeric: false, values }] => {
                values.first().map(String::as_str)
            }
            _ => None,
        }
    }

    /// The pattern that the column has to be like, if that is all.
    pub(crate) fn only_pattern(&self) -> Option<&str> {
        match &self.any[..] {
            [Comparison { operator: Operator::Like, negated: false, values, .. }] => {
                values.first().map(String::as_str)
            }
            _ => None,
        }
    }
}

/// How a value compares with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comparison {
    pub(crate) operator: Operator,
    pub(crate) negated: bool,
    /// Compare as numbers, whatever the type of the column.
    pub(crate) numeric: bool,
    /// One value; two for [`Operator::Between`]; any number for [`Operator::In`].
    pub(crate) values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Like,
    In,
    Between,
}

impl Operator {
    #[cfg(test)]
    pub(crate) const ALL: &[Self] = &[
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessOrEqual,
        Self::Greater,
        Self::GreaterOrEqual,
        Self::Like,
        Self::In,
        Self::Between,
    ];

    /// How it is written.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Like => "like",
            Self::In => "in",
            Self::Between => "between",
        }
    }

    /// Whether it is a word, which `not` may stand before.
    pub(crate) fn is_word(self) -> bool {
        matches!(self, Self::Like | Self::In | Self::Between)
    }

    /// The operator that a sign is.
    pub(crate) fn of_sign(sign: &str) -> Option<Self> {
        Some(match sign {
            "=" => Self::Equal,
            "<>" | "!=" => Self::NotEqual,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            _ => return None,
        })
    }

    /// The operator that a word is, in whatever case.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        Some(match word.to_ascii_lowercase().as_str() {
            "like" => Self::Like,
            "in" => Self::In,
            "between" => Self::Between,
            _ => return None,
        })
    }
}
