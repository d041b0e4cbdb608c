//! Pages for people: what they show, and that stored text cannot inject markup.

use super::Web;
use crate::support::{ADMIN, Answer, USER};

/// The headers of a browser.
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

async fn browse(web: &Web, path: &str) -> Answer {
    browse_as(web, Some(ADMIN), path).await
}

async fn browse_as(web: &Web, who: Option<(&str, &str)>, path: &str) -> Answer {
    web.ask_as(who, "GET", path).header("accept", BROWSER).send().await
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
const TAGS: [&str; 26] = [
    "!doctype", "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "nav", "a",
    "table", "thead", "tr", "th", "td", "p", "ul", "li", "form", "label", "textarea", "select",
    "option", "button",
];

#[tokio::test]
async fn a_page_shows_statements_and_children() {
    for web in Web::each() {
        web.put("/c", "<> <http://purl.org/dc/terms/title> \"Run 7\"@en . <#x> <urn:p> 1 .").await;
        let put = web.ask("PUT", "/c/b.txt").header("content-type", "text/plain").body("bytes");
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
            web.ask("GET", "/c").header("accept", "text/turtle, text/html;q=0.5").send().await;
        assert!(turtle.header("content-type").starts_with("text/turtle"));
        let any = web.ask("GET", "/c").header("accept", "*/*").send().await;
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
    let version =
        web.ask("POST", &format!("/{name}/fcr:versions")).header("slug", "%3Cb%3E").send().await;
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
async fn a_caller_without_access_is_asked_to_log_in_or_gets_not_found() {
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
    for path in ["/sparql", "/query/sparql", "/admin/stats"] {
        assert_safe(&web.server.ask("GET", path).header("accept", BROWSER).send().await);
    }
}
