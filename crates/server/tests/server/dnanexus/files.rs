//! Files: states, parts, contents and their addresses.

use futures_util::future::join_all;
use proptest::prelude::*;
use serde_json::json;

use super::{Platform, content_md5, md5, path, refusal, text};

#[tokio::test]
async fn parts_become_the_content_in_the_order_of_their_numbers() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    let file = ada.id("file", "new", json!({ "project": project, "name": "f" })).await;
    for (number, bytes) in [(7, "ghi"), (2, "wrong"), (3, "def"), (2, "abc")] {
        ada.part(&file, number, bytes.as_bytes()).await.expect(200);
    }
    let open = ada.call(&file, "describe", json!({})).await;
    assert_eq!((&open["state"], open.get("size")), (&json!("open"), None));
    ada.call(&file, "close", json!({})).await;
    let input = json!({ "fields": { "state": true, "size": true, "parts": true } });
    let closed = ada.call(&file, "describe", input).await;
    assert_eq!((&closed["state"], &closed["size"]), (&json!("closed"), &json!(9)));
    let parts = closed["parts"].as_object().unwrap();
    assert_eq!(parts.keys().collect::<Vec<_>>(), ["2", "3", "7"]);
    assert_eq!(
        parts["2"],
        json!({ "size": 3, "state": "complete", "md5": "900150983cd24fb0d6963f7d28e17f72" })
    );
    assert_eq!(ada.read(&file, None).await.text(), "abcdefghi");
    let part = ada.read(&file, Some("bytes=2-4")).await;
    assert_eq!((part.status.as_u16(), part.text().as_str()), (206, "cde"));
    assert_eq!(part.header("content-range"), "bytes 2-4/9");
    assert_eq!(ada.read(&file, Some("bytes=9-")).await.status, 416);
}

#[tokio::test]
async fn a_part_that_does_not_match_its_announcement_is_refused_and_leaves_nothing() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    let file = ada.id("file", "new", json!({ "project": project })).await;
    let address = ada
        .call(&file, "upload", json!({ "index": 1, "size": 3, "md5": super::md5(b"abc") }))
        .await;
    assert_eq!(address["headers"]["Content-MD5"], content_md5(b"abc"));
    for wrong in ["abd", "ab", "abcd"] {
        refusal(&ada.send(&address, wrong.as_bytes()).await, "InvalidInput");
    }
    let message = ada.refused(&file, "close", json!({}), "InvalidState").await;
    assert!(message.contains("no parts"), "{message}");
    ada.send(&address, b"abc").await.expect(200);
    ada.call(&file, "close", json!({})).await;
    assert_eq!(ada.read(&file, None).await.text(), "abc");
}

#[tokio::test]
async fn the_calls_that_a_file_allows_depend_on_its_state() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    let file = ada.id("file", "new", json!({ "project": project })).await;
    ada.refused(&file, "download", json!({}), "InvalidState").await;
    ada.call(&file, "setVisibility", json!({ "hidden": true })).await;
    let address = ada.call(&file, "upload", json!({})).await;
    ada.send(&address, b"abc").await.expect(200);
    ada.call(&file, "close", json!({})).await;
    ada.call(&file, "close", json!({})).await;
    let message = ada.refused(&file, "upload", json!({ "index": 2 }), "InvalidState").await;
    assert!(message.contains("is not in the open state"), "{message}");
    refusal(&ada.send(&address, b"late").await, "InvalidState");
    ada.refused(&file, "setVisibility", json!({ "hidden": false }), "InvalidState").await;
    ada.refused(&file, "setDetails", json!({}), "InvalidState").await;
    ada.refused(&file, "addTypes", json!({ "types": ["t"] }), "InvalidState").await;
    ada.call(&file, "addTags", json!({ "project": project, "tags": ["t"] })).await;
    ada.call(&file, "rename", json!({ "project": project, "name": "g" })).await;
    assert_eq!(ada.read(&file, None).await.text(), "abc");
}

#[tokio::test]
async fn a_file_without_a_name_is_named_by_its_id() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    for class in ["file", "record"] {
        let id = ada.id(class, "new", json!({ "project": project })).await;
        assert_eq!(ada.call(&id, "describe", json!({})).await["name"], id);
    }
}

#[tokio::test]
async fn files_are_written_by_many_calls_at_once() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    let file = ada.id("file", "new", json!({ "project": project })).await;
    let bytes: Vec<Vec<u8>> = (0..16_u8).map(|n| vec![n; 70_000]).collect();
    let sent = bytes.iter().enumerate().map(|(n, part)| ada.part(&file, n as u64 + 1, part));
    join_all(sent).await.iter().for_each(|answer| drop(answer.expect(200)));
    let nothing = json!({});
    let closing = join_all((0..16).map(|_| ada.try_call(&file, "close", &nothing))).await;
    closing.iter().for_each(|answer| drop(answer.expect(200)));
    assert_eq!(ada.read(&file, None).await.body, bytes.concat());
}

