//! From rows to the answer: tests, projection, aggregates, order, pages.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use cenote_store::{Avu, Reading};

use super::Options;
use super::column::{Column, Entity, Type};
use super::compare::order;
use super::parse::parse;
use super::row::{Names, Row};
use super::source::Source;
use super::statement::{Function, Output, Statement, Test};
use super::zone::Zone;
use crate::Result;

/// Answers a GenQuery 1 statement: rows of text, one for each output.
pub fn genquery1(
    reading: &Reading,
    zone: &Zone,
    text: &str,
    options: Options,
) -> Result<Vec<Vec<String>>> {
    let statement = parse(text)?;
    let persons = reading.persons()?.into_iter().collect();
    let run = Run {
        reading,
        names: Names { zone, persons },
        others: other_avus(&statement.tests),
        statement: &statement,
        options,
    };
    let rows = run.rows()?;
    Ok(rows.into_iter().skip(options.offset).take(options.count).collect())
}

struct Run<'a> {
    reading: &'a Reading,
    names: Names<'a>,
    statement: &'a Statement,
    /// Tests of further attributes of the same thing: by their places in the statement.
    others: Vec<Vec<usize>>,
    options: Options,
}

impl Run<'_> {
    fn rows(&self) -> Result<Vec<Vec<String>>> {
        let mut found = Vec::new();
        let mut fault = None;
        self.candidates(&mut |row| {
            if fault.is_some() {
                return;
            }
            match self.project(&row) {
                Ok(projected) => found.extend(projected),
                Err(error) => fault = Some(error),
            }
        })?;
        if let Some(error) = fault {
            return Err(error);
        }
        let outputs = &self.statement.outputs;
        if outputs.iter().any(|output| output.function.is_some_and(Function::is_aggregate)) {
            found = aggregate(outputs, found);
        }
        Ok(self.arrange(found))
    }

    /// Every row that may be part of the answer.
    fn candidates(&self, each: &mut dyn FnMut(Row)) -> Result<()> {
        let outputs = self.statement.outputs.iter().map(|output| output.column);
        let columns = outputs.chain(self.statement.tests.iter().map(|test| test.column));
        let source = Source {
            reading: self.reading,
            names: &self.names,
            tests: &self.statement.tests,
            entities: columns.clone().map(Column::entity).collect(),
            of_places: columns.clone().any(Column::is_of_place),
            case_sensitive: self.options.case_sensitive,
            outer: false,
        };
        source.rows(each)
    }

    /// The outputs of a row that passes all tests.
    fn project(&self, row: &Row) -> Result<Option<Vec<String>>> {
        for (place, test) in self.statement.tests.iter().enumerate() {
            if self.others.iter().flatten().any(|other| *other == place) {
                continue;
            }
            let text = self.names.text(row, test.column);
            if !text.is_some_and(|text| test.holds(&text, self.options.case_sensitive)) {
                return Ok(None);
            }
        }
        for group in &self.others {
            if !self.has_other(row, group)? {
                return Ok(None);
            }
        }
        let outputs = self.statement.outputs.iter();
        Ok(outputs.map(|output| self.names.text(row, output.column)).collect())
    }

    /// Whether what the row is about has an attribute that passes all tests of a group.
    fn has_other(&self, row: &Row, group: &[usize]) -> Result<bool> {
        let Some(first) = group.first().and_then(|place| self.statement.tests.get(*place)) else {
            return Ok(true);
        };
        let entity = first.column.entity();
        let id = match entity {
            Entity::ObjectAvu => row.object.as_ref().map(|stat| stat.id.0),
            Entity::CollectionAvu => row.collection.as_ref().map(|stat| stat.id.0),
            _ => row.user.as_ref().map(|(id, _)| id.0),
        };
        let Some(id) = id else { return Ok(false) };
        let passes = |avu: Avu| {
            let other = Some(avu);
            let row = match entity {
                Entity::ObjectAvu => Row { object_avu: other, ..Row::default() },
                Entity::CollectionAvu => Row { collection_avu: other, ..Row::default() },
                _ => Row { user_avu: other, ..Row::default() },
            };
            group.iter().all(|place| {
                let test = &self.statement.tests[*place];
                let text = self.names.text(&row, test.column);
                text.is_some_and(|text| test.holds(&text, self.options.case_sensitive))
            })
        };
        Ok(self.reading.avus(id)?.into_iter().any(passes))
    }

    /// Sorts as the statement says, and gives equal rows once if that is wanted.
    fn arrange(&self, mut rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
        let outputs = &self.statement.outputs;
        let said: Vec<usize> =
            (0..outputs.len()).filter(|place| is_order(outputs[*place])).collect();
        let by = |a: &Vec<String>, b: &Vec<String>, places: &[usize]| {
            let by = places.iter().map(|place| by_output(outputs[*place], &a[*place], &b[*place]));
            by.fold(Ordering::Equal, Ordering::then)
        };
        if self.options.distinct {
            let all: Vec<usize> = said.iter().copied().chain(0..outputs.len()).collect();
            rows.sort_by(|a, b| by(a, b, &all));
            rows.dedup();
        } else {
            rows.sort_by(|a, b| by(a, b, &said));
        }
        rows
    }
}

