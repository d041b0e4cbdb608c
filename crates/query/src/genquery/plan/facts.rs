//! What a condition implies about single columns in every row for which it holds: sources of rows use this to
//! narrow their search.

use super::super::column::Column;
use super::condition::{Comparison, Condition, Operator};
use super::expression::Expression;

/// Comparisons of single columns that are implied by a condition.
#[derive(Debug)]
pub(crate) struct Facts<'a>(Vec<(Column, &'a Comparison)>);

impl<'a> Facts<'a> {
    pub(crate) fn of(condition: &'a Condition) -> Self {
        let mut facts = Vec::new();
        gather(condition, &mut facts);
        Self(facts)
    }

    /// The only value that a column may have, if there is exactly one.
    pub(crate) fn value(&self, column: Column) -> Option<&'a str> {
        self.operand(column, |comparison| {
            comparison.operator == Operator::Equal && !comparison.numeric
        })
    }

    /// A pattern that a column has to match.
    pub(crate) fn pattern(&self, column: Column) -> Option<&'a str> {
        self.operand(column, |comparison| comparison.operator == Operator::Like)
    }

    fn operand(&self, column: Column, is: impl Fn(&Comparison) -> bool) -> Option<&'a str> {
        let of_column = self.0.iter().filter(|(of, _)| *of == column);
        let mut wanted = of_column.filter(|(_, found)| !found.negated && is(found));
        wanted.find_map(|(_, comparison)| comparison.values.first().map(String::as_str))
    }
}

/// Nothing below an `or` or a `not` is implied.
fn gather<'a>(condition: &'a Condition, facts: &mut Vec<(Column, &'a Comparison)>) {
    match condition {
        Condition::All(inner) => inner.iter().for_each(|condition| gather(condition, facts)),
        Condition::Compare(Expression::Column(column), comparison) => {
            facts.push((*column, comparison));
        }
        _ => {}
    }
}
