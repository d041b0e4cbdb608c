//! Finding: conditions, scopes and pages.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Client, Platform, text};

/// The names of the results, in as many pages as necessary.
async fn found(client: &Client<'_>, mut input: Value, limit: usize) -> Vec<String> {
    input["limit"] = json!(limit);
    input["describe"] = json!({ "fields": { "name": true } });
    let mut names = Vec::new();
    loop {
        let page = client.call("system", "findDataObjects", input.clone()).await;
        let results = page["results"].as_array().unwrap();
        assert!(results.len() <= limit);
        names.extend(results.iter().map(|one| text(&one["describe"]["name"])));
        if page["next"].is_null() {
            names.sort();
            return names;
        }
        input["starting"] = page["next"].clone();
    }
}

async fn world(ada: &Client<'_>) -> String {
    let project = ada.project("p").await;
    for (folder, name, tags, properties) in [
        ("/", "a1", json!(["t"]), json!({ "k": "v" })),
        ("/", "a1", json!(["t", "u"]), json!({})),
        ("/d", "a2", json!([]), json!({ "k": "w" })),
        ("/d/e", "b", json!(["u"]), json!({ "k": "v", "l": "m" })),
    ] {
        let input = json!({
            "project": project, "folder": folder, "name": name, "parents": true, "tags": tags,
            "properties": properties, "types": [name],
        });
        ada.call("record", "new", input).await;
    }
    ada.file(&project, "/d", "c.txt", b"bytes").await;
    project
}

#[tokio::test]
async fn each_condition_matches_the_documented_objects() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = world(&ada).await;
    let all = ["a1", "a1", "a2", "b", "c.txt"];
    for (condition, names) in [
        (json!({}), &all[..]),
        (json!({ "class": "record" }), &all[..4]),
        (json!({ "class": "applet" }), &[]),
        (json!({ "state": "closed" }), &["c.txt"]),
        (json!({ "state": "any" }), &all),
        (json!({ "visibility": "hidden" }), &[]),
        (json!({ "visibility": "either" }), &all),
        (json!({ "name": "a1" }), &["a1", "a1"]),
        (json!({ "name": { "glob": "a*" } }), &["a1", "a1", "a2"]),
        (json!({ "name": { "regexp": "^A|t$", "flags": "i" } }), &["a1", "a1", "a2", "c.txt"]),
        (json!({ "tags": "u" }), &["a1", "b"]),
        (json!({ "tags": { "$and": ["t", "u"] } }), &["a1"]),
        (json!({ "tags": { "$or": ["t", "u"] } }), &["a1", "a1", "b"]),
        (json!({ "properties": { "k": true } }), &["a1", "a2", "b"]),
        (json!({ "properties": { "k": "v", "l": "m" } }), &["b"]),
        (json!({ "properties": { "$or": [{ "k": "w" }, { "l": "m" }] } }), &["a2", "b"]),
        (json!({ "type": "b" }), &["b"]),
        (json!({ "created": { "after": -60_000 } }), &all),
        (json!({ "created": { "before": -60_000 } }), &[]),
        (json!({ "modified": { "after": 1 } }), &all),
        (json!({ "region": "aws:us-east-1" }), &all),
        (json!({ "region": ["azure:westus"] }), &[]),
        (json!({ "archivalState": "live" }), &all),
        (json!({ "level": "ADMINISTER" }), &all),
    ] {
        for scope in [json!({ "project": project }), Value::Null] {
            let mut input = condition.clone();
            input["scope"] = scope;
            assert_eq!(found(&ada, input, 1_000).await, names, "{condition}");
        }
    }
    for (scope, names) in [
        (json!({ "folder": "/d" }), &["a2", "b", "c.txt"][..]),
        (json!({ "folder": "/d", "recurse": false }), &["a2", "c.txt"]),
        (json!({ "folder": "/", "recurse": false }), &["a1", "a1"]),
    ] {
        let mut scope = scope;
        scope["project"] = json!(project);
        assert_eq!(found(&ada, json!({ "scope": scope }), 1_000).await, names, "{scope}");
    }
}

