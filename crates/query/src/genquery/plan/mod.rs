//! A query as data, independent of the language it was written in, and its execution.
//!
//! Both languages are translated into a [`Plan`]; [`run`](run::run) is the only evaluator. Values are texts;
//! a missing one is NULL, and comparisons with NULL are unknown, as in SQL.

pub(super) mod condition;
mod evaluate;
pub(super) mod expression;
pub(super) mod facts;
mod run;

use std::collections::BTreeSet;

pub(super) use run::run;

use self::condition::Condition;
use self::expression::Output;
use super::answer::groups::Columns;
use super::answer::sorted::Shape;
use super::column::{Column, Entity};

/// A planned query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// The values computed for each row: the columns of the result, followed by those that only order or group the rows.
    pub(super) outputs: Vec<Output>,
    /// How many of the outputs are columns of the result.
    pub(super) given: usize,
    /// The outputs that the result is sorted by, each with whether it is descending.
    pub(super) order: Vec<(usize, bool)>,
    /// Holds for every row of the result.
    pub(super) condition: Condition,
    /// Further attributes that a row's entity must have.
    pub(super) joins: Vec<Join>,
    /// Whether the result has rows with NULL outputs, such as those of objects without attributes (an outer join).
    pub(super) nulls: bool,
    /// Whether duplicate rows are removed and the rows sorted.
    pub(super) distinct: bool,
    /// How many rows are skipped first.
    pub(super) skipped: usize,
    /// How many rows are returned after these, at most.
    pub(super) most: usize,
}

/// Another attribute of the collection, object, user or storage resource of a row: the row is repeated once
/// for each such attribute for which the condition holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Join {
    /// The entity whose attributes these are.
    pub(super) entity: Entity,
    /// On the columns of that attribute.
    pub(super) condition: Condition,
}

impl Plan {
    /// Calls `each` with every column in it.
    fn columns(&self, each: &mut dyn FnMut(Column)) {
        self.outputs.iter().for_each(|output| output.expression().columns(each));
        self.condition.columns(each);
        self.joins.iter().for_each(|join| join.condition.columns(each));
    }

    /// All entities that it refers to.
    pub(super) fn entities(&self) -> BTreeSet<Entity> {
        let mut entities = BTreeSet::new();
        self.columns(&mut |column| {
            entities.insert(column.entity());
        });
        entities
    }

    /// Whether the storage location of objects is needed.
    fn is_of_places(&self) -> bool {
        self.has_column(Column::is_of_place)
    }

    /// Whether the time at which a collection's members last changed is needed.
    fn is_of_members(&self) -> bool {
        self.has_column(|column| column == Column::CollModifyTime)
    }

    fn has_column(&self, is_wanted: impl Fn(Column) -> bool) -> bool {
        let mut has = false;
        self.columns(&mut |column| has |= is_wanted(column));
        has
    }

    fn has_aggregates(&self) -> bool {
        self.outputs.iter().any(|output| output.plain().is_none())
    }

    /// How rows are grouped.
    fn groups(&self) -> Columns {
        let column = |output: &Output| match output {
            Output::Plain(_) => None,
            Output::Aggregate(aggregate, of) => Some((*aggregate, of.r#type())),
        };
        self.outputs.iter().map(column).collect()
    }

    fn shape(&self) -> Shape {
        Shape {
            types: self.outputs.iter().map(Output::r#type).collect(),
            given: self.given,
            order: self.order.clone(),
            distinct: self.distinct,
            skipped: self.skipped,
            wanted: self.skipped.saturating_add(self.most),
        }
    }
}
