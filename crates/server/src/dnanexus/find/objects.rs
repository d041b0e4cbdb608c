//! `system/findDataObjects`.

use cenote_store::{Reading, Stat};
use serde_json::{Value, json};

use super::filter::Filter;
use super::order::{Found, Order};
use super::scan::{Scope, foreign};
use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::folder::Folder;
use crate::dnanexus::call::input::Input;
use crate::dnanexus::call::question::{Call, has_level};
use crate::dnanexus::fields::Fields;
use crate::dnanexus::object::Place;
use crate::dnanexus::object::describe::{DescribedObject, describe_found};
use crate::dnanexus::project::folders::foresee_notes;
use crate::dnanexus::project::{Project, project_note, project_of, region};

/// The most objects of a page.
const MOST: u64 = 1_000;
/// The most steps of a page that finds little.
const STEPS: usize = 64;
/// The most steps of one in an order, which looks at all objects.
const ORDERED_STEPS: usize = 1_000;

/// A search.
struct Search<'a> {
    call: &'a Call,
    reading: Reading,
    filter: Filter,
    fields: Option<Fields>,
    limit: usize,
    order: Option<Order>,
    results: Vec<Value>,
}

pub(crate) fn find(call: &Call) -> Result<Value, Fault> {
    let input = call.input()?;
    let limit = input.count("limit")?.unwrap_or(MOST);
    if limit == 0 || limit > MOST {
        return Err(Fault::input("\"limit\" is from 1 to 1000"));
    }
    let level = input.text("level")?.unwrap_or("VIEW");
    let scope = input.object("scope")?;
    let mut search = Search {
        call,
        reading: call.store().reading(&call.caller)?,
        filter: Filter::read(input, call.store().now())?,
        fields: Fields::member(input.value("describe"))?,
        limit: limit as usize,
        order: Order::read(input, limit as usize)?,
        results: Vec::new(),
    };
    let starting = input.value("starting").filter(|_| search.order.is_none());
    let mut next = match input.texts("id")? {
        Some(ids) => search.by_id(&ids, scope).map(|()| None)?,
        None if search.filter.is_hopeless() => None,
        None => {
            let mut projects = projects(call, scope, level)?;
            projects.retain(|project| search.filter.regions().has(project.region(call)));
            search.in_projects(&projects, scope, starting)?
        }
    };
    if let Some(order) = search.order.take() {
        let found;
        (found, next) = order.finish();
        found.into_iter().try_for_each(|found| search.show(found))?;
    }
    Ok(json!({ "results": search.results, "next": next }))
}

/// The projects to look in, by id.
fn projects(call: &Call, scope: Option<Input<'_>>, level: &str) -> Result<Vec<Project>, Fault> {
    let mut projects = match scope.map(|scope| scope.need("project")).transpose()? {
        Some(id) => vec![call.project(id)?],
        None => call.projects()?,
    };
    projects.retain(|project| has_level(project.rights, level));
    Ok(projects)
}

