//! Translates a GenQuery 2 statement into a plan.

use cenote_store::Reading;

use super::super::answer::limits::Limits;
use super::super::plan::condition::Condition;
use super::super::plan::expression::Output;
use super::super::plan::{Plan, run};
use super::super::rows::zone::Zone;
use super::parse::{parse, parse_stored};
use super::statement::Select;
use crate::{Error, Result};

/// Maximum number of rows for a statement without a limit.
const LIMIT: usize = 256;

/// Runs a GenQuery 2 statement, with at most `most` rows of text.
pub fn genquery2(
    reading: &Reading,
    zone: &Zone,
    text: &str,
    most: usize,
    limits: Limits<'_>,
) -> Result<Vec<Vec<String>>> {
    run(&parse(text)?.plan(most)?, reading, zone, limits)
}

/// Runs a stored query (see [`check_stored`]), with at most `most` rows of text.
pub fn stored(
    reading: &Reading,
    zone: &Zone,
    text: &str,
    arguments: &[String],
    most: usize,
    limits: Limits<'_>,
) -> Result<Vec<Vec<String>>> {
    run(&parse_stored(text, Some(arguments))?.plan(most)?, reading, zone, limits)
}

/// Checks whether a text may be stored as a query, with `?` for its arguments: a GenQuery 2 statement, which
/// may name the table of the iRODS catalog that it selects from.
pub fn check_stored(text: &str) -> Result<()> {
    parse_stored(text, None)?.check()
}

/// A GenQuery 2 statement in its canonical form.
pub fn canonical(text: &str) -> Result<String> {
    let select = parse(text)?;
    select.check()?;
    Ok(select.to_string())
}

impl Select {
    fn plan(self, most: usize) -> Result<Plan> {
        self.check()?;
        let outputs = self.all_outputs();
        let place = |wanted: &Output| outputs.iter().position(|output| output == wanted);
        let order = self.order.iter();
        Ok(Plan {
            given: self.outputs.len(),
            order: order.filter_map(|(output, down)| Some((place(output)?, *down))).collect(),
            outputs,
            condition: self.condition.unwrap_or(Condition::ALWAYS),
            joins: Vec::new(),
            nulls: true,
            distinct: self.distinct,
            skipped: self.offset,
            most: self.limit.unwrap_or(LIMIT).min(most),
        })
    }

    /// Whatever is selected or ordered by next to aggregates has to be in `group by`.
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
                fault("the columns that rows of aggregates are ordered by must be in `group by`")
            }
            Some(_) if aggregates => {
                fault("the columns selected beside aggregates must be in `group by`")
            }
            Some(_) => fault("the selected columns must be in `group by`"),
        }
    }

    /// The selected outputs, followed by those that the rows are only ordered by.
    fn with_order(&self) -> Vec<Output> {
        let order = self.order.iter().map(|(output, _)| output.clone());
        with(self.outputs.clone(), order)
    }

    /// The same, followed by those that the rows are only grouped by.
    pub(super) fn all_outputs(&self) -> Vec<Output> {
        with(self.with_order(), self.group.iter().cloned().map(Output::Plain))
    }
}

/// Appends those that are missing.
fn with(mut outputs: Vec<Output>, further: impl Iterator<Item = Output>) -> Vec<Output> {
    for output in further {
        if !outputs.contains(&output) {
            outputs.push(output);
        }
    }
    outputs
}
