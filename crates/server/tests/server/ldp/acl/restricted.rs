//! Authorizations for what has a class (`acl:accessToClass`, the Fedora API, section 5.8), and for single resources below (section 5.0).

use cenote_store::{
    At, AttributeChange, Avu, AvuChange, Conditions, CopyOptions, MoveOptions, RemoveOptions,
    RestoreOptions, Retention, StorePath, Versioning,
};

use super::{bob, fedora, put_acl, status, turtle};
use crate::ldp::Web;

const READ: &str = "acl:agent <http://example.com/bob> ; acl:mode acl:Read";
const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const DOCUMENT: &str = "http://xmlns.com/foaf/0.1/Document";
const ADD: &str = "INSERT { <> a <http://xmlns.com/foaf/0.1/Document> } WHERE {}";
const REMOVE: &str = "DELETE { <> a <http://xmlns.com/foaf/0.1/Document> } WHERE {}";

/// A collection `/p` whose documents bob may read.
async fn documents() -> Web {
    let web = fedora();
    web.put("/p", "").await;
    let of_class = format!(
        "<#a> a acl:Authorization ; {READ} ; acl:default <R> ; acl:accessToClass foaf:Document ."
    );
    let put = put_acl(&web, "/p", &of_class).await;
    assert!(put.status.is_success(), "{}", put.text());
    web
}

async fn reads(web: &Web, path: &str) -> bool {
    match status(bob(web, "GET", path)).await {
        200 => true,
        // Missing: what bob does not see in a collection that he sees.
        403 | 404 => false,
        other => panic!("{path}: {other}"),
    }
}

fn at(path: &str) -> At {
    self::path(path).into()
}

fn path(path: &str) -> StorePath {
    path.parse().unwrap()
}

#[tokio::test]
async fn access_to_a_class_follows_the_type_of_containers_and_binaries() {
    let web = documents().await;
    web.put("/p/child", "").await;
    web.request("PUT", "/p/bytes").header("content-type", "text/plain").body("x").send().await;
    for (path, description) in [("/p/child", "/p/child"), ("/p/bytes", "/p/bytes/fcr:metadata")] {
        assert!(!reads(&web, path).await, "{path}");
        for (update, expected) in [(ADD, true), (REMOVE, false), (ADD, true)] {
            assert_eq!(web.patch(description, update).await.status, 204);
            assert_eq!(reads(&web, path).await, expected, "{path} {update}");
        }
        assert_eq!(status(turtle(&web, "PUT", path).body("")).await, 403, "it is read access");
    }
    assert!(!reads(&web, "/p").await, "the default is about what is below");
    web.patch("/p", ADD).await;
    assert!(!reads(&web, "/p").await);
    web.put("/p/child/below", "").await;
    assert!(!reads(&web, "/p/child/below").await, "what is in a document is no document");
}

#[tokio::test]
async fn a_type_counts_however_it_comes_and_goes() {
    let web = documents().await;
    let (store, admin) = (web.store.clone(), web.admin());
    let versioning = Some(Some(Versioning::EachChange(Retention::default())));
    let versions = AttributeChange { versioning, ..AttributeChange::default() };
    store.set_attributes(&admin, &at("/p"), &versions).unwrap();
    web.put("/p/c", "<> a <http://xmlns.com/foaf/0.1/Document> .").await;
    assert!(reads(&web, "/p/c").await, "created with it");
    web.put("/p/c", "<> a <urn:other> .").await;
    assert!(!reads(&web, "/p/c").await, "put without it");
    let avu = || Avu { attribute: TYPE.into(), value: DOCUMENT.into(), unit: None };
    let change = |change| {
        store.change_avus(&admin, &at("/p/c"), &[change], &Conditions::default()).unwrap();
    };
    change(AvuChange::Add(avu()));
    assert!(reads(&web, "/p/c").await, "an attribute is a type, too");
    change(AvuChange::Remove(avu()));
    assert!(!reads(&web, "/p/c").await);
    web.patch("/p/c", ADD).await;
    change(AvuChange::Clear(TYPE.into()));
    assert!(!reads(&web, "/p/c").await, "all types are removed");
    web.patch("/p/c", "INSERT DATA { <#part> a <http://xmlns.com/foaf/0.1/Document> }").await;
    assert!(!reads(&web, "/p/c").await, "a part has it, not the resource");
    web.patch("/p/c", ADD).await;
    let newest = store.versions(&admin, &at("/p/c")).unwrap()[0].version;
    store.restore_version(&admin, &at("/p/c"), newest).unwrap();
    assert!(!reads(&web, "/p/c").await, "a version without it");
    let newest = store.versions(&admin, &at("/p/c")).unwrap()[0].version;
    store.restore_version(&admin, &at("/p/c"), newest).unwrap();
    assert!(reads(&web, "/p/c").await, "a version with it");
    let copied = CopyOptions { recursive: true, ..CopyOptions::default() };
    store.copy(&admin, &at("/p/c"), &path("/p/copy"), copied).unwrap();
    assert!(reads(&web, "/p/copy").await);
    for gone in ["/p/c", "/p/c/fcr:tombstone"] {
        assert_eq!(web.request("DELETE", gone).send().await.status, 204);
    }
    web.put("/p/c", "").await;
    assert!(!reads(&web, "/p/c").await, "another resource of that name");
}

