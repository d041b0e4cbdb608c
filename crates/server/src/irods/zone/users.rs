//! `users-groups`: users, groups, and memberships.

use cenote_store::{
    Act, At, Caller, Error, ErrorKind, ListOptions, NewUser, PersonKind, RemoveOptions, Result,
    Role, Store, StorePath,
};
use serde_json::{Map, Value, json};

use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::Refusal;
use crate::irods::call::request::Call;
use crate::irods::call::translation::Doing;
use crate::irods::tree::metadata;
use crate::irods::tree::stat::{person_type, role_name};

/// The read-only operations.
pub(crate) const QUESTIONS: &[&str] = &["groups", "is_member_of_group", "stat", "users"];
/// The operations that change something.
pub(crate) const CHANGES: &[&str] = &[
    "add_to_group",
    "create_group",
    "create_user",
    "modify_metadata",
    "remove_from_group",
    "remove_group",
    "remove_user",
    "set_password",
    "set_user_type",
];

pub(crate) async fn answer(operation: &str, call: Call) -> Answer {
    match operation {
        "add_to_group" | "remove_from_group" => membership(call, operation == "add_to_group").await,
        "create_group" => change(call, &["name"], |s, c, a| s.add_group(c, &a[0]).map(drop)).await,
        "create_user" => create(call).await,
        "groups" => groups(call).await,
        "is_member_of_group" => is_member(call).await,
        "modify_metadata" => metadata::modify_person(call).await,
        "remove_group" => change(call, &["name"], |s, c, a| s.remove_person(c, &a[0])).await,
        "remove_user" => change(call, &["name", "zone"], |s, c, a| remove(s, c, &a[0])).await,
        "set_password" => {
            let needed = &["name", "zone", "new-password"];
            change(call, needed, |store, caller, a| {
                caller.require(Act::People)?;
                store.set_password(caller, &a[0], &a[2])
            })
            .await
        }
        "set_user_type" => set_type(call).await,
        "stat" => stat(call).await,
        _ => users(call).await,
    }
}

/// Makes a change with these parameters, all of which are required.
async fn change(
    call: Call,
    needed: &[&str],
    work: impl FnOnce(&Store, &Caller, &[String]) -> Result<()> + Send + 'static,
) -> Answer {
    let arguments: std::result::Result<Vec<String>, Refusal> =
        needed.iter().map(|name| call.need(name).map(str::to_owned)).collect();
    let (arguments, caller) = (arguments?, call.caller.clone());
    let done = call.blocking(move |store| Ok(work(store, &caller, &arguments))).await?;
    done.map_err(|error| Doing::People.refusal(error))?;
    answer::done()
}

fn role(word: &str) -> std::result::Result<Role, Refusal> {
    let roles = [Role::User, Role::GroupAdmin, Role::Admin];
    roles.into_iter().find(|role| role_name(*role) == word).ok_or(Refusal::BAD)
}

async fn create(call: Call) -> Answer {
    let role = role(call.form.text("user-type").unwrap_or("rodsuser"))?;
    change(call, &["name", "zone"], move |store, caller, arguments| {
        let name = arguments[0].clone();
        store.add_user_with_home(caller, &NewUser { name, password: None, role }).map(drop)
    })
    .await
}

async fn set_type(call: Call) -> Answer {
    let role = role(call.need("new-user-type")?)?;
    change(call, &["name", "zone"], move |store, caller, arguments| {
        store.set_role(caller, &arguments[0], role)
    })
    .await
}

/// Removes a user together with home and trash, which have to be empty.
fn remove(store: &Store, caller: &Caller, name: &str) -> Result<()> {
    caller.require(Act::People)?;
    store.person_named(name)?;
    let own = [format!("/home/{name}"), format!("/trash/home/{name}")];
    let own: Vec<StorePath> = own.iter().map(|path| path.parse()).collect::<Result<_>>()?;
    for path in &own {
        let one = ListOptions { limit: 1, ..ListOptions::default() };
        match store.list(caller, &path.into(), &one) {
            Ok(page) if !page.entries.is_empty() => {
                return Err(Error::new(ErrorKind::NotEmpty, format!("not empty: {path}")));
            }
            _ => {}
        }
    }
    store.remove_person(caller, name)?;
    let all = RemoveOptions { versions: true, permanent: true, ..RemoveOptions::default() };
    for path in &own {
        match store.remove(caller, &At::from(path), &all) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

async fn membership(call: Call, join: bool) -> Answer {
    change(call, &["user", "zone", "group"], move |store, caller, arguments| {
        let user = std::slice::from_ref(&arguments[0]);
        let (joins, leaves) = if join { (user, &[][..]) } else { (&[][..], user) };
        store.change_group(caller, &arguments[2], joins, leaves)
    })
    .await
}

async fn users(call: Call) -> Answer {
    call.caller.require(Act::Names)?;
    let zone = call.settings().zone.clone();
    let persons = call.blocking(|store| store.persons()).await?;
    let users = persons.into_iter().filter(|(_, person)| person.kind == PersonKind::User);
    let users = users.map(|(_, person)| json!({ "name": person.name, "zone": zone }));
    answer::member("users", users.collect::<Vec<Value>>())
}

async fn groups(call: Call) -> Answer {
    call.caller.require(Act::Names)?;
    let persons = call.blocking(|store| store.persons()).await?;
    let groups = persons.into_iter().filter(|(_, person)| person.kind == PersonKind::Group);
    answer::member("groups", groups.map(|(_, person)| person.name).collect::<Vec<String>>())
}

async fn is_member(call: Call) -> Answer {
    let (group, user) = (call.need("group")?.to_owned(), call.need("user")?.to_owned());
    call.need("zone")?;
    call.caller.require(Act::Names)?;
    let is_member = call.blocking(move |store| {
        let exists = store.person_named(&user).is_ok();
        match group.as_str() {
            "public" => Ok(exists),
            group => Ok(store.members(group).is_ok_and(|members| members.contains(&user))),
        }
    });
    answer::member("is_member", is_member.await?)
}

async fn stat(call: Call) -> Answer {
    let (name, zone) = (call.need("name")?.to_owned(), call.settings().zone.clone());
    call.caller.require(Act::Names)?;
    let members = call.blocking(move |store| {
        let Ok((id, person)) = store.person_named(&name) else {
            return Ok(Map::from_iter([("exists".to_owned(), false.into())]));
        };
        let mut members = Map::new();
        members.insert("exists".to_owned(), true.into());
        members.insert("id".to_owned(), id.to_string().into());
        members.insert("type".to_owned(), person_type(store, &name).into());
        if person.kind == PersonKind::User {
            members.insert("local_unique_name".to_owned(), format!("{name}#{zone}").into());
        }
        Ok(members)
    });
    answer::with(members.await?)
}
