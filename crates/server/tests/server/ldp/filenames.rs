//! The names of files: `Content-Disposition` (RFC 6266) with parameters in other characters than those of ASCII (RFC 8187).

use axum::http::HeaderValue;

use super::{Web, headers};
use crate::support::Answer;

/// Puts bytes with this `Content-Disposition`, if any.
async fn put(web: &Web, disposition: Option<&str>) -> Answer {
    let request = web.request("PUT", "/b").header("content-type", "text/plain");
    let exists = web.request("HEAD", "/b").send().await.status == 200;
    let request = if exists { request.header("if-match", "*") } else { request };
    let mut request = request.body("x");
    if let Some(value) = disposition {
        request = request
            .value("content-disposition", HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    request.send().await
}

#[tokio::test]
async fn the_name_of_a_file_is_stored() {
    for web in Web::each() {
        for (sent, stored, shown) in [
            ("attachment; filename=\"../my run.txt\"", "my run.txt", "filename=\"my run.txt\""),
            ("attachment; filename=run.txt; size=1", "run.txt", "filename=\"run.txt\""),
            ("Attachment;FileName = \"a;b.txt\"", "a;b.txt", "filename=\"a;b.txt\""),
            (
                "attachment; filename=\"a \\\"b\\\".txt\"",
                "a \\\"b\\\".txt",
                "filename=\"a _b_.txt\"; filename*=UTF-8''a%20%22b%22.txt",
            ),
            (
                "attachment; filename*=UTF-8''m%C3%BC%E2%82%AC.txt",
                "mü€.txt",
                "filename=\"m__.txt\"; filename*=UTF-8''m%C3%BC%E2%82%AC.txt",
            ),
            (
                "attachment; filename=plain.txt; filename*=iso-8859-1'en'%A3.txt",
                "£.txt",
                "filename=\"_.txt\"; filename*=UTF-8''%C2%A3.txt",
            ),
            (
                "attachment; filename=\"mü.txt\"",
                "mü.txt",
                "filename=\"m_.txt\"; filename*=UTF-8''m%C3%BC.txt",
            ),
        ] {
            let answer = put(&web, Some(sent)).await;
            assert!(answer.status.is_success(), "{sent}: {}", answer.text());
            let read = web.get("/b").await;
            assert_eq!(headers(&read, "content-disposition"), [format!("attachment; {shown}")]);
            let named = format!("filename> \"{stored}\"");
            let described = web.triples("/b/fcr:metadata").await;
            assert!(described.iter().any(|it| it.ends_with(&named)), "{sent}: {described:?}");
        }
    }
}

#[tokio::test]
async fn a_replacement_without_a_name_has_none() {
    for web in Web::each() {
        for sent in [None, Some("attachment"), Some("attachment; filename=\"\"")] {
            put(&web, Some("attachment; filename=old.txt")).await;
            web.patch("/b/fcr:metadata", "INSERT DATA { <> <urn:p> 1 }").await;
            assert_eq!(put(&web, sent).await.status, 204);
            let read = web.get("/b").await;
            assert_eq!(headers(&read, "content-disposition"), ["attachment; filename=\"b\""]);
            let described = web.triples("/b/fcr:metadata").await;
            assert!(!described.iter().any(|it| it.contains("#filename>")), "{described:?}");
            assert!(described.iter().any(|it| it.contains("<urn:p>")));
        }
    }
}
