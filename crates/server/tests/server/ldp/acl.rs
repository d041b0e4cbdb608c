//! Web Access Control over the access lists of the store (the Fedora API, section 5).

mod restricted;

use cenote_server::{Config, Ldp, router};
use cenote_store::{AccessChange, NewUser, Rights, Role, Scope, StorePath};

use super::{Web, headers, links};
use crate::support::{Answer, TestRequest, TestServer};

const BOB: (&str, &str) = ("bob", "bob's password");
const PREFIXES: &str =
    "@prefix acl: <http://www.w3.org/ns/auth/acl#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> . ";

/// A Fedora server whose users have WebIDs below `http://example.com/`, with the users `bob` and `eve`.
fn fedora() -> Web {
    let mut web = Web::new("/rest");
    let config = Config {
        ldp: Ldp { agents: "http://example.com/".to_owned(), ..Ldp::default() },
        ..Config::default()
    };
    for name in [BOB.0, "eve"] {
        let password = Some(BOB.1.to_owned());
        let user = NewUser { name: name.to_owned(), password, role: Role::User };
        web.store.add_user(&web.admin(), &user).unwrap();
    }
    web.server = TestServer { router: router(web.store.clone(), &config) };
    web
}

fn bob<'a>(web: &'a Web, method: &str, path: &str) -> TestRequest<'a> {
    web.request_as(Some(BOB), method, path)
}

/// Puts an access list; `<R>` stands for the resource.
async fn put_acl(web: &Web, path: &str, authorizations: &str) -> Answer {
    let text = authorizations.replace("<R>", &format!("<{}>", web.address(path)));
    let request =
        web.request("PUT", &format!("{path}/fcr:acl")).header("content-type", "text/turtle");
    request.body(format!("{PREFIXES}{text}")).send().await
}

/// One authorization of bob for a resource and everything below it.
fn for_bob(modes: &str) -> String {
    format!(
        "<#a> a acl:Authorization ; acl:agent <http://example.com/bob> ; acl:mode {modes} ;
            acl:accessTo <R> ; acl:default <R> ."
    )
}

async fn granted(web: &Web, path: &str, modes: &str) {
    web.put(path, "").await;
    let put = put_acl(web, path, &for_bob(modes)).await;
    assert!(put.status.is_success(), "{}", put.text());
}

async fn status(request: TestRequest<'_>) -> u16 {
    request.send().await.status.as_u16()
}

fn turtle<'a>(web: &'a Web, method: &str, path: &str) -> TestRequest<'a> {
    bob(web, method, path).header("content-type", "text/turtle")
}

fn update<'a>(web: &'a Web, path: &str, text: &'static str) -> TestRequest<'a> {
    bob(web, "PATCH", path).header("content-type", "application/sparql-update").body(text)
}

const ADD: &str = "INSERT DATA { <> <urn:p> 1 }";
const REMOVE: &str = "DELETE DATA { <> <urn:p> 7 }";

/// What each mode permits: reading, adding a triple, removing one, putting, creating in it, deleting from it, reading
/// the access list, and changing it.
#[tokio::test]
async fn each_mode_permits_its_operations() {
    for (modes, expected) in [
        ("acl:Read", [200, 403, 403, 403, 403, 403, 403, 403]),
        ("acl:Read, acl:Append", [200, 204, 403, 403, 201, 403, 403, 403]),
        ("acl:Read, acl:Write", [200, 204, 204, 204, 201, 204, 403, 403]),
        ("acl:Control", [403, 403, 403, 403, 403, 403, 200, 204]),
        ("acl:Read, acl:Control", [200, 403, 403, 403, 403, 403, 200, 204]),
    ] {
        let web = fedora();
        granted(&web, "/r", modes).await;
        web.put("/r/child", "").await;
        let acl = format!("{PREFIXES}{}", for_bob(modes));
        let acl = acl.replace("<R>", &format!("<{}>", web.address("/r")));
        let found = [
            status(bob(&web, "GET", "/r")).await,
            status(update(&web, "/r", ADD)).await,
            status(update(&web, "/r", REMOVE)).await,
            status(turtle(&web, "PUT", "/r").body("<> <urn:p> 2 .")).await,
            status(turtle(&web, "PUT", "/r/new").body("")).await,
            status(bob(&web, "DELETE", "/r/child")).await,
            status(bob(&web, "GET", "/r/fcr:acl")).await,
            status(turtle(&web, "PUT", "/r/fcr:acl").body(acl)).await,
        ];
        assert_eq!(found, expected, "{modes}");
    }
}

