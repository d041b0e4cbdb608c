//! Direct and indirect containers: membership follows from what they contain (LDP 1.0, sections 5.4 and 5.5).

use cenote_store::{Conditions, Statement, StorePath, Term};
use serde_json::json;

use super::Web;

const LDP: &str = "http://www.w3.org/ns/ldp#";

/// A container of a class, defined by these triples.
async fn container(web: &Web, path: &str, class: &str, definition: &str) {
    let definition = definition.replace("ldp:", LDP);
    let body = format!(
        "<> a <{LDP}{class}> . {}",
        definition.replace("</", &format!("<{}/", web.address("")))
    );
    let put = web.put(path, &body).await;
    assert_eq!(put.status, 201, "{}", put.text());
}

#[tokio::test]
async fn a_direct_container_gives_its_resource_members() {
    for web in Web::each() {
        web.put("/book", "").await;
        container(
            &web,
            "/book/pages",
            "DirectContainer",
            "<> <ldp:membershipResource> </book> ; <ldp:hasMemberRelation> <urn:page> .",
        )
        .await;
        web.put("/book/pages/1", "").await;
        let member = format!("<> <urn:page> <{}>", web.address("/book/pages/1"));
        assert!(web.has_triple("/book", &member).await);
        let shown = web.triples("/book/pages").await;
        let of = format!("<{}>", web.address("/book"));
        assert!(shown.contains(&member.replace("<>", &of)), "the container shows it, too");
        let read = web.get("/book/pages").await.text();
        assert_eq!(web.put("/book/pages", &read).await.status, 204);
        let omitted = "return=representation; omit=\"http://www.w3.org/ns/ldp#PreferMembership\"";
        let shown = web.preferred("/book", omitted).await;
        assert!(!shown.iter().any(|triple| triple.contains("urn:page")));
        // Putting back what was read does not turn it into statements.
        let read = web.get("/book").await.text();
        assert_eq!(web.put("/book", &read).await.status, 204);
        web.request("DELETE", "/book/pages/1").send().await;
        assert!(!web.has_triple("/book", &member).await);
    }
}

#[tokio::test]
async fn a_direct_container_is_its_own_resource_by_default() {
    for web in Web::each() {
        container(&web, "/d", "DirectContainer", "").await;
        web.put("/d/x", "").await;
        assert!(web.has_triple("/d", &format!("<> <ldp:member> <{}>", web.address("/d/x"))).await);
        assert!(
            web.has_triple("/d", &format!("<> <ldp:membershipResource> <{}>", web.address("/d")))
                .await
        );
        assert!(web.has_triple("/d", &format!("<> <ldp:hasMemberRelation> <{LDP}member>")).await);
    }
}

#[tokio::test]
async fn membership_can_be_stated_inversely() {
    for web in Web::each() {
        web.put("/book", "").await;
        container(
            &web,
            "/pages",
            "DirectContainer",
            "<> <ldp:membershipResource> </book> ; <ldp:isMemberOfRelation> <urn:of> .",
        )
        .await;
        web.put("/pages/1", "").await;
        assert!(
            web.has_triple("/pages/1", &format!("<> <urn:of> <{}>", web.address("/book"))).await
        );
        assert!(!web.triples("/book").await.iter().any(|triple| triple.contains("urn:of")));
    }
}

#[tokio::test]
async fn an_indirect_container_uses_the_objects_stated_by_its_members() {
    for web in Web::each() {
        web.put("/book", "").await;
        container(&web, "/authors", "IndirectContainer", "<> <ldp:membershipResource> </book> ; <ldp:hasMemberRelation> <urn:author> ; <ldp:insertedContentRelation> <urn:who> .").await;
        web.put("/authors/1", "<> <urn:who> <urn:ada>, <#me> .").await;
        web.put("/authors/2", "").await;
        assert!(web.has_triple("/book", "<> <urn:author> <urn:ada>").await);
        let me = format!("<> <urn:author> <{}#me>", web.address("/authors/1"));
        assert!(web.has_triple("/book", &me).await);
        let members = web.triples("/book").await;
        assert_eq!(members.iter().filter(|it| it.contains("urn:author")).count(), 2);
    }
}

