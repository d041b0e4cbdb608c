//! From a request to the operation that it calls.
//!
//! The order of the checks is that of the C++ server: endpoint, method, operation, authentication, parameters.

use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::answer::{self, Answer};
use super::body::{self, Carrier};
use super::code::Refusal;
use super::form::Form;
use super::identity;
use super::request::{Call, host};
use crate::app::App;
use crate::irods::data_objects::{intake, objects};
use crate::irods::queries::query;
use crate::irods::rules;
use crate::irods::tree::collections;
use crate::irods::zone::{resources, tickets, users, zones};
use crate::layer::{is_cross_site, may_change, peer};

/// The families of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Endpoint {
    Collections,
    DataObjects,
    Query,
    Resources,
    Rules,
    Tickets,
    UsersGroups,
    Zones,
}

/// Answers every call.
pub(crate) async fn answer(
    State(app): State<App>,
    Path((_, endpoint)): Path<(String, String)>,
    request: Request,
) -> Response {
    if may_change(request.method()) && is_cross_site(&request) {
        return Refusal::cross_site().into_response();
    }
    let endpoint = match endpoint.as_str() {
        "authenticate" if request.method() == Method::POST => {
            return respond(
                identity::log_in(&app, request.headers(), peer(request.extensions())).await,
            );
        }
        "info" if request.method() == Method::GET => {
            return respond(info(&app, &request.into_parts().0).await);
        }
        "authenticate" | "info" => return StatusCode::METHOD_NOT_ALLOWED.into_response(),
        "collections" => Endpoint::Collections,
        "data-objects" => Endpoint::DataObjects,
        "query" => Endpoint::Query,
        "resources" => Endpoint::Resources,
        "rules" => Endpoint::Rules,
        "tickets" => Endpoint::Tickets,
        "users-groups" => Endpoint::UsersGroups,
        "zones" => Endpoint::Zones,
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    respond(call(&app, endpoint, request).await)
}

fn respond(answer: Answer) -> Response {
    answer.unwrap_or_else(IntoResponse::into_response)
}

async fn call(app: &App, endpoint: Endpoint, request: Request) -> Answer {
    if !matches!(*request.method(), Method::GET | Method::POST) {
        return Err(Refusal::Plain(StatusCode::METHOD_NOT_ALLOWED));
    }
    let post = request.method() == Method::POST;
    let host = host(&request);
    let (headers, extensions) = (request.headers().clone(), request.extensions().clone());
    let (call, taken) = match Carrier::of(&request, endpoint == Endpoint::DataObjects)? {
        Carrier::Form => {
            let form = body::form(app, request).await?;
            known_operation(endpoint, post, &form)?;
            let mut call =
                Call::new(app, identity::caller(app, &headers, &extensions).await?, form);
            let taken = call.take_parameter(&host).await;
            (call, taken)
        }
        Carrier::Bytes(carrier) => {
            let mut call = Call::new(
                app,
                identity::caller(app, &headers, &extensions).await?,
                Form::default(),
            );
            let taken = carrier.take(&mut call, &host, request).await;
            (call, taken)
        }
    };
    let blob = call.blob();
    let answer = match taken {
        Ok(()) => run(endpoint, post, host, call).await,
        Err(refusal) => Err(refusal),
    };
    intake::settled(app.store(), blob, answer).await
}

async fn run(endpoint: Endpoint, post: bool, host: String, mut call: Call) -> Answer {
    let operation = known_operation(endpoint, post, &call.form)?;
    let what = call.ticket_use(post, &operation);
    call.show_ticket(host, what).await?;
    dispatch(endpoint, &operation, call).await
}

async fn dispatch(endpoint: Endpoint, operation: &str, call: Call) -> Answer {
    match endpoint {
        Endpoint::Collections => collections::answer(operation, call).await,
        Endpoint::DataObjects => objects::answer(operation, call).await,
        Endpoint::Query => query::answer(operation, call).await,
        Endpoint::Resources => resources::answer(operation, call).await,
        Endpoint::Rules => rules::answer(operation, call).await,
        Endpoint::Tickets => tickets::answer(operation, call).await,
        Endpoint::UsersGroups => users::answer(operation, call).await,
        Endpoint::Zones => zones::answer(operation, call).await,
    }
}

/// The operation that a form names, if it exists; status 501 if it is not implemented.
fn known_operation(endpoint: Endpoint, post: bool, form: &Form) -> Result<String, Refusal> {
    let operation = form.text("op").ok_or(Refusal::BAD)?;
    let (offered, missing) = operations(endpoint, post);
    match (offered.contains(&operation), missing.contains(&operation)) {
        (true, _) => Ok(operation.to_owned()),
        (_, true) => Err(Refusal::Plain(StatusCode::NOT_IMPLEMENTED)),
        _ => Err(Refusal::BAD),
    }
}

/// The operations of an endpoint: those that are implemented, and others that the API has.
fn operations(
    endpoint: Endpoint,
    post: bool,
) -> (&'static [&'static str], &'static [&'static str]) {
    match (endpoint, post) {
        (Endpoint::Collections, false) => (&["list", "stat"], &[]),
        (Endpoint::Collections, true) => (collections::CHANGES, &[]),
        (Endpoint::DataObjects, false) => (&["read", "stat", "verify_checksum"], &[]),
        (Endpoint::DataObjects, true) => (objects::CHANGES, &[]),
        (Endpoint::Query, false) => (query::QUESTIONS, &["list_genquery_columns"]),
        (Endpoint::Query, true) => (query::CHANGES, &[]),
        (Endpoint::Resources, false) => (&["stat"], &[]),
        (Endpoint::Resources, true) => (resources::CHANGES, &[]),
        (Endpoint::Rules, false) => (&["list_rule_engines"], &[]),
        (Endpoint::Rules, true) => (rules::CHANGES, &[]),
        (Endpoint::Tickets, false) => (&[], &["list", "stat"]),
        (Endpoint::Tickets, true) => (&["create", "remove"], &[]),
        (Endpoint::UsersGroups, false) => (users::QUESTIONS, &["members"]),
        (Endpoint::UsersGroups, true) => (users::CHANGES, &["add_user_auth", "remove_user_auth"]),
        (Endpoint::Zones, false) => (&["report", "stat"], &[]),
        (Endpoint::Zones, true) => (zones::CHANGES, &[]),
    }
}

