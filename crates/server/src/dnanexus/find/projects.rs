//! `system/findProjects`.

use serde_json::{Value, json};

use super::filter::{Regions, Within, properties};
use super::pattern::{Pattern, Words};
use super::scan::foreign;
use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::question::{Call, has_level, millis};
use crate::dnanexus::fields::Fields;
use crate::dnanexus::project::Project;
use crate::dnanexus::project::describe::{describe, settings};
use crate::dnanexus::words;

const MOST: u64 = 1_000;

pub(crate) fn find(call: &Call) -> Result<Value, Fault> {
    let input = call.input()?;
    let limit = input.count("limit")?.unwrap_or(MOST);
    if limit == 0 || limit > MOST {
        return Err(Fault::input("\"limit\" is from 1 to 1000"));
    }
    let fields = Fields::member(input.value("describe"))?;
    let after = input.value("starting").map(|at| at.as_u64().ok_or_else(foreign)).transpose()?;
    let mut found = matching(call)?;
    found.retain(|project| after.is_none_or(|after| project.stat.id.0 > after));
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next = found.last().filter(|_| more).map(|last| last.stat.id.0);
    let results = found.iter().map(|project| result(call, project, fields.as_ref()));
    Ok(json!({ "results": results.collect::<Result<Vec<_>, _>>()?, "next": next }))
}

fn result(call: &Call, project: &Project, fields: Option<&Fields>) -> Result<Value, Fault> {
    let mut result = json!({
        "id": project.id().to_string(),
        "level": project.level(),
        "permissionSources": [format!("user-{}", call.caller.name())],
        "public": false,
    });
    if let Some(fields) = fields {
        result["describe"] = describe(call, project, fields)?;
    }
    Ok(result)
}

/// The projects for which all conditions hold, by id.
fn matching(call: &Call) -> Result<Vec<Project>, Fault> {
    let (input, now) = (call.input()?, call.store().now());
    let name = input.value("name").map(Pattern::read).transpose()?;
    let least = input.text("level")?.unwrap_or("VIEW");
    if !["VIEW", "UPLOAD", "CONTRIBUTE", "ADMINISTER"].contains(&least) {
        return Err(Fault::input("\"level\" is VIEW, UPLOAD, CONTRIBUTE or ADMINISTER"));
    }
    let (created, modified) =
        (Within::read(input, "created", now)?, Within::read(input, "modified", now)?);
    let tags = input.value("tags").map(|value| Words::read(value, text)).transpose()?;
    let properties = input.value("properties").map(properties).transpose()?;
    let public = input.flag("public")?.unwrap_or(false);
    let bill_to = input.value("billTo").map(one_of).transpose()?;
    let phi = input.flag("containsPHI")?;
    let regions = Regions::read(input)?;
    if public {
        return Ok(Vec::new());
    }
    let mut found = call.projects()?;
    found.retain(|project| {
        let resource = &project.stat.resource;
        has_level(project.rights, least)
            && regions.has(project.region(call))
            && name.as_ref().is_none_or(|name| name.matches(project.name()))
            && created.has(millis(resource.created))
            && modified.has(millis(resource.modified))
            && phi.is_none_or(|phi| setting(project, "containsPHI") == json!(phi))
    });
    if let Some(bill_to) = bill_to {
        let mut kept = Vec::new();
        for project in found {
            let owner = call.store().person_name(project.stat.resource.owner)?;
            kept.extend(bill_to.contains(&format!("user-{owner}")).then_some(project));
        }
        found = kept;
    }
    if tags.is_none() && properties.is_none() {
        return Ok(found);
    }
    let mut kept = Vec::new();
    for project in found {
        let avus = call.store().avus(&call.caller, &project.at())?;
        let (own_tags, own) = (words::tags(&avus), words::properties(&avus));
        let has = |(key, value): &(String, Option<String>)| {
            own.get(key.as_str()).is_some_and(|own| value.as_ref().is_none_or(|value| value == own))
        };
        let holds =
            tags.as_ref().is_none_or(|tags| tags.hold(|tag| own_tags.contains(&tag.as_str())))
                && properties.as_ref().is_none_or(|wanted| wanted.hold(has));
        kept.extend(holds.then_some(project));
    }
    Ok(kept)
}

fn setting(project: &Project, name: &str) -> Value {
    let initial = || settings().into_iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    project.note.settings.get(name).cloned().or_else(initial).unwrap_or_default()
}

fn text(value: &Value) -> Result<String, Fault> {
    value.as_str().map(str::to_owned).ok_or_else(|| Fault::input("a tag is a string"))
}

fn one_of(value: &Value) -> Result<Vec<String>, Fault> {
    match value {
        Value::Array(items) => items.iter().map(text).collect(),
        _ => Ok(vec![text(value)?]),
    }
}
