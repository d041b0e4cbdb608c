//! The description of this opening, as OpenAPI 3.1. Routes bring their own part; what holds for
//! all of them is added here.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

/// The plain address, as the router and as OpenAPI write it, and the one that takes a query.
const WILDCARD: &str = "/v1/fs/{*path}";
const PLAIN: &str = "/v1/fs/{path}";
const NAMED: &str = "/v1/fs";

/// The document, as it is served.
pub(super) fn document(api: OpenApi) -> Bytes {
    let mut document = serde_json::to_value(api).expect("a description is JSON");
    document["info"] = json!({
        "title": "cenote",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "The native opening of a cenote store.",
    });
    let problem = json!({"$ref": "#/components/schemas/Problem"});
    document["components"]["responses"] = json!({"Problem": {
        "description": "The request was refused, or failed",
        "content": {"application/problem+json": {"schema": problem}},
    }});
    document["components"]["securitySchemes"] = json!({
        "password": {"type": "http", "scheme": "basic"},
        "token": {"type": "http", "scheme": "bearer"},
        "ticket": {"type": "apiKey", "in": "header", "name": "Cenote-Ticket"},
    });
    document["security"] = json!([{}, {"password": []}, {"token": []}, {"ticket": []}]);
    if let Some(Value::Object(paths)) = document.get_mut("paths") {
        split_addresses(paths);
        complete(paths);
    }
    widen(&mut document);
    document.to_string().into()
}

pub(super) fn answer(document: Bytes) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], document).into_response()
}

/// Bytes have two addresses: the path as it is, or a query that names the resource.
fn split_addresses(paths: &mut Map<String, Value>) {
    let Some(plain) = paths.remove(WILDCARD) else { return };
    let (mut plain, mut named) = (plain.clone(), plain);
    let about = "The path, each name percent-encoded";
    add_parameters(
        &mut plain,
        &[json!({"name": "path", "in": "path", "required": true,
        "description": about, "schema": {"type": "string"}, "example": "lab/a.txt"})],
    );
    add_parameters(
        &mut named,
        &[
            json!({"name": "path", "in": "query", "schema": {"type": "string"}, "example": "/lab/a.txt"}),
            json!({"name": "id", "in": "query", "schema": {"type": "integer", "format": "int64", "minimum": 0}}),
        ],
    );
    let child = [
        json!({"name": "parent", "in": "query", "schema": {"type": "integer", "format": "int64", "minimum": 0},
            "description": "The id of a collection, with `name`, instead of a path"}),
        json!({"name": "name", "in": "query", "schema": {"type": "string"}, "description": "The name in that collection"}),
    ];
    if let Some(Value::Array(parameters)) = named.pointer_mut("/put/parameters") {
        parameters.extend(child);
    }
    paths.insert(PLAIN.to_owned(), plain);
    paths.insert(NAMED.to_owned(), named);
}

fn add_parameters(item: &mut Value, more: &[Value]) {
    for (_, operation) in item.as_object_mut().into_iter().flatten() {
        if let Some(Value::Array(parameters)) = operation.get_mut("parameters") {
            parameters.extend_from_slice(more);
        }
    }
}

/// What holds for every operation: its name, that it may fail in the one form, and that no
/// bytes are bytes, too.
fn complete(paths: &mut Map<String, Value>) {
    for (path, item) in paths {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            operation["operationId"] = format!("{method} {path}").into();
            operation["responses"]["default"] = json!({"$ref": "#/components/responses/Problem"});
            if operation.pointer("/requestBody/content/application~1octet-stream").is_some() {
                operation["requestBody"]["required"] = false.into();
            }
        }
    }
}

/// Numbers here are 64 bits without a sign, for which the generator has no word.
fn widen(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let unsigned = members.get("minimum") == Some(&json!(0));
            if unsigned && members.get("format") == Some(&json!("int64")) {
                members.insert("format".to_owned(), json!("uint64"));
            }
            members.values_mut().for_each(widen);
        }
        Value::Array(items) => items.iter_mut().for_each(widen),
        _ => {}
    }
}
