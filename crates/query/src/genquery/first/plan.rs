//! Translates a GenQuery 1 statement into a plan.

use cenote_store::Reading;

use super::super::Options;
use super::super::answer::limits::Limits;
use super::super::column::{Column, Type};
use super::super::plan::condition::{Comparison, Condition};
use super::super::plan::expression::{self, Expression};
use super::super::plan::{Join, Plan, run};
use super::super::rows::zone::Zone;
use super::alias;
use super::parse::parse;
use super::statement::{Function, Output, Statement, Test};
use crate::Result;

/// Runs a GenQuery 1 statement: rows of text, one column for each output.
pub fn genquery1(
    reading: &Reading,
    zone: &Zone,
    text: &str,
    options: Options,
    limits: Limits<'_>,
) -> Result<Vec<Vec<String>>> {
    run(&parse(text)?.plan(options), reading, zone, limits)
}

impl Statement {
    fn plan(self, options: Options) -> Plan {
        let Options { offset: skipped, count: most, case_sensitive, distinct } = options;
        let condition = |tests: Vec<Test>| {
            Condition::All(tests.into_iter().map(|test| test.condition(case_sensitive)).collect())
        };
        let (selected, further) = alias::split(self.tests);
        let join = |((entity, _), tests)| Join { entity, condition: condition(tests) };
        Plan {
            given: self.outputs.len(),
            order: order(&self.outputs),
            outputs: self.outputs.iter().map(Output::plan).collect(),
            condition: condition(selected),
            joins: further.into_iter().map(join).collect(),
            // Attributes and the like are inner-joined: an entity that has none has no row.
            nulls: false,
            distinct,
            skipped,
            most,
        }
    }
}

fn order(outputs: &[Output]) -> Vec<(usize, bool)> {
    let descends = |output: &Output| match output.function? {
        Function::Ascending => Some(false),
        Function::Descending => Some(true),
        Function::Aggregate(_) => None,
    };
    let places = outputs.iter().enumerate();
    places.filter_map(|(place, output)| Some((place, descends(output)?))).collect()
}

impl Output {
    fn plan(&self) -> expression::Output {
        let column = Expression::Column(self.column);
        match self.function {
            Some(Function::Aggregate(aggregate)) => {
                expression::Output::Aggregate(aggregate, column)
            }
            _ => expression::Output::Plain(column),
        }
    }
}

impl Test {
    fn condition(self, case_sensitive: bool) -> Condition {
        // Case does not matter for numbers.
        let in_capitals = !case_sensitive && self.column.r#type() == Type::Text;
        let one = |comparison| match in_capitals {
            true => in_any_case(self.column, comparison),
            false => Condition::Compare(Expression::Column(self.column), comparison),
        };
        let mut any: Vec<Condition> = self.any.into_iter().map(one).collect();
        match any.len() {
            1 => any.remove(0),
            _ => Condition::Any(any),
        }
    }
}

/// Compares both sides in upper case.
fn in_any_case(column: Column, comparison: Comparison) -> Condition {
    let upper = expression::Function::Upper;
    let column = Expression::Call(upper, vec![Expression::Column(column)]);
    let values = comparison.values.iter().map(|value| value.to_uppercase()).collect();
    Condition::Compare(column, Comparison { values, ..comparison })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(condition: &str, value: &str, case_sensitive: bool) -> bool {
        let text = format!("select DATA_NAME where {condition}");
        let test = parse(&text).unwrap().tests.remove(0);
        test.condition(case_sensitive).holds(&|_| Some(value.to_owned())) == Some(true)
    }

    #[test]
    fn conditions_follow_sql() {
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
