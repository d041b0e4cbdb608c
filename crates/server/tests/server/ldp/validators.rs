//! The validators in the response to a change are those of the next read, and HEAD has the headers of GET.

use axum::http::HeaderValue;

use super::*;

/// Graphs of each kind that affects the tag.
const GRAPHS: [&str; 5] = [
    "",
    "<> <urn:p> 1 ; <urn:q> \"x\"@en .",
    // Links to existing resources, spelled in several ways, to itself and to missing resources.
    "<> <urn:p> <target>, <target/>, <t%61rget>, <target#part>, <>, <#part>, <missing> .",
    "<> a <http://www.w3.org/ns/ldp#DirectContainer> ; \
     <http://www.w3.org/ns/ldp#membershipResource> <target> ; <http://www.w3.org/ns/ldp#hasMemberRelation> <urn:has> .",
    "<#part> <urn:p> <target> . _:b <urn:p> _:b .",
];

fn validators(answer: &Answer) -> [Vec<String>; 2] {
    ["etag", "last-modified"]
        .map(|name| headers(answer, name).into_iter().map(str::to_owned).collect())
}

/// The headers, but for those of one response and of its body.
fn about(answer: &Answer) -> Vec<(String, HeaderValue)> {
    let own = ["content-length", "x-request-id"];
    let headers = answer.headers.iter().filter(|(name, _)| !own.contains(&name.as_str()));
    let mut headers: Vec<_> =
        headers.map(|(name, value)| (name.to_string(), value.clone())).collect();
    headers.sort_by_key(|(name, value)| (name.clone(), value.as_bytes().to_owned()));
    headers
}

async fn assert_read_as(web: &Web, path: &str, changed: &Answer) {
    assert!(changed.status.is_success(), "{path}: {}", changed.text());
    let read = web.get(path).await;
    assert_eq!(validators(changed), validators(&read), "{} {path}", web.mount);
    let head = web.request("HEAD", path).send().await;
    assert_eq!(head.status, 200);
    assert_eq!(about(&head), about(&read), "{} {path}", web.mount);
    assert!(head.text().is_empty());
}

#[tokio::test]
async fn a_change_returns_the_validators_of_the_next_read() {
    for web in Web::each() {
        assert_eq!(web.put("/target", "").await.status, 201);
        for (number, graph) in GRAPHS.into_iter().enumerate() {
            let path = format!("/g{number}");
            assert_read_as(&web, &path, &web.put(&path, graph).await).await;
            let replaced = web.put(&path, &graph.replace("urn:p", "urn:other")).await;
            assert_read_as(&web, &path, &replaced).await;
            let patched = web.patch(&path, "INSERT DATA { <> <urn:new> <target> }").await;
            assert_read_as(&web, &path, &patched).await;
            let slug = format!("p{number}");
            let posted = web.post("", &slug, graph).await;
            assert_read_as(&web, &format!("/{slug}"), &posted).await;
        }
    }
}

/// HEAD reads as little of a description as it can, also of one that is so large that it is kept in parts.
#[tokio::test]
async fn head_has_the_headers_of_get_whatever_else_is_stated() {
    for web in Web::each() {
        web.put("/target", "").await;
        let many: String =
            (0..900).map(|n| format!("<> <urn:p{n}> \"{n} of many statements\" .\n")).collect();
        for (number, graph) in GRAPHS.into_iter().enumerate() {
            let path = format!("/g{number}");
            assert_read_as(&web, &path, &web.put(&path, &format!("{graph}\n{many}")).await).await;
        }
        let named = web
            .request("PUT", "/b")
            .header("content-disposition", "attachment; filename=\"a b.txt\"");
        named.header("content-type", "text/plain").body("x").send().await;
        web.patch("/b/fcr:metadata", "INSERT DATA { <> <urn:p> <target>, 1 }").await;
        for path in ["/b", "/b/fcr:metadata"] {
            let [read, head] = ["GET", "HEAD"].map(|method| web.request(method, path).send());
            assert_eq!(about(&head.await), about(&read.await), "{} {path}", web.mount);
        }
    }
}

#[tokio::test]
async fn a_tag_changes_with_the_path_of_a_link_target() {
    for web in Web::each().filter(|web| web.mount != "/ldp") {
        web.put("/target", "").await;
        web.put("/g", "<> <urn:p> <target> .").await;
        let before = web.get("/g").await;
        let from = format!("{}/target", web.base);
        let body = format!("{{\"from\": {{\"path\": \"{from}\"}}, \"to\": \"{from}2\"}}");
        let moved =
            web.server.request("POST", "/v1/move").header("content-type", "application/json");
        let moved = moved.body(body).send().await;
        assert!(moved.status.is_success(), "{}", moved.text());
        let after = web.get("/g").await;
        assert!(after.text().contains("/target2>"), "{}", after.text());
        assert_ne!(validators(&before)[0], validators(&after)[0]);
    }
}

#[tokio::test]
async fn a_condition_that_does_not_hold_is_judged_before_one_that_is_missing() {
    for web in Web::each() {
        web.put("/g", "").await;
        web.request("PUT", "/b").header("content-type", "text/plain").body("x").send().await;
        for (path, media_type) in [("/g", "text/turtle"), ("/b", "text/plain")] {
            let put = || web.request("PUT", path).header("content-type", media_type);
            let refused = put().header("if-none-match", "*").send().await;
            assert_eq!(refused.status, 412, "{} {path}", web.mount);
            let expected = if web.mount == "/w3c" { 428 } else { 204 };
            let other = put().header("if-none-match", "\"other\"").send().await;
            assert_eq!(other.status, expected, "{} {path}", web.mount);
        }
    }
}
