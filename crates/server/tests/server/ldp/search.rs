//! fcrepo's `fcr:search`: conditions, fields, order, pages.

use serde_json::{Value, json};

use super::Web;
use crate::support::{ADMIN, Answer, USER};

async fn search_as(web: &Web, who: Option<(&str, &str)>, query: &[(&str, &str)]) -> Answer {
    let query: String =
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    web.request_as(who, "GET", &format!("/fcr:search?{query}")).send().await
}

/// The addresses of the results, below the mount point.
async fn found(web: &Web, query: &[(&str, &str)]) -> Vec<String> {
    let answer = search_as(web, Some(ADMIN), query).await.expect(200);
    let ids = answer["items"].as_array().unwrap().iter().map(|item| item["fedora_id"].as_str());
    ids.map(|id| id.unwrap().trim_start_matches("http://localhost/rest").to_owned()).collect()
}

/// A store with `/s/a` (a container with a type), `/s/a/b.txt` and `/s/c.png`.
async fn web() -> Web {
    let web = Web::new("/rest");
    assert_eq!(web.put("/s/a", "<> a <urn:Run> .").await.status, 201);
    for (path, media_type, bytes) in
        [("/s/a/b.txt", "text/plain", "12345"), ("/s/c.png", "image/png", "1")]
    {
        let put =
            web.request("PUT", path).header("content-type", media_type).body(bytes).send().await;
        assert_eq!(put.status, 201);
    }
    web
}

#[tokio::test]
async fn resources_are_found_by_server_managed_properties() {
    let web = web().await;
    for (condition, expected) in [
        ("fedora_id=/s/*", vec!["/s/a", "/s/a/b.txt", "/s/c.png"]),
        ("fedora_id=s*", vec!["/s", "/s/a", "/s/a/b.txt", "/s/c.png"]),
        ("fedora_id=http://localhost/rest/s/a*", vec!["/s/a", "/s/a/b.txt"]),
        ("fedora_id=info:fedora/s/a", vec!["/s/a"]),
        ("fedora_id=*.png", vec!["/s/c.png"]),
        ("fedora_id=/none/*", vec![]),
        ("mime_type=text/plain", vec!["/s/a/b.txt"]),
        ("mime_type=*", vec!["/s/a/b.txt", "/s/c.png"]),
        ("content_size>1", vec!["/s/a/b.txt"]),
        ("content_size<=1", vec!["/s/c.png"]),
        ("rdf_type=urn:Run", vec!["/s/a"]),
        ("rdf_type=ldp:NonRDFSource", vec!["/s/a/b.txt", "/s/c.png"]),
        (
            "rdf_type=http://fedora.info/definitions/v4/repository#Binary",
            vec!["/s/a/b.txt", "/s/c.png"],
        ),
        ("created<2020-01-01", vec![]),
    ] {
        assert_eq!(found(&web, &[("condition", condition)]).await, expected, "{condition}");
    }
    let both = [("condition", "fedora_id=/s/*"), ("condition", "created>2020-01-01T00:00:00Z")];
    assert_eq!(found(&web, &both).await.len(), 3);
    let both = [("condition", "rdf_type=urn:Run"), ("condition", "rdf_type=ldp:Container")];
    assert_eq!(found(&web, &both).await, ["/s/a"]);
}

#[tokio::test]
async fn a_response_has_the_requested_fields_in_the_requested_order() {
    let web = web().await;
    let below = ("condition", "fedora_id=/s/*");
    let sorted = [below, ("order_by", "content_size"), ("order", "desc")];
    assert_eq!(found(&web, &sorted).await, ["/s/a/b.txt", "/s/c.png", "/s/a"]);
    let paged =
        [below, ("max_results", "1"), ("offset", "1"), ("include_total_result_count", "true")];
    let answer = search_as(&web, Some(ADMIN), &paged).await.expect(200);
    assert_eq!(answer["pagination"], json!({ "offset": 1, "maxResults": 1, "totalResults": 3 }));
    assert_eq!(answer["items"].as_array().unwrap().len(), 1);
    let item = &answer["items"][0];
    assert_eq!(item["fedora_id"], "http://localhost/rest/s/a/b.txt");
    assert_eq!((&item["content_size"], &item["mime_type"]), (&json!(5), &json!("text/plain")));
    assert!(
        item["rdf_type"]
            .as_array()
            .unwrap()
            .contains(&json!("http://www.w3.org/ns/ldp#NonRDFSource"))
    );
    let fields = [("condition", "fedora_id=/s/a"), ("fields", "content_size,rdf_type")];
    let answer = search_as(&web, Some(ADMIN), &fields).await.expect(200);
    let Value::Object(item) = &answer["items"][0] else { panic!("{answer}") };
    assert_eq!(item.keys().collect::<Vec<_>>(), ["content_size", "rdf_type"]);
    assert!(
        item["content_size"] == -1
            && item["rdf_type"].as_array().unwrap().contains(&json!("urn:Run"))
    );
    assert_eq!(answer["pagination"]["totalResults"], -1);
}

#[tokio::test]
async fn invalid_searches_are_refused_and_hidden_resources_are_not_found() {
    let web = web().await;
    for query in [
        ("condition", "x=1"),
        ("condition", "fedora_id"),
        ("condition", "created>soon"),
        ("fields", "x"),
        ("order", "up"),
        ("order_by", "x"),
        ("max_results", "-1"),
        ("max_results", "1000000"),
        ("other", "x"),
    ] {
        assert_eq!(search_as(&web, Some(ADMIN), &[query]).await.status, 400, "{query:?}");
    }
    assert_eq!(web.request("POST", "/fcr:search").send().await.status, 405);
    let counted = [("condition", "fedora_id=/s*"), ("include_total_result_count", "true")];
    let hidden = search_as(&web, Some(USER), &counted).await.expect(200);
    assert_eq!((&hidden["items"], &hidden["pagination"]["totalResults"]), (&json!([]), &json!(0)));
    assert_eq!(web.server.request("GET", "/w3c/fcr:search").send().await.status, 404);
}
