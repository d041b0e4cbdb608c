//! Formats a query as text, in a canonical form that parses to the same query.

use std::fmt::{Display, Formatter, Result, Write};

use super::super::plan::condition::{Comparison, Condition, Operator};
use super::super::plan::expression::{Expression, Output};
use super::statement::Select;

/// Writes items separated by commas.
fn list<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> Result {
    for (place, item) in items.iter().enumerate() {
        let comma = if place == 0 { "" } else { ", " };
        write!(f, "{comma}{item}")?;
    }
    Ok(())
}

/// A quoted value.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_char('\'')?;
        for c in self.0.chars() {
            match c {
                '\'' => f.write_str("''")?,
                '\\' => f.write_str("\\x5c")?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('\'')
    }
}

impl Display for Select {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(if self.distinct { "select " } else { "select no distinct " })?;
        list(f, &self.outputs)?;
        if let Some(condition) = &self.condition {
            write!(f, " where {condition}")?;
        }
        if !self.group.is_empty() {
            f.write_str(" group by ")?;
            list(f, &self.group)?;
        }
        for (place, (output, descending)) in self.order.iter().enumerate() {
            let before = if place == 0 { " order by" } else { "," };
            write!(f, "{before} {output}{}", if *descending { " desc" } else { "" })?;
        }
        if self.offset > 0 {
            write!(f, " offset {}", self.offset)?;
        }
        self.limit.map_or(Ok(()), |limit| write!(f, " limit {limit}"))
    }
}

impl Display for Output {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Plain(expression) => write!(f, "{expression}"),
            Self::Aggregate(aggregate, of) => write!(f, "{}({of})", aggregate.word()),
        }
    }
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Column(column) => f.write_str(column.name()),
            Self::Text(text) => write!(f, "{}", Quoted(text)),
            Self::Number(number) => write!(f, "{number}"),
            Self::Call(function, arguments) => {
                write!(f, "{}(", function.word())?;
                list(f, arguments)?;
                f.write_char(')')
            }
            Self::Cast(inner, r#type) => write!(f, "cast({inner} as {})", r#type.word()),
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let joined = |f: &mut Formatter<'_>, inner: &[Self], word: &str| {
            for (place, condition) in inner.iter().enumerate() {
                let before = if place == 0 { "(" } else { word };
                write!(f, "{before}{condition}")?;
            }
            f.write_char(')')
        };
        match self {
            Self::All(inner) => joined(f, inner, " and "),
            Self::Any(inner) => joined(f, inner, " or "),
            Self::Not(inner) => write!(f, "not ({inner})"),
            Self::Compare(expression, comparison) => write!(f, "{expression} {comparison}"),
            Self::IsNull(expression) => write!(f, "{expression} is null"),
        }
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.negated {
            f.write_str("not ")?;
        }
        f.write_str(self.operator.word())?;
        let values: Vec<Quoted<'_>> = self.values.iter().map(|value| Quoted(value)).collect();
        match (self.operator, &values[..]) {
            (Operator::In, values) => {
                f.write_str(" (")?;
                list(f, values)?;
                f.write_char(')')
            }
            (Operator::Between, [low, high]) => write!(f, " {low} and {high}"),
            (_, values) => values.first().map_or(Ok(()), |value| write!(f, " {value}")),
        }
    }
}
