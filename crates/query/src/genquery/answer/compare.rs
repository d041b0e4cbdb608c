//! How values compare, and whether a value satisfies a comparison.

use std::cmp::Ordering;

use super::super::column::Type;
use super::super::plan::condition::{Comparison, Operator};

impl Comparison {
    /// Whether a value satisfies the comparison.
    pub(crate) fn holds(&self, value: &str, r#type: Type) -> bool {
        let as_numbers = self.numeric || r#type == Type::Integer;
        let order = |other: &String| order(value, other, as_numbers);
        let first = self.values.first();
        let is = |test: fn(Ordering) -> bool| first.is_some_and(|other| test(order(other)));
        let holds = match self.operator {
            Operator::Equal => is(Ordering::is_eq),
            Operator::NotEqual => is(Ordering::is_ne),
            Operator::Less => is(Ordering::is_lt),
            Operator::LessOrEqual => is(Ordering::is_le),
            Operator::Greater => is(Ordering::is_gt),
            Operator::GreaterOrEqual => is(Ordering::is_ge),
            Operator::Like => first.is_some_and(|pattern| cenote_store::like(value, pattern)),
            Operator::In => self.values.iter().any(|other| order(other).is_eq()),
            Operator::Between => match &self.values[..] {
                [low, high] => order(low).is_ge() && order(high).is_le(),
                _ => false,
            },
        };
        holds != self.negated
    }
}

/// Numerically if `as_numbers`: values that are not numbers sort after all that are. Otherwise as text.
pub(crate) fn order(a: &str, b: &str, as_numbers: bool) -> Ordering {
    if !as_numbers {
        return a.cmp(b);
    }
    match (Number::of(a), Number::of(b)) {
        (Some(a), Some(b)) => a.order(b),
        (None, None) => a.cmp(b),
        (a, b) => a.is_none().cmp(&b.is_none()),
    }
}

/// A number; integers are exact, whatever their size.
#[derive(Debug, Clone, Copy)]
enum Number {
    Whole(i128),
    Float(f64),
}

impl Number {
    fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        let whole = text.parse().ok().map(Self::Whole);
        let float = || text.parse::<f64>().ok().filter(|float| float.is_finite());
        whole.or_else(|| float().map(Self::Float))
    }

    fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a.cmp(&b),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
            (Self::Whole(a), Self::Float(b)) => with_float(a, b),
            (Self::Float(a), Self::Whole(b)) => with_float(b, a).reverse(),
        }
    }
}

/// Exact: with rounding, three numbers could compare without any consistent order.
fn with_float(whole: i128, float: f64) -> Ordering {
    const BEYOND: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    match float {
        float if float >= BEYOND => Ordering::Less,
        float if float < -BEYOND => Ordering::Greater,
        float => {
            let part = if float > float.floor() { Ordering::Less } else { Ordering::Equal };
            whole.cmp(&(float.floor() as i128)).then(part)
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn any_values_are_totally_ordered() {
        use super::order;
        let mut values = vec![
            "10",
            "2",
            "1a",
            "",
            "x",
            "nan",
            "inf",
            "-1e300",
            "9007199254740992",
            "9007199254740993",
            "9007199254740992.0",
            "9007199254740992.5",
            "1.5",
            "1",
            "2.0",
            "170141183460469231731687303715884105727",
            "1e39",
        ];
        values.sort_by(|a, b| order(a, b, true).then_with(|| a.cmp(b)));
        for (a, first) in values.iter().enumerate() {
            for second in &values[a..] {
                assert!(order(first, second, true).is_le(), "{first} {second}");
            }
        }
        assert!(order("9007199254740992", "9007199254740993", true).is_lt());
    }
}
