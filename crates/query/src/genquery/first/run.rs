//! From rows to the answer of a GenQuery 1 statement.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use cenote_store::{Avu, Reading};

use super::super::Options;
use super::super::answer::groups::{Columns, Groups};
use super::super::answer::limits::{Limits, Meter};
use super::super::answer::sorted::{Shape, Sorted, Values};
use super::super::column::{Column, Entity};
use super::super::rows::Names;
use super::super::rows::row::Row;
use super::super::rows::source::Source;
use super::super::rows::zone::Zone;
use super::alias::{self, Alias};
use super::parse::parse;
use super::statement::{Function, Output, Statement};
use crate::Result;

/// Answers a GenQuery 1 statement: rows of text, one for each output.
pub fn genquery1(
    reading: &Reading,
    zone: &Zone,
    text: &str,
    options: Options,
    limits: Limits<'_>,
) -> Result<Vec<Vec<String>>> {
    let statement = parse(text)?;
    let persons = reading.persons()?.into_iter().collect();
    let numbers = alias::numbers(&statement.tests);
    let run = Run {
        reading,
        names: Names { zone, persons },
        further: alias::further(&statement.tests, &numbers),
        numbers,
        statement: &statement,
        options,
        meter: &Meter::new(limits),
        counted: RefCell::default(),
    };
    run.answer()
}

struct Run<'a> {
    reading: &'a Reading,
    names: Names<'a>,
    statement: &'a Statement,
    /// Which attribute of a thing each test is about.
    numbers: Vec<usize>,
    /// The tests of each attribute but the one that is selected.
    further: BTreeMap<Alias, Vec<usize>>,
    options: Options,
    meter: &'a Meter<'a>,
    /// How often each further attribute was found of the thing looked at last.
    counted: RefCell<HashMap<Alias, (u64, usize)>>,
}

impl Run<'_> {
    fn answer(&self) -> Result<Vec<Vec<String>>> {
        let columns = columns(&self.statement.outputs);
        let mut sorted = Sorted::new(self.shape(), self.meter);
        if columns.iter().all(Option::is_none) {
            self.rows(&mut |row| sorted.push(row))?;
        } else {
            let mut groups = Groups::new(columns, self.meter);
            self.rows(&mut |row| groups.push(row))?;
            groups.rows().try_for_each(|row| sorted.push(row))?;
        }
        Ok(sorted.finish())
    }

    /// The outputs of every row that passes all tests.
    fn rows(&self, take: &mut dyn FnMut(Values) -> Result<()>) -> Result<()> {
        let outputs = self.statement.outputs.iter().map(|output| output.column);
        let columns = outputs.chain(self.statement.tests.iter().map(|test| test.column));
        let source = Source {
            reading: self.reading,
            names: &self.names,
            meter: self.meter,
            tests: &self.statement.tests,
            numbers: &self.numbers,
            entities: columns.clone().map(Column::entity).collect(),
            of_places: columns.clone().any(Column::is_of_place),
            case_sensitive: self.options.case_sensitive,
            outer: false,
        };
        source.rows(&mut |row| self.project(&row, take))
    }

    /// Gives the outputs of a row that passes all tests: as often as its further attributes are there, since each
    /// of them is joined.
    fn project(&self, row: &Row, take: &mut dyn FnMut(Values) -> Result<()>) -> Result<()> {
        let selected = self.numbers.iter().zip(0..).filter(|(number, _)| **number == 0);
        if !selected.map(|(_, place)| place).all(|place| self.passes(row, place)) {
            return Ok(());
        }
        let outputs = self.statement.outputs.iter();
        let outputs: Option<Vec<String>> =
            outputs.map(|output| self.names.text(row, output.column)).collect();
        let Some(outputs) = outputs else { return Ok(()) };
        let mut times = 1_usize;
        for (alias, places) in &self.further {
            times = times.saturating_mul(self.times(row, *alias, places)?);
        }
        if self.options.distinct && columns(&self.statement.outputs).iter().all(Option::is_none) {
            times = times.min(1);
        }
        for again in 0..times {
            if again > 0 {
                self.meter.row()?;
            }
            take(outputs.iter().cloned().map(Some).collect())?;
        }
        Ok(())
    }

    fn passes(&self, row: &Row, place: usize) -> bool {
        let test = &self.statement.tests[place];
        let text = self.names.text(row, test.column);
        text.is_some_and(|text| test.holds(&text, self.options.case_sensitive))
    }

    /// How many attributes of what the row is about pass all these tests.
    fn times(&self, row: &Row, alias: Alias, places: &[usize]) -> Result<usize> {
        let Some(id) = id(row, alias.0) else { return Ok(0) };
        if let Some((known, times)) = self.counted.borrow().get(&alias)
            && *known == id
        {
            return Ok(*times);
        }
        let avus = match (&row.resource, alias.0) {
            (Some(resource), Entity::ResourceAvu) => resource.avus.clone(),
            _ => self.reading.avus(id)?,
        };
        let mut probe = row.clone();
        let mut passes = |avu: Avu| {
            put(&mut probe, alias.0, avu);
            places.iter().all(|place| self.passes(&probe, *place))
        };
        let times = avus.into_iter().filter_map(|avu| passes(avu).then_some(())).count();
        self.counted.borrow_mut().insert(alias, (id, times));
        Ok(times)
    }

    fn shape(&self) -> Shape {
        let outputs = &self.statement.outputs;
        let order = outputs.iter().zip(0..).filter_map(|(output, place)| match output.function? {
            Function::Ascending => Some((place, false)),
            Function::Descending => Some((place, true)),
            _ => None,
        });
        let r#type = |output: &Output| {
            let of = output.column.r#type();
            let aggregate = output.function.and_then(Function::aggregate);
            aggregate.map_or(of, |aggregate| aggregate.r#type(of))
        };
        Shape {
            types: outputs.iter().map(r#type).collect(),
            given: outputs.len(),
            order: order.collect(),
            distinct: self.options.distinct,
            skipped: self.options.offset,
            wanted: self.options.offset.saturating_add(self.options.count),
        }
    }
}

/// What is made of each output.
fn columns(outputs: &[Output]) -> Columns {
    let column = |output: &Output| {
        let aggregate = output.function.and_then(Function::aggregate)?;
        Some((aggregate, output.column.r#type()))
    };
    outputs.iter().map(column).collect()
}

/// The number of what the row has attributes of; none, if it is not there or hidden.
fn id(row: &Row, entity: Entity) -> Option<u64> {
    match entity {
        Entity::ObjectAvu => row.object.as_ref().map(|stat| stat.id.0),
        Entity::CollectionAvu => row.collection.as_ref()?.stat.as_ref().map(|stat| stat.id.0),
        Entity::ResourceAvu => row.resource.as_ref().map(|resource| resource.id),
        _ => row.user.as_ref().map(|(id, _)| id.0),
    }
}

fn put(row: &mut Row, entity: Entity, avu: Avu) {
    let place = match entity {
        Entity::ObjectAvu => &mut row.object_avu,
        Entity::CollectionAvu => &mut row.collection_avu,
        Entity::ResourceAvu => &mut row.resource_avu,
        _ => &mut row.user_avu,
    };
    *place = Some(avu);
}
