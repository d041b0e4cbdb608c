//! Conditions on rows.

use super::super::column::Column;
use super::expression::Expression;

/// A condition: true, false or unknown for a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Compare(Expression, Comparison),
    IsNull(Expression),
}

impl Condition {
    /// True for every row.
    pub(crate) const ALWAYS: Self = Self::All(Vec::new());

    /// Calls `each` with every column in it.
    pub(crate) fn columns(&self, each: &mut dyn FnMut(Column)) {
        match self {
            Self::All(inner) | Self::Any(inner) => {
                inner.iter().for_each(|condition| condition.columns(each));
            }
            Self::Not(inner) => inner.columns(each),
            Self::Compare(expression, _) | Self::IsNull(expression) => expression.columns(each),
        }
    }
}

/// How a value compares with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comparison {
    pub(crate) operator: Operator,
    pub(crate) negated: bool,
    /// Compare numerically, whatever the type of the column.
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

    /// How the operator is written.
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

    /// Whether it is a word, which may be preceded by `not`.
    pub(crate) fn is_word(self) -> bool {
        matches!(self, Self::Like | Self::In | Self::Between)
    }

    /// The operator for a sign.
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

    /// The operator for a word, ignoring case.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        Some(match word.to_ascii_lowercase().as_str() {
            "like" => Self::Like,
            "in" => Self::In,
            "between" => Self::Between,
            _ => return None,
        })
    }
}
