//! Pages for people: what they show, and that stored text cannot inject markup.

use super::Web;
use crate::support::{ADMIN, Answer, USER};

/// The headers of a browser.
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

async fn browse(web: &Web, path: &str) -> Answer {
    browse_as(web, Some(ADMIN), path).await
}

async fn browse_as(web: &Web, who: Option<(&str, &str)>, path: &str) -> Answer {
    web.request_as(who, "GET", path).header("accept", BROWSER).send().await
}

fn assert_safe(page: &Answer) {
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("script"), "{policy}");
    let text = page.text().to_lowercase();
    for tag in text.split('<').skip(1) {
        let tag = tag.trim_start_matches('/').split(['>', ' ', '\n']).next().unwrap().to_owned();
        assert!(TAGS.contains(&tag.as_str()), "<{tag}> in {text}");
    }
    for attribute in [" on", "javascript:", " style="] {
        let found = text
            .split('>')
            .any(|part| part.split_once('<').is_some_and(|(_, tag)| tag.contains(attribute)));
        assert!(!found, "{attribute} in {text}");
    }
}

/// All elements used in pages.
const TAGS: [&str; 27] = [
    "!doctype", "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "nav", "a",
    "table", "thead", "tr", "th", "td", "p", "ul", "li", "form", "label", "textarea", "select",
    "option", "button", "input",
];

