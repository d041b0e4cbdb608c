//! From rows to the answer.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use cenote_store::Reading;

use super::super::column::{Column, Entity, Type};
use super::super::compare::order;
use super::super::row::{Names, Row};
use super::super::source::Source;
use super::super::statement::Test;
use super::super::zone::Zone;
use super::parse::{parse, parse_stored};
use super::statement::{Aggregate, Condition, Expression, Output, Select};
use crate::{Error, Result};

/// Rows of an answer that says nothing of how many it wants.
const LIMIT: usize = 256;

/// Answers a GenQuery 2 statement with at most `most` rows of text.
pub fn genquery2(
    reading: &Reading,
    zone: &Zone,
    text: &str,
    most: usize,
) -> Result<Vec<Vec<String>>> {
    run(&parse(text)?, reading, zone, most)
}

/// Answers a stored query (see [`check_stored`]) with at most `most` rows of text.
pub fn stored(
    reading: &Reading,
    zone: &Zone,
    text: &str,
    arguments: &[String],
    most: usize,
) -> Result<Vec<Vec<String>>> {
    run(&parse_stored(text, Some(arguments))?, reading, zone, most)
}

/// Whether a text may be stored as a query, with `?` for its arguments: a GenQuery 2 statement, which may say
/// from which table of the iRODS catalog it selects.
pub fn check_stored(text: &str) -> Result<()> {
    parse_stored(text, None)?.check()
}

fn run(select: &Select, reading: &Reading, zone: &Zone, most: usize) -> Result<Vec<Vec<String>>> {
    select.check()?;
    let names = Names { zone, persons: reading.persons()?.into_iter().collect() };
    let tests = select.tests();
    let entities = select.entities();
    let mut of_places = false;
    select.columns(&mut |column| of_places |= column.is_of_place());
    let source = Source {
        reading,
        names: &names,
        tests: &tests,
        entities,
        of_places,
        case_sensitive: true,
        outer: true,
    };
    let mut gathered = Gathered::new(select);
    source.rows(&mut |row| gathered.take(&names, &row))?;
    Ok(gathered.answer(select.limit.unwrap_or(LIMIT).min(most)))
}

/// A GenQuery 2 statement in its canonical form.
pub fn canonical(text: &str) -> Result<String> {
    let select = parse(text)?;
    select.check()?;
    Ok(select.to_string())
}

impl Select {
    /// What is ordered by has to be asked for; so has what is grouped by, and nothing else beside aggregates.
    fn check(&self) -> Result<()> {
        let fault = |what: &str| Err(Error::Syntax(what.to_owned()));
        if self.order.iter().any(|(output, _)| !self.outputs.contains(output)) {
            return fault("what the rows are ordered by has to be selected");
        }
        let plain: Vec<&Expression> = self.outputs.iter().filter_map(Output::plain).collect();
        let aggregates = plain.len() < self.outputs.len();
        let grouped = |expression: &&Expression| self.group.contains(expression);
        match (aggregates, self.group.is_empty()) {
            (true, _) if !plain.iter().all(grouped) => {
                fault("what is selected beside aggregates has to be grouped by")
            }
            (false, false) if !plain.iter().all(grouped) => {
                fault("what is selected has to be grouped by")
            }
            _ => Ok(()),
        }
    }

    /// Everything it is about.
    pub(super) fn entities(&self) -> BTreeSet<Entity> {
        let mut entities = BTreeSet::new();
        self.columns(&mut |column| {
            entities.insert(column.entity());
        });
        entities
    }

    /// Gives every column in it to `each`.
    fn columns(&self, each: &mut dyn FnMut(Column)) {
        for output in &self.outputs {
            output.expression().columns(each);
        }
        self.group.iter().for_each(|expression| expression.columns(each));
        if let Some(condition) = &self.condition {
            condition.expressions(&mut |expression| expression.columns(each));
        }
    }

    /// Those of its conditions that every row passes and that are of one column each.
    fn tests(&self) -> Vec<Test> {
        let conditions = match &self.condition {
            Some(Condition::All(inner)) => &inner[..],
            Some(condition) => std::slice::from_ref(condition),
            None => &[],
        };
        let test = |condition: &Condition| match condition {
            Condition::Compare(Expression::Column(column), comparison) => {
                Some(Test { column: *column, any: vec![comparison.clone()] })
            }
            _ => None,
        };
        conditions.iter().filter_map(test).collect()
    }
}

impl Output {
    fn plain(&self) -> Option<&Expression> {
        match self {
            Self::Plain(expression) => Some(expression),
            Self::Aggregate(..) => None,
        }
    }

    fn expression(&self) -> &Expression {
        match self {
            Self::Plain(expression) | Self::Aggregate(_, expression) => expression,
        }
    }

