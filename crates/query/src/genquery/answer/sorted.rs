//! The rows of an answer in their order, once each if that is wanted. No more are held than the answer needs.

use std::cmp::Ordering;

use super::super::column::Type;
use super::compare::order;
use super::limits::Meter;
use crate::Result;

/// The values of a row; none for NULL.
pub(crate) type Values = Vec<Option<String>>;

/// What the rows of an answer are like.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// How the values of each column compare.
    pub(crate) types: Vec<Type>,
    /// How many columns are given; those behind only order the rows.
    pub(crate) given: usize,
    /// The columns that the rows are ordered by, each with whether it descends.
    pub(crate) order: Vec<(usize, bool)>,
    /// Whether rows that are given alike are given once, in the order of all columns.
    pub(crate) distinct: bool,
    /// How many rows there are before the answer, and with it.
    pub(crate) skipped: usize,
    pub(crate) wanted: usize,
}

/// Rows as they come, cut to those that can still be in the answer.
pub(crate) struct Sorted<'a> {
    shape: Shape,
    meter: &'a Meter<'a>,
    rows: Vec<Values>,
    bytes: usize,
    /// How many rows there are before they are cut again.
    cut_at: usize,
}

/// Rows are not cut before there are so many.
const FEW: usize = 4_096;

impl<'a> Sorted<'a> {
    pub(crate) fn new(shape: Shape, meter: &'a Meter<'a>) -> Self {
        let cut_at = shape.wanted.saturating_mul(2).max(FEW);
        Self { shape, meter, rows: Vec::new(), bytes: 0, cut_at }
    }

    pub(crate) fn push(&mut self, row: Values) -> Result<()> {
        self.bytes += size(&row);
        self.rows.push(row);
        if self.rows.len() >= self.cut_at {
            self.cut();
        }
        if !self.meter.is_full(self.bytes) {
            return Ok(());
        }
        // Half of it has to be free afterwards, or each row would be a cut.
        self.cut();
        self.meter.hold(self.bytes.saturating_mul(2))
    }

    /// The answer.
    pub(crate) fn finish(mut self) -> Vec<Vec<String>> {
        self.cut();
        let given = self.shape.given;
        let texts = |row: Values| row.into_iter().take(given).map(Option::unwrap_or_default);
        let rows = self.rows.into_iter().skip(self.shape.skipped);
        rows.map(|row| texts(row).collect()).collect()
    }

    fn cut(&mut self) {
        let shape = &self.shape;
        if shape.distinct {
            self.rows.sort_by(|a, b| shape.by_given(a, b).then_with(|| shape.by_order(a, b)));
            self.rows.dedup_by(|a, b| a[..shape.given] == b[..shape.given]);
        }
        self.rows.sort_by(|a, b| shape.by_order(a, b));
        self.rows.truncate(shape.wanted);
        self.bytes = self.rows.iter().map(size).sum();
    }
}

/// About what a row takes in memory.
pub(crate) fn size(row: &Values) -> usize {
    let value = |value: &Option<String>| {
        size_of::<Option<String>>() + value.as_ref().map_or(0, String::len)
    };
    size_of::<Values>() + row.iter().map(value).sum::<usize>()
}

impl Shape {
    fn by_order(&self, a: &Values, b: &Values) -> Ordering {
        let by = |(place, descending): &(usize, bool)| {
            let ordering = by_value(self.types[*place], &a[*place], &b[*place]);
            if *descending { ordering.reverse() } else { ordering }
        };
        self.order.iter().map(by).fold(Ordering::Equal, Ordering::then)
    }

    fn by_given(&self, a: &Values, b: &Values) -> Ordering {
        let by = |place: usize| by_value(self.types[place], &a[place], &b[place]);
        (0..self.given).map(by).fold(Ordering::Equal, Ordering::then)
    }
}

/// NULL comes last.
fn by_value(r#type: Type, a: &Option<String>, b: &Option<String>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => order(a, b, r#type == Type::Integer).then_with(|| a.cmp(b)),
        (a, b) => a.is_none().cmp(&b.is_none()),
    }
}
