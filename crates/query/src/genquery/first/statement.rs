//! A GenQuery 1 statement as data.

use super::super::column::Column;
use super::super::plan::condition::Comparison;
use super::super::plan::expression::Aggregate;

/// A whole statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) outputs: Vec<Output>,
    /// All of these have to hold.
    pub(crate) tests: Vec<Test>,
}

/// A column of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) column: Column,
    pub(crate) function: Option<Function>,
}

/// A function applied to a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Ascending,
    Descending,
    Aggregate(Aggregate),
}

impl Function {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "order" | "order_asc" => Some(Self::Ascending),
            "order_desc" => Some(Self::Descending),
            name => Aggregate::named(name).map(Self::Aggregate),
        }
    }
}

/// A condition on one column: any of these comparisons may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Test {
    pub(crate) column: Column,
    pub(crate) any: Vec<Comparison>,
}