#[tokio::test]
async fn members_that_the_caller_may_not_see_are_not_shown() {
    let web = Web::new("/rest");
    container(&web, "/d", "DirectContainer", "").await;
    web.put("/d/x", "").await;
    let grant = json!({"path": "/d", "operations": [{"name": "grace", "level": "read"}]});
    let granted = web.server.post("/v1/access", grant).await;
    assert!(granted.status.is_success(), "{}", granted.text());
    let read = web.request_as(Some(crate::support::USER), "GET", "/d").send().await;
    assert_eq!(read.status, 200, "{}", read.text());
    assert!(!read.text().contains("/d/x"), "{}", read.text());
}

/// Members stated with the containment predicate could not be distinguished from children (the Fedora API, section
/// 3.1.1).
#[tokio::test]
async fn members_are_not_reported_as_contained() {
    for web in Web::each() {
        let class = "<> a <http://www.w3.org/ns/ldp#DirectContainer> ; ";
        for relation in ["hasMemberRelation", "isMemberOfRelation"] {
            let of = format!(
                "<http://www.w3.org/ns/ldp#{relation}> <http://www.w3.org/ns/ldp#contains> ."
            );
            let refused = web.put("/c", &format!("{class}{of}")).await;
            assert!(matches!(refused.status.as_u16(), 409 | 412), "{}", refused.status);
            assert_eq!(web.get("/c").await.status, 404);
        }
    }
}

/// Terms by which the server decides, or that it states itself: through a container anybody could state them of resources of others.
#[tokio::test]
async fn members_are_stated_with_no_term_of_the_server() {
    let of_server = [
        "http://www.loc.gov/premis/rdf/v1#hasMessageDigest",
        "http://fedora.info/definitions/v4/repository#createdBy",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
        "http://www.w3.org/ns/auth/acl#accessControl",
        "http://www.w3.org/ns/ldp#membershipResource",
    ];
    for web in Web::each() {
        web.put("/book", "").await;
        for (term, relation) in of_server
            .iter()
            .flat_map(|term| ["hasMemberRelation", "isMemberOfRelation"].map(|it| (term, it)))
        {
            let definition = format!("<> a <{LDP}DirectContainer> ; <{LDP}{relation}> <{term}> .");
            let refused = web.put("/c", &definition).await;
            assert!(matches!(refused.status.as_u16(), 409 | 412), "{term}: {}", refused.status);
            assert_eq!(web.get("/c").await.status, 404);
        }
        // Another opening takes any statement: it is not shown as membership.
        container(&web, "/d", "DirectContainer", "<> <ldp:membershipResource> </book> .").await;
        web.put("/d/x", "").await;
        let digest = of_server[0];
        let relation = Statement {
            subject: None,
            predicate: format!("{LDP}hasMemberRelation"),
            object: Term::Iri(digest.to_owned()),
            unit: None,
        };
        let path: StorePath = format!("{}/d", web.base).parse().unwrap();
        let stated =
            web.store.change_graph(&web.admin(), &path.into(), &Conditions::default(), |old| {
                Ok(old.iter().chain([&relation]).cloned().collect())
            });
        stated.unwrap();
        assert!(!web.triples("/book").await.iter().any(|triple| triple.contains(digest)));
    }
}

