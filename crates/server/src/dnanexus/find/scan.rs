//! Looking through the objects of a project, page by page.
//!
//! Where a tag or a property must hold, the index of the store leads to it; else the folders are walked. A page may have fewer
//! objects than requested, and a position to continue from nevertheless: what it examines is bounded.

use cenote_store::{
    At, Comparison, Condition, Kind, ListOptions, Name, Query, ResourceId, SearchCursor, Stat,
    StorePath, WalkCursor,
};
use serde_json::{Value, json};

use super::filter::Filter;
use super::pattern::Pattern;
use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::question::Call;
use crate::dnanexus::name::taken;
use crate::dnanexus::project::{project_note, project_of};
use crate::dnanexus::words;

/// The scope of a search: a folder, with or without what is below it.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    /// The project, and a folder of it.
    pub(crate) project: ResourceId,
    pub(crate) folder: Stat,
    pub(crate) deep: bool,
}

/// Some candidates, and the position to continue from.
pub(crate) struct Step {
    pub(crate) stats: Vec<Stat>,
    pub(crate) next: Option<Value>,
}

/// The number of resources examined in a step.
const STEP: usize = 1_000;
/// What a cursor of the index is sealed for.
const SEALED: &str = "dnanexus";

impl Scope {
    /// The next step of a search that continued so far.
    pub(crate) fn step(
        &self,
        call: &Call,
        filter: &Filter,
        from: Option<&Value>,
        room: usize,
    ) -> Result<Step, Fault> {
        match (&filter.name, self.deep) {
            (Some(Pattern::Exactly(name)), false) => self.named(call, name, from),
            (_, false) => self.list(call, from),
            (_, true) => match condition(filter) {
                Some(condition) => self.search(call, (filter, condition), from, room),
                None => self.walk(call, from),
            },
        }
    }

    fn at(&self) -> At {
        At::Id(self.folder.id)
    }

    /// The position after this object at which a search continues; one by the index finds no more than there is room for.
    pub(crate) fn after(&self, last: &Stat) -> Value {
        match self.deep {
            false => json!(last.resource.name),
            true => below(&self.folder.path, &last.path),
        }
    }

    fn named(&self, call: &Call, name: &str, from: Option<&Value>) -> Result<Step, Fault> {
        let mut found = taken(call.store(), &call.caller, &self.at(), name)?;
        found.sort_by(|one, other| one.resource.name.cmp(&other.resource.name));
        if let Some(from) = from {
            let from = from.as_str().ok_or_else(foreign)?;
            found.retain(|stat| stat.resource.name.as_str() > from);
        }
        Ok(Step { stats: found, next: None })
    }

    fn list(&self, call: &Call, from: Option<&Value>) -> Result<Step, Fault> {
        let after = match from {
            None => None,
            Some(from) => Some(Name::new(from.as_str().ok_or_else(foreign)?)?),
        };
        let page =
            call.store().list(&call.caller, &self.at(), &ListOptions { after, limit: STEP })?;
        let next = page.next.map(|next| json!(next.as_str()));
        Ok(Step { stats: page.entries, next })
    }

    fn walk(&self, call: &Call, from: Option<&Value>) -> Result<Step, Fault> {
        let top = &self.folder.path;
        let after = from.map(|from| names(top, from)).transpose()?;
        let after = after.and_then(|path| WalkCursor::after(top, &path));
        let page = call.store().walk(&call.caller, &self.at(), after.as_ref(), STEP)?;
        let reading = call.store().reading(&call.caller)?;
        let mut next = page.next.and_then(|_| page.entries.last().map(|last| last.path.clone()));
        let (mut stats, mut passed) = (Vec::new(), None);
        for stat in page.entries {
            if passed.as_ref().is_some_and(|passed| stat.path.starts_with(passed)) {
                continue;
            }
            if stat.resource.kind != Kind::Collection {
                stats.push(stat);
            } else if project_note(&reading, &stat)?.is_some() {
                passed = Some(stat.path);
            }
        }
        if let (Some(last), Some(passed)) = (&next, &passed)
            && last.starts_with(passed)
        {
            next = Some(passed.join(behind_all())?);
        }
        Ok(Step { stats, next: next.map(|path| below(top, &path)) })
    }

    fn search(
        &self,
        call: &Call,
        (filter, condition): (&Filter, Condition),
        from: Option<&Value>,
        room: usize,
    ) -> Result<Step, Fault> {
        let sealed = from.map(|from| from.as_str().ok_or_else(foreign)).transpose()?;
        let after = sealed.map(|sealed| call.app.cursors().open(SEALED, sealed)).transpose()?;
        let query = Query {
            under: self.at(),
            conditions: vec![condition],
            name: None,
            kind: filter.kind(),
            text: None,
            after: after.map(|bytes| SearchCursor::from_bytes(&bytes)).transpose()?,
            limit: room.clamp(1, STEP),
            effort: Query::EFFORT,
        };
        let page = call.store().search(&call.caller, &query)?;
        let next = page.next.map(|next| json!(call.app.cursors().close(SEALED, next.to_bytes())));
        let reading = call.store().reading(&call.caller)?;
        let mut stats = Vec::with_capacity(page.items.len());
        for stat in page.items {
            // Resources below may be in another project.
            let of = project_of(&reading, &stat.path)?;
            stats.extend(of.filter(|of| of.id == self.project).map(|_| stat));
        }
        Ok(Step { stats, next })
    }
}

/// A condition of the filter that the index can answer.
fn condition(filter: &Filter) -> Option<Condition> {
    let equal = |attribute: &str, value: &str| Condition {
        attribute: attribute.to_owned(),
        comparison: Comparison::Equal,
        value: value.to_owned(),
        unit: None,
    };
    let property = filter.properties.as_ref().and_then(|words| words.necessary());
    if let Some((key, value)) = property {
        return Some(match value {
            Some(value) => equal(key, value),
            None => Condition { comparison: Comparison::Exists, ..equal(key, "") },
        });
    }
    let tag = filter.tags.as_ref().and_then(|words| words.necessary());
    tag.map(|tag| equal(words::TAG, tag))
}

/// A name that sorts after all others.
fn behind_all() -> Name {
    Name::new("\u{10ffff}".repeat(256)).expect("1,024 bytes without a slash are a name")
}

/// A path below the top, as a cursor has it.
fn below(top: &StorePath, path: &StorePath) -> Value {
    let names = path.names().get(top.names().len()..).unwrap_or_default();
    json!(names.iter().map(Name::as_str).collect::<Vec<_>>())
}

/// The path that a cursor has.
fn names(top: &StorePath, from: &Value) -> Result<StorePath, Fault> {
    let names = from.as_array().ok_or_else(foreign)?;
    names.iter().try_fold(top.clone(), |path, name| {
        Ok(path.join(Name::new(name.as_str().ok_or_else(foreign)?)?)?)
    })
}

pub(crate) fn foreign() -> Fault {
    Fault::input("\"starting\" is not from an answer to the same search")
}
