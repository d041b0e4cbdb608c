//! Large containers in parts (LDP Paging 1.0).

use std::collections::BTreeSet;

use super::{Web, headers};
use crate::support::Answer;

fn link(answer: &Answer, rel: &str) -> Option<String> {
    let rel = format!(";rel=\"{rel}\"");
    let link = headers(answer, "link").into_iter().find(|link| link.contains(&rel))?;
    Some(link.split(['<', '>']).nth(1)?.trim_start_matches("http://localhost").to_owned())
}

/// All pages of a container, each as its triples.
async fn pages(web: &Web, path: &str, most: usize) -> Vec<BTreeSet<String>> {
    let prefer = format!("return=representation; max-member-count=\"{most}\"");
    let first = web.request("GET", path).header("prefer", &prefer).send().await;
    assert_eq!(first.status, 303, "{}", first.text());
    let mut next = Some(first.header("location").trim_start_matches("http://localhost").to_owned());
    let mut pages = Vec::new();
    while let Some(page) = next {
        let answer =
            web.server.request("GET", &page).header("accept", "application/n-triples").send().await;
        assert_eq!(answer.status, 200, "{page}: {}", answer.text());
        assert!(super::links(&answer, "ldp:Page", "type"));
        assert_eq!(
            link(&answer, "canonical").as_deref(),
            Some(format!("{}{}{path}", web.mount, web.base).as_str())
        );
        pages.push(
            answer.text().lines().map(|line| line.trim_end_matches(" .").to_owned()).collect(),
        );
        next = link(&answer, "next");
    }
    pages
}

#[tokio::test]
async fn the_pages_of_a_container_add_up_to_the_whole() {
    for web in Web::each() {
        web.put("/c", "<> <urn:p> 1 .").await;
        for n in 0..5 {
            web.put(&format!("/c/n%20{n}%26"), "").await;
        }
        let whole = web.triples("/c").await;
        let pages = pages(&web, "/c", 2).await;
        assert_eq!(pages.len(), 3);
        let contains =
            |page: &BTreeSet<String>| page.iter().filter(|it| it.contains("#contains")).count();
        assert_eq!(pages.iter().map(contains).collect::<Vec<_>>(), [2, 2, 1]);
        assert!(pages[1..].iter().all(|page| !page.iter().any(|it| it.contains("urn:p"))));
        assert_eq!(
            pages.iter().map(BTreeSet::len).sum::<usize>(),
            whole.len(),
            "nothing comes twice"
        );
        assert_eq!(pages.into_iter().flatten().collect::<BTreeSet<_>>(), whole);
    }
}

#[tokio::test]
async fn the_members_of_a_direct_container_are_paged_with_its_children() {
    let web = Web::new("/rest");
    let direct = "@prefix ldp: <http://www.w3.org/ns/ldp#> . <> a ldp:DirectContainer ; ldp:membershipResource <> ; ldp:hasMemberRelation <urn:has> .";
    assert_eq!(web.put("/d", direct).await.status, 201);
    for n in 0..3 {
        web.put(&format!("/d/{n}"), "").await;
    }
    let pages = pages(&web, "/d", 2).await;
    let has = |page: &BTreeSet<String>| page.iter().filter(|it| it.contains("<urn:has> <")).count();
    assert_eq!(pages.iter().map(has).collect::<Vec<_>>(), [2, 1]);
}

/// A page of members whose descriptions are large is shorter than was preferred, and so is its part of the children.
#[tokio::test]
async fn large_members_of_an_indirect_container_are_all_in_its_pages() {
    let web = Web::new("/rest");
    let indirect = "@prefix ldp: <http://www.w3.org/ns/ldp#> . <> a ldp:IndirectContainer ; ldp:membershipResource <> ; ldp:hasMemberRelation <urn:has> ; ldp:insertedContentRelation <urn:who> .";
    assert_eq!(web.put("/i", indirect).await.status, 201);
    for n in 0..7 {
        let text = "x".repeat(900_000);
        let member = format!("<> <urn:who> <urn:{n}> ; <urn:text> \"{text}\" .");
        assert_eq!(web.put(&format!("/i/{n}"), &member).await.status, 201);
    }
    let whole = web.triples("/i").await;
    let pages = pages(&web, "/i", 100).await;
    assert!(pages.len() > 1, "the descriptions are too large for one page");
    for of in ["<urn:has> <urn:", "#contains"] {
        let count = |page: &BTreeSet<String>| page.iter().filter(|it| it.contains(of)).count();
        assert_eq!(pages.iter().map(count).sum::<usize>(), 7, "{of}");
    }
    assert_eq!(pages.into_iter().flatten().collect::<BTreeSet<_>>(), whole);
}

#[tokio::test]
async fn invalid_pages_are_refused_and_resources_without_members_are_returned_whole() {
    let web = Web::new("/rest");
    web.put("/c", "").await;
    for query in ["members=0", "members=x", "members=1&after=%2f"] {
        assert_eq!(web.get(&format!("/c?{query}")).await.status, 400, "{query}");
    }
    let put = web.request("PUT", "/b").header("content-type", "text/plain").body("bytes");
    assert_eq!(put.send().await.status, 201);
    let prefer = "return=representation; max-member-count=\"1\"";
    let bytes = web.request("GET", "/b").header("prefer", prefer).send().await;
    assert_eq!((bytes.status.as_u16(), bytes.text().as_str()), (200, "bytes"));
    assert_eq!(web.request("GET", "/none").header("prefer", prefer).send().await.status, 404);
}
