//! `fcr:events`: activities of ActivityStreams 2.0 as server-sent events.

use serde_json::{Value, json};

use super::Web;
use crate::events::{Events, position};
use crate::support::{ADMIN, USER};

/// The next activity of a stream.
async fn next(events: &mut Events) -> Value {
    loop {
        let block = events.block().await.expect("the stream goes on");
        if let Some(data) = block.lines().find_map(|line| line.strip_prefix("data: ")) {
            assert!(block.contains("event: activity") && block.contains("id: "), "{block}");
            return serde_json::from_str(data).unwrap();
        }
    }
}

async fn begin(web: &Web, who: (&str, &str), path: &str, since: &str) -> Events {
    Events::begin_as(
        &web.server,
        who,
        &format!("{}{}{path}/fcr:events", web.mount, web.base),
        Some(since),
    )
    .await
}

#[tokio::test]
async fn changes_below_a_container_are_reported_in_order() {
    for web in Web::each() {
        web.put("/c", "").await;
        web.put("/other", "").await;
        let since = position(&web.server).await;
        web.put("/other/x", "").await;
        let put = web.request("PUT", "/c/b").header("content-type", "text/plain").body("bytes");
        assert_eq!(put.send().await.status, 201);
        assert_eq!(
            web.patch("/c/b/fcr:metadata", "INSERT DATA { <> <urn:p> 1 }").await.status,
            204
        );
        assert_eq!(web.request("DELETE", "/c/b").send().await.status, 204);
        let mut events = begin(&web, ADMIN, "/c", &since).await;
        let mut last = Value::Null;
        for kind in ["Create", "Update", "Delete"] {
            let activity = next(&mut events).await;
            let kinds = match web.mount {
                "/ldp" => json!(kind),
                _ => json!([kind]),
            };
            assert_eq!(
                (&activity["type"], &activity["object"]["id"]),
                (&kinds, &json!(web.address("/c/b")))
            );
            assert_ne!(activity["id"], last);
            last = activity["id"].clone();
        }
    }
}

#[tokio::test]
async fn an_activity_has_the_form_of_its_dialect() {
    for web in Web::each() {
        web.put("/c", "").await;
        let since = position(&web.server).await;
        web.put("/c/d", "").await;
        let activity = next(&mut begin(&web, ADMIN, "/c", &since).await).await;
        let (object, container) =
            (&activity["object"], json!("http://www.w3.org/ns/ldp#Container"));
        assert!(object["type"].as_array().unwrap().contains(&container), "{activity}");
        match web.mount {
            "/ldp" => {
                assert_eq!(
                    (&activity["actor"], &activity["name"]),
                    (&json!("ada"), &json!("Resource Creation"))
                );
                assert!(object["updated"].is_string());
            }
            mount => {
                assert_eq!(activity["@context"][0], "https://www.w3.org/ns/activitystreams");
                assert_eq!(activity["actor"], json!([{ "type": ["Person"], "name": "ada" }]));
                assert_eq!(object["isPartOf"], format!("http://localhost{mount}/"));
                assert!(activity["published"].is_string());
            }
        }
    }
}

#[tokio::test]
async fn subscribers_are_notified_only_of_visible_changes() {
    let web = Web::new("/rest");
    web.put("/c", "").await;
    for who in [Some(USER), None] {
        let status = web.request_as(who, "GET", "/c/fcr:events").send().await.status.as_u16();
        assert!([401, 403, 404].contains(&status), "{who:?}: {status}");
    }
    let since = position(&web.server).await;
    web.put("/hidden", "").await;
    web.put("/c/shown", "").await;
    let grant = json!({ "path": "/c", "operations": [{ "name": USER.0, "level": "read", "scope": "subtree" }] });
    web.server.post("/v1/access", grant).await.expect(200);
    let mut events = begin(&web, USER, "/c", &since).await;
    assert_eq!(next(&mut events).await["object"]["id"], "http://localhost/rest/c/shown");
    assert_eq!(web.request("PUT", "/c/fcr:events").send().await.status, 405);
    assert_eq!(web.request("GET", "/none/fcr:events").send().await.status, 404);
    let wrong = web.request("GET", "/c/fcr:events").header("last-event-id", "x").send().await;
    assert_eq!(wrong.status, 400);
}