#[tokio::test]
async fn what_moves_or_comes_back_from_the_trash_keeps_its_classes() {
    let web = documents().await;
    let (store, admin) = (&web.store, &web.admin());
    web.put("/p/c", "<> a <http://xmlns.com/foaf/0.1/Document> .").await;
    let to = |from: &str, to: &str| {
        store.relocate(admin, &at(from), &path(to), MoveOptions::default()).unwrap();
    };
    to("/p/c", "/p/d");
    assert!(reads(&web, "/p/d").await);
    web.put("/elsewhere", "").await;
    to("/p/d", "/elsewhere/d");
    assert!(!reads(&web, "/elsewhere/d").await);
    to("/elsewhere/d", "/p/d");
    let removed = store.remove(admin, &at("/p/d"), &RemoveOptions::default()).unwrap().unwrap();
    assert_ne!(status(bob(&web, "GET", "/p/d")).await, 200);
    store.restore_removed(admin, removed.id, &RestoreOptions::default()).unwrap();
    assert!(reads(&web, "/p/d").await);
}

#[tokio::test]
async fn access_to_one_resource_is_not_access_to_another() {
    let web = fedora();
    for path in ["/p", "/p/child1", "/p/child2", "/p/child1/below"] {
        web.put(path, "").await;
    }
    let one = one_child(&web);
    let put = put_acl(&web, "/p", &one).await;
    assert!(put.status.is_success(), "{}", put.text());
    let seen = ["/p", "/p/child1", "/p/child2", "/p/child1/below"];
    let mut found = Vec::new();
    for path in seen {
        found.push(reads(&web, path).await);
    }
    assert_eq!(found, [false, true, false, false]);
    let (store, admin) = (&web.store, &web.admin());
    let options = MoveOptions::default;
    store.relocate(admin, &at("/p/child1"), &path("/p/renamed"), options()).unwrap();
    assert!(reads(&web, "/p/renamed").await, "it is the resource, not its name");
    web.put("/p/child1", "").await;
    assert!(!reads(&web, "/p/child1").await);
    let removed = RemoveOptions { recursive: true, ..RemoveOptions::default() };
    let removed = store.remove(admin, &at("/p/renamed"), &removed).unwrap().unwrap();
    assert!(web.triples("/p/fcr:acl").await.is_empty(), "what was removed is not shown");
    store.restore_removed(admin, removed.id, &RestoreOptions::default()).unwrap();
    assert!(reads(&web, "/p/renamed").await);
    put_acl(&web, "/p", "").await;
    assert!(!reads(&web, "/p/renamed").await);
}

fn one_child(web: &Web) -> String {
    let child = web.address("/p/child1");
    format!("<#a> a acl:Authorization ; {READ} ; acl:default <R> ; acl:accessTo <{child}> .")
}

/// A class without a default, or with `acl:accessTo`, is that of the resource with the list.
#[tokio::test]
async fn access_to_a_class_without_a_default_is_about_the_resource_itself() {
    for to in ["", "acl:accessTo <R> ;"] {
        let web = fedora();
        web.put("/p", "").await;
        web.put("/p/c", "<> a <http://xmlns.com/foaf/0.1/Document> .").await;
        let own =
            format!("<#a> a acl:Authorization ; {READ} ; {to} acl:accessToClass foaf:Document .");
        assert!(put_acl(&web, "/p", &own).await.status.is_success());
        assert!(!reads(&web, "/p").await);
        web.patch("/p", ADD).await;
        assert!(reads(&web, "/p").await && !reads(&web, "/p/c").await);
    }
}

