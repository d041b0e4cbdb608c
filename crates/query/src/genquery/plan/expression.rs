//! Expressions over one row, and aggregates over many.

use super::super::column::{Column, Type};

/// A column of the result: an expression on each row, or an aggregate of many rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Output {
    Plain(Expression),
    Aggregate(Aggregate, Expression),
}

/// An expression on a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expression {
    Column(Column),
    Text(String),
    Number(u64),
    Call(Function, Vec<Expression>),
    Cast(Box<Expression>, CastType),
}

impl Expression {
    /// How its values compare and sort.
    pub(crate) fn r#type(&self) -> Type {
        match self {
            Self::Column(column) => column.r#type(),
            Self::Number(_) | Self::Call(Function::Length, _) => Type::Integer,
            Self::Cast(_, CastType::Integer | CastType::Decimal) => Type::Integer,
            _ => Type::Text,
        }
    }

    /// Calls `each` with every column in it.
    pub(crate) fn columns(&self, each: &mut dyn FnMut(Column)) {
        match self {
            Self::Column(column) => each(*column),
            Self::Call(_, arguments) => arguments.iter().for_each(|inner| inner.columns(each)),
            Self::Cast(inner, _) => inner.columns(each),
            Self::Text(_) | Self::Number(_) => {}
        }
    }
}

impl Output {
    /// The expression on each row; `None` for an aggregate.
    pub(crate) fn plain(&self) -> Option<&Expression> {
        match self {
            Self::Plain(expression) => Some(expression),
            Self::Aggregate(..) => None,
        }
    }

    pub(crate) fn expression(&self) -> &Expression {
        match self {
            Self::Plain(expression) | Self::Aggregate(_, expression) => expression,
        }
    }

    /// How its values compare and sort.
    pub(crate) fn r#type(&self) -> Type {
        match self {
            Self::Plain(expression) => expression.r#type(),
            Self::Aggregate(aggregate, of) => aggregate.r#type(of.r#type()),
        }
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $type:ident: $($word:literal $variant:ident),* $(,)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $type { $($variant),* }

        impl $type {
            /// Looks one up by name, ignoring case.
            pub(crate) fn named(name: &str) -> Option<Self> {
                match name.to_ascii_lowercase().as_str() {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }

            pub(crate) fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$variant),*];
        }
    };
}

words! {
    /// Computes one value from the values of a row.
    Function: "upper" Upper, "lower" Lower, "concat" Concat, "substr" Substring, "length" Length,
}

words! {
    /// Computes one value from many rows.
    Aggregate: "count" Count, "sum" Sum, "avg" Average, "min" Minimum, "max" Maximum,
}

words! {
    /// What a value is cast to: a database text type, or a number.
    CastType: "int" Integer, "decimal" Decimal, "varchar" Text,
}

impl Aggregate {
    /// How the result is compared, according to the type of the argument.
    pub(crate) fn r#type(self, of: Type) -> Type {
        match self {
            Self::Minimum | Self::Maximum => of,
            Self::Count | Self::Sum | Self::Average => Type::Integer,
        }
    }
}