/// A container states its members of a resource as its owner would: only if they may describe it.
#[tokio::test]
async fn members_are_stated_of_what_the_owner_of_the_container_may_describe() {
    let web = Web::new("/rest");
    web.put("/book", "").await;
    web.put("/home", "").await;
    let grant = async |path: &str, level: &str| {
        let grant = json!({"path": path, "operations": [{"name": "grace", "level": level}]});
        web.server.post("/v1/access", grant).await.expect(200);
    };
    grant("/home", "own").await;
    let put = async |path: &str, turtle: &str| {
        let request = web.request_as(Some(crate::support::USER), "PUT", path);
        request.header("content-type", "text/turtle").body(turtle.to_owned()).send().await.status
    };
    let of_book = format!(
        "<> a <{LDP}DirectContainer> ; <{LDP}membershipResource> <{}> ; <{LDP}hasMemberRelation> <urn:m> .",
        web.address("/book")
    );
    let shown = async || web.triples("/book").await.iter().any(|triple| triple.contains("urn:m"));
    // As long as they do not see it, it is as if nothing were there.
    assert_eq!(put("/home/unseen", &of_book).await, 201);
    assert_eq!(put("/home/unseen/x", "").await, 201);
    assert!(!shown().await);
    grant("/book", "read").await;
    assert_eq!(put("/home/seen", &of_book).await, 403);
    assert!(!shown().await);
    grant("/book", "write").await;
    assert_eq!(put("/home/seen", &of_book).await, 201);
    assert!(shown().await, "of the first container");
    grant("/book", "none").await;
    assert!(!shown().await);
}

/// What a graph shows of other descriptions is in its tag (RFC 9110, section 8.8.3).
#[tokio::test]
async fn a_tag_changes_with_the_members_that_other_containers_state() {
    for web in Web::each().filter(|web| web.mount != "/ldp") {
        web.put("/book", "").await;
        let of_book = "<> <ldp:membershipResource> </book> ; ";
        let mut tags = Vec::new();
        let mut note = async |path: &str, why: &str| {
            let [read, head] = ["GET", "HEAD"].map(|method| web.request(method, path).send());
            let (read, head) = (read.await, head.await);
            let tag = super::headers(&read, "etag")[0].to_owned();
            assert_eq!(super::headers(&head, "etag"), [&tag]);
            assert!(!tags.contains(&tag), "{why}");
            let same = web.request("GET", path).header("if-none-match", &tag).send().await;
            assert_eq!(same.status, 304, "{why}");
            tags.push(tag);
        };
        note("/book", "nothing yet").await;
        container(
            &web,
            "/pages",
            "DirectContainer",
            &format!("{of_book}<ldp:hasMemberRelation> <urn:page> ."),
        )
        .await;
        note("/book", "a container").await;
        web.put("/pages/1", "").await;
        note("/book", "a member").await;
        container(&web, "/by", "IndirectContainer", &format!("{of_book}<ldp:hasMemberRelation> <urn:by> ; <ldp:insertedContentRelation> <urn:who> .")).await;
        web.put("/by/1", "<> <urn:who> <urn:ada> .").await;
        note("/book", "an inserted member").await;
        note("/by", "of the container itself").await;
        web.put("/by/1", "<> <urn:who> <urn:bob> .").await;
        note("/book", "another inserted member").await;
        note("/by", "another, of the container itself").await;
        container(
            &web,
            "/of",
            "DirectContainer",
            &format!("{of_book}<ldp:isMemberOfRelation> <urn:of> ."),
        )
        .await;
        let made = web.put("/of/1", "").await;
        note("/of/1", "a member that says it").await;
        assert_eq!(super::headers(&made, "etag"), [tags.last().unwrap()], "as it was created");
        let stale = tags.last().unwrap().clone();
        let changed = format!(
            "DELETE {{ <> <{LDP}isMemberOfRelation> <urn:of> }} INSERT {{ <> <{LDP}isMemberOfRelation> <urn:in> }} WHERE {{}}"
        );
        assert_eq!(web.patch("/of", &changed).await.status, 204);
        let put = web
            .request("PUT", "/of/1")
            .header("content-type", "text/turtle")
            .header("if-match", &stale);
        assert_eq!(put.body(String::new()).send().await.status, 412);
    }
}
