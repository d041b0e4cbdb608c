//! Containers: posting to them, and containment (LDP 1.0, section 5.2).

use cenote_server::{Config, router};
use cenote_store::{CreateOptions, Draft, StorePath};

use super::{Web, headers, links};
use crate::support::TestServer;

#[tokio::test]
async fn posted_resources_are_contained() {
    for web in Web::each() {
        web.put("/c", "").await;
        let posted = web.post("/c", "a%20b", "<> <urn:p> 1 .").await;
        assert_eq!(posted.status, 201, "{}", posted.text());
        let address = web.address("/c/a%20b");
        assert_eq!(headers(&posted, "location"), [address.as_str()]);
        assert!(
            web.has_triple(
                "/c/a%20b",
                "<> <urn:p> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer>"
            )
            .await
        );
        assert!(web.has_triple("/c", &format!("<> <ldp:contains> <{address}>")).await);
        let deleted = web.request("DELETE", "/c/a%20b").send().await;
        assert_eq!(deleted.status, 204);
        assert!(!web.has_triple("/c", &format!("<> <ldp:contains> <{address}>")).await);
    }
}

#[tokio::test]
async fn a_slug_in_use_or_used_before_gives_another_name() {
    for web in Web::each() {
        web.put("/c", "").await;
        let first = web.post("/c", "x", "").await;
        let second = web.post("/c", "x", "").await;
        assert_eq!([first.status.as_u16(), second.status.as_u16()], [201, 201]);
        assert_ne!(first.text(), second.text());
        web.request("DELETE", "/c/x").send().await;
        let third = web.post("/c", "x", "").await;
        assert_eq!(third.status, 201);
        assert_ne!(third.text(), first.text(), "an address is not used again");
    }
}

#[tokio::test]
async fn only_containers_accept_posts() {
    for web in Web::each() {
        let source = web.request("PUT", "/s").header("content-type", "text/turtle");
        let link = "<http://www.w3.org/ns/ldp#RDFSource>; rel=\"type\"";
        assert_eq!(source.header("link", link).body("").send().await.status, 201);
        let answer = web.get("/s").await;
        assert!(!links(&answer, "ldp:Container", "type"));
        assert!(!headers(&answer, "allow")[0].contains("POST"));
        assert_eq!(web.post("/s", "x", "").await.status, 405);
        web.request("PUT", "/b").header("content-type", "text/plain").body("bytes").send().await;
        assert_eq!(web.post("/b", "x", "").await.status, 409);
        assert_eq!(web.post("/none", "x", "").await.status, 404);
    }
}

#[tokio::test]
async fn the_interaction_model_is_set_by_the_link_header_and_immutable() {
    for web in Web::each() {
        let direct = "<http://www.w3.org/ns/ldp#DirectContainer>; rel=\"type\"";
        let request =
            web.request("PUT", "/d").header("content-type", "text/turtle").header("link", direct);
        assert_eq!(request.body("").send().await.status, 201);
        assert!(links(&web.get("/d").await, "ldp:DirectContainer", "type"));
        assert_eq!(web.put("/d", "<> <urn:p> 1 .").await.status, 204);
        assert!(links(&web.get("/d").await, "ldp:DirectContainer", "type"), "after a replacement");
        let other = web.request("PUT", "/d").header("content-type", "text/turtle");
        let other = other.header("if-match", "*");
        let other =
            other.header("link", "<http://www.w3.org/ns/ldp#IndirectContainer>; rel=\"type\"");
        assert_eq!(other.body("").send().await.status, 409);
        let body = "<> a <http://www.w3.org/ns/ldp#DirectContainer> .";
        assert_eq!(web.put("/d2", body).await.status, 201);
        assert!(links(&web.get("/d2").await, "ldp:DirectContainer", "type"), "by its body");
        let both = web.request("PUT", "/d3").header("content-type", "text/turtle");
        let both =
            both.header("link", "<http://www.w3.org/ns/ldp#IndirectContainer>; rel=\"type\"");
        assert_eq!(both.body(body).send().await.status, 409);
    }
}

#[tokio::test]
async fn preferences_choose_the_triples() {
    for web in Web::each() {
        web.put("/c", "<> <urn:p> 1 .").await;
        web.put("/c/x", "").await;
        let ldp = "http://www.w3.org/ns/ldp#Prefer";
        let fcrepo = "http://fedora.info/definitions/fcrepo#";
        for (prefer, contains, manages) in [
            (String::new(), true, true),
            (format!("return=representation; omit=\"{ldp}Containment\""), false, true),
            (format!("return=representation; include=\"{ldp}MinimalContainer\""), false, true),
            (format!("return=representation; omit=\"{fcrepo}ServerManaged\""), false, false),
            ("return=minimal".to_owned(), false, false),
        ] {
            let triples = web.preferred("/c", &prefer).await;
            let has = |part: &str| triples.iter().any(|triple| triple.contains(part));
            assert_eq!(
                (has("ldp#contains"), has("#lastModified>")),
                (contains, manages),
                "{prefer}"
            );
            assert!(has("urn:p"));
            let answer = web.request("GET", "/c").header("prefer", &prefer).send().await;
            let applied = headers(&answer, "preference-applied");
            assert_eq!(applied.is_empty(), prefer.is_empty());
            if prefer.contains("representation") && web.mount != "/ldp" {
                assert_eq!(applied, ["return=representation"]);
            }
        }
    }
}

