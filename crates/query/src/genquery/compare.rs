//! Whether a value passes a test.

use std::cmp::Ordering;

use super::column::Type;
use super::statement::{Comparison, Operator, Test};

impl Test {
    /// Whether a value passes. Without regard to case both sides are compared in capitals.
    pub(super) fn holds(&self, value: &str, case_sensitive: bool) -> bool {
        let r#type = self.column.r#type();
        match case_sensitive {
            true => self.any.iter().any(|comparison| comparison.holds(value, r#type)),
            false => {
                let value = value.to_uppercase();
                self.any.iter().any(|comparison| comparison.in_capitals().holds(&value, r#type))
            }
        }
    }
}

impl Comparison {
    fn in_capitals(&self) -> Self {
        let values = self.values.iter().map(|value| value.to_uppercase()).collect();
        Self { values, ..self.clone() }
    }

    /// Whether a value passes.
    pub(super) fn holds(&self, value: &str, r#type: Type) -> bool {
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

/// As numbers, where both are and that is wanted; else as text.
pub(super) fn order(a: &str, b: &str, as_numbers: bool) -> Ordering {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let numbers = if as_numbers { number(a).zip(number(b)) } else { None };
    numbers.and_then(|(a, b)| a.partial_cmp(&b)).unwrap_or_else(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;

    fn passes(condition: &str, value: &str, case_sensitive: bool) -> bool {
        let statement = parse(&format!("select DATA_NAME where {condition}")).unwrap();
        statement.tests[0].holds(value, case_sensitive)
    }

    #[test]
    fn conditions_hold_as_sql_has_them() {
        for (condition, value, expected) in [
            ("DATA_NAME = 'a'", "a", true),
            ("DATA_NAME = 'a'", "A", false),
            ("DATA_NAME <> 'a'", "b", true),
            ("DATA_NAME like 'a%_'", "abc", true),
            ("DATA_NAME not like 'a%'", "abc", false),
            ("DATA_NAME in ('a', 'b')", "b", true),
            ("DATA_NAME not in ('a', 'b')", "b", false),
            ("DATA_NAME between 'a' 'c'", "b", true),
            ("DATA_SIZE < '10'", "9", true),
            ("DATA_SIZE between '9' '10'", "10", true),
            ("META_DATA_ATTR_VALUE < '10'", "9", false),
            ("META_DATA_ATTR_VALUE n< '10'", "9", true),
            ("META_DATA_ATTR_VALUE n< '10'", "x", false),
            ("DATA_NAME = 'a' || = 'b'", "b", true),
        ] {
            assert_eq!(passes(condition, value, true), expected, "{value} {condition}");
        }
        assert!(passes("DATA_NAME = 'aB'", "Ab", false));
        assert!(passes("DATA_NAME like 'a%'", "ABC", false));
    }
}
