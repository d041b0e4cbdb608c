//! From rows to the answer.

use std::collections::BTreeSet;

use cenote_store::Reading;

use super::super::answer::groups::{self, Columns, Groups};
use super::super::answer::limits::{Limits, Meter};
use super::super::answer::sorted::{Shape, Sorted, Values};
use super::super::column::{Column, Entity, Type};
use super::super::first::statement::Test;
use super::super::rows::Names;
use super::super::rows::row::Row;
use super::super::rows::source::Source;
use super::super::rows::zone::Zone;
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
    limits: Limits<'_>,
) -> Result<Vec<Vec<String>>> {
    run(&parse(text)?, reading, zone, most, limits)
}

/// Answers a stored query (see [`check_stored`]) with at most `most` rows of text.
pub fn stored(
    reading: &Reading,
    zone: &Zone,
    text: &str,
    arguments: &[String],
    most: usize,
    limits: Limits<'_>,
) -> Result<Vec<Vec<String>>> {
    run(&parse_stored(text, Some(arguments))?, reading, zone, most, limits)
}

/// Whether a text may be stored as a query, with `?` for its arguments: a GenQuery 2 statement, which may say
/// from which table of the iRODS catalog it selects.
pub fn check_stored(text: &str) -> Result<()> {
    parse_stored(text, None)?.check()
}

fn run(
    select: &Select,
    reading: &Reading,
    zone: &Zone,
    most: usize,
    limits: Limits<'_>,
) -> Result<Vec<Vec<String>>> {
    select.check()?;
    let meter = Meter::new(limits);
    let names = Names { zone, persons: reading.persons()?.into_iter().collect() };
    let tests = select.tests();
    let mut of_places = false;
    select.columns(&mut |column| of_places |= column.is_of_place());
    let source = Source {
        reading,
        names: &names,
        meter: &meter,
        tests: &tests,
        numbers: &vec![0; tests.len()],
        entities: select.entities(),
        of_places,
        case_sensitive: true,
        outer: true,
    };
    let answer = Answer { select, names: &names, outputs: select.with_order() };
    let most = select.limit.unwrap_or(LIMIT).min(most);
    answer.of(&source, Sorted::new(answer.shape(most), &meter), &meter)
}

/// A GenQuery 2 statement in its canonical form.
pub fn canonical(text: &str) -> Result<String> {
    let select = parse(text)?;
    select.check()?;
    Ok(select.to_string())
}

impl Select {
    /// What is selected or ordered by beside aggregates has to be grouped by.
    fn check(&self) -> Result<()> {
        let fault = |what: &str| Err(Error::Syntax(what.to_owned()));
        let outputs = self.with_order();
        let aggregates = outputs.iter().any(|output| output.plain().is_none());
        if !aggregates && self.group.is_empty() {
            return Ok(());
        }
        let is_grouped = |output: &&Output| match output.plain() {
            Some(expression) => self.group.contains(expression),
            None => true,
        };
        match outputs.iter().find(|output| !is_grouped(output)) {
            None => Ok(()),
            Some(output) if !self.outputs.contains(output) => {
                fault("what the rows of aggregates are ordered by has to be grouped by")
            }
            Some(_) if aggregates => {
                fault("what is selected beside aggregates has to be grouped by")
            }
            Some(_) => fault("what is selected has to be grouped by"),
        }
    }

    /// What is selected, and behind it what the rows are ordered by besides.
    fn with_order(&self) -> Vec<Output> {
        let mut outputs = self.outputs.clone();
        for (output, _) in &self.order {
            if !outputs.contains(output) {
                outputs.push(output.clone());
            }
        }
        outputs
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
        for output in self.with_order() {
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
            Self::Aggregate(aggregate, of) => aggregate.kind().r#type(of.r#type()),
        }
    }
}

/// From rows to the answer.
struct Answer<'a> {
    select: &'a Select,
    names: &'a Names<'a>,
    /// What is computed of each row: what is selected, and what only orders the rows.
    outputs: Vec<Output>,
}

impl Answer<'_> {
    fn of(
        &self,
        source: &Source<'_>,
        mut sorted: Sorted<'_>,
        meter: &Meter<'_>,
    ) -> Result<Vec<Vec<String>>> {
        let columns = self.columns();
        if columns.iter().all(Option::is_none) {
            source.rows(&mut |row| self.project(&row).map_or(Ok(()), |row| sorted.push(row)))?;
        } else {
            let mut groups = Groups::new(columns, meter);
            source.rows(&mut |row| self.project(&row).map_or(Ok(()), |row| groups.push(row)))?;
            groups.rows().try_for_each(|row| sorted.push(row))?;
        }
        Ok(sorted.finish())
    }

    /// The values of a row for which the condition holds.
    fn project(&self, row: &Row) -> Option<Values> {
        let texts = |column: Column| self.names.text(row, column);
        let condition = self.select.condition.as_ref();
        let holds = condition.is_none_or(|condition| condition.holds(&texts) == Some(true));
        let value = |output: &Output| output.expression().value(&texts);
        holds.then(|| self.outputs.iter().map(value).collect())
    }

    fn columns(&self) -> Columns {
        let column = |output: &Output| match output {
            Output::Plain(_) => None,
            Output::Aggregate(aggregate, of) => Some((aggregate.kind(), of.r#type())),
        };
        self.outputs.iter().map(column).collect()
    }

    fn shape(&self, most: usize) -> Shape {
        let place = |wanted: &Output| self.outputs.iter().position(|output| output == wanted);
        let order = self.select.order.iter();
        let skipped = self.select.offset;
        Shape {
            types: self.outputs.iter().map(Output::r#type).collect(),
            given: self.select.outputs.len(),
            order: order
                .filter_map(|(output, descends)| Some((place(output)?, *descends)))
                .collect(),
            distinct: self.select.distinct,
            skipped,
            wanted: skipped.saturating_add(most),
        }
    }
}

impl Aggregate {
    fn kind(self) -> groups::Aggregate {
        match self {
            Self::Count => groups::Aggregate::Count,
            Self::Sum => groups::Aggregate::Sum,
            Self::Average => groups::Aggregate::Average,
            Self::Minimum => groups::Aggregate::Minimum,
            Self::Maximum => groups::Aggregate::Maximum,
        }
    }
}