#[tokio::test]
async fn append_access_does_not_permit_changing_bytes() {
    let web = fedora();
    web.request("PUT", "/b").header("content-type", "text/plain").body("x").send().await;
    put_acl(&web, "/b", &for_bob("acl:Read, acl:Append")).await;
    for path in ["/b", "/b/fcr:metadata"] {
        for method in ["POST", "PUT", "DELETE"] {
            assert_eq!(status(bob(&web, method, path)).await, 403, "{method} {path}");
        }
    }
    assert_eq!(web.get("/b").await.text(), "x");
}

#[tokio::test]
async fn a_resource_links_to_its_access_list_which_exists_once_it_was_put() {
    let web = fedora();
    web.put("/r", "").await;
    let own = format!("{}/fcr:acl", web.address("/r"));
    assert!(links(&web.get("/r").await, &own, "acl"));
    assert_eq!(web.get("/r/fcr:acl").await.status, 404);
    assert_eq!(web.request("DELETE", "/r/fcr:acl").send().await.status, 404);
    let put = put_acl(&web, "/r", &for_bob("acl:Read")).await;
    assert_eq!((put.status.as_u16(), headers(&put, "location")), (201, vec![own.as_str()]));
    assert_eq!(put_acl(&web, "/r", &for_bob("acl:Read")).await.status, 204);
    let read = web.get("/r/fcr:acl").await;
    assert!(links(&read, "ldp:RDFSource", "type") && !headers(&read, "etag").is_empty());
    assert_eq!(web.request("DELETE", "/r/fcr:acl").send().await.status, 204);
    assert_eq!(web.get("/r/fcr:acl").await.status, 404);
    let root = web.request("GET", "/fcr:acl").send().await;
    assert_eq!(root.status, 200, "the root always has one");
    assert_eq!(web.request("DELETE", "/fcr:acl").send().await.status, 405);
    let text = web.request("PUT", "/r/fcr:acl").header("content-type", "text/plain");
    assert_eq!(text.body("x").send().await.status, 415);
}

#[tokio::test]
async fn an_access_list_round_trips() {
    let web = fedora();
    web.put("/r", "").await;
    let all = "<#1> a acl:Authorization ; acl:agent <http://example.com/bob> ; acl:mode acl:Read ; acl:accessTo <R> .
        <#2> a acl:Authorization ; acl:agent <http://example.com/bob> ; acl:mode acl:Write ; acl:default <R> .
        <#3> a acl:Authorization ; acl:agentClass foaf:Agent ; acl:mode acl:Read ; acl:accessTo <R> .
        <#4> a acl:Authorization ; acl:agentClass acl:AuthenticatedAgent ; acl:mode acl:Append ; acl:accessTo <R> .
        <#5> acl:agent <http://example.com/eve> ; acl:mode acl:Control ; acl:accessTo <R> .";
    assert!(put_acl(&web, "/r", all).await.status.is_success());
    let shown = web.triples("/r/fcr:acl").await;
    let count = |term: &str| shown.iter().filter(|it| it.contains(term)).count();
    assert_eq!((count("#agent>"), count("#agentClass>"), count("#Control>")), (2, 2, 0));
    assert_eq!((count("foaf/0.1/Agent>"), count("#Write>"), count("#Append>")), (1, 1, 1));
    assert_eq!(count("#Authorization>"), 4, "what is no authorization does not count");
    let text = web.request("GET", "/r/fcr:acl").send().await.text();
    assert!(put_acl(&web, "/r", &text).await.status.is_success());
    assert_eq!(web.triples("/r/fcr:acl").await, shown);
    let add = "PREFIX acl: <http://www.w3.org/ns/auth/acl#> INSERT { ?a acl:mode acl:Write } WHERE { ?a acl:mode acl:Append }";
    let request =
        web.request("PATCH", "/r/fcr:acl").header("content-type", "application/sparql-update");
    assert_eq!(request.body(add).send().await.status, 204);
    assert_eq!(status(turtle(&web, "PUT", "/r").body("")).await, 204, "bob is logged in");
}