#[tokio::test]
async fn a_nonce_creates_one_object_however_often_it_is_sent() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    for class in ["file", "record"] {
        let input = json!({ "project": project, "name": class, "nonce": "n" });
        let made = join_all((0..8).map(|_| ada.try_call(class, "new", &input))).await;
        let mut ids: Vec<_> = made.iter().map(|answer| text(&answer.expect(200)["id"])).collect();
        ids.dedup();
        assert_eq!(ids.len(), 1, "{ids:?}");
        let other = json!({ "project": project, "name": "other", "nonce": "n" });
        ada.refused(class, "new", other, "InvalidInput").await;
    }
    assert_eq!(ada.names(&project, "/").await, ["file", "record"]);
}

#[tokio::test]
async fn a_preauthenticated_address_gives_access_to_one_file_for_a_limited_time() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    let file = ada.file(&project, "/", "a b.txt", b"shared").await;
    let input = json!({ "preauthenticated": true, "duration": 60 });
    let answer = ada.call(&file, "download", input.clone()).await;
    assert_ne!(answer["url"], ada.call(&file, "download", input).await["url"]);
    assert!(path(&answer["url"]).ends_with("/a%20b.txt"), "{answer}");
    assert!(answer["expires"].as_i64().is_some() && answer["headers"] == json!({}));
    let address = path(&answer["url"]).to_owned();
    let other = ada.file(&project, "/", "secret", b"secret").await;
    let swapped = address.replace(&file, &other);
    let answers = [address.clone(), swapped, address.replace("/shared/", "/shared/X")];
    let mut statuses = Vec::new();
    for uri in answers {
        statuses.push(platform.server.request_as(None, "GET", &uri).send().await.status.as_u16());
    }
    assert_eq!(statuses, [200, 404, 401]);
}

#[tokio::test]
async fn an_object_written_by_another_opening_is_a_closed_file_with_an_id() {
    let platform = Platform::new();
    let ada = platform.ada();
    platform.server.put("/lab/runs/a.txt", "by the native opening").await.expect(201);
    let found = ada.call("system", "findProjects", json!({ "name": "lab" })).await;
    let lab = text(&found["results"][0]["id"]);
    let input = json!({ "scope": { "project": lab }, "describe": true });
    let found = ada.call("system", "findDataObjects", input).await;
    let file = text(&found["results"][0]["id"]);
    let described = &found["results"][0]["describe"];
    assert_eq!((&described["name"], &described["folder"]), (&json!("a.txt"), &json!("/runs")));
    assert_eq!((&described["state"], &described["size"]), (&json!("closed"), &json!(21)));
    assert_eq!(ada.read(&file, None).await.text(), "by the native opening");
    platform.server.put("/lab/runs/a.txt", "replaced").await.expect(200);
    let parts = ada.call(&file, "describe", json!({ "fields": { "parts": true } })).await;
    assert_eq!(parts["parts"]["1"]["size"], 8);
}

#[tokio::test]
async fn parts_are_not_reported_for_a_content_replaced_by_another_opening() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    let file = ada.file(&project, "/", "f", b"abc").await;
    platform.server.put("/home/ada/p/f", "xyz").await.expect(200);
    let input = json!({ "fields": { "parts": true } });
    let parts = ada.call(&file, "describe", input).await;
    assert_eq!(parts["parts"]["1"]["md5"], md5(b"xyz"), "{parts}");
    assert_eq!(ada.read(&file, None).await.text(), "xyz");
}

#[tokio::test]
async fn the_md5_of_a_content_from_another_opening_is_available_when_parts_are_requested() {
    let platform = Platform::new();
    let ada = platform.ada();
    for (path, bytes) in [("/lab/a", "first"), ("/lab/b", ""), ("/lab/c", "third")] {
        platform.server.put(path, bytes).await.expect(201);
    }
    let lab = text(
        &ada.call("system", "findProjects", json!({ "name": "lab" })).await["results"][0]["id"],
    );
    let fields = json!({ "fields": { "parts": true, "modified": true } });
    let input = json!({ "scope": { "project": lab }, "describe": fields });
    let before = ada
        .call("system", "findDataObjects", json!({ "scope": { "project": lab }, "describe": true }))
        .await;
    let found = ada.call("system", "findDataObjects", input).await;
    for (n, bytes) in ["first", "", "third"].into_iter().enumerate() {
        let described = &found["results"][n]["describe"];
        let part =
            json!({ "size": bytes.len(), "md5": md5(bytes.as_bytes()), "state": "complete" });
        assert_eq!(described["parts"], json!({ "1": part }));
        assert_eq!(described["modified"], before["results"][n]["describe"]["modified"]);
    }
    let stat = platform.server.request("GET", "/v1/stat?path=/lab/a").send().await.expect(200);
    assert_eq!(stat["md5"], md5(b"first"), "every opening has it from then on: {stat}");
}