impl Search<'_> {
    /// Objects that are named.
    fn by_id(&mut self, ids: &[&str], scope: Option<Input<'_>>) -> Result<(), Fault> {
        if ids.len() > MOST as usize {
            return Err(Fault::input("\"id\" has at most 1000 ids"));
        }
        let project = scope.and_then(|scope| scope.value("project"));
        let project = match project.and_then(Value::as_str) {
            Some(id) => Some(self.call.project(id)?),
            None => None,
        };
        for id in ids {
            let Ok(id) = self.call.object_id(id) else { continue };
            for place in self.call.places(&self.reading, id)? {
                let Some(of) = project_of(&self.reading, &place.stat.path)? else { continue };
                let note = project_note(&self.reading, &of)?.unwrap_or_default();
                if project.as_ref().is_none_or(|project| project.stat.id == of.id)
                    && self.filter.regions().has(region(&note, self.call))
                    && is_in_folder(&place, &of, scope)?
                {
                    self.consider(place, &of)?;
                    if project.is_none() {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Everything in some projects, starting where another page ended; returns where this one ends.
    fn in_projects(
        &mut self,
        projects: &[Project],
        scope: Option<Input<'_>>,
        starting: Option<&Value>,
    ) -> Result<Option<Value>, Fault> {
        let (first, mut from) = match starting {
            None => (0, None),
            Some(cursor) => begin(projects, cursor)?,
        };
        let mut steps = 0;
        for (n, project) in projects.iter().enumerate().skip(first) {
            let scope = scope_in(self.call, project, scope)?;
            loop {
                let room = match self.order {
                    None => self.limit - self.results.len(),
                    Some(_) => MOST as usize,
                };
                let step = scope.step(self.call, &self.filter, from.as_ref(), room)?;
                if let Some(last) = self.take(step.stats, &project.stat)? {
                    return Ok(Some(cursor(project, Some(scope.after(&last)))));
                }
                steps += 1;
                let is_over = self.is_over(steps)?;
                from = step.next;
                match (&from, is_over) {
                    (None, false) => break,
                    (Some(_), false) => {}
                    (Some(_), true) => return Ok(Some(cursor(project, from))),
                    (None, true) => return Ok(projects.get(n + 1).map(|next| cursor(next, None))),
                }
            }
        }
        Ok(None)
    }

    /// Whether a page ends after so many steps.
    fn is_over(&self, steps: usize) -> Result<bool, Fault> {
        match self.order {
            None => Ok(self.results.len() >= self.limit || steps >= STEPS),
            Some(_) if steps < ORDERED_STEPS => Ok(false),
            Some(_) => {
                Err(Fault::input("\"sortBy\" needs a narrower search: there are too many objects"))
            }
        }
    }

    /// Takes what a step found. Where the page is full before its end: the last resource that was looked at.
    fn take(&mut self, stats: Vec<Stat>, project: &Stat) -> Result<Option<Stat>, Fault> {
        for (n, stat) in stats.iter().enumerate() {
            foresee_notes(&self.reading, &stats, n)?;
            if let Some(place) = Place::of(&self.reading, stat.clone())? {
                self.consider(place, project)?;
            }
            if self.results.len() >= self.limit && n + 1 < stats.len() {
                return Ok(Some(stat.clone()));
            }
        }
        Ok(None)
    }

    /// Takes an object, if the filter holds for it.
    fn consider(&mut self, place: Place, project: &Stat) -> Result<(), Fault> {
        if !self.filter.admits(&place) {
            return Ok(());
        }
        let avus = match self.filter.needs_words() {
            true => Some(self.reading.avus(place.stat.id.0)?),
            false => None,
        };
        if !avus.as_ref().is_none_or(|avus| self.filter.admits_words(avus)) {
            return Ok(());
        }
        let found = Found { place, project: project.clone(), avus };
        match &mut self.order {
            Some(order) => order.offer(found),
            None => self.show(found)?,
        }
        Ok(())
    }

    fn show(&mut self, found: Found) -> Result<(), Fault> {
        let Found { place, project, avus } = found;
        let project_id = crate::dnanexus::id::ObjectId::project(project.id).to_string();
        let mut result = json!({ "id": place.id.to_string(), "project": project_id });
        if let Some(fields) = &self.fields {
            let described = DescribedObject { place: &place, project: Some(&project), avus };
            result["describe"] = describe_found(self.call, &self.reading, described, fields)?;
        }
        self.results.push(result);
        Ok(())
    }
}

/// The position at which a search continues: in a project, after the last object examined there.
fn cursor(project: &Project, after: Option<Value>) -> Value {
    json!({ "project": project.stat.id.0, "after": after })
}

/// The first project of a page, and the position to continue from there.
fn begin(projects: &[Project], cursor: &Value) -> Result<(usize, Option<Value>), Fault> {
    let id = cursor.get("project").and_then(Value::as_u64).ok_or_else(foreign)?;
    let first = projects.partition_point(|project| project.stat.id.0 < id);
    let is_there = projects.get(first).is_some_and(|project| project.stat.id.0 == id);
    let after = cursor.get("after").filter(|after| is_there && !after.is_null());
    Ok((first, after.cloned()))
}

fn scope_in(call: &Call, project: &Project, scope: Option<Input<'_>>) -> Result<Scope, Fault> {
    let folder = scope.map(|scope| Folder::member(scope, "folder")).transpose()?.flatten();
    let folder = project.folder(call, &folder.unwrap_or_default())?;
    let deep = scope.map(|scope| scope.flag("recurse")).transpose()?.flatten();
    Ok(Scope { project: project.stat.id, folder, deep: deep.unwrap_or(true) })
}

fn is_in_folder(place: &Place, project: &Stat, scope: Option<Input<'_>>) -> Result<bool, Fault> {
    let Some(scope) = scope else { return Ok(true) };
    let Some(folder) = Folder::member(scope, "folder")? else { return Ok(true) };
    let own = place.folder(&project.path);
    Ok(match scope.flag("recurse")?.unwrap_or(true) {
        true => folder.contains(&own),
        false => folder == own,
    })
}