#[tokio::test]
async fn everyone_and_everyone_with_a_login_are_classes() {
    for (class, logged_in, anonymous) in
        [("foaf:Agent", 200, 200), ("acl:AuthenticatedAgent", 200, 401)]
    {
        let web = fedora();
        web.put("/d/r", "").await;
        assert_eq!(status(bob(&web, "GET", "/d/r")).await, 403);
        assert_eq!(status(web.request_as(None, "GET", "/d/r")).await, 401);
        let all = format!(
            "<#a> a acl:Authorization ; acl:agentClass {class} ; acl:mode acl:Read ; acl:accessTo <R> ."
        );
        put_acl(&web, "/d/r", &all).await;
        assert_eq!(status(bob(&web, "GET", "/d/r")).await, logged_in);
        assert_eq!(status(web.request_as(None, "GET", "/d/r")).await, anonymous);
    }
}

/// Clients that log in only when they are prompted send the whole request before: its conditions must not be judged against what a
/// caller without a login does not see.
#[tokio::test]
async fn a_change_without_a_login_is_prompted_for_one_whatever_it_sends() {
    let web = fedora();
    web.put("/open", "").await;
    let open = "/open".parse::<StorePath>().unwrap();
    let grant = AccessChange::Grant("anonymous".into(), Rights::READ_OBJECT.into(), Scope::Subtree);
    web.store.change_access(&web.admin(), &open.into(), &[grant]).unwrap();
    web.put("/d/r", "<> <urn:p> 1 .").await;
    for (method, path, header, value) in [
        ("PUT", "/d/r", "if-match", "\"d1.1-0\""),
        ("PUT", "/d/new", "if-match", "*"),
        ("PUT", "/open/new", "if-match", "*"),
        ("PUT", "/d/r", "x-if-state-token", "d1.1-0"),
        ("PATCH", "/d/r", "content-type", "text/plain"),
        ("DELETE", "/d/r", "if-match", "\"d1.1-0\""),
    ] {
        let request = web.request_as(None, method, path).header("content-type", "text/turtle");
        let answer = request.header(header, value).body("").send().await;
        assert_eq!(answer.status, 401, "{method} {path}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_list_of_members_is_a_group() {
    let web = fedora();
    let member = "<http://www.w3.org/2006/vcard/ns#hasMember> <http://example.com/bob> .";
    web.put("/list", &format!("<> {member}")).await;
    web.put("/lists", &format!("<#one> {member}")).await;
    for (group, expected) in [("/list", 200), ("/lists#one", 200), ("/lists#two", 403)] {
        web.put("/d/r", "").await;
        let (path, fragment) = group.split_once('#').unwrap_or((group, ""));
        let hash = if fragment.is_empty() { "" } else { "#" };
        let all = format!(
            "<#a> a acl:Authorization ; acl:agentGroup <{}{hash}{fragment}> ; acl:mode acl:Read ; acl:accessTo <R> .",
            web.address(path)
        );
        let put = put_acl(&web, "/d/r", &all).await;
        assert!(put.status.is_success(), "{}", put.text());
        assert_eq!(status(bob(&web, "GET", "/d/r")).await, expected, "{group}");
    }
}

#[tokio::test]
async fn the_nearest_default_applies_and_the_creator_gets_no_extra_rights() {
    let web = fedora();
    granted(&web, "/r", "acl:Read, acl:Write").await;
    web.put("/r/child", "").await;
    let own = "<#a> a acl:Authorization ; acl:agent <http://example.com/bob> ; acl:mode acl:Read ; acl:accessTo <R> .";
    put_acl(&web, "/r/child", own).await;
    assert_eq!(status(turtle(&web, "PUT", "/r/child/x").body("")).await, 403);
    web.put("/r/child/grandchild", "").await;
    assert_eq!(status(turtle(&web, "PUT", "/r/child/grandchild/x").body("")).await, 201);
    let acl = format!("{PREFIXES}{own}");
    let acl = acl.replace("<R>", &format!("<{}>", web.address("/r/child/grandchild/x")));
    let put = turtle(&web, "PUT", "/r/child/grandchild/x/fcr:acl").body(acl);
    assert_eq!(status(put).await, 403, "what bob made is not bob's to give away");
}

#[tokio::test]
async fn access_rules_without_an_equivalent_are_refused_without_changes() {
    let web = fedora();
    granted(&web, "/r", "acl:Read").await;
    web.put("/r/child", "").await;
    let before = web.triples("/r/fcr:acl").await;
    for wrong in [
        "acl:agentGroup <http://elsewhere.example/list> ; acl:mode acl:Read ; acl:accessTo <R>",
        "acl:agentGroup <http://localhost/rest/none> ; acl:mode acl:Read ; acl:accessTo <R>",
        "acl:agentClass foaf:Person ; acl:mode acl:Read ; acl:accessTo <R>",
        "acl:agentClass foaf:Agent ; acl:mode acl:Fly ; acl:accessTo <R>",
        "acl:agentClass foaf:Agent ; acl:mode acl:Read ; acl:accessTo <http://localhost/rest/other>",
        "acl:agentClass foaf:Agent ; acl:mode acl:Read ; acl:default <R> ; acl:accessTo <http://localhost/rest/other>",
        "acl:agentClass foaf:Agent ; acl:mode acl:Read ; acl:default <R> ; acl:accessTo <http://localhost/rest/r/none>",
        "acl:agentClass foaf:Agent ; acl:mode acl:Read ; acl:accessTo <http://localhost/rest/r/child>",
        "acl:agentClass foaf:Agent ; acl:mode acl:Read ; acl:default <http://localhost/rest/r/child>",
        "acl:agentClass foaf:Agent ; acl:mode acl:Read ; acl:accessToClass <http://www.w3.org/ns/ldp#Container>",
        "acl:agentClass foaf:Agent ; acl:mode acl:Read ; acl:accessToClass <http://fedora.info/definitions/v4/repository#Resource>",
        "acl:agentClass foaf:Agent ; acl:mode acl:Read ; acl:accessToClass <http://localhost/rest/r/child>",
        "acl:agentClass foaf:Agent ; acl:mode acl:Read ; acl:accessToClass 'foaf:Document'",
        "acl:agentClass foaf:Agent ; acl:mode acl:Read ; acl:default <R> ; acl:accessTo <http://localhost/rest/r/child> ; acl:accessToClass foaf:Document",
    ] {
        let refused = put_acl(&web, "/r", &format!("<#a> a acl:Authorization ; {wrong} .")).await;
        assert_eq!(refused.status, 409, "{wrong}");
        let constrained = "http://www.w3.org/ns/ldp#constrainedBy";
        assert!(links(&refused, "http://localhost/info/ldp_constraints", constrained));
    }
    assert_eq!(web.triples("/r/fcr:acl").await, before);
    let unknown = "<#a> a acl:Authorization ; acl:agent <http://example.com/nobody> ; acl:mode acl:Read ; acl:accessTo <R> .";
    assert!(put_acl(&web, "/r", unknown).await.status.is_success());
    assert!(web.triples("/r/fcr:acl").await.is_empty(), "no user of this store");
    let elsewhere =
        web.request("PUT", "/x").header("link", "<http://localhost/rest/r>; rel=\"acl\"");
    assert_eq!(elsewhere.send().await.status, 409);
}

/// Only those who see a collection learn whether something in it exists; for others it is forbidden either way.
#[tokio::test]
async fn forbidden_and_missing_resources_get_the_same_response() {
    let web = fedora();
    web.put("/secret/there", "").await;
    granted(&web, "/open", "acl:Read").await;
    for (method, path) in ["GET", "HEAD", "PUT", "PATCH", "DELETE"]
        .into_iter()
        .flat_map(|method| [(method, "/secret/there"), (method, "/secret/missing")])
    {
        for (who, expected) in [(Some(BOB), 403), (None, 401)] {
            let request = web.request_as(who, method, path);
            let request = match method {
                "PATCH" => request.header("content-type", "application/sparql-update").body(ADD),
                "PUT" => request.header("content-type", "text/turtle").body(""),
                _ => request,
            };
            assert_eq!(status(request).await, expected, "{method} {path} {who:?}");
        }
    }
    assert_eq!(status(bob(&web, "GET", "/open/missing")).await, 404);
}
