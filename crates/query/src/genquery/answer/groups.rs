//! Aggregation: one row for each combination of the non-aggregate columns.

use std::collections::BTreeMap;

use super::super::column::Type;
use super::super::plan::expression::Aggregate;
use super::compare::order;
use super::limits::Meter;
use super::sorted::{Values, size};
use crate::Result;

/// The computation for each column: an aggregate over values of a type, or nothing.
pub(crate) type Columns = Vec<Option<(Aggregate, Type)>>;

/// The groups so far. Without grouping columns, the one group of all rows exists even if there are no rows.
pub(crate) struct Groups<'a> {
    columns: Columns,
    meter: &'a Meter<'a>,
    groups: BTreeMap<Values, Vec<Gathered>>,
    bytes: usize,
}

impl<'a> Groups<'a> {
    pub(crate) fn new(columns: Columns, meter: &'a Meter<'a>) -> Self {
        let mut groups = BTreeMap::new();
        if columns.iter().all(Option::is_some) {
            groups.insert(Values::new(), vec![Gathered::default(); columns.len()]);
        }
        Self { columns, meter, groups, bytes: 0 }
    }

    pub(crate) fn push(&mut self, row: Values) -> Result<()> {
        let plain = row.iter().zip(&self.columns).filter(|(_, column)| column.is_none());
        let key: Values = plain.map(|(value, _)| value.clone()).collect();
        let added = size(&key) + row.len() * size_of::<Gathered>();
        let group = self.groups.entry(key).or_insert_with(|| {
            self.bytes += added;
            vec![Gathered::default(); row.len()]
        });
        for ((gathered, value), column) in group.iter_mut().zip(row).zip(&self.columns) {
            if let (Some((aggregate, r#type)), Some(value)) = (column, value) {
                gathered.take(*aggregate, *r#type, value);
            }
        }
        self.meter.hold(self.bytes)
    }

    /// One row per group.
    pub(crate) fn rows(self) -> impl Iterator<Item = Values> {
        let columns = self.columns;
        self.groups.into_iter().map(move |(key, group)| {
            let mut key = key.into_iter();
            let value = |(column, gathered): (&Option<(Aggregate, Type)>, Gathered)| match column {
                Some((aggregate, _)) => gathered.value(*aggregate),
                None => key.next().flatten(),
            };
            columns.iter().zip(group).map(value).collect()
        })
    }
}

/// The aggregate state of one column in a group.
#[derive(Debug, Clone, Default)]
struct Gathered {
    count: u64,
    /// The sum of the integer values.
    whole: i128,
    /// The sum of the other values.
    rest: f64,
    most: Option<String>,
}

impl Gathered {
    fn take(&mut self, aggregate: Aggregate, r#type: Type, value: String) {
        self.count += 1;
        match aggregate {
            Aggregate::Count => {}
            Aggregate::Sum | Aggregate::Average => match value.trim().parse::<i64>() {
                Ok(whole) => self.whole += i128::from(whole),
                Err(_) => self.rest += value.trim().parse::<f64>().unwrap_or(0.0),
            },
            Aggregate::Minimum | Aggregate::Maximum => {
                let wanted = match aggregate {
                    Aggregate::Minimum => std::cmp::Ordering::Less,
                    _ => std::cmp::Ordering::Greater,
                };
                let numbers = r#type == Type::Integer;
                if self.most.as_ref().is_none_or(|most| order(&value, most, numbers) == wanted) {
                    self.most = Some(value);
                }
            }
        }
    }

    /// The aggregated value; NULL if there were no rows, except for a count.
    fn value(self, aggregate: Aggregate) -> Option<String> {
        let sum = self.whole as f64 + self.rest;
        match aggregate {
            Aggregate::Count => Some(self.count.to_string()),
            Aggregate::Minimum | Aggregate::Maximum => self.most,
            _ if self.count == 0 => None,
            Aggregate::Average => Some((sum / self.count as f64).to_string()),
            Aggregate::Sum if self.rest == 0.0 => Some(self.whole.to_string()),
            Aggregate::Sum => Some(sum.to_string()),
        }
    }
}