/// DNAnexus has no restricted lines: one is no level on the project, and stays when another line of the same user is changed.
#[tokio::test]
async fn a_restricted_line_is_no_level_and_stays() {
    let platform = Platform::new();
    let ada = platform.ada();
    let project = ada.project("p").await;
    let restricted = json!({"path": "/home/ada/p", "operations": [
        {"name": "grace", "level": "own", "scope": "subtree", "only": {"class": "urn:c"}}]});
    platform.server.post("/v1/access", restricted).await.expect(200);
    let level = async || {
        let fields = json!({ "fields": { "permissions": true } });
        let described = ada.call(&project, "describe", fields).await;
        described["permissions"]["user-grace"].as_str().map(str::to_owned)
    };
    assert_eq!(level().await, None);
    ada.call(&project, "invite", json!({ "invitee": "user-grace", "level": "VIEW" })).await;
    assert_eq!(level().await.as_deref(), Some("VIEW"));
    ada.call(&project, "decreasePermissions", json!({ "user-grace": null })).await;
    assert_eq!(level().await, None);
    let list = platform.server.request("GET", "/v1/access?path=/home/ada/p").send().await.text();
    assert!(list.contains("urn:c"), "{list}");
}

#[tokio::test]
async fn an_address_of_a_viewer_is_valid_while_they_may_view() {
    let platform = Platform::new();
    let (ada, grace) = (platform.ada(), platform.grace());
    let project = ada.project("p").await;
    let file = ada.file(&project, "/", "f", b"bytes").await;
    let input = json!({ "preauthenticated": true, "duration": 60 });
    grace.refused(&file, "download", input.clone(), "ResourceNotFound").await;
    let invite = |level: &str| json!({ "invitee": "user-grace", "level": level });
    ada.call(&project, "invite", invite("VIEW")).await;
    let answer = grace.call(&file, "download", input).await;
    let get = async || platform.server.request_as(None, "GET", path(&answer["url"])).send().await;
    assert_eq!(get().await.text(), "bytes");
    ada.call(&project, "decreasePermissions", json!({ "user-grace": null })).await;
    refusal(&get().await, "PermissionDenied");
    ada.call(&project, "invite", invite("VIEW")).await;
    assert_eq!(get().await.text(), "bytes");
    let listed =
        platform.server.request("GET", "/v1/tickets?path=/home/ada/p/f").send().await.expect(200);
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1), "{listed}");
}

/// Operations on one file, by calls that may arrive in any order.
#[derive(Debug, Clone)]
enum Act {
    Part(u64, u8),
    Close,
    Rename(u8),
    Read,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (1..6_u64, any::<u8>()).prop_map(|(number, letter)| Act::Part(number, letter)),
        1 => Just(Act::Close),
        1 => any::<u8>().prop_map(Act::Rename),
        1 => Just(Act::Read),
    ];
    proptest::collection::vec(act, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_file_consists_of_its_parts_at_the_time_of_closing(acts in acts()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let platform = Platform::new();
            let ada = platform.ada();
            let project = ada.project("p").await;
            let file = ada.id("file", "new", json!({ "project": project, "name": "f" })).await;
            let (mut parts, mut closed) = (std::collections::BTreeMap::new(), None);
            for act in acts {
                match act {
                    Act::Part(number, letter) if closed.is_none() => {
                        let bytes = vec![letter; usize::from(letter) + 1];
                        ada.part(&file, number, &bytes).await.expect(200);
                        parts.insert(number, bytes);
                    }
                    Act::Part(number, _) => {
                        ada.refused(&file, "upload", json!({ "index": number }), "InvalidState").await;
                    }
                    Act::Close if closed.is_none() && parts.is_empty() => {
                        ada.refused(&file, "close", json!({}), "InvalidState").await;
                    }
                    Act::Close => {
                        ada.call(&file, "close", json!({})).await;
                        closed = closed.or(Some(parts.values().flatten().copied().collect::<Vec<u8>>()));
                    }
                    Act::Rename(letter) => {
                        ada.call(&file, "rename", json!({ "project": project, "name": format!("n{letter}") })).await;
                    }
                    Act::Read => match &closed {
                        Some(bytes) => assert_eq!(ada.read(&file, None).await.body, *bytes),
                        None => drop(ada.refused(&file, "download", json!({}), "InvalidState").await),
                    },
                }
            }
        });
    }
}
