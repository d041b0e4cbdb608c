//! `POST admin`: the actions of `iadmin`, each mapped to the equivalent operation of the HTTP API.

use axum::http::StatusCode;
use cenote_store::Act;
use serde_json::json;

use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::form::Form;
use crate::irods::call::request::Call;
use crate::irods::queries::specific;
use crate::irods::zone::{resources, users, zones};

/// The endpoint that implements an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Endpoint {
    Persons,
    Resources,
    Zones,
    SpecificQueries,
    /// There is nothing to do.
    Nothing,
}

/// An operation, and its parameters.
type Operation<'a> = (Endpoint, &'static str, Vec<(&'static str, &'a str)>);

/// `POST admin`: `action`, `target`, and `arg2` to `arg7`.
pub(super) async fn admin(mut call: Call) -> Answer {
    let form = std::mem::take(&mut call.form);
    let word = |name| form.text(name).unwrap_or_default();
    let arguments = ["arg2", "arg3", "arg4", "arg5"].map(word);
    let (endpoint, operation, parameters) =
        operation_for(word("action"), word("target"), arguments).ok_or(Refusal::BAD)?;
    let zone = call.settings().zone.clone();
    call.form = Form::default();
    for (name, value) in parameters.into_iter().chain([("zone", zone.as_str())]) {
        call.form.insert(name.to_owned(), value.to_owned().into());
    }
    match endpoint {
        Endpoint::Persons => users::answer(operation, call).await,
        Endpoint::Resources => resources::answer(operation, call).await,
        Endpoint::Zones => zones::answer(operation, call).await,
        Endpoint::SpecificQueries if operation == "add" => specific::add(call).await,
        Endpoint::SpecificQueries => specific::remove(call).await,
        Endpoint::Nothing if call.caller.may(Act::Configure) => answer::done(),
        Endpoint::Nothing => Err(Refusal::code(Code::NoApiPrivilege)),
    }?;
    Ok(answer::json(StatusCode::OK, json!({ "code": 0, "message": "Success" })))
}

/// The operation for an action on a target; `None` if there is none. The arguments are those of `iadmin`.
fn operation_for<'a>(
    action: &'a str,
    target: &str,
    arguments: [&'a str; 4],
) -> Option<Operation<'a>> {
    use Endpoint as E;
    let [name, second, third, fourth] = arguments;
    let action = if action == "rm" { "remove" } else { action };
    Some(match (action, target) {
        ("add", "user") if second != "rodsgroup" => {
            (E::Persons, "create_user", vec![("name", name), ("user-type", second)])
        }
        ("add", "user" | "group") => (E::Persons, "create_group", vec![("name", name)]),
        ("modify", "user") => {
            (E::Persons, user_operation(second)?, user_change(name, second, third))
        }
        ("modify", "group") => {
            let operation = match second {
                "add" => "add_to_group",
                "remove" => "remove_from_group",
                _ => return None,
            };
            (E::Persons, operation, vec![("group", name), ("user", third)])
        }
        ("remove", "user") => (E::Persons, "remove_user", vec![("name", name)]),
        ("remove", "group") => (E::Persons, "remove_group", vec![("name", name)]),
        ("add", "resource") => (E::Resources, "create", new_resource(name, second, third, fourth)),
        ("modify", "resource") if second == "rebalance" => {
            (E::Resources, "rebalance", vec![("name", name)])
        }
        ("modify", "resource") => (E::Resources, "modify", {
            vec![("name", name), ("property", property(second)), ("value", third)]
        }),
        ("remove", "resource") => (E::Resources, "remove", vec![("name", name)]),
        (_, "rebalance") => (E::Resources, "rebalance", vec![("name", name)]),
        ("add", "childtoresc") => (E::Resources, "add_child", {
            vec![("parent-name", name), ("child-name", second), ("context", third)]
        }),
        ("remove", "childfromresc") => {
            (E::Resources, "remove_child", vec![("parent-name", name), ("child-name", second)])
        }
        ("add", "zone") if second == "remote" => (E::Zones, "add", {
            vec![("name", name), ("connection-info", third), ("comment", fourth)]
        }),
        ("modify", "zone") => (E::Zones, "modify", {
            vec![("name", name), ("property", zone_property(second)), ("value", third)]
        }),
        ("remove", "zone") => (E::Zones, "remove", vec![("name", name)]),
        ("add", "specificQuery") => {
            (E::SpecificQueries, "add", vec![("sql", name), ("name", second)])
        }
        ("remove", "specificQuery") => (E::SpecificQueries, "remove", vec![("name", name)]),
        // An attribute exists only as long as something has it.
        ("remove", "unusedAVUs") => (E::Nothing, "", Vec::new()),
        _ => return None,
    })
}

fn user_operation(option: &str) -> Option<&'static str> {
    match option {
        "password" => Some("set_password"),
        "type" => Some("set_user_type"),
        _ => None,
    }
}

fn user_change<'a>(name: &'a str, option: &str, value: &'a str) -> Vec<(&'static str, &'a str)> {
    let parameter = if option == "password" { "new-password" } else { "new-user-type" };
    vec![("name", name), (parameter, value)]
}

/// The location of a resource is written as `HOST:PATH`.
fn new_resource<'a>(
    name: &'a str,
    kind: &'a str,
    location: &'a str,
    context: &'a str,
) -> Vec<(&'static str, &'a str)> {
    let (host, vault) = location.split_once(':').unwrap_or(("", location));
    let optional = [("host", host), ("vault-path", vault), ("context", context)];
    let optional = optional.into_iter().filter(|(_, value)| !value.is_empty());
    [("name", name), ("type", kind)].into_iter().chain(optional).collect()
}

/// The HTTP API's name for a property of a resource.
fn property(word: &str) -> &str {
    match word {
        "comment" => "comments",
        "free_space" | "freespace" => "free_space",
        "info" => "information",
        "path" => "vault_path",
        other => other,
    }
}

/// The HTTP API's name for a property of a zone.
fn zone_property(word: &str) -> &str {
    match word {
        "conn" => "connection_info",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_without_an_operation_are_not_guessed() {
        let none = [
            ("dance", "user"),
            ("add", "token"),
            ("remove", "token"),
            ("add", "zone"),
            ("modify", "user"),
            ("modify", "group"),
            ("", ""),
        ];
        for (action, target) in none {
            assert_eq!(
                operation_for(action, target, ["x", "y", "z", ""]),
                None,
                "{action} {target}"
            );
        }
        assert_eq!(
            operation_for("rm", "zone", ["x", "", "", ""]),
            operation_for("remove", "zone", ["x", "", "", ""])
        );
    }

    #[test]
    fn a_resource_is_on_a_host_below_a_path() {
        let at = |location| new_resource("r", "unixfilesystem", location, "");
        assert_eq!(at("h:/v")[2..], [("host", "h"), ("vault-path", "/v")]);
        assert_eq!(at("/v")[2..], [("vault-path", "/v")]);
        assert_eq!(at("")[2..], []);
    }
}
