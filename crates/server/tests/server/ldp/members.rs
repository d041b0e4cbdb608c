//! Direct and indirect containers: membership follows from what they contain (LDP 1.0, sections 5.4 and 5.5).

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
        assert!(web.says("/book", &member).await);
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
        web.ask("DELETE", "/book/pages/1").send().await;
        assert!(!web.says("/book", &member).await);
    }
}

#[tokio::test]
async fn a_direct_container_is_its_own_resource_by_default() {
    for web in Web::each() {
        container(&web, "/d", "DirectContainer", "").await;
        web.put("/d/x", "").await;
        assert!(web.says("/d", &format!("<> <ldp:member> <{}>", web.address("/d/x"))).await);
        assert!(
            web.says("/d", &format!("<> <ldp:membershipResource> <{}>", web.address("/d"))).await
        );
        assert!(web.says("/d", &format!("<> <ldp:hasMemberRelation> <{LDP}member>")).await);
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
        assert!(web.says("/pages/1", &format!("<> <urn:of> <{}>", web.address("/book"))).await);
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
        assert!(web.says("/book", "<> <urn:author> <urn:ada>").await);
        let me = format!("<> <urn:author> <{}#me>", web.address("/authors/1"));
        assert!(web.says("/book", &me).await);
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
    let read = web.ask_as(Some(crate::support::USER), "GET", "/d").send().await;
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
