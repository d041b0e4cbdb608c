//! The native opening: all operations of its document.

use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use serde_json::Value;

use super::super::batch::archive;
use super::super::support::Answer;
use super::template::{self, Body, ID, JOB, PATH, Template, UPLOAD};
use super::world::{Caller, World};
use super::{Differences, Pair, callers, is_long};

/// Headers that make a request depend on the state.
const CONDITIONS: [Option<(&str, &str)>; 4] =
    [None, Some(("if-match", "\"1\"")), Some(("if-match", "*")), Some(("if-none-match", "*"))];

#[tokio::test]
async fn no_route_distinguishes_hidden_from_missing_resources() {
    let world = World::new().await;
    let document = world.server.request_as(None, "GET", "/openapi.json").send().await.expect(200);
    let (mut differences, mut n) = (Differences::default(), 0);
    for template in template::all(&document) {
        for pair in template.pairs(&world) {
            for condition in conditions(n) {
                for caller in callers(&world, n) {
                    let send = async |subject: &str| {
                        send(&world, caller, &template, subject, condition).await
                    };
                    let answers = [send(&pair.hidden).await, send(&pair.missing).await];
                    let what = || format!("{}: {template:?} {condition:?} {pair:?}", caller.name);
                    differences.compare(what, pair, [&answers[0], &answers[1]]);
                }
                n += 1;
            }
        }
    }
    differences.assert_none(8_000);
}

/// All conditions, or one of them in turn.
fn conditions(n: usize) -> Vec<Option<(&'static str, &'static str)>> {
    if is_long() { CONDITIONS.to_vec() } else { vec![CONDITIONS[n % CONDITIONS.len()]] }
}

impl Template {
    /// The possible subjects; empty if it refers to no resource.
    fn pairs<'a>(&self, world: &'a World) -> Vec<&'a Pair> {
        let text = format!("{self:?}");
        let about =
            [(PATH, &world.paths), (ID, &world.ids), (UPLOAD, &world.uploads), (JOB, &world.jobs)];
        let about = about.into_iter().find(|(placeholder, _)| text.contains(placeholder));
        about.into_iter().flat_map(|(_, pairs)| pairs).collect()
    }

    fn uri(&self, subject: &str) -> String {
        let path = filled(&self.path, subject);
        let parameters = self.query.iter().map(|(name, value)| {
            let text = match value {
                Value::String(text) => filled(text, subject),
                other => other.to_string(),
            };
            format!("{name}={}", percent_encode(text.as_bytes(), NON_ALPHANUMERIC))
        });
        format!("{path}?{}", parameters.collect::<Vec<_>>().join("&"))
    }
}

pub(super) async fn send(
    world: &World,
    caller: &Caller,
    template: &Template,
    subject: &str,
    condition: Option<(&'static str, &str)>,
) -> Answer {
    let mut request = world.server.request_as(None, &template.method, &template.uri(subject));
    if let Some(authorization) = &caller.authorization {
        request = request.header("authorization", authorization);
    }
    if let Some(ticket) = &caller.ticket {
        request = request.header("cenote-ticket", ticket);
    }
    if let Some((name, value)) = condition {
        request = request.header(name, value);
    }
    match &template.body {
        Body::None => request.send().await,
        Body::Json(body) => request.json(&substituted(body, subject)).send().await,
        Body::Bytes(media_type) => {
            let bytes = bytes(media_type).await;
            request.header("content-type", media_type).body(bytes).send().await
        }
    }
}

/// A text with the subject in place of the placeholder.
fn filled(text: &str, subject: &str) -> String {
    [PATH, ID, UPLOAD, JOB].iter().fold(text.to_owned(), |text, name| text.replace(name, subject))
}

fn substituted(body: &Value, subject: &str) -> Value {
    match body {
        // If the subject of the request is a path, other ids are that of the root.
        Value::String(text) if text == ID => Value::from(subject.parse::<u64>().unwrap_or(1)),
        Value::String(text) => Value::from(filled(text, subject)),
        Value::Array(items) => items.iter().map(|item| substituted(item, subject)).collect(),
        Value::Object(members) => {
            let member =
                |(name, value): (&String, &Value)| (name.clone(), substituted(value, subject));
            Value::Object(members.iter().map(member).collect())
        }
        other => other.clone(),
    }
}

/// A body of this media type: a tar with one file, or arbitrary bytes.
async fn bytes(media_type: &str) -> Vec<u8> {
    match media_type {
        "application/x-tar" => archive(&[("entry", b"content")]).await,
        "application/n-triples" => Vec::new(),
        _ => b"bytes".to_vec(),
    }
}
