//! Who may do what in a project: `invite`, `decreasePermissions`, `leave`.
//!
//! A level is a set of rights that an entry of the project's access list grants, there and below.

use cenote_store::{AccessChange, At, GrantView, Rights, Scope, Vocabulary};
use serde_json::{Value, json};

use super::Project;
use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::question::{Call, has_level};
use crate::dnanexus::object::change::done;

/// The name of the group of everybody who is logged in.
const PUBLIC: &str = "public";

/// A user or group of the store: `user-NAME`, `org-NAME`, `PUBLIC`, or the name itself.
fn person(word: &str) -> &str {
    match word {
        "PUBLIC" => PUBLIC,
        _ => word.strip_prefix("user-").or(word.strip_prefix("org-")).unwrap_or(word),
    }
}

fn rights(level: &str) -> Result<Rights, Fault> {
    let known = Vocabulary::DNANEXUS.rights(level);
    known.ok_or_else(|| Fault::input(format!("not a level: {level:.64?}")))
}

/// The rights of a user by an entry of the project itself, for all of it.
fn own_line<'a>(lines: &'a [GrantView], project: &Project, name: &str) -> Option<&'a GrantView> {
    let mut own = lines.iter().filter(|line| line.from == project.stat.path && line.only.is_none());
    own.find(|line| line.name == name && line.scope == Scope::Subtree)
}

/// `invite`: gives a user a level at once; a higher one is kept.
pub(crate) fn invite(call: &Call, project: &Project) -> Result<Value, Fault> {
    let input = call.input()?;
    let (name, level) = (person(input.need("invitee")?), input.need("level")?);
    let set = rights(level)?;
    project.require("ADMINISTER")?;
    let (_, lines) = call.store().access(&call.caller, &project.at())?;
    let held = own_line(&lines, project, name).map_or(Rights::NONE, |line| line.rights);
    if !has_level(held, level) || level == "NONE" {
        grant(call, project, name, held.union(set))?;
    }
    Ok(json!({ "id": project.id().to_string(), "state": "accepted" }))
}

/// `decreasePermissions`: at most this level for each who is named; none for null.
pub(crate) fn decrease(call: &Call, project: &Project) -> Result<Value, Fault> {
    project.require("ADMINISTER")?;
    let (_, lines) = call.store().access(&call.caller, &project.at())?;
    for (word, level) in call.input()?.members() {
        let most = match level {
            Value::Null => Rights::NONE,
            Value::String(level) => rights(level)?,
            _ => return Err(Fault::input("a level is a string or null")),
        };
        let name = person(word);
        if let Some(line) = own_line(&lines, project, name) {
            grant(call, project, name, line.rights.intersection(most))?;
        }
    }
    Ok(done(project.id()))
}

/// `leave`: what the caller has by a line of the project's own.
pub(crate) fn leave(call: &Call, project: &Project) -> Result<Value, Fault> {
    let (_, lines) = call.store().access(&call.caller, &project.at())?;
    match own_line(&lines, project, call.caller.name()) {
        Some(_) if has_level(project.rights, "ADMINISTER") => {
            grant(call, project, call.caller.name(), Rights::NONE)?;
            Ok(done(project.id()))
        }
        _ => Err(Fault::denied("ask somebody who administers the project")),
    }
}

/// `transfer` and `acceptTransfer`: there is no account that is billed for a project, and so nothing to hand over.
pub(crate) fn transfer(project: &Project) -> Result<Value, Fault> {
    project.require("ADMINISTER")?;
    let why = "this server has no billing that a transfer could change";
    Err(Fault::denied(format!("{why}: invite somebody to ADMINISTER \"{}\" instead", project.id())))
}

fn grant(call: &Call, project: &Project, name: &str, rights: Rights) -> Result<(), Fault> {
    let change = AccessChange::Grant(name.to_owned(), rights.into(), Scope::Subtree);
    call.store().change_access(&call.caller, &At::Id(project.stat.id), &[change])?;
    Ok(())
}
