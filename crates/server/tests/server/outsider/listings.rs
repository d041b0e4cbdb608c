//! Responses about visible resources do not reveal hidden ones, and no response reveals users and places to
//! anonymous callers.

use super::native::send;
use super::template::{self, Body, ID, PATH, Template};
use super::world::World;
use super::{HIDDEN, Pair, callers};

#[tokio::test]
async fn no_listing_reveals_hidden_resources() {
    let world = World::new().await;
    let document = world.server.request_as(None, "GET", "/openapi.json").send().await.expect(200);
    let templates = template::all(&document).into_iter().filter(is_question);
    let (mut sent, mut found) = (0, Vec::new());
    for template in templates {
        for subject in subjects(&template) {
            for caller in callers(&world, sent) {
                let answer = send(&world, caller, &template, subject, None).await;
                let body = String::from_utf8_lossy(&answer.body);
                if body.contains(HIDDEN) {
                    found.push(format!("{}: {template:?} {subject}: {body:.400}", caller.name));
                }
                sent += 1;
            }
        }
    }
    let some = found.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(found.is_empty(), "{} of {sent} answers name what is hidden:\n{some}", found.len());
    assert!(sent > 200, "only {sent} requests were made up");
}

/// Whether a request is read-only.
fn is_question(template: &Template) -> bool {
    template.method == "GET"
        || ["/v1/search", "/v1/stat", "/v1/archive", "/v1/past/search", "/v1/past/archive"]
            .contains(&template.path.as_str())
}

fn subjects(template: &Template) -> Vec<&'static str> {
    let text = format!("{template:?}");
    match () {
        () if text.contains(PATH) => vec!["/", "/shown", "/shown/second"],
        () if text.contains(ID) => vec!["1"],
        () if text.contains('<') => Vec::new(),
        () => vec![""],
    }
}

#[tokio::test]
async fn users_and_places_are_not_revealed_to_anonymous_callers() {
    let world = World::new().await;
    let nobody = world.callers.iter().find(|caller| caller.name == "anonymous").unwrap();
    let document = world.server.request_as(None, "GET", "/openapi.json").send().await.expect(200);
    let mut differences = super::Differences::default();
    let pairs = [("gina", "anig"), ("main", "niam")];
    for template in template::all(&document) {
        for (there, missing) in pairs {
            let pair = Pair { hidden: there.to_owned(), missing: missing.to_owned() };
            let answers = [there, missing].map(|name| named(&template, name));
            let [Some(there), Some(missing)] = answers else { continue };
            let there = send(&world, nobody, &there, "/shown/veiled", None).await;
            let missing = send(&world, nobody, &missing, "/shown/veiled", None).await;
            differences.compare(|| format!("{template:?} {pair:?}"), &pair, [&there, &missing]);
        }
    }
    differences.assert_none(50);
}

/// The request with a name in it, if it accepts one.
fn named(template: &Template, name: &str) -> Option<Template> {
    let mut template = template.clone();
    let mut any = false;
    let mut put = |value: &mut serde_json::Value| {
        if value == "x" {
            *value = name.into();
            any = true;
        }
    };
    template.query.values_mut().for_each(&mut put);
    if let Body::Json(body) = &mut template.body {
        every(body, &mut put);
    }
    any.then_some(template)
}

/// Applies a function to every value in a body.
fn every(body: &mut serde_json::Value, what: &mut impl FnMut(&mut serde_json::Value)) {
    what(body);
    match body {
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| every(item, what)),
        serde_json::Value::Object(members) => {
            members.values_mut().for_each(|member| every(member, what));
        }
        _ => {}
    }
}