#[tokio::test]
async fn a_large_container_is_returned_completely() {
    const CHILDREN: usize = 4_500;
    let store = crate::support::store();
    let admin = store.caller_for(store.person_named(crate::support::ADMIN.0).unwrap().0).unwrap();
    let options = CreateOptions { parents: true, ..CreateOptions::default() };
    for n in 0..CHILDREN {
        let path: StorePath = format!("/c/n{n:05}").parse().unwrap();
        store.create(&admin, &path, Draft::Description, options).unwrap();
    }
    let server = TestServer { router: router(store.clone(), &Config::default()) };
    let web = Web { server, store, mount: "/rest", base: "" };
    let triples = web.triples("/c").await;
    let contained = triples.iter().filter(|triple| triple.contains("ldp#contains")).count();
    assert_eq!(contained, CHILDREN);
}

#[tokio::test]
async fn inbound_references_are_shown_on_request() {
    let web = Web::new("/rest");
    web.put("/a", "").await;
    web.put("/b", &format!("<> <urn:to> <{}> .", web.address("/a"))).await;
    let include = "return=representation; include=\"http://fedora.info/definitions/fcrepo#PreferInboundReferences\"";
    let inbound = format!("<{}> <urn:to> <{}>", web.address("/b"), web.address("/a"));
    assert!(web.preferred("/a", include).await.contains(&inbound));
    assert!(!web.triples("/a").await.contains(&inbound));
}

#[tokio::test]
async fn statements_about_a_container_are_omitted_on_request() {
    for web in Web::each() {
        web.put("/c", "<> <urn:p> 1 .").await;
        web.post("/c", "x", "").await;
        let omit =
            "return=representation; omit=\"http://www.w3.org/ns/ldp#PreferMinimalContainer\"";
        let shown = web.preferred("/c", omit).await;
        assert!(!shown.iter().any(|it| it.contains("<urn:p>")), "{shown:?}");
        assert!(shown.iter().any(|it| it.contains("ldp#contains>")));
    }
}

#[tokio::test]
async fn no_link_header_changes_the_interaction_model() {
    const ALL: [&str; 6] = [
        "BasicContainer",
        "DirectContainer",
        "IndirectContainer",
        "Container",
        "RDFSource",
        "Resource",
    ];
    for web in Web::each() {
        for (own, also) in [
            ("BasicContainer", &["Container", "RDFSource", "Resource"][..]),
            ("DirectContainer", &["Container", "RDFSource", "Resource"]),
            ("IndirectContainer", &["Container", "RDFSource", "Resource"]),
            ("RDFSource", &["Resource"]),
        ] {
            let path = format!("/{own}");
            let put = async |class: &str| {
                let link = format!("<{}{class}>; rel=\"type\"", super::LDP);
                let request = web.request("PUT", &path).header("content-type", "text/turtle");
                let exists = web.request("HEAD", &path).send().await.status == 200;
                let request = if exists { request.header("if-match", "*") } else { request };
                request.header("link", &link).body("<> <urn:p> 1 .").send().await
            };
            assert_eq!(put(own).await.status, 201, "{own}");
            let types = async || {
                let answer = web.get(&path).await;
                ALL.map(|class| links(&answer, &format!("ldp:{class}"), "type"))
            };
            let before = types().await;
            for class in ALL {
                let is_same = class == own || also.contains(&class);
                let put = put(class).await;
                let expected = if is_same { 204 } else { 409 };
                assert_eq!(put.status, expected, "{} {own} {class}: {}", web.mount, put.text());
                let constraints = "http://www.w3.org/ns/ldp#constrainedBy";
                let constrained = links(&put, "http://localhost/info/ldp_constraints", constraints);
                assert_eq!(constrained, !is_same);
                assert_eq!(types().await, before, "{own} {class}");
            }
        }
    }
}

#[tokio::test]
async fn bytes_are_not_replaced_through_their_description() {
    for web in Web::each() {
        web.request("PUT", "/b").header("content-type", "text/plain").body("bytes").send().await;
        let request = web.request("PUT", "/b/fcr:metadata").header("content-type", "text/turtle");
        let request =
            request.header("link", "<http://www.w3.org/ns/ldp#NonRDFSource>; rel=\"type\"");
        let request = if web.mount == "/w3c" { request.header("if-match", "*") } else { request };
        let put = request.body("other").send().await;
        assert!([409, 415].contains(&put.status.as_u16()), "{}", put.status);
        assert_eq!(web.get("/b").await.text(), "bytes");
    }
}