/// `GET info`: the server's version and limits.
async fn info(app: &App, request: &Parts) -> Answer {
    let settings = app.irods();
    let mut info = json!({
        "api_version": "0.7.0",
        "build": env!("CARGO_PKG_VERSION"),
        "genquery2_enabled": true,
        "irods_zone": settings.zone,
        "max_number_of_parallel_write_streams": settings.streams,
        "max_number_of_rows_per_catalog_query": settings.rows,
        "max_number_of_streams_per_parallel_write_handle": settings.streams,
        "max_size_of_request_body_in_bytes": settings.body_bytes,
        "openid_connect_enabled": false,
    });
    if identity::caller(app, &request.headers, &request.extensions).await.is_ok() {
        info["irods_server_version"] = Value::from(concat!("cenote ", env!("CARGO_PKG_VERSION")));
    }
    Ok(answer::json(StatusCode::OK, info))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list of requests that `tests/server/outsider` sends.
    const LISTED: &str = include_str!("../../../tests/server/outsider/irods-operations.txt");

    #[test]
    fn the_list_of_operations_is_complete() {
        let endpoints = [
            ("collections", Endpoint::Collections),
            ("data-objects", Endpoint::DataObjects),
            ("query", Endpoint::Query),
            ("resources", Endpoint::Resources),
            ("rules", Endpoint::Rules),
            ("tickets", Endpoint::Tickets),
            ("users-groups", Endpoint::UsersGroups),
            ("zones", Endpoint::Zones),
        ];
        let mut offered = String::new();
        for (name, endpoint) in endpoints {
            for (method, post) in [("GET", false), ("POST", true)] {
                for operation in operations(endpoint, post).0 {
                    offered.push_str(&format!("{method} {name} {operation}\n"));
                }
            }
        }
        assert_eq!(offered, LISTED, "write this into tests/server/outsider/irods-operations.txt");
    }
}
