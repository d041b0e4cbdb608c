//! Executes a plan, from rows to the result.

use std::cell::{OnceCell, RefCell};

use cenote_store::{Avu, Reading};

use super::super::answer::groups::Groups;
use super::super::answer::limits::{Limits, Meter};
use super::super::answer::sorted::{Sorted, Values};
use super::super::column::Entity;
use super::super::rows::Names;
use super::super::rows::row::Row;
use super::super::rows::source::Source;
use super::super::rows::zone::Zone;
use super::condition::Condition;
use super::facts::Facts;
use super::{Join, Plan};
use crate::Result;

/// Runs a plan: rows of text, one column for each returned output.
pub(crate) fn run(
    plan: &Plan,
    reading: &Reading,
    zone: &Zone,
    limits: Limits<'_>,
) -> Result<Vec<Vec<String>>> {
    let persons = reading.persons()?.into_iter().collect();
    let counted = RefCell::new(vec![None; plan.joins.len()]);
    let meter = &Meter::new(limits);
    Run { plan, reading, names: Names { zone, persons }, meter, counted }.answer()
}

struct Run<'a> {
    plan: &'a Plan,
    reading: &'a Reading,
    names: Names<'a>,
    meter: &'a Meter<'a>,
    /// For each join, the number of the entity examined last, and how many matching attributes it has: the
    /// rows of one entity are adjacent.
    counted: RefCell<Vec<Option<(u64, usize)>>>,
}

impl Run<'_> {
    fn answer(&self) -> Result<Vec<Vec<String>>> {
        let mut sorted = Sorted::new(self.plan.shape(), self.meter);
        if self.plan.has_aggregates() {
            let mut groups = Groups::new(self.plan.groups(), self.meter);
            self.rows(&mut |row| groups.push(row))?;
            groups.rows().try_for_each(|row| sorted.push(row))?;
        } else {
            self.rows(&mut |row| sorted.push(row))?;
        }
        Ok(sorted.finish())
    }

    /// Passes the outputs of every row of the result to `take`.
    fn rows(&self, take: &mut dyn FnMut(Values) -> Result<()>) -> Result<()> {
        let joins = self.plan.joins.iter().map(|join| Facts::of(&join.condition));
        let source = Source {
            reading: self.reading,
            names: &self.names,
            meter: self.meter,
            facts: Facts::of(&self.plan.condition),
            of_joins: joins.collect(),
            entities: self.plan.entities(),
            of_places: self.plan.is_of_places(),
            of_members: self.plan.is_of_members(),
            outer: self.plan.nulls,
            trash: OnceCell::new(),
        };
        source.rows(&mut |row| self.project(&row, take))
    }

    /// Passes the outputs of a row for which the condition holds to `take`, once for each combination of its joins.
    fn project(&self, row: &Row, take: &mut dyn FnMut(Values) -> Result<()>) -> Result<()> {
        if !self.holds(row, &self.plan.condition) {
            return Ok(());
        }
        let values = self.values(row);
        if !self.plan.nulls && values.iter().any(Option::is_none) {
            return Ok(());
        }
        let times = self.times(row)?;
        for _ in 1..times {
            self.meter.row()?;
            take(values.clone())?;
        }
        if times == 0 { Ok(()) } else { take(values) }
    }

    fn values(&self, row: &Row) -> Values {
        let texts = |column| self.names.text(row, column);
        self.plan.outputs.iter().map(|output| output.expression().value(&texts)).collect()
    }

    fn holds(&self, row: &Row, condition: &Condition) -> bool {
        condition.holds(&|column| self.names.text(row, column)) == Some(true)
    }

    /// How often a row is in the result.
    fn times(&self, row: &Row) -> Result<usize> {
        let mut times = 1_usize;
        for (place, join) in self.plan.joins.iter().enumerate() {
            times = times.saturating_mul(self.joined(row, place, join)?);
        }
        // Duplicate rows are removed anyway, unless they are aggregated.
        let is_set = self.plan.distinct && !self.plan.has_aggregates();
        Ok(if is_set { times.min(1) } else { times })
    }

    /// How many attributes of a row's entity meet the condition of a join.
    fn joined(&self, row: &Row, place: usize, join: &Join) -> Result<usize> {
        let Some(id) = id(row, join.entity) else { return Ok(0) };
        if let Some((known, times)) = self.counted.borrow()[place]
            && known == id
        {
            return Ok(times);
        }
        let avus = match (&row.resource, join.entity) {
            (Some(resource), Entity::ResourceAvu) => resource.avus.clone(),
            _ => self.reading.avus(id)?,
        };
        let mut probe = row.clone();
        let mut meets = |avu: &Avu| {
            put(&mut probe, join.entity, avu.clone());
            self.holds(&probe, &join.condition)
        };
        let times = avus.iter().filter(|avu| meets(avu)).count();
        self.counted.borrow_mut()[place] = Some((id, times));
        Ok(times)
    }
}

/// The number of the row's entity that has attributes; `None` if it is missing or hidden.
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
