//! A query as data, whichever language it was written in, and how it is run.
//!
//! Both languages are translated into a [`Plan`]; [`run`](run::run) is the only evaluator. Values are texts; a missing one is
//! NULL, and comparisons with NULL are unknown, as in SQL.

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

/// What a query asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// What is computed for each row: the columns of the answer, then what only orders or groups the rows.
    pub(super) outputs: Vec<Output>,
    /// How many of the outputs are columns of the answer.
    pub(super) given: usize,
    /// The outputs that the answer is ordered by, each with whether it descends.
    pub(super) order: Vec<(usize, bool)>,
    /// Holds for every row of the answer.
    pub(super) condition: Condition,
    /// Further attributes that what a row is about must have.
    pub(super) joins: Vec<Join>,
    /// Whether the answer has rows with NULL outputs, such as those of objects without attributes (an outer join).
    pub(super) nulls: bool,
    /// Whether equal rows are given once, sorted.
    pub(super) distinct: bool,
    /// How many rows are left out first.
    pub(super) skipped: usize,
    /// How many rows are given after these, at most.
    pub(super) most: usize,
}

/// Another attribute of the collection, object, user or storage resource that a row is about: the row counts as often as
/// there are such attributes for which the condition holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Join {
    /// Whose attributes they are.
    pub(super) entity: Entity,
    /// Of the columns of that attribute.
    pub(super) condition: Condition,
}

impl Plan {
    /// Passes every column in it to `each`.
    fn columns(&self, each: &mut dyn FnMut(Column)) {
        self.outputs.iter().for_each(|output| output.expression().columns(each));
        self.condition.columns(each);
        self.joins.iter().for_each(|join| join.condition.columns(each));
    }

    /// Everything that it is about.
    pub(super) fn entities(&self) -> BTreeSet<Entity> {
        let mut entities = BTreeSet::new();
        self.columns(&mut |column| {
            entities.insert(column.entity());
        });
        entities
    }

    /// Whether it matters where objects are stored.
    fn is_of_places(&self) -> bool {
        self.has_column(Column::is_of_place)
    }

    /// Whether it matters when the membership of collections changed.
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

    /// What rows are grouped into.
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