#[tokio::test]
async fn malformed_conditions_are_refused() {
    let platform = Platform::new();
    let ada = platform.ada();
    for input in [
        json!({ "limit": 0 }),
        json!({ "limit": 1_001 }),
        json!({ "class": "fil" }),
        json!({ "state": "shut" }),
        json!({ "visibility": "seen" }),
        json!({ "name": { "regexp": "(" } }),
        json!({ "name": 3 }),
        json!({ "tags": { "$and": "t" } }),
        json!({ "properties": { "k": 1 } }),
        json!({ "created": { "after": "yesterday" } }),
        json!({ "scope": {} }),
        json!({ "starting": "mine" }),
        json!({ "describe": 3 }),
    ] {
        ada.refused("system", "findDataObjects", input, "InvalidInput").await;
    }
}

#[tokio::test]
async fn names_are_resolved_to_all_objects_of_that_name() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = world(&ada).await;
    let input = json!({ "project": project, "objects": [
        { "name": "a1" }, { "name": "a2" }, { "name": "a2", "folder": "/d" }, { "name": "x", "folder": "/none" },
    ] });
    let results = ada.call("system", "resolveDataObjects", input).await["results"].clone();
    let counts: Vec<_> =
        results.as_array().unwrap().iter().map(|one| one.as_array().unwrap().len()).collect();
    assert_eq!(counts, [2, 0, 1, 0]);
}

#[tokio::test]
async fn projects_are_found_by_their_conditions() {
    let platform = Platform::new();
    let (ada, grace) = (platform.ada(), platform.grace());
    let project = ada
        .id("project", "new", json!({ "name": "p", "tags": ["t"], "properties": { "k": "v" } }))
        .await;
    for (input, count) in [
        (json!({ "name": "p" }), 1),
        (json!({ "name": { "glob": "p*" } }), 1),
        (json!({ "name": "q" }), 0),
        (json!({ "tags": ["t"] }), 0),
        (json!({ "tags": "t" }), 1),
        (json!({ "properties": { "k": "v" } }), 1),
        (json!({ "name": "p", "billTo": "user-ada" }), 1),
        (json!({ "name": "p", "billTo": "user-grace" }), 0),
        (json!({ "name": "p", "level": "ADMINISTER", "explicitPermission": true }), 1),
        (json!({ "name": "p", "public": true }), 0),
        (json!({ "name": "p", "created": { "before": -60_000 } }), 0),
    ] {
        let answer = ada.try_call("system", "findProjects", &input).await;
        if answer.status == 422 {
            assert!(input["tags"].is_array(), "{input}");
            continue;
        }
        let results = answer.expect(200)["results"].as_array().unwrap().len();
        assert_eq!(results, count, "{input}");
    }
    let found = grace.call("system", "findProjects", json!({ "name": "p" })).await;
    assert_eq!(found, json!({ "results": [], "next": null }));
    grace
        .refused(
            "system",
            "findDataObjects",
            json!({ "scope": { "project": project } }),
            "ResourceNotFound",
        )
        .await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn pages_of_any_length_return_each_object_once(
        objects in proptest::collection::vec((0..4_usize, "[ab]", any::<bool>()), 0..14),
        limit in 1..5_usize,
        by in 0..4_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let platform = Platform::new();
            let ada = platform.ada();
            let project = ada.project("p").await;
            let mut expected = BTreeSet::new();
            for (n, (folder, name, tagged)) in objects.iter().enumerate() {
                let folder = ["/", "/a", "/a/b", "/c"][*folder];
                let name = if by == 3 { name.clone() } else { format!("{name}{n}") };
                let tags = if *tagged { json!(["t"]) } else { json!([]) };
                let input = json!({ "project": project, "folder": folder, "parents": true, "name": name, "tags": tags, "properties": { "n": n.to_string() } });
                let id = ada.id("record", "new", input).await;
                let holds = match by { 0 => true, 1 => *tagged, 2 => folder == "/", _ => folder == "/" && name == "a" };
                if holds { expected.insert(id); }
            }
            let mut input = match by {
                0 => json!({ "scope": { "project": project } }),
                1 => json!({ "tags": "t" }),
                2 => json!({ "scope": { "project": project, "folder": "/", "recurse": false } }),
                _ => json!({ "scope": { "project": project, "folder": "/", "recurse": false }, "name": { "glob": "a" } }),
            };
            input["limit"] = json!(limit);
            let mut ids = Vec::new();
            loop {
                let page = ada.call("system", "findDataObjects", input.clone()).await;
                ids.extend(page["results"].as_array().unwrap().iter().map(|one| text(&one["id"])));
                if page["next"].is_null() { break; }
                input["starting"] = page["next"].clone();
            }
            assert_eq!(ids.len(), expected.len(), "each once");
            assert_eq!(ids.into_iter().collect::<BTreeSet<_>>(), expected);
        });
    }
}