    fn r#type(&self) -> Type {
        match self {
            Self::Plain(expression) => expression.r#type(),
            Self::Aggregate(Aggregate::Minimum | Aggregate::Maximum, of) => of.r#type(),
            Self::Aggregate(..) => Type::Integer,
        }
    }
}

type Values = Vec<Option<String>>;

/// The rows that passed, as they come.
struct Gathered<'a> {
    select: &'a Select,
    rows: Vec<Values>,
}

impl<'a> Gathered<'a> {
    fn new(select: &'a Select) -> Self {
        Self { select, rows: Vec::new() }
    }

    fn take(&mut self, names: &Names<'_>, row: &Row) {
        let texts = |column: Column| names.text(row, column);
        let condition = self.select.condition.as_ref();
        if condition.is_none_or(|condition| condition.holds(&texts) == Some(true)) {
            let outputs = self.select.outputs.iter();
            self.rows.push(outputs.map(|output| output.expression().value(&texts)).collect());
        }
    }

    fn answer(self, limit: usize) -> Vec<Vec<String>> {
        let select = self.select;
        let mut rows = match select.outputs.iter().all(|output| output.plain().is_some()) {
            true => self.rows,
            false => aggregated(&select.outputs, self.rows),
        };
        if select.distinct {
            rows.sort_by(|a, b| by_outputs(&select.outputs, a, b));
            rows.dedup();
        }
        rows.sort_by(|a, b| select.by_order(a, b));
        let text = |row: Values| row.into_iter().map(Option::unwrap_or_default).collect();
        rows.into_iter().skip(select.offset).take(limit).map(text).collect()
    }
}

impl Select {
    fn by_order(&self, a: &Values, b: &Values) -> Ordering {
        let by = |(output, descending): &(Output, bool)| {
            let place = self.outputs.iter().position(|known| known == output);
            let ordering = place
                .map_or(Ordering::Equal, |place| by_value(output.r#type(), &a[place], &b[place]));
            if *descending { ordering.reverse() } else { ordering }
        };
        self.order.iter().map(by).fold(Ordering::Equal, Ordering::then)
    }
}

fn by_outputs(outputs: &[Output], a: &Values, b: &Values) -> Ordering {
    let places = outputs.iter().zip(a.iter().zip(b));
    let by = places.map(|(output, (a, b))| by_value(output.r#type(), a, b));
    by.fold(Ordering::Equal, Ordering::then)
}

/// NULL comes last.
fn by_value(r#type: Type, a: &Option<String>, b: &Option<String>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => order(a, b, r#type == Type::Integer).then_with(|| a.cmp(b)),
        (a, b) => a.is_none().cmp(&b.is_none()),
    }
}

/// One row for each combination of the outputs that are no aggregates; one at least, if all are.
fn aggregated(outputs: &[Output], rows: Vec<Values>) -> Vec<Values> {
    let key = |row: &Values| -> Values {
        let plain = outputs.iter().zip(row).filter(|(output, _)| output.plain().is_some());
        plain.map(|(_, value)| value.clone()).collect()
    };
    let mut groups: BTreeMap<Values, Vec<Values>> = BTreeMap::new();
    if outputs.iter().all(|output| output.plain().is_none()) {
        groups.insert(Vec::new(), Vec::new());
    }
    for row in rows {
        groups.entry(key(&row)).or_default().push(row);
    }
    let value = |rows: &[Values], place: usize| match &outputs[place] {
        Output::Plain(_) => rows.first().and_then(|row| row[place].clone()),
        Output::Aggregate(aggregate, of) => {
            let values: Vec<&str> = rows.iter().filter_map(|row| row[place].as_deref()).collect();
            aggregate.combine(&values, of.r#type())
        }
    };
    let row = |rows: Vec<Values>| (0..outputs.len()).map(|place| value(&rows, place)).collect();
    groups.into_values().map(row).collect()
}

impl Aggregate {
    /// One value of many; NULL, where there is none.
    fn combine(self, values: &[&str], r#type: Type) -> Option<String> {
        let by = |a: &&&str, b: &&&str| order(a, b, r#type == Type::Integer);
        let sum = || values.iter().filter_map(|text| text.parse::<f64>().ok()).sum::<f64>();
        match self {
            Self::Count => Some(values.len().to_string()),
            Self::Minimum => values.iter().min_by(by).map(|text| (*text).to_owned()),
            Self::Maximum => values.iter().max_by(by).map(|text| (*text).to_owned()),
            Self::Sum if !values.is_empty() => Some(sum().to_string()),
            Self::Average if !values.is_empty() => Some((sum() / values.len() as f64).to_string()),
            Self::Sum | Self::Average => None,
        }
    }
}