#[tokio::test]
async fn a_page_shows_statements_and_children() {
    for web in Web::each() {
        web.put("/c", "<> <http://purl.org/dc/terms/title> \"Run 7\"@en . <#x> <urn:p> 1 .").await;
        let put = web.request("PUT", "/c/b.txt").header("content-type", "text/plain").body("bytes");
        assert_eq!(put.send().await.status, 201);
        let page = browse(&web, "/c").await;
        assert_eq!(page.status, 200);
        assert_safe(&page);
        let text = page.text();
        for part in [
            "Run 7 (en)",
            &format!("<a href=\"{}\">b.txt</a>", web.address("/c/b.txt")),
            &format!("<a href=\"{}#x\">", web.address("/c")),
            "Statements about others",
            "<html lang=\"en\">",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_eq!(browse(&web, "/c/b.txt").await.text(), "bytes", "a file is its bytes");
        let described = browse(&web, "/c/b.txt/fcr:metadata").await;
        assert_safe(&described);
        assert!(described.text().contains("hasSize"));
        let turtle =
            web.request("GET", "/c").header("accept", "text/turtle, text/html;q=0.5").send().await;
        assert!(turtle.header("content-type").starts_with("text/turtle"));
        let any = web.request("GET", "/c").header("accept", "*/*").send().await;
        assert!(any.header("content-type").starts_with("text/turtle"));
    }
}

#[tokio::test]
async fn stored_text_is_escaped_in_pages() {
    let web = Web::new("/rest");
    let evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;</textarea></style>";
    let literal = evil.replace('"', "\\\"");
    let turtle = format!(
        "<> <urn:p> \"{literal}\", \"{literal}\"^^<urn:t>, <javascript:alert(1)>, <data:text/html,x>, <http://h/?a=1&b='> ; <javascript:alert(2)> 1 .\n\
         <javascript:alert(3)> <urn:p> _:x ."
    );
    let name = "%3Cscript%3Ealert(1)%3C%7C%22'%20onload=x%20%E2%80%AE";
    for path in [format!("/{name}"), format!("/{name}/{name}")] {
        let put = web.put(&path, &turtle).await;
        assert_eq!(put.status, 201, "{}", put.text());
        for path in [path.clone(), "/".to_owned()] {
            let page = browse(&web, &path).await;
            assert_eq!(page.status, 200);
            assert_safe(&page);
            assert!(
                !page.text().contains('\u{202e}'),
                "nothing turns the direction of what follows"
            );
        }
    }
    let page = browse(&web, &format!("/{name}")).await.text();
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(!page.contains("href=\"javascript:") && !page.contains("href=\"data:"));
    let version = web
        .request("POST", &format!("/{name}/fcr:versions"))
        .header("slug", "%3Cb%3E")
        .send()
        .await;
    assert_eq!(version.status, 201);
    assert_safe(&browse(&web, &format!("/{name}")).await);
}

#[tokio::test]
async fn children_are_listed_in_pages() {
    let web = Web::new("/rest");
    web.put("/c", "").await;
    for n in 0..3 {
        web.put(&format!("/c/{n}"), "").await;
    }
    let first = browse(&web, "/c?members=2").await;
    let next = "/c?members=2&amp;after=1";
    assert!(
        first.text().contains(&format!("href=\"http://localhost/rest{next}\"")),
        "{}",
        first.text()
    );
    let second = browse(&web, "/c?members=2&after=1").await.text();
    assert!(
        second.contains(">2</a>") && !second.contains(">1</a>") && !second.contains("Next page")
    );
}

#[tokio::test]
async fn a_caller_without_access_is_prompted_to_log_in_or_gets_not_found() {
    for web in Web::each() {
        web.put("/hidden", "").await;
        let answers =
            [browse_as(&web, None, "/hidden").await, browse_as(&web, None, "/missing").await];
        assert!(
            answers.iter().all(|answer| answer.status == 401),
            "{:?}",
            answers.map(|it| it.status)
        );
        let answers = [
            browse_as(&web, Some(USER), "/hidden").await,
            browse_as(&web, Some(USER), "/missing").await,
        ];
        assert_eq!(answers[0].status, answers[1].status);
        assert!(!browse_as(&web, Some(USER), "/").await.text().contains("hidden"));
    }
}

#[tokio::test]
async fn forms_are_pages_of_the_same_kind() {
    let web = Web::new("/rest");
    for path in ["/sparql", "/query/sparql", "/query/term_search", "/admin/stats", "/admin/tools"] {
        assert_safe(&web.server.request("GET", path).header("accept", BROWSER).send().await);
    }
}

/// A page, with all that its words are to have.
async fn has(web: &Web, path: &str, parts: &[&str]) -> Answer {
    let page = browse(web, path).await;
    assert_eq!(page.status, 200, "{path}: {}", page.text());
    assert_safe(&page);
    for part in parts {
        assert!(page.text().contains(part), "{part} in {path}: {}", page.text());
    }
    page
}

#[tokio::test]
async fn versions_have_pages() {
    for web in Web::each() {
        let put = web.put("/c", "<> <http://purl.org/dc/terms/title> \"<b>before\" .").await;
        assert_eq!(put.status, 201, "{}", put.text());
        let kept = web.request("POST", "/c/fcr:versions").header("slug", "released").send().await;
        assert_eq!(kept.status, 201, "{}", kept.text());
        let update = "DELETE { <> ?p \"<b>before\" } INSERT { <> ?p \"after\" } WHERE { <> ?p \"<b>before\" }";
        let update = web
            .request("PATCH", "/c")
            .header("content-type", "application/sparql-update")
            .body(update);
        assert_eq!(update.send().await.status, 204);
        let (own, all) = (web.address("/c"), web.address("/c/fcr:versions"));
        let version = format!("{all}/released");
        has(&web, "/c", &["after", &format!("<a href=\"{all}\">")]).await;
        let link = format!("<a href=\"{version}\">");
        let back = format!("<a href=\"{own}\">");
        has(&web, "/c/fcr:versions", &["<th scope=\"col\">Label</th>", "released", &link, &back])
            .await;
        let page = has(
            &web,
            "/c/fcr:versions/released",
            &["&lt;b&gt;before", "released", &format!("<a href=\"{all}\">"), &back],
        )
        .await;
        assert!(!page.text().contains("after"), "{}", page.text());
        assert!(!page.header("memento-datetime").is_empty());
        for path in ["/c/fcr:versions", "/c/fcr:versions/released"] {
            let graph = web.request("GET", path).header("accept", "*/*").send().await;
            assert!(graph.header("content-type").starts_with("text/turtle"), "{path}");
        }
    }
}

#[tokio::test]
async fn versions_of_files_have_pages_and_bytes() {
    let web = Web::new("/rest");
    let put = web.request("PUT", "/b.txt").header("content-type", "text/plain").body("bytes");
    assert_eq!(put.send().await.status, 201);
    let kept = web.request("POST", "/b.txt/fcr:versions").header("slug", "v").send().await;
    assert_eq!(kept.status, 201);
    let bytes = web.address("/b.txt/fcr:versions/v");
    has(&web, "/b.txt/fcr:metadata/fcr:versions", &["fcr:metadata/fcr:versions/v"]).await;
    let link = format!("<a href=\"{bytes}\">Its bytes</a>");
    has(&web, "/b.txt/fcr:metadata/fcr:versions/v", &[&link, "hasSize"]).await;
    assert_eq!(browse(&web, "/b.txt/fcr:versions/v").await.text(), "bytes");
    has(&web, "/b.txt/fcr:versions", &[&bytes]).await;
}

#[tokio::test]
async fn fixity_and_access_lists_have_pages() {
    let web = Web::new("/rest");
    let put = web.request("PUT", "/b.txt").header("content-type", "text/plain").body("bytes");
    assert_eq!(put.send().await.status, 201);
    let fixity = web.address("/b.txt/fcr:fixity");
    has(&web, "/b.txt/fcr:metadata", &[&format!("<a href=\"{fixity}\">")]).await;
    let page = has(&web, "/b.txt/fcr:fixity", &["all digests that are kept of them match"]).await;
    assert_eq!(page.header("cache-control"), "no-store");
    let graph =
        web.request("GET", "/b.txt/fcr:fixity").header("accept", "text/turtle").send().await;
    assert!(graph.header("content-type").starts_with("text/turtle"));

    web.put("/c", "").await;
    let list = "<#a> a <http://www.w3.org/ns/auth/acl#Authorization> ; <http://www.w3.org/ns/auth/acl#agentClass> <http://xmlns.com/foaf/0.1/Agent> ;\n\
                <http://www.w3.org/ns/auth/acl#mode> <http://www.w3.org/ns/auth/acl#Read> ; <http://www.w3.org/ns/auth/acl#accessTo> <http://localhost/rest/c> .";
    let put = web.request("PUT", "/c/fcr:acl").header("content-type", "text/turtle").body(list);
    let put = put.send().await;
    assert!(put.status.is_success(), "{} {}", put.status, put.text());
    let acl = web.address("/c/fcr:acl");
    has(&web, "/c", &[&format!("<a href=\"{acl}\">Access list</a>")]).await;
    let back = format!("<a href=\"{}\">The resource</a>", web.address("/c"));
    has(&web, "/c/fcr:acl", &["acl#Read", "<th scope=\"col\">Subject</th>", &back]).await;
    let missing = browse(&web, "/b.txt/fcr:acl").await;
    assert_eq!(missing.status, 404);
}

/// The page of a form that a browser sends.
async fn sent(web: &Web, address: &str, fields: &[(&str, &str)]) -> Answer {
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let request = web.server.request("GET", &format!("{address}?{query}"));
    request.header("accept", BROWSER).send().await
}

#[tokio::test]
async fn results_of_queries_are_pages_with_the_form() {
    let web = Web::new("/rest");
    web.put("/c", "<> <urn:p> \"<script>x\", \"drei\"@de, 5, <http://h/o> .").await;
    for address in ["/sparql", "/query/sparql"] {
        for (query, parts) in [
            (
                "SELECT ?o ?none { ?s <urn:p> ?o }",
                &[
                    "<th scope=\"col\">none</th>",
                    "&lt;script&gt;x",
                    "drei (de)",
                    "5 (integer)",
                    "4 solutions",
                    "<a href=\"http://h/o\">",
                ][..],
            ),
            ("ASK { ?s <urn:p> 5 }", &["<p>Yes"]),
            ("ASK { ?s <urn:p> 6 }", &["<p>No\n"]),
            (
                "CONSTRUCT { <http://h/s> <urn:q> ?o } WHERE { ?s <urn:p> ?o }",
                &[
                    "4 statements",
                    "<th scope=\"col\">Subject</th>",
                    "urn:q",
                    "<a href=\"http://h/s\">",
                ],
            ),
            ("DESCRIBE <http://localhost/rest/c>", &["drei (de)"]),
        ] {
            let page = sent(&web, address, &[("query", query), ("format", "html")]).await;
            assert_eq!(page.status, 200, "{query}: {}", page.text());
            assert_safe(&page);
            let text = page.text();
            let form = query.replace('<', "&lt;").replace('>', "&gt;");
            assert!(text.contains(&format!("{form}</textarea>")), "{query}: {text}");
            assert!(text.contains("<option value=\"html\" selected>"), "{text}");
            parts
                .iter()
                .for_each(|part| assert!(text.contains(part), "{part} for {query}: {text}"));
        }
        let json = sent(&web, address, &[("query", "ASK {}"), ("format", "json")]).await;
        assert_eq!(json.header("content-type"), "application/sparql-results+json");
        for format in ["html", "csv"] {
            let broken = "SELECT </textarea> {";
            let page = sent(&web, address, &[("query", broken), ("format", format)]).await;
            assert_eq!(page.status, 400);
            assert_safe(&page);
            let text = page.text();
            assert!(text.contains("SELECT &lt;/textarea&gt; {</textarea>"), "{text}");
            assert!(text.contains("<p role=\"alert\">invalid query"), "{text}");
            assert!(text.contains(&format!("value=\"{format}\" selected>")), "{text}");
        }
    }
    let program = web.server.request("GET", "/sparql?query=x").header("accept", "*/*").send().await;
    program.problem(400, "invalid");
}

#[tokio::test]
async fn the_term_search_is_a_page_with_the_form() {
    let web = Web::new("/ldp");
    web.put("/c", "<> <http://purl.org/dc/terms/title> \"a \\\"b\" .").await;
    let page = sent(
        &web,
        "/query/term_search",
        &[("pred", "dcterms:title"), ("op", "="), ("val", "a \"b")],
    )
    .await;
    assert_eq!(page.status, 200);
    assert_safe(&page);
    let text = page.text();
    assert!(text.contains(&format!("<a href=\"{}\">", web.address("/c"))), "{text}");
    assert!(
        text.contains("value=\"a &quot;b\"") && text.contains("value=\"=\" selected>"),
        "{text}"
    );
    for term in ["no:thing", "\"1\"^^no:thing"] {
        let page =
            sent(&web, "/query/term_search", &[("pred", "rdf:type"), ("op", "_id"), ("val", term)])
                .await;
        assert_eq!(page.status, 400);
        assert_safe(&page);
        let text = page.text();
        assert!(
            text.contains("role=\"alert\">unknown prefix: no") && text.contains("dcterms"),
            "{text}"
        );
    }
}
