//! Links to missing and to removed resources: the specification of LAKEsuperior, "Referential integrity" and "Delete, tombstones", and the
//! settings of collections, which every opening follows.

use serde_json::json;

use super::{MOUNTS, Web, links};
use crate::support::{Answer, USER};

async fn require(web: &Web, path: &str, integrity: &str) {
    let setting = json!({ "path": format!("{}{path}", web.base), "link_integrity": integrity });
    web.server.request("PATCH", "/v1/attributes").json(&setting).send().await.expect(200);
}

async fn mv(web: &Web, from: &str, to: &str) {
    let (from, to) = (format!("{}{from}", web.base), format!("{}{to}", web.base));
    let moved = web.server.post("/v1/move", json!({ "from": { "path": from }, "to": to })).await;
    assert!(moved.status.is_success(), "{}", moved.text());
}

/// Whether a resource links to another with `urn:to`.
async fn links_to(web: &Web, from: &str, to: &str) -> bool {
    web.has_triple(from, &format!("<> <urn:to> <{}>", web.address(to))).await
}

fn link(web: &Web, to: &str) -> String {
    format!("<> <urn:to> <{}>", web.address(to))
}

async fn delete(web: &Web, path: &str) {
    assert_eq!(web.request("DELETE", path).send().await.status, 204, "{path}");
}

/// What a dangling link is: left out, text, bound once its target appears, or refused.
#[tokio::test]
async fn the_nearest_setting_decides_about_dangling_links_under_each_mount_point() {
    for web in Web::each() {
        web.put("/c", "").await;
        for setting in ["", "none", "lenient", "strict"] {
            let collection = format!("/c/x{setting}");
            web.put(&collection, "").await;
            if !setting.is_empty() {
                require(&web, &collection, setting).await;
            }
            let (from, to) = (format!("{collection}/from"), format!("{collection}/to"));
            let put = web.put(&from, &format!("{}, <urn:x> .", link(&web, &to))).await;
            let refusal = if web.mount == "/ldp" { 412 } else { 409 };
            let expected = if setting == "strict" { refusal } else { 201 };
            assert_eq!(put.status, expected, "{setting}: {}", put.text());
            if setting == "strict" {
                assert!(put.text().contains("/to"), "{}", put.text());
                let constraints = "http://localhost/info/ldp_constraints";
                assert!(links(&put, constraints, "http://www.w3.org/ns/ldp#constrainedBy"));
                assert_eq!(web.get(&from).await.status, 404);
                continue;
            }
            assert!(web.has_triple(&from, "<> <urn:to> <urn:x>").await);
            let is_kept = !setting.is_empty() || web.mount != "/ldp";
            assert_eq!(links_to(&web, &from, &to).await, is_kept, "{}: {setting}", web.mount);
            web.put(&to, "").await;
            let moved = format!("{collection}/moved");
            mv(&web, &to, &moved).await;
            let is_bound = setting == "lenient";
            assert_eq!(links_to(&web, &from, &moved).await, is_bound, "{}: {setting}", web.mount);
            let is_text = is_kept && !is_bound;
            assert_eq!(links_to(&web, &from, &to).await, is_text, "{}: {setting}", web.mount);
        }
    }
}

#[tokio::test]
async fn links_to_itself_and_to_what_the_same_request_creates_are_no_dangling_links() {
    for web in Web::each() {
        let own = format!("{} . <#part> <urn:to> <> .", link(&web, "/c/new#part"));
        for link in [own, format!("{} .", link(&web, "/c/new")), format!("{} .", link(&web, "/c"))]
        {
            assert_eq!(web.put("/c/new", &link).await.status, 201);
            let triples = web.triples("/c/new").await;
            assert!(
                triples.iter().any(|triple| triple.contains("<urn:to>")),
                "{link}: {triples:?}"
            );
            delete(&web, "/c").await;
            assert_eq!(web.request("DELETE", "/c/fcr:tombstone").send().await.status, 204);
        }
    }
}

/// A second resource that removes nothing it does not show.
async fn change_others(web: &Web, from: &str) {
    assert_eq!(web.put(from, "<> <urn:p> 1 .").await.status, 204);
    let update = "DELETE { <> <urn:p> 1 } INSERT { <> <urn:p> 2 } WHERE { <> <urn:p> 1 }";
    assert_eq!(web.patch(from, update).await.status, 204);
    let update = update.replace("<>", &format!("<{}>", web.address(from))).replace('2', "3");
    let update = update.replace("<urn:p> 1", "<urn:p> 2");
    let updated = web.update(from, &update).await;
    assert_eq!(updated.status, 204, "{}", updated.text());
}

async fn has_last_value(web: &Web, from: &str) -> bool {
    web.has_triple(from, "<> <urn:p> \"3\"^^<http://www.w3.org/2001/XMLSchema#integer>").await
}

