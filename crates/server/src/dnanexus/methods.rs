//! The table of methods: which one a call of a resource is.

use serde_json::{Value, json};

use super::call::fault::{ErrorType, Fault};
use super::call::question::Call;
use super::data::{download, upload};
use super::fields::Fields;
use super::find;
use super::id::{Class, ObjectId, is_class, looks_like};
use super::login;
use super::object::{change, describe, new};
use super::project::{self, archive, clone, folders, moves, people, remove};
use super::system;

/// Runs a method.
pub(crate) fn run(call: &Call, resource: &str, method: &str) -> Result<Value, Fault> {
    match resource {
        "system" => of_system(call, method),
        "project" if method == "new" => project::new::create(call),
        "file" if method == "new" => new::create(call, Class::File),
        "record" if method == "new" => new::create(call, Class::Record),
        _ => match resource.split_once('-') {
            Some(("project" | "container", _)) => of_project(call, resource, method),
            Some(("file" | "record", _)) => of_object(call, resource, method),
            Some(("user", name)) if method == "describe" => system::describe_user(call, name),
            Some(("user", name)) if method == "update" => Err(system::no_profile(name)),
            Some((class, _)) => Err(not_here(class)),
            None if is_class(resource) && !["project", "file", "record"].contains(&resource) => {
                Err(not_here(resource))
            }
            None => Err(no_method(resource, method)),
        },
    }
}

fn not_here(class: &str) -> Fault {
    let why = "it stores files and records, and runs nothing";
    Fault::missing(format!("this server has no resources of the class {class}: {why}"))
}

fn no_method(resource: &str, method: &str) -> Fault {
    Fault::missing(format!("there is no method {method:.64} of {resource:.64}"))
}

fn of_system(call: &Call, method: &str) -> Result<Value, Fault> {
    match method {
        "whoami" => Ok(system::whoami(call)),
        "destroyAuthToken" => login::end(call),
        "getUserInfo" => Ok(system::user_info(call)),
        "greet" => Ok(json!({ "messages": [] })),
        "headers" => Ok(system::headers(&call.headers)),
        "comeBackLater" => system::come_back_later(call),
        "findDataObjects" => find::objects::find(call),
        "findProjects" => find::projects::find(call),
        "findFolder" => find::by_path::find(call),
        "resolveDataObjects" => find::by_name::resolve(call),
        "describeDataObjects" => find::describe_many::objects(call),
        "describeProjects" => find::describe_many::objects(call),
        // For what does not exist here.
        "findApps"
        | "findGlobalWorkflows"
        | "findJobs"
        | "findAnalyses"
        | "findExecutions"
        | "findOrgs" => Ok(new::no_results()),
        _ => Err(no_method("system", method)),
    }
}

fn of_project(call: &Call, resource: &str, method: &str) -> Result<Value, Fault> {
    if !looks_like("project", resource) && !looks_like("container", resource) {
        return Err(Fault::no_object(resource));
    }
    let project = || call.project(resource);
    match method {
        "describe" => project::describe::describe(call, &project()?, &Fields::of(call.input()?)?),
        "listFolder" => folders::list(call, &project()?),
        "newFolder" => folders::new(call, &project()?),
        "renameFolder" => folders::rename(call, &project()?),
        "removeFolder" => folders::remove(call, &project()?),
        "move" => moves::relocate_all(call, &project()?),
        "clone" => clone::clone(call, &project()?),
        "removeObjects" => remove::objects(call, &project()?),
        "archive" => archive::archive(call, &project()?),
        "unarchive" => archive::unarchive(call, &project()?),
        "destroy" => remove::destroy(call, &project()?),
        "update" => project::new::update(call, &project()?),
        "invite" => people::invite(call, &project()?),
        "decreasePermissions" => people::decrease(call, &project()?),
        "leave" => people::leave(call, &project()?),
        "transfer" | "acceptTransfer" => people::transfer(&project()?),
        "addTags" => project::new::tag(call, &project()?, true),
        "removeTags" => project::new::tag(call, &project()?, false),
        "setProperties" => project::new::set_properties(call, &project()?),
        _ => Err(no_method(resource, method)),
    }
}

fn of_object(call: &Call, resource: &str, method: &str) -> Result<Value, Fault> {
    let class = resource.split_once('-').map_or("", |(class, _)| class);
    if !looks_like(class, resource) {
        return Err(Fault::missing(format!("not an id: {resource:.64?}")));
    }
    let id = call.object_id(resource)?;
    match (method, id.class) {
        ("describe", _) => {
            let input = call.input()?;
            let place = call.object(id, input.text("project")?)?;
            let reading = call.store().reading(&call.caller)?;
            describe::describe(call, &reading, &place, &Fields::of(input)?)
        }
        ("addTags", _) => change::tag(call, id, true),
        ("removeTags", _) => change::tag(call, id, false),
        ("setProperties", _) => change::set_properties(call, id),
        ("rename", _) => change::rename(call, id),
        ("setDetails", _) => change::set_details(call, id),
        ("getDetails", _) => change::get_details(call, id),
        ("setVisibility", _) => change::set_visibility(call, id),
        ("addTypes", _) => change::change_types(call, id, true),
        ("removeTypes", _) => change::change_types(call, id, false),
        ("listProjects", _) => change::list_projects(call, id),
        ("close", Class::Record) => change::close_record(call, id),
        ("upload", Class::File) => upload::begin(call, id),
        ("download", Class::File) => download::address(call, id),
        ("upload" | "download", _) => Err(wrong_class(id, method)),
        _ => Err(no_method(resource, method)),
    }
}

fn wrong_class(id: ObjectId, method: &str) -> Fault {
    Fault::new(ErrorType::InvalidType, format!("{id} is not a file, as {method} requires"))
}
