//! A query as data.

use super::super::column::{Column, Type};
use super::super::first::statement::Comparison;

/// A whole query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Select {
    pub(super) distinct: bool,
    pub(super) outputs: Vec<Output>,
    pub(super) condition: Option<Condition>,
    /// Checked, and nothing else: the rows are grouped by the outputs that are no aggregates.
    pub(super) group: Vec<Expression>,
    /// Each with whether it descends.
    pub(super) order: Vec<(Output, bool)>,
    pub(super) offset: usize,
    pub(super) limit: Option<usize>,
}

/// What a column of the answer is: a value of each row, or one of many rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Output {
    Plain(Expression),
    Aggregate(Aggregate, Expression),
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expression {
    Column(Column),
    Text(String),
    Number(u64),
    Call(Function, Vec<Expression>),
    Cast(Box<Expression>, CastType),
}

impl Expression {
    /// How its values compare and sort.
    pub(super) fn r#type(&self) -> Type {
        match self {
            Self::Column(column) => column.r#type(),
            Self::Number(_) | Self::Call(Function::Length, _) => Type::Integer,
            Self::Cast(_, CastType::Integer | CastType::Decimal) => Type::Integer,
            _ => Type::Text,
        }
    }

    /// Gives every column in it to `each`.
    pub(super) fn columns(&self, each: &mut dyn FnMut(Column)) {
        match self {
            Self::Column(column) => each(*column),
            Self::Call(_, arguments) => arguments.iter().for_each(|inner| inner.columns(each)),
            Self::Cast(inner, _) => inner.columns(each),
            Self::Text(_) | Self::Number(_) => {}
        }
    }
}

/// Something that holds of a row, or does not, or is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Compare(Expression, Comparison),
    IsNull(Expression),
}

impl Condition {
    /// Gives every expression in it to `each`.
    pub(super) fn expressions<'a>(&'a self, each: &mut dyn FnMut(&'a Expression)) {
        match self {
            Self::All(inner) | Self::Any(inner) => {
                inner.iter().for_each(|condition| condition.expressions(each));
            }
            Self::Not(inner) => inner.expressions(each),
            Self::Compare(expression, _) | Self::IsNull(expression) => each(expression),
        }
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $type:ident: $($word:literal $variant:ident),* $(,)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum $type { $($variant),* }

        impl $type {
            /// The one of a name, in whatever case.
            pub(super) fn named(name: &str) -> Option<Self> {
                match name.to_ascii_lowercase().as_str() {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }

            pub(super) fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            #[cfg(test)]
            pub(super) const ALL: &[Self] = &[$(Self::$variant),*];
        }
    };
}

words! {
    /// What makes one value of the values of a row.
    Function: "upper" Upper, "lower" Lower, "concat" Concat, "substr" Substring, "length" Length,
}

words! {
    /// What makes one value of many rows.
    Aggregate: "count" Count, "sum" Sum, "avg" Average, "min" Minimum, "max" Maximum,
}

words! {
    /// What a value is taken for: texts of the database, or numbers.
    CastType: "int" Integer, "decimal" Decimal, "varchar" Text,
}
