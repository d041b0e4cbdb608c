//! Requests generated from an OpenAPI document: each operation with every way to refer to a resource, every set of its
//! flags, and each of its other parameters.

use serde_json::{Map, Value, json};

use super::world::{FREE, OPEN};

/// Stands for a path, an id or an upload in a template.
pub(crate) const PATH: &str = "<path>";
pub(crate) const ID: &str = "<id>";
pub(crate) const UPLOAD: &str = "<upload>";
pub(crate) const JOB: &str = "<job>";

/// A request without its subject.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: Map<String, Value>,
    pub(crate) body: Body,
}

#[derive(Debug, Clone)]
pub(crate) enum Body {
    None,
    Json(Value),
    Bytes(String),
}

/// All templates of all operations of a document.
pub(crate) fn all(document: &Value) -> Vec<Template> {
    let paths = document["paths"].as_object().unwrap();
    let mut templates = Vec::new();
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            let operation = Operation { document, path, method, operation };
            templates.extend(operation.templates());
        }
    }
    templates
}

struct Operation<'a> {
    document: &'a Value,
    path: &'a str,
    method: &'a str,
    operation: &'a Value,
}

impl Operation<'_> {
    fn templates(&self) -> Vec<Template> {
        let mut templates = Vec::new();
        for query in self.queries() {
            for body in self.bodies() {
                templates.push(Template {
                    method: self.method.to_uppercase(),
                    path: self.route(),
                    query: query.clone(),
                    body,
                });
            }
        }
        templates
    }

    /// The address, with a placeholder in it where it has a parameter.
    fn route(&self) -> String {
        let id = if self.path.starts_with("/v1/jobs") { JOB } else { UPLOAD };
        self.path.replace("/{path}", PATH).replace("{id}", id).replace("{offset}", "0")
    }

    fn queries(&self) -> Vec<Map<String, Value>> {
        let parameters = self.operation["parameters"].as_array().into_iter().flatten();
        let in_query = parameters.filter(|parameter| parameter["in"] == "query");
        let members = in_query.map(|parameter| Member {
            name: parameter["name"].as_str().unwrap().to_owned(),
            required: parameter["required"] == true,
            values: self.values(parameter["name"].as_str().unwrap(), &parameter["schema"]),
        });
        objects(members.collect())
    }

    fn bodies(&self) -> Vec<Body> {
        let Some(content) = self.operation["requestBody"]["content"].as_object() else {
            return vec![Body::None];
        };
        let (media_type, media) = content.iter().next().unwrap();
        match media_type.as_str() {
            "application/json" => {
                self.values("", &media["schema"]).into_iter().map(Body::Json).collect()
            }
            other => vec![Body::Bytes(other.to_owned())],
        }
    }

    /// Values that a schema accepts: the placeholders for a resource, otherwise one of each kind.
    fn values(&self, name: &str, schema: &Value) -> Vec<Value> {
        if let Some(named) = resources(name, schema) {
            return named;
        }
        if let Some(reference) = schema["$ref"].as_str() {
            return self.values(name, self.document.pointer(&reference[1..]).unwrap());
        }
        if let Some(variants) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
            let variants = variants.iter().filter(|variant| variant["type"] != "null");
            return variants.flat_map(|variant| self.values(name, variant)).collect();
        }
        if let Some(words) = schema["enum"].as_array() {
            return words.clone();
        }
        if schema["properties"].is_object() {
            return self.objects(schema);
        }
        if !schema["example"].is_null() && name != "as_of" {
            return vec![schema["example"].clone()];
        }
        let is = |wanted: &str| {
            schema["type"] == wanted
                || schema["type"].as_array().is_some_and(|types| types.contains(&json!(wanted)))
        };
        match () {
            () if is("boolean") => vec![json!(true), json!(false)],
            () if is("integer") => vec![json!(1)],
            () if is("array") => {
                self.values(name, &schema["items"]).into_iter().map(|item| json!([item])).collect()
            }
            () if is("object") => self.objects(schema),
            () if name == "as_of" => vec![json!(jiff::Timestamp::now().to_string())],
            () if name == "sha256" => vec![json!("0".repeat(64))],
            () if name == "mtime" => vec![json!("2026-01-01T00:00:00Z")],
            () => vec![json!("x")],
        }
    }

    fn objects(&self, schema: &Value) -> Vec<Value> {
        let properties = schema["properties"].as_object().into_iter().flatten();
        let required = schema["required"].as_array();
        let members = properties.map(|(name, schema)| Member {
            name: name.clone(),
            required: required.is_some_and(|names| names.contains(&json!(name))),
            values: self.values(name, schema),
        });
        objects(members.collect()).into_iter().map(Value::Object).collect()
    }
}

/// The ways to refer to a resource, if a parameter or member of this name does so.
fn resources(name: &str, schema: &Value) -> Option<Vec<Value>> {
    let text = schema["type"] != "object" && schema["$ref"].is_null() && schema["oneOf"].is_null();
    match name {
        "path" | "under" | "within" if text => Some(vec![json!(PATH), json!(OPEN)]),
        "to" if text => Some(vec![json!(PATH), json!(FREE)]),
        "paths" if schema["type"] == "array" => Some(vec![json!([PATH])]),
        "id" | "ids" if schema["type"] == "array" => Some(vec![json!([ID])]),
        "id" | "within_id" | "parent" => Some(vec![json!(ID)]),
        _ => None,
    }
}

struct Member {
    name: String,
    required: bool,
    values: Vec<Value>,
}

impl Member {
    fn names_resource(&self) -> bool {
        !self.required && matches!(self.name.as_str(), "path" | "id")
    }

    fn is_flag(&self) -> bool {
        self.values.iter().all(Value::is_boolean)
    }
}

/// Every set of flags and required values; with one way to refer to the resource, if there are several, and at most
/// one other member.
fn objects(members: Vec<Member>) -> Vec<Map<String, Value>> {
    let (named, members): (Vec<_>, Vec<_>) = members.into_iter().partition(Member::names_resource);
    let (always, others): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|member| member.required || member.is_flag());
    let mut all = vec![Map::new()];
    for member in &always {
        all = with(&all, member);
    }
    if !named.is_empty() {
        all = named.iter().flat_map(|member| with(&all, member)).collect();
    }
    let more: Vec<_> = others.iter().flat_map(|member| with(&all, member)).collect();
    all.extend(more);
    all
}

fn with(all: &[Map<String, Value>], member: &Member) -> Vec<Map<String, Value>> {
    let one = |object: &Map<String, Value>, value: &Value| {
        let mut object = object.clone();
        object.insert(member.name.clone(), value.clone());
        object
    };
    all.iter()
        .flat_map(|object| member.values.iter().map(move |value| one(object, value)))
        .collect()
}
