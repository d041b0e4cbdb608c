//! fcrepo's transactions: `fcr:tx` and `Atomic-ID` (the fixtures' `POST fcr:tx`), as change sets of the store.

use super::{Web, headers, links};
use crate::catalog::is_shared;
use crate::support::{ADMIN, Answer, USER};

const TURTLE: (&str, &str) = ("content-type", "text/turtle");

async fn begin(web: &Web) -> String {
    let begun = web.request("POST", "/fcr:tx").send().await;
    assert_eq!(begun.status, 201, "{}", begun.text());
    begun.header("location").to_owned()
}

/// A request that is part of a transaction.
async fn within(web: &Web, id: &str, method: &str, path: &str, turtle: &str) -> Answer {
    let request = web.request(method, path).header("atomic-id", id).header(TURTLE.0, TURTLE.1);
    request.body(turtle.to_owned()).send().await
}

/// A request about a transaction.
async fn about(web: &Web, method: &str, address: &str) -> Answer {
    let path = address.strip_prefix("http://localhost/rest").unwrap();
    web.request(method, path).send().await
}

#[tokio::test]
async fn the_response_to_a_new_transaction_has_its_expiry_and_commit_address() {
    let web = Web::new("/rest");
    let begun = web.request("POST", "/fcr:tx").send().await;
    let address = begun.header("location").to_owned();
    assert!(address.starts_with("http://localhost/rest/fcr:tx/"), "{address}");
    let commit = "http://fedora.info/definitions/v4/transaction#commitEndpoint";
    assert!(links(&begun, &address, commit), "{:?}", headers(&begun, "link"));
    assert!(begun.header("expires").ends_with(" GMT"));
    let known = about(&web, "GET", &address).await;
    assert_eq!((known.status.as_u16(), known.header("atomic-expires").len()), (204, 29));
    let extended = about(&web, "POST", &address).await;
    assert_eq!((extended.status.as_u16(), extended.header("atomic-expires").len()), (204, 29));
}

#[tokio::test]
async fn changes_in_a_transaction_are_visible_only_in_it_until_the_commit() {
    let web = Web::new("/rest");
    let id = begin(&web).await;
    let made = within(&web, &id, "PUT", "/a/b", "<> <urn:p> 1 .").await;
    assert_eq!((made.status.as_u16(), made.header("atomic-id")), (201, id.as_str()));
    let child = web.request("POST", "/a/b").header("atomic-id", &id).header("slug", "c");
    assert_eq!(child.header(TURTLE.0, "text/plain").body("bytes").send().await.status, 201);
    assert_eq!(within(&web, &id, "GET", "/a/b/c", "").await.text(), "bytes");
    for path in ["/a", "/a/b", "/a/b/c"] {
        assert_eq!(web.get(path).await.status, 404, "{path}");
    }
    assert_eq!(about(&web, "PUT", &id).await.status, 204);
    assert!(
        web.has_triple("/a/b", "<> <urn:p> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer>")
            .await
    );
    assert_eq!(web.get("/a/b/c").await.text(), "bytes");
}

#[tokio::test]
async fn a_rollback_discards_all_changes() {
    let web = Web::new("/rest");
    web.put("/kept", "<> <urn:p> 1 .").await;
    let before = web.triples("/kept").await;
    let id = begin(&web).await;
    assert_eq!(within(&web, &id, "PUT", "/new", "").await.status, 201);
    assert_eq!(within(&web, &id, "PUT", "/kept", "<> <urn:p> 2 .").await.status, 204);
    assert_eq!(within(&web, &id, "DELETE", "/kept", "").await.status, 204);
    assert_eq!(within(&web, &id, "GET", "/kept", "").await.status, 410);
    assert_eq!(about(&web, "DELETE", &id).await.status, 204);
    assert_eq!(web.get("/new").await.status, 404);
    assert_eq!(web.triples("/kept").await, before);
}

#[tokio::test]
async fn the_first_commit_wins_and_the_other_gets_an_error() {
    let web = Web::new("/rest");
    web.put("/a", "").await;
    let ids = [begin(&web).await, begin(&web).await];
    for (id, turtle) in ids.iter().zip(["<> <urn:p> 1 .", "<> <urn:p> 2 ."]) {
        assert_eq!(within(&web, id, "PUT", "/a", turtle).await.status, 204);
    }
    assert_eq!(about(&web, "PUT", &ids[1]).await.status, 204);
    let refused = about(&web, "PUT", &ids[0]).await;
    assert_eq!(refused.status, 409);
    assert!(!refused.text().is_empty());
    assert!(web.get("/a").await.text().contains('2'));
}

#[tokio::test]
async fn an_ended_transaction_is_gone_and_an_unknown_one_not_found() {
    let web = Web::new("/rest");
    for end in ["PUT", "DELETE"] {
        let id = begin(&web).await;
        assert_eq!(about(&web, end, &id).await.status, 204);
        for method in ["GET", "POST", "PUT", "DELETE"] {
            assert_eq!(about(&web, method, &id).await.status, 410, "{method} after {end}");
        }
        let late = within(&web, &id, "PUT", "/late", "").await;
        assert_eq!(late.status, 409, "{}", late.text());
    }
    let unknown = if is_shared() { 503 } else { 404 };
    for (id, status) in [("00000000000000000000000000000000", unknown), ("x", 404)] {
        for method in ["GET", "POST", "PUT", "DELETE"] {
            let path = format!("/fcr:tx/{id}");
            assert_eq!(web.request(method, &path).send().await.status, status, "{method} {id}");
        }
        let refused = if status == 404 { 409 } else { status };
        assert_eq!(within(&web, id, "PUT", "/a", "").await.status, refused, "{id}");
    }
    assert_eq!(web.get("/late").await.status, 404);
    assert_eq!(web.get("/fcr:tx").await.status, 405);
}

#[tokio::test]
async fn a_transaction_is_visible_only_to_its_creator() {
    let web = Web::new("/rest");
    let id = begin(&web).await;
    let path = id.strip_prefix("http://localhost/rest").unwrap();
    for (who, status) in [(None, [401, 404]), (Some(USER), [404, 404])] {
        for method in ["POST", "PUT", "DELETE"] {
            let found = web.request_as(who, method, path).send().await.status.as_u16();
            assert!(status.contains(&found), "{who:?} {method}: {found}");
        }
        let request = web.request_as(who, "GET", "/").header("atomic-id", &id);
        assert!([401, 409].contains(&request.send().await.status.as_u16()));
    }
    assert_eq!(web.request_as(None, "POST", "/fcr:tx").send().await.status, 401);
    assert_eq!(web.request_as(Some(ADMIN), "PUT", path).send().await.status, 204);
}

#[tokio::test]
async fn openings_without_transactions_refuse_their_headers() {
    for web in Web::each().filter(|web| web.mount != "/rest") {
        assert_eq!(
            web.server.request("POST", &format!("{}/fcr:tx", web.mount)).send().await.status,
            404
        );
        let put = within(&web, "00000000000000000000000000000000", "PUT", "/a", "").await;
        assert_eq!(put.status, 409, "{}", web.mount);
        assert_eq!(web.get("/a").await.status, 404);
    }
}