/// The ids of all pages of a search in an order.
async fn ordered(client: &Client<'_>, project: &str, by: &Value, limit: usize) -> Vec<String> {
    let mut input = json!({ "scope": { "project": project }, "sortBy": [by], "limit": limit });
    let mut ids = Vec::new();
    loop {
        let page = client.call("system", "findDataObjects", input.clone()).await;
        let results = page["results"].as_array().unwrap();
        assert!(results.len() <= limit);
        ids.extend(results.iter().map(|one| text(&one["id"])));
        if page["next"].is_null() {
            return ids;
        }
        input["starting"] = page["next"].clone();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn sort_by_orders_all_pages_and_each_object_is_on_one(
        objects in proptest::collection::vec(("[ab]{1,2}", "[de]", 0..3_usize), 0..12),
        limit in 1..5_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let platform = Platform::new();
            let ada = platform.ada();
            let project = ada.project("p").await;
            let mut made = Vec::new();
            for (name, folder, size) in &objects {
                let id = ada.file(&project, &format!("/{folder}"), name, &b"xx"[..*size.min(&2)]).await;
                made.push((name.clone(), *size.min(&2), id));
            }
            let ids = |made: &[(String, usize, String)]| made.iter().map(|(_, _, id)| id.clone()).collect::<Vec<_>>();
            let created = ids(&made);
            made.sort_by(|one, other| (&one.0, &one.2).cmp(&(&other.0, &other.2)));
            let named = ids(&made);
            made.sort_by(|one, other| (one.1, &one.2).cmp(&(other.1, &other.2)));
            let sized = ids(&made);
            for (field, mut expected) in [("name", named), ("size", sized), ("created", created)] {
                let by = json!({ "field": field, "ordering": "ascending" });
                assert_eq!(ordered(&ada, &project, &by, limit).await, expected, "{field}");
                expected.reverse();
                let by = json!({ "field": field, "ordering": "descending" });
                assert_eq!(ordered(&ada, &project, &by, limit).await, expected, "{field}");
            }
        });
    }
}

#[tokio::test]
async fn an_invalid_order_is_refused() {
    let platform = Platform::new();
    let ada = platform.ada();
    for input in [
        json!({ "sortBy": "name" }),
        json!({ "sortBy": [] }),
        json!({ "sortBy": ["name"] }),
        json!({ "sortBy": [{ "field": "colour" }] }),
        json!({ "sortBy": [{ "field": "name", "ordering": "up" }] }),
        json!({ "sortBy": [{ "field": "name" }, { "field": "size" }] }),
        json!({ "sortBy": [{ "field": "name" }], "starting": [3, 4] }),
        json!({ "sortBy": [{ "field": "size" }], "starting": { "project": 3 } }),
    ] {
        ada.refused("system", "findDataObjects", input, "InvalidInput").await;
    }
}
