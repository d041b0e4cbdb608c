//! Refusals that are no accident of the moment name their reason, and say that trying again helps only where it does.

use serde_json::json;

use super::{Web, links};
use crate::support::{Answer, USER};

/// Turtle and bytes put at a path.
async fn both(web: &Web, who: (&str, &str), path: &str) -> [Answer; 2] {
    let put = async |media_type: &'static str| {
        let request = web.request_as(Some(who), "PUT", path).header("content-type", media_type);
        request.body("").send().await
    };
    [put("text/turtle").await, put("text/plain").await]
}

#[tokio::test]
async fn nothing_is_put_below_what_is_no_container() {
    for web in Web::each() {
        web.request("PUT", "/bytes").header("content-type", "text/plain").body("x").send().await;
        let source = web.request("PUT", "/source").header("content-type", "text/turtle");
        let link = "<http://www.w3.org/ns/ldp#RDFSource>; rel=\"type\"";
        assert_eq!(source.header("link", link).send().await.status, 201);
        for above in ["/bytes", "/source"] {
            for path in [format!("{above}/kid"), format!("{above}/kid/deep")] {
                for put in both(&web, crate::support::ADMIN, &path).await {
                    let text = put.text();
                    assert_eq!(put.status, 409, "{path}: {text}");
                    assert!(text.contains(above) && !text.contains("same time"), "{path}: {text}");
                }
                assert_eq!(web.get(&path).await.status, 404);
            }
        }
    }
}

#[tokio::test]
async fn a_dangling_link_is_a_violation_of_a_constraint() {
    for web in Web::each() {
        web.put("/c", "").await;
        web.put("/c/there", "").await;
        let strict = json!({ "path": format!("{}/c", web.base), "link_integrity": "strict" });
        web.server.request("PATCH", "/v1/attributes").json(&strict).send().await.expect(200);
        let link = format!("<> <urn:to> <{}> .", web.address("/nowhere"));
        let update = format!("INSERT DATA {{ {link} }}");
        for refused in [
            web.put("/c/new", &link).await,
            web.put("/c/there", &link).await,
            web.post("/c", "posted", &link).await,
            web.patch("/c/there", &update).await,
            web.put("/c/there", &link).await,
            web.update("/c", &update.replace("<>", &format!("<{}>", web.address("/c/there"))))
                .await,
        ] {
            let text = refused.text();
            assert_eq!(refused.status, if web.mount == "/ldp" { 412 } else { 409 }, "{text}");
            assert!(text.contains("/nowhere") && !text.contains("same time"), "{text}");
            let constraints = "http://localhost/info/ldp_constraints";
            assert!(links(&refused, constraints, "http://www.w3.org/ns/ldp#constrainedBy"));
        }
        for path in ["/c/new", "/c/posted"] {
            assert_eq!(web.get(path).await.status, 404);
        }
        assert!(!web.has_triple("/c/there", &link.replace(" .", "")).await);
    }
}

/// Who may create in a collection learns that a name there is taken, as in every opening, and nothing else.
#[tokio::test]
async fn a_name_that_is_taken_by_something_hidden_is_called_taken() {
    for web in Web::each() {
        web.share_only("/c", "read_description+list+create").await;
        web.put("/c/hidden", "").await;
        for put in both(&web, USER, "/c/hidden").await {
            let text = put.text();
            assert_eq!(put.status, 409, "{text}");
            assert!(text.contains("another name") && !text.contains("same time"), "{text}");
        }
        assert_eq!(web.request_as(Some(USER), "GET", "/c/hidden").send().await.status, 404);
    }
}