#[tokio::test]
async fn links_to_what_was_removed_are_shown_again_when_it_is_restored() {
    let web = Web::new("/ldp");
    web.put("/c/to", "").await;
    web.put("/from", &format!("{}, <{}> .", link(&web, "/c/to"), web.address("/c/to#part"))).await;
    assert!(links_to(&web, "/from", "/c/to").await && links_to(&web, "/from", "/c/to#part").await);
    delete(&web, "/c").await;
    let graph = web.get("/from").await.text();
    assert!(!graph.contains("urn:to"), "{graph}");
    let page = web.request("GET", "/from").header("accept", "text/html").send().await.text();
    assert!(page.contains("lastModified") && !page.contains("urn:to"), "{page}");
    let other = web.server.request("GET", "/rest/from").send().await.text();
    assert!(other.contains("/rest/c/to>"), "the store still has them: {other}");
    change_others(&web, "/from").await;
    assert!(has_last_value(&web, "/from").await);
    assert_eq!(web.request("POST", "/c/fcr:tombstone").send().await.status, 201);
    assert!(links_to(&web, "/from", "/c/to").await && links_to(&web, "/from", "/c/to#part").await);
    assert!(has_last_value(&web, "/from").await);
    assert_eq!(web.put("/from", "").await.status, 204, "and a change sees them");
    assert!(!links_to(&web, "/from", "/c/to").await);
}

#[tokio::test]
async fn links_to_what_was_removed_for_good_are_not_shown_again() {
    let web = Web::new("/ldp");
    web.put("/to", "").await;
    web.put("/from", &format!("{} .", link(&web, "/to"))).await;
    delete(&web, "/to").await;
    assert_eq!(web.request("DELETE", "/to/fcr:tombstone").send().await.status, 204);
    assert!(!links_to(&web, "/from", "/to").await);
    assert_eq!(web.put("/to", "").await.status, 201);
    let triples = web.triples("/from").await;
    assert!(!triples.iter().any(|triple| triple.contains("urn:to")), "{triples:?}");
    assert_eq!(
        web.patch("/from", &format!("INSERT DATA {{ {} }}", link(&web, "/to"))).await.status,
        204
    );
    assert!(links_to(&web, "/from", "/to").await);
}

#[tokio::test]
async fn links_to_what_was_removed_are_shown_where_a_collection_has_a_setting_and_elsewhere() {
    for mount in MOUNTS {
        for setting in ["", "none", "lenient", "strict"] {
            let web = Web::new(mount);
            web.put("/c/to", "").await;
            if !setting.is_empty() {
                require(&web, "/c", setting).await;
            }
            assert_eq!(web.put("/c/from", &format!("{} .", link(&web, "/c/to"))).await.status, 201);
            delete(&web, "/c/to").await;
            let is_shown = !setting.is_empty() || mount != "/ldp";
            assert_eq!(links_to(&web, "/c/from", "/c/to").await, is_shown, "{mount}: {setting}");
        }
    }
}

/// A version is what it was.
#[tokio::test]
async fn a_version_shows_links_to_what_was_removed_since() {
    let web = Web::new("/ldp");
    web.put("/to", "").await;
    web.put("/from", &format!("{} .", link(&web, "/to"))).await;
    assert_eq!(
        web.request("POST", "/from/fcr:versions").header("slug", "v").send().await.status,
        201
    );
    delete(&web, "/to").await;
    let version = web.get("/from/fcr:versions/v").await.text();
    assert!(version.contains("/ldp/to>"), "{version}");
}

/// What is hidden looks like what is missing, and is not lost when its links are not shown.
#[tokio::test]
async fn who_does_not_see_a_target_neither_sees_nor_loses_links_to_it() {
    let web = Web::new("/ldp");
    web.put("/secret", "").await;
    web.share_only(
        "/from",
        "read_description+list+add_description+change_description+remove_description",
    )
    .await;
    assert_eq!(web.put("/from", &format!("{} .", link(&web, "/secret"))).await.status, 204);
    let as_user = async |method: &str, body: String| -> Answer {
        let request =
            web.request_as(Some(USER), method, "/from").header("content-type", "text/turtle");
        request.body(body).send().await
    };
    let seen = as_user("GET", String::new()).await;
    assert!(seen.status == 200 && !seen.text().contains("secret"), "{}", seen.text());
    for target in ["/secret", "/missing"] {
        let body = format!("{} ; <urn:p> 1 .", link(&web, target));
        let put = as_user("PUT", body).await;
        assert_eq!(put.status, 204, "{}", put.text());
        assert!(!as_user("GET", String::new()).await.text().contains(target));
    }
    assert!(links_to(&web, "/from", "/secret").await, "the administrator still sees it");
    assert!(!links_to(&web, "/from", "/missing").await);
}
