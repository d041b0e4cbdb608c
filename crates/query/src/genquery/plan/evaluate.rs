//! Evaluates expressions and conditions on a row. A missing value is NULL: comparisons with it are unknown, as in SQL.

use super::super::column::Column;
use super::condition::Condition;
use super::expression::{CastType, Expression, Function};

/// Returns the text of a column of some row.
pub(crate) type Texts<'a> = &'a dyn Fn(Column) -> Option<String>;

impl Expression {
    /// Its value; `None` is NULL.
    pub(crate) fn value(&self, texts: Texts<'_>) -> Option<String> {
        match self {
            Self::Column(column) => texts(*column),
            Self::Text(text) => Some(text.clone()),
            Self::Number(number) => Some(number.to_string()),
            Self::Call(function, arguments) => {
                let values: Option<Vec<String>> =
                    arguments.iter().map(|argument| argument.value(texts)).collect();
                function.apply(&values?)
            }
            Self::Cast(inner, r#type) => r#type.cast(inner.value(texts)?),
        }
    }
}

impl Function {
    fn apply(self, values: &[String]) -> Option<String> {
        let first = values.first()?;
        Some(match self {
            Self::Upper => first.to_uppercase(),
            Self::Lower => first.to_lowercase(),
            Self::Concat => values.concat(),
            Self::Length => first.chars().count().to_string(),
            Self::Substring => {
                let number = |place: usize| values.get(place)?.trim().parse::<usize>().ok();
                let skipped = first.chars().skip(number(1)?.saturating_sub(1));
                skipped.take(number(2).unwrap_or(usize::MAX)).collect()
            }
        })
    }
}

impl CastType {
    /// Text that is not a number is NULL when cast to one.
    fn cast(self, text: String) -> Option<String> {
        let number = || text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        match self {
            Self::Text => Some(text),
            Self::Integer => match text.trim().parse::<i64>() {
                Ok(number) => Some(number.to_string()),
                Err(_) => number().map(|number| number.round().to_string()),
            },
            Self::Decimal => number().map(|number| number.to_string()),
        }
    }
}

impl Condition {
    /// Whether the condition holds; `None` if that is unknown.
    pub(crate) fn holds(&self, texts: Texts<'_>) -> Option<bool> {
        match self {
            Self::All(inner) => until(inner, texts, false),
            Self::Any(inner) => until(inner, texts, true),
            Self::Not(inner) => inner.holds(texts).map(|holds| !holds),
            Self::IsNull(expression) => Some(expression.value(texts).is_none()),
            Self::Compare(expression, comparison) => {
                let value = expression.value(texts)?;
                Some(comparison.holds(&value, expression.r#type()))
            }
        }
    }
}

/// `decisive` as soon as one condition evaluates to that; its opposite if all are known.
fn until(inner: &[Condition], texts: Texts<'_>, decisive: bool) -> Option<bool> {
    let mut known = true;
    for condition in inner {
        match condition.holds(texts) {
            Some(holds) if holds == decisive => return Some(decisive),
            Some(_) => {}
            None => known = false,
        }
    }
    known.then_some(!decisive)
}
