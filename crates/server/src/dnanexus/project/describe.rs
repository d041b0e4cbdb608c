//! Descriptions of projects.

use cenote_store::{GrantView, Kind, PersonId, PersonKind, Scope};
use serde_json::{Map, Value, json};

use super::folders::children;
use super::{Project, project_note};
use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::folder::Folder;
use crate::dnanexus::call::question::{Call, level, millis};
use crate::dnanexus::fields::{Description, Fields};
use crate::dnanexus::words;

/// The settings that a description has, and what they are in a new project.
pub(crate) fn settings() -> [(&'static str, Value); 15] {
    [
        ("description", json!("")),
        ("summary", json!("")),
        ("protected", json!(false)),
        ("restricted", json!(false)),
        ("downloadRestricted", json!(false)),
        ("previewViewerRestricted", json!(false)),
        ("externalUploadRestricted", json!(false)),
        ("containsPHI", json!(false)),
        ("databaseUIViewOnly", json!(false)),
        ("databaseResultsRestricted", Value::Null),
        ("allowedExecutables", Value::Null),
        ("displayDataProtectionNotice", json!(false)),
        ("httpsAppIsolatedBrowsing", Value::Null),
        ("httpsAppIsolatedBrowsingOptions", json!({})),
        ("monthlyComputeLimit", Value::Null),
    ]
}

/// What clients may send as parts of a file. The smallest is that of the protocol, for clients that choose by it; smaller parts
/// are taken, too.
pub(crate) fn upload_parameters() -> Value {
    json!({
        "minimumPartSize": 5_242_880,
        "maximumPartSize": 5_368_709_120_u64,
        "emptyLastPartAllowed": true,
        "maximumNumParts": 10_000,
        "maximumFileSize": 5_497_558_138_880_u64,
    })
}

/// Describes a project.
pub(crate) fn describe(call: &Call, project: &Project, fields: &Fields) -> Result<Value, Fault> {
    let resource = &project.stat.resource;
    let owner = format!("user-{}", call.store().person_name(resource.owner)?);
    let creator = format!("user-{}", call.store().person_name(resource.created_by)?);
    let mut shown = Description::new(fields, project.id());
    shown.usual("class", "project");
    shown.usual("name", project.name());
    shown.usual("region", project.region(call));
    shown.usual("level", project.level());
    shown.usual("version", resource.revision);
    shown.usual("created", millis(resource.created));
    shown.usual("modified", millis(resource.modified));
    shown.usual("billTo", owner.as_str());
    shown.usual("createdBy", json!({ "user": creator }));
    shown.usual("totalSponsoredEgressBytes", 0);
    shown.usual("consumedSponsoredEgressBytes", 0);
    shown.usual("atSpendingLimit", false);
    shown.usual("storageCost", 0.0);
    shown.usual("sponsoredDataUsage", 0.0);
    shown.usual("defaultInstanceType", Value::Null);
    shown.usual("provider", Value::Null);
    for (name, initial) in settings() {
        shown.usual(name, project.note.settings.get(name).cloned().unwrap_or(initial));
    }
    if shown.shows("tags") || shown.wants("properties") {
        let avus = call.store().avus(&call.caller, &project.at())?;
        shown.usual("tags", words::tags(&avus));
        shown.special("properties", || Ok(json!(words::properties(&avus))))?;
    }
    shown.special("resource", || Ok(json!(project.stat.id.0)))?;
    shown.special("fileUploadParameters", || Ok(upload_parameters()))?;
    // This counts everything in the project, so it is only computed if requested by name, and for `dx describe`, which
    // requires it.
    if shown.wants("dataUsage") || (shown.shows("class") && shown.wants("properties")) {
        shown.put("dataUsage", usage(call, project)?);
    }
    shown.special("folders", || Ok(json!(folders(call, project)?)))?;
    shown.special("permissions", || permissions(call, project))?;
    shown.special("archivedDataUsage", || Ok(json!(0.0)))?;
    Ok(shown.finish())
}

/// GiB in the project.
fn usage(call: &Call, project: &Project) -> Result<f64, Fault> {
    let used = call.store().usage(&call.caller, &project.at())?;
    Ok(used.bytes as f64 / f64::from(1 << 30))
}

/// All folders, the root first.
fn folders(call: &Call, project: &Project) -> Result<Vec<String>, Fault> {
    let (top, reading) = (&project.stat.path, call.store().reading(&call.caller)?);
    let mut folders = vec!["/".to_owned()];
    let mut rest = vec![project.stat.clone()];
    while let Some(collection) = rest.pop() {
        for child in children(call, &collection)? {
            if child.resource.kind == Kind::Collection && project_note(&reading, &child)?.is_none()
            {
                folders.push(Folder::of(top, &child.path).to_string());
                rest.push(child);
            }
        }
    }
    folders.sort();
    Ok(folders)
}

/// Who has which level. Entries for some of the resources of the project are not levels on it.
fn permissions(call: &Call, project: &Project) -> Result<Value, Fault> {
    let (_, lines) = call.store().access(&call.caller, &project.at())?;
    let mut levels = Map::new();
    let own = |line: &&GrantView| line.scope != Scope::This || line.from == project.stat.path;
    for line in lines.iter().filter(own).filter(|line| line.only.is_none()) {
        let level = level(line.rights);
        if level != "NONE" {
            levels.insert(who(call, line)?, level.into());
        }
    }
    Ok(Value::Object(levels))
}

/// A user or group as the protocol names it.
fn who(call: &Call, line: &GrantView) -> Result<String, Fault> {
    if line.person == PersonId::PUBLIC || line.person == PersonId::ANONYMOUS {
        return Ok("PUBLIC".to_owned());
    }
    // Roles and removed users have no account.
    let kind = call.store().person_named(&line.name).map(|(_, person)| person.kind);
    Ok(match kind {
        Ok(PersonKind::User) => format!("user-{}", line.name),
        Ok(PersonKind::Group) | Err(_) => format!("org-{}", line.name),
    })
}
