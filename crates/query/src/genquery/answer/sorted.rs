//! The rows of a result, sorted, and without duplicates if requested. No more rows are held than the result needs.

use std::cmp::Ordering;

use super::super::column::Type;
use super::compare::order;
use super::limits::Meter;
use crate::Result;

/// The values of a row; `None` is NULL.
pub(crate) type Values = Vec<Option<String>>;

/// The shape of a result's rows.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// How the values of each column compare.
    pub(crate) types: Vec<Type>,
    /// How many columns are returned; the remaining ones only order the rows.
    pub(crate) given: usize,
    /// The columns that the rows are sorted by, each with whether it is descending.
    pub(crate) order: Vec<(usize, bool)>,
    /// Whether rows whose returned columns are equal are returned once, sorted by all columns.
    pub(crate) distinct: bool,
    /// How many rows precede the result, and how many that is including the result.
    pub(crate) skipped: usize,
    pub(crate) wanted: usize,
}

/// Rows as they arrive, truncated to those that can still be in the result.
pub(crate) struct Sorted<'a> {
    shape: Shape,
    meter: &'a Meter<'a>,
    rows: Vec<Values>,
    bytes: usize,
    /// The number of rows at which they are truncated again.
    cut_at: usize,
}

/// Rows are not truncated below this number.
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
        // Half of the limit has to be free afterwards, or every further row would truncate again.
        self.cut();
        self.meter.hold(self.bytes.saturating_mul(2))
    }

    /// Returns the result.
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

/// Approximate memory used by a row.
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

/// NULL sorts last.
fn by_value(r#type: Type, a: &Option<String>, b: &Option<String>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => order(a, b, r#type == Type::Integer).then_with(|| a.cmp(b)),
        (a, b) => a.is_none().cmp(&b.is_none()),
    }
}
