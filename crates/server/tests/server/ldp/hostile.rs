//! Malformed and hostile requests: refused with a client error, and nothing is changed.

use std::sync::LazyLock;

use proptest::prelude::*;
use tokio::runtime::Runtime;

use super::{MOUNTS, Web};

#[tokio::test]
async fn a_caller_without_a_login_is_prompted_for_one() {
    for web in Web::each() {
        web.put("/c", "").await;
        for method in ["PUT", "POST", "PATCH", "DELETE"] {
            let request = web.request_as(None, method, "/c").header("content-type", "text/turtle");
            let status = request.send().await.status.as_u16();
            assert!([401, 404].contains(&status), "{method}: {status}");
        }
        assert!(
            [401, 404].contains(&web.request_as(None, "GET", "/c").send().await.status.as_u16())
        );
    }
}

/// Requests of every method with odd addresses, headers and bodies.
fn request() -> impl Strategy<Value = (usize, &'static str, String, Vec<(usize, String)>, String)> {
    let method =
        proptest::sample::select(vec!["GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE"]);
    let segment = "(a|b|fcr:metadata|fcr:content|fcr:tombstone|fcr:fixity|fcr:tx|fcr:search|fcr:x|%20|%2f|%ff|\\.\\.|#){1}";
    let query = "(|\\?(members|after|condition|order|offset|fields)=(1|a|%ff|\\*|fedora_id=\\*|created<2)(&members=2)?)";
    let path = (proptest::collection::vec(segment, 0..3), query)
        .prop_map(|(names, query)| format!("/{}{query}", names.join("/")));
    let value = "(text/turtle|text/html|max-member-count=1|application/ld\\+json|text/plain|<http://www\\.w3\\.org/ns/ldp#DirectContainer>;rel=\"type\"|return=representation; include=\"|bytes=0-|\\*|\"x\"|sha=00|q=|,|;|a){0,3}";
    let headers = proptest::collection::vec((0..HEADERS.len(), value), 0..4);
    let body = "(<> <urn:p> 1 \\.|INSERT DATA \\{|\\}|\\{|<|\\[|\"@id\": \"\"|a ){0,4}";
    (0..MOUNTS.len(), method, path, headers, body)
}

const HEADERS: [&str; 12] = [
    "accept",
    "content-type",
    "link",
    "prefer",
    "if-match",
    "if-none-match",
    "range",
    "digest",
    "want-digest",
    "slug",
    "if-unmodified-since",
    "atomic-id",
];

/// One server for all requests: the results of earlier ones are part of the test.
static SERVER: LazyLock<(Runtime, Web)> = LazyLock::new(|| (Runtime::new().unwrap(), Web::new("")));

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_request_makes_the_server_fail(requests in proptest::collection::vec(request(), 1..6)) {
        let (runtime, web) = &*SERVER;
        runtime.block_on(async {
            web.server.put("/a/b", "bytes").await;
            for (mount, method, path, headers, body) in requests {
                let uri = format!("{}{path}", MOUNTS[mount]);
                let Ok(uri) = uri.parse::<axum::http::Uri>() else { continue };
                let mut request = web.server.request(method, &uri.to_string());
                for (name, value) in &headers {
                    request = request.header(HEADERS[*name], value);
                }
                let answer = request.body(body).send().await;
                let status = answer.status.as_u16();
                assert!(status < 500 || status == 501, "{method} {uri} {headers:?}: {status} {}", answer.text());
            }
        });
    }
}
