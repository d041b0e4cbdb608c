//! `sortBy`: of all objects that a search finds, those that come next in an order.
//!
//! Each page looks at all of them again and keeps as many as it shows, so memory does not grow with the number of members. A page continues
//! after the last object that was shown, whatever was added or removed in the meantime.

use std::collections::BTreeMap;

use cenote_store::{Avu, ResourceId, Stat};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::scan::foreign;
use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::input::Input;
use crate::dnanexus::call::question::millis;
use crate::dnanexus::object::Place;

/// Where an object comes: by its key, then by its id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Rank(Key, u64);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
enum Key {
    Number(i64),
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Created,
    Modified,
    Name,
    Size,
}

/// The record of an object that was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) place: Place,
    pub(crate) project: Stat,
    pub(crate) avus: Option<Vec<Avu>>,
}

/// An order, and the objects that come first in it.
#[derive(Debug)]
pub(crate) struct Order {
    field: Field,
    descending: bool,
    after: Option<Rank>,
    room: usize,
    kept: BTreeMap<Rank, Found>,
    is_more: bool,
}

impl Order {
    /// `[{"field", "ordering"}]`, and the cursor of a page of the same search.
    pub(crate) fn read(input: Input<'_>, room: usize) -> Result<Option<Self>, Fault> {
        let Some(list) = input.list("sortBy")? else { return Ok(None) };
        let [by] = list else { return Err(Fault::input("\"sortBy\" has one order")) };
        let by = Input::of(by)?;
        let field = match by.need("field")? {
            "created" => Field::Created,
            "modified" => Field::Modified,
            "name" => Field::Name,
            "size" => Field::Size,
            _ => return Err(Fault::input("\"field\" is created, modified, name or size")),
        };
        let descending = match by.text("ordering")? {
            None | Some("ascending") => false,
            Some("descending") => true,
            Some(_) => return Err(Fault::input("\"ordering\" is ascending or descending")),
        };
        let after = input.value("starting").map(|cursor| after(field, cursor)).transpose()?;
        let kept = BTreeMap::new();
        Ok(Some(Self { field, descending, after, room, kept, is_more: false }))
    }

    fn rank(&self, place: &Place) -> Rank {
        let resource = &place.stat.resource;
        let key = match self.field {
            Field::Created => Key::Number(place.created()),
            Field::Modified => Key::Number(millis(resource.modified)),
            Field::Name => Key::Text(place.name().to_owned()),
            Field::Size => Key::Number(i64::try_from(place.stat.size()).unwrap_or(i64::MAX)),
        };
        let ResourceId(id) = place.stat.id;
        Rank(key, id)
    }

    /// An object for which the filter holds.
    pub(crate) fn offer(&mut self, found: Found) {
        let rank = self.rank(&found.place);
        let was_shown = self.after.as_ref().is_some_and(|after| match self.descending {
            false => rank <= *after,
            true => rank >= *after,
        });
        if was_shown {
            return;
        }
        self.kept.insert(rank, found);
        if self.kept.len() > self.room {
            self.is_more = true;
            match self.descending {
                false => self.kept.pop_last(),
                true => self.kept.pop_first(),
            };
        }
    }

    /// The objects of the page, and where the next one begins.
    pub(crate) fn finish(self) -> (Vec<Found>, Option<Value>) {
        let mut ranks: Vec<(Rank, Found)> = self.kept.into_iter().collect();
        if self.descending {
            ranks.reverse();
        }
        let next = ranks.last().filter(|_| self.is_more).map(|(last, _)| json!(last));
        (ranks.into_iter().map(|(_, found)| found).collect(), next)
    }
}

/// The place after which a page begins.
fn after(field: Field, cursor: &Value) -> Result<Rank, Fault> {
    let rank: Rank = serde_json::from_value(cursor.clone()).map_err(|_| foreign())?;
    let is_text = matches!(rank.0, Key::Text(_));
    if is_text == (field == Field::Name) { Ok(rank) } else { Err(foreign()) }
}
