//! The walk of a search, and the order of what it finds.

use cenote_store::{At, Reading, Stat, Store, StorePath};
use serde_json::Value;

use super::row::{Key, Row};
use super::{Field, Search};
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;

/// How often the time is checked, in resources.
const STEP: u64 = 1_000;

/// The answer over one state of the store.
pub(super) fn run(store: &Store, call: &Call, search: &Search) -> Result<Value, Fault> {
    let reading = store.reading(&call.caller)?;
    let mut found = Found { search, rows: Vec::new(), total: 0 };
    let limits = call.app.limits();
    let end = store.now().plus(limits.query_seconds.get());
    let mut looked = 0;
    for stat in candidates(&reading, search)? {
        looked += 1;
        if looked > limits.query_rows || looked % STEP == 0 && store.now() >= end {
            return Err(Fault::bad("the search takes too long: give a fedora_id to search below"));
        }
        let Some(stat) = stat? else { continue };
        if let Some(row) = matching(&reading, call, search, stat)? {
            found.add(row);
        }
    }
    found.shown(&reading, call)
}

/// What conditions are checked on: the collection that the ids begin with, and what the caller may see below it.
fn candidates<'a>(
    reading: &'a Reading,
    search: &Search,
) -> Result<impl Iterator<Item = cenote_store::Result<Option<Stat>>> + use<'a>, Fault> {
    let top = search.conditions.iter().find_map(|condition| condition.prefix()).unwrap_or("/");
    let top = top.rsplit_once('/').map_or("/", |(above, _)| above);
    let top = if top.is_empty() { "/" } else { top };
    // An invalid path belongs to no resource.
    let top = top.parse::<StorePath>().ok().map(At::from);
    let own = top.as_ref().map(|top| reading.stat(top)).transpose()?.flatten();
    let below = top.as_ref().map(|top| reading.below(top)).transpose()?;
    Ok(own.map(|own| Ok(Some(own))).into_iter().chain(below.into_iter().flatten()))
}

/// The data of a resource for which all conditions hold.
fn matching(
    reading: &Reading,
    call: &Call,
    search: &Search,
    stat: Stat,
) -> Result<Option<Row>, Fault> {
    let row = Row::new(reading, stat.clone())?;
    let holds = |row: &Row, typed| {
        let mut conditions = search.conditions.iter();
        conditions.all(|condition| condition.needs_types() != typed || condition.holds(row))
    };
    if !holds(&row, false) {
        return Ok(None);
    }
    let is_typed = search.conditions.iter().any(super::Condition::needs_types);
    if !is_typed && search.order_by != Field::RdfType {
        return Ok(Some(row));
    }
    Ok(Some(typed(reading, call, row, &stat)).filter(|row| holds(row, true)))
}

/// What may not be read says nothing of its own types.
fn typed(reading: &Reading, call: &Call, row: Row, stat: &Stat) -> Row {
    let description = reading.graph(&At::Id(stat.id)).map(|(_, graph)| graph).unwrap_or_default();
    row.with_types(call, stat, &description)
}

/// The rows that the answer can have.
struct Found<'a> {
    search: &'a Search,
    rows: Vec<(Option<Key>, Row)>,
    total: u64,
}

impl Found<'_> {
    fn reach(&self) -> usize {
        self.search.offset + self.search.limit
    }

    fn add(&mut self, row: Row) {
        self.total += 1;
        self.rows.push((row.key(self.search.order_by), row));
        // Twice as many are held, so that they are sorted rarely.
        if self.rows.len() > 2 * self.reach().max(STEP as usize) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.rows.sort_by(|(one, row), (other, next)| {
            let order = one.cmp(other);
            let order = if self.search.descending { order.reverse() } else { order };
            order.then_with(|| row.id.cmp(&next.id))
        });
        self.rows.truncate(self.reach());
    }

    fn shown(mut self, reading: &Reading, call: &Call) -> Result<Value, Fault> {
        self.cut();
        let shows_types = self.search.fields.contains(&Field::RdfType);
        let mut items = Vec::new();
        for (_, row) in self.rows.into_iter().skip(self.search.offset) {
            let stat = shows_types.then(|| reading.stat(&At::Id(row.id))).transpose()?.flatten();
            let row = match stat {
                Some(stat) if row.types.is_empty() => typed(reading, call, row, &stat),
                _ => row,
            };
            items.push(row.shown(call, &self.search.fields));
        }
        Ok(self.search.shown(items, self.search.counts.then_some(self.total)))
    }
}