fn is_order(output: Output) -> bool {
    output.function.is_some_and(|function| !function.is_aggregate())
}

fn by_output(output: Output, a: &str, b: &str) -> Ordering {
    let numbers = output.column.r#type() == Type::Integer
        || output.function.is_some_and(|function| function == Function::Count);
    let ordering = order(a, b, numbers);
    match output.function {
        Some(Function::Descending) => ordering.reverse(),
        _ => ordering,
    }
}

/// Tests that name a column of an attribute again are of another attribute of the same thing; so are
/// those that follow.
fn other_avus(tests: &[Test]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<Entity, Vec<Vec<usize>>> = BTreeMap::new();
    for (place, test) in tests.iter().enumerate() {
        let entity = test.column.entity();
        if !matches!(entity, Entity::ObjectAvu | Entity::CollectionAvu | Entity::UserAvu) {
            continue;
        }
        let groups = groups.entry(entity).or_default();
        let again =
            |group: &Vec<usize>| group.iter().any(|known| tests[*known].column == test.column);
        match groups.last_mut() {
            Some(group) if !again(group) => group.push(place),
            _ => groups.push(vec![place]),
        }
    }
    groups.into_values().flat_map(|groups| groups.into_iter().skip(1)).collect()
}

/// One row for each combination of the outputs that are no aggregates.
fn aggregate(outputs: &[Output], rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let is_aggregate = |place: usize| outputs[place].function.is_some_and(Function::is_aggregate);
    let grouped = !(0..outputs.len()).all(is_aggregate);
    let mut groups: BTreeMap<Vec<String>, Vec<Vec<String>>> = BTreeMap::new();
    if !grouped {
        groups.insert(Vec::new(), Vec::new());
    }
    for row in rows {
        let key = row.iter().enumerate().filter(|(place, _)| !is_aggregate(*place));
        groups.entry(key.map(|(_, text)| text.clone()).collect()).or_default().push(row);
    }
    let value = |rows: &[Vec<String>], place: usize| {
        let column: Vec<&str> = rows.iter().map(|row| row[place].as_str()).collect();
        match outputs[place].function.filter(|function| function.is_aggregate()) {
            Some(function) => combine(function, outputs[place].column, &column),
            None => column.first().map_or_else(String::new, |text| (*text).to_owned()),
        }
    };
    groups
        .into_values()
        .map(|rows| (0..outputs.len()).map(|place| value(&rows, place)).collect())
        .collect()
}

/// One value of many; no text, where there is none.
fn combine(function: Function, column: Column, values: &[&str]) -> String {
    let numbers = column.r#type() == Type::Integer;
    let by = |a: &&&str, b: &&&str| order(a, b, numbers);
    let sum = || values.iter().filter_map(|text| text.parse::<f64>().ok()).sum::<f64>();
    let value = match function {
        Function::Count => Some(values.len().to_string()),
        Function::Minimum => values.iter().min_by(by).map(|text| (*text).to_owned()),
        Function::Maximum => values.iter().max_by(by).map(|text| (*text).to_owned()),
        Function::Sum if !values.is_empty() => Some(sum().to_string()),
        Function::Average if !values.is_empty() => Some((sum() / values.len() as f64).to_string()),
        _ => None,
    };
    value.unwrap_or_default()
}