#[tokio::test]
async fn restricted_authorizations_round_trip() {
    let web = fedora();
    for path in ["/p", "/p/child1", "/p/child2"] {
        web.put(path, "").await;
    }
    let all = format!(
        "<#b> a acl:Authorization ; {READ} ; acl:default <R> ; acl:accessToClass foaf:Document, <urn:c> .
         <#c> a acl:Authorization ; {READ} ; acl:accessTo <R> ; acl:accessToClass foaf:Document .
         <#d> a acl:Authorization ; acl:agentClass foaf:Agent ; acl:mode acl:Read ; acl:default <R> ; acl:accessToClass <urn:c> .
         <#e> a acl:Authorization ; {READ} ; acl:mode acl:Write ; acl:default <R> . {}",
        one_child(&web)
    );
    let put = put_acl(&web, "/p", &all).await;
    assert!(put.status.is_success(), "{}", put.text());
    let shown = web.triples("/p/fcr:acl").await;
    let count = |term: &str| shown.iter().filter(|it| it.contains(term)).count();
    assert_eq!(
        (count("#Authorization>"), count("#accessToClass>"), count("#accessTo>")),
        (6, 4, 2)
    );
    assert_eq!((count("#default>"), count("#agentClass>"), count("/p/child1> .")), (5, 1, 0));
    let text = web.request("GET", "/p/fcr:acl").send().await.text();
    assert!(put_acl(&web, "/p", &text).await.status.is_success());
    assert_eq!(web.triples("/p/fcr:acl").await, shown);
}

/// Other openings do not show a restricted line as a right on all of its scope, and keep it when they change another line of the same
/// person.
#[tokio::test]
async fn other_openings_keep_restricted_lines_and_show_them_as_such() {
    let web = documents().await;
    let listed = || async {
        let list = web.server.request("GET", "/v1/access?path=/p").send().await.json();
        let mine = list["grants"].as_array().unwrap().iter().filter(|it| it["name"] == "bob");
        mine.map(|it| it["only"]["class"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(listed().await, [Some(DOCUMENT.to_owned())]);
    let grant = |level: &str| {
        serde_json::json!({"path": "/p", "operations": [
            {"name": "bob", "level": level, "scope": "default"}]})
    };
    web.server.post("/v1/access", grant("read")).await.expect(200);
    assert_eq!(listed().await.len(), 2);
    web.server.post("/v1/access", grant("none")).await.expect(200);
    assert_eq!(listed().await, [Some(DOCUMENT.to_owned())]);
    let none = serde_json::json!({"path": "/p", "operations": [
        {"name": "bob", "level": "none", "scope": "default", "only": {"class": DOCUMENT}}]});
    web.server.post("/v1/access", none).await.expect(200);
    assert!(listed().await.is_empty());
}

/// Each of many authorizations is read once: a long list does not take the square of its length.
#[tokio::test]
async fn a_long_list_is_put_and_shown() {
    let web = fedora();
    web.put("/p", "").await;
    let one = |n| {
        format!(
            "<#a{n}> a acl:Authorization ; {READ} ; acl:default <R> ; acl:accessToClass <urn:{n}> .\n"
        )
    };
    let put = put_acl(&web, "/p", &(0..2_000).map(one).collect::<String>()).await;
    assert!(put.status.is_success(), "{}", put.text());
    let shown = web.triples("/p/fcr:acl").await;
    assert_eq!(shown.iter().filter(|it| it.contains("#accessToClass>")).count(), 2_000);
}

/// Two agents and six thousand classes are twelve thousand lines.
#[tokio::test]
async fn a_list_that_comes_to_too_many_lines_is_refused() {
    let web = fedora();
    web.put("/p", "").await;
    let classes: Vec<_> = (0..6_000).map(|n| format!("<urn:{n}>")).collect();
    let many = format!(
        "<#a> a acl:Authorization ; acl:agentClass foaf:Agent ; acl:mode acl:Read ; acl:default <R> ; acl:accessToClass {} .",
        classes.join(", ")
    );
    assert_eq!(put_acl(&web, "/p", &many).await.status, 413);
    assert_eq!(status(web.request("GET", "/p/fcr:acl")).await, 404, "nothing changed");
}
