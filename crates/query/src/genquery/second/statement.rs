//! A GenQuery 2 statement as data.

use std::collections::BTreeSet;

use super::super::column::Entity;
use super::super::plan::condition::Condition;
use super::super::plan::expression::{Expression, Output};

/// A whole statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Select {
    pub(super) distinct: bool,
    pub(super) outputs: Vec<Output>,
    pub(super) condition: Option<Condition>,
    pub(super) group: Vec<Expression>,
    /// Each with whether it is descending.
    pub(super) order: Vec<(Output, bool)>,
    pub(super) offset: usize,
    pub(super) limit: Option<usize>,
}

impl Select {
    /// All entities that it refers to.
    pub(super) fn entities(&self) -> BTreeSet<Entity> {
        let mut entities = BTreeSet::new();
        let mut insert = |column: super::super::column::Column| {
            entities.insert(column.entity());
        };
        self.all_outputs().iter().for_each(|output| output.expression().columns(&mut insert));
        self.condition.iter().for_each(|condition| condition.columns(&mut insert));
        entities
    }
}
