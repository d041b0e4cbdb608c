//! Versions: the Fedora API, section 4, with Memento (RFC 7089), and LAKEsuperior's routes.

use super::{Web, headers, links};
use crate::support::Answer;

const MEMENTO: &str = "http://mementoweb.org/ns#";
const LATER: &str = "Fri, 31 Dec 2100 23:59:59 GMT";
const EARLY: &str = "Thu, 01 Jan 1970 00:00:00 GMT";

async fn keep(web: &Web, path: &str) -> String {
    kept(web.request("POST", &format!("{path}/fcr:versions")).send().await)
}

async fn keep_as(web: &Web, path: &str, label: &str) -> String {
    let request = web.request("POST", &format!("{path}/fcr:versions")).header("slug", label);
    kept(request.send().await)
}

#[track_caller]
fn kept(answer: Answer) -> String {
    assert_eq!(answer.status, 201, "{}", answer.text());
    headers(&answer, "location")[0].to_owned()
}

/// The path of an address below the test's mount point and collection.
fn below<'a>(web: &Web, address: &'a str) -> &'a str {
    address.strip_prefix(&web.address("")).unwrap()
}

fn one<'a>(answer: &'a Answer, name: &str) -> &'a str {
    let [value] = headers(answer, name)[..] else { panic!("{name}: {:?}", answer.headers) };
    value
}

#[tokio::test]
async fn a_memento_is_the_graph_as_it_was() {
    for web in Web::each() {
        web.put("/r", "<> <urn:p> 1 , <#x> , <../one> .").await;
        let before = web.triples("/r").await;
        let version = keep(&web, "/r").await;
        web.put("/r", "<> <urn:p> 2 .").await;
        assert_eq!(web.triples(below(&web, &version)).await, before, "{}", web.mount);
        assert!(
            web.has_triple("/r", "<> <urn:p> \"2\"^^<http://www.w3.org/2001/XMLSchema#integer>")
                .await
        );
        let shown = web.get(below(&web, &version)).await;
        assert!(links(&shown, &format!("{MEMENTO}Memento"), "type"));
        assert!(links(&shown, "ldp:RDFSource", "type"));
        assert!(!links(&shown, &format!("{MEMENTO}OriginalResource"), "type"));
        assert!(links(&shown, &web.address("/r"), "original"));
        assert_eq!(links(&shown, &web.address("/r"), "timegate"), web.mount == "/rest");
        assert!(links(&shown, &format!("{}/fcr:versions", web.address("/r")), "timemap"));
        assert!(httpdate::parse_http_date(one(&shown, "memento-datetime")).is_ok());
    }
}

#[tokio::test]
async fn a_memento_of_a_binary_has_its_bytes_and_its_description() {
    for web in Web::each() {
        let request = web.request("PUT", "/b").header("content-type", "text/x-one");
        request.body("one").send().await;
        web.patch("/b/fcr:metadata", "INSERT DATA { <> <urn:p> 1 }").await;
        let described = web.triples("/b/fcr:metadata").await;
        let version = keep(&web, "/b").await;
        let of_description = keep(&web, "/b/fcr:metadata").await;
        assert!(of_description.contains("/b/fcr:metadata/fcr:versions/"));
        let request = web.request("PUT", "/b").header("content-type", "text/x-two");
        request.header("if-match", "*").body("other").send().await;
        web.patch("/b/fcr:metadata", "DELETE DATA { <> <urn:p> 1 }").await;
        let shown = web.get(below(&web, &version)).await;
        assert_eq!((shown.text().as_str(), one(&shown, "content-type")), ("one", "text/x-one"));
        assert!(links(&shown, &web.address("/b"), "original"));
        assert_eq!(web.triples(below(&web, &of_description)).await, described, "{}", web.mount);
        let shown = web.get(below(&web, &of_description)).await;
        assert!(links(&shown, &format!("{}/fcr:metadata", web.address("/b")), "original"));
        let part = web.request("GET", below(&web, &version)).header("range", "bytes=1-1");
        assert_eq!(part.send().await.text(), "n");
    }
}

#[tokio::test]
async fn the_timemap_lists_each_version_as_a_link_and_as_a_triple() {
    for web in Web::each() {
        web.put("/r", "").await;
        let list = |accept: &'static str| {
            web.request("GET", "/r/fcr:versions").header("accept", accept).send()
        };
        assert!(!list("application/link-format").await.text().contains("rel=\"memento\""));
        let first = keep(&web, "/r").await;
        let second = keep(&web, "/r").await;
        assert_ne!(first, second, "each request makes a version, though nothing changed");
        let shown = list("application/link-format").await;
        assert_eq!(one(&shown, "content-type"), "application/link-format");
        for version in [&first, &second] {
            assert!(shown.text().contains(&format!("<{version}>; rel=\"memento\"; datetime=\"")));
        }
        assert!(shown.text().contains(&format!("<{}>; rel=\"original\"", web.address("/r"))));
        // Only where Accept-Datetime is honoured.
        let gate = format!("<{}>; rel=\"timegate\"", web.address("/r"));
        assert_eq!(shown.text().contains(&gate), web.mount == "/rest");
        assert_eq!(links(&shown, &web.address("/r"), "timegate"), web.mount == "/rest");
        let graph = list("text/turtle").await;
        assert!(one(&graph, "content-type").starts_with("text/turtle"));
        let triples = web.triples("/r/fcr:versions").await;
        let own = web.address("/r");
        for version in [&first, &second] {
            let contains = format!("<{own}/fcr:versions> <{}contains> <{version}>", super::LDP);
            assert!(triples.contains(&contains), "{triples:?}");
            assert!(triples.iter().any(|it| it.contains(&format!("#hasVersion> <{version}>"))));
        }
        assert!(links(&graph, "ldp:Container", "type"));
        assert!(links(&graph, &format!("{MEMENTO}TimeMap"), "type"));
        let options = web.request("OPTIONS", "/r/fcr:versions").send().await;
        assert_eq!(one(&options, "allow"), "GET,HEAD,OPTIONS,POST");
        assert!(!headers(&options, "accept-post").is_empty());
        for method in ["PUT", "PATCH", "DELETE"] {
            assert_eq!(web.request(method, "/r/fcr:versions").send().await.status, 405, "{method}");
        }
    }
}

#[tokio::test]
async fn a_version_is_immutable_but_removable() {
    for web in Web::each() {
        web.put("/r", "<> <urn:p> 1 .").await;
        let version = keep(&web, "/r").await;
        let path = below(&web, &version);
        let options = web.request("OPTIONS", path).send().await;
        let allow = one(&options, "allow");
        assert!(["GET", "HEAD", "OPTIONS", "DELETE"].iter().all(|it| allow.contains(it)));
        for method in ["PUT", "POST", "PATCH"] {
            let is_allowed = allow.contains(method);
            assert_eq!(is_allowed, method == "PATCH" && web.mount == "/ldp", "{method}");
            if !is_allowed {
                assert_eq!(web.request(method, path).body("").send().await.status, 405, "{method}");
            }
        }
        assert_eq!(web.request("DELETE", path).send().await.status, 204);
        assert_eq!(web.get(path).await.status, 404);
        assert!(!web.get("/r/fcr:versions").await.text().contains(&version));
        assert_eq!(web.get("/r/fcr:versions/none").await.status, 404);
        assert_eq!(web.get("/none/fcr:versions").await.status, 404);
        assert_eq!(web.request("POST", "/none/fcr:versions").send().await.status, 404);
    }
}

#[tokio::test]
async fn the_resource_is_the_timegate() {
    let web = Web::new("/rest");
    web.put("/r", "").await;
    let at = |date: &'static str| web.request("GET", "/r").header("accept-datetime", date).send();
    assert_eq!(at(LATER).await.status, 406, "it has no versions");
    assert_eq!(at("yesterday").await.status, 400);
    let past = web.request("POST", "/r/fcr:versions").header("content-type", "text/turtle");
    let past = past.header("memento-datetime", "Sat, 01 Jan 2000 00:00:00 GMT");
    let past = kept(past.body("<> <urn:p> \"past\" .").send().await);
    let now = keep(&web, "/r").await;
    for (date, version) in [(LATER, &now), (EARLY, &past), ("Sat, 1 Jan 2000 00:00:00 GMT", &past)]
    {
        let found = at(date).await;
        assert_eq!((found.status.as_u16(), one(&found, "location")), (302, version.as_str()));
        assert!(headers(&found, "vary").iter().any(|it| it.contains("Accept-Datetime")));
    }
    let read = web.get("/r").await;
    assert!(headers(&read, "vary").iter().any(|it| it.contains("Accept-Datetime")));
    for class in ["OriginalResource", "TimeGate"] {
        assert!(links(&read, &format!("{MEMENTO}{class}"), "type"));
    }
    for rel in ["original", "timegate"] {
        assert!(links(&read, &web.address("/r"), rel));
    }
}

#[tokio::test]
async fn a_version_can_be_created_from_a_given_graph_and_time() {
    let web = Web::new("/rest");
    web.put("/r", "<> <urn:p> 1 .").await;
    let now = web.triples("/r").await;
    let date = "Sat, 01 Jan 2000 00:00:00 GMT";
    let post = |path: &'static str, date: &'static str, media_type: &'static str| {
        let request = web.request("POST", path).header("memento-datetime", date);
        request.header("content-type", media_type)
    };
    // The body may contain server-managed triples.
    let given = now.iter().map(|it| format!("{it} .\n")).collect::<String>() + "<> <urn:q> 2 .";
    let version = kept(post("/r/fcr:versions", date, "text/turtle").body(given).send().await);
    let shown = web.triples(below(&web, &version)).await;
    assert_eq!(shown.difference(&now).count(), 1);
    assert!(shown.is_superset(&now));
    assert_eq!(one(&web.get(below(&web, &version)).await, "memento-datetime"), date);
    assert_eq!(web.triples("/r").await, now, "the resource is what it was");
    web.request("PUT", "/b").header("content-type", "text/plain").body("x").send().await;
    for (path, date, media_type, body) in [
        ("/r/fcr:versions", date, "text/plain", "x"),
        ("/r/fcr:versions", LATER, "text/turtle", ""),
        ("/r/fcr:versions", "2000", "text/turtle", ""),
        ("/r/fcr:versions", date, "text/turtle", "<> <"),
        ("/b/fcr:versions", date, "text/turtle", ""),
    ] {
        let refused = post(path, date, media_type).body(body).send().await;
        assert!(refused.status.is_client_error(), "{path} {date} {body}: {}", refused.status);
    }
    let managed = "<> <http://fedora.info/definitions/v4/repository#created> \"x\" .";
    let refused = post("/r/fcr:versions", date, "text/turtle").body(managed).send().await;
    assert_eq!(refused.status, 409);
}

#[tokio::test]
async fn a_version_is_named_by_its_slug_and_reverted_to() {
    let web = Web::new("/ldp");
    web.put("/r", "<> <urn:p> 1 .").await;
    let first = web.triples("/r").await;
    let version = keep_as(&web, "/r", "v1").await;
    assert_eq!(version, format!("{}/fcr:versions/v1", web.address("/r")));
    assert_ne!(keep_as(&web, "/r", "v1").await, version, "the label has been taken");
    let list = web.triples("/r/fcr:versions").await;
    assert!(
        list.iter().any(|it| it.starts_with(&format!("<{version}>")) && it.ends_with("\"v1\""))
    );
    let mentioned = web.triples("/r").await;
    assert!(mentioned.iter().any(|it| it.contains("#hasVersions>")));
    web.put("/r", "<> <urn:p> 2 .").await;
    let reverted = web.request("PATCH", "/r/fcr:versions/v1").send().await;
    assert_eq!(reverted.status, 204, "{}", reverted.text());
    let user = |all: &std::collections::BTreeSet<String>| {
        all.iter().filter(|it| it.contains("<urn:p>")).cloned().collect::<Vec<_>>()
    };
    assert_eq!(user(&web.triples("/r").await), user(&first));
    let list = web.triples("/r/fcr:versions").await;
    let count = list.iter().filter(|it| it.contains("#hasVersion>")).count();
    assert_eq!(count, 3, "the two, and what was current");
    let read = web.get("/r").await.text();
    assert_eq!(web.put("/r", &read).await.status, 204, "it can be put back as it was read");
    assert_eq!(web.get("/r").await.text().matches("hasVersions").count(), 1);
    let update =
        "DELETE { <> ?p ?v } WHERE { <> ?p ?v . FILTER(CONTAINS(STR(?p), 'hasVersions')) }";
    assert_eq!(web.patch("/r", update).await.status, 412);
}

#[tokio::test]
async fn versions_are_for_those_who_may_read_and_made_by_those_who_may_write() {
    let web = Web::new("/rest");
    web.put("/r", "").await;
    let version = keep(&web, "/r").await;
    for (method, path) in [
        ("GET", "/r/fcr:versions"),
        ("POST", "/r/fcr:versions"),
        ("GET", below(&web, &version)),
        ("DELETE", below(&web, &version)),
    ] {
        let refused = web.request_as(None, method, path).send().await;
        assert!(matches!(refused.status.as_u16(), 401 | 404), "{method}: {}", refused.status);
    }
    assert_eq!(web.get(below(&web, &version)).await.status, 200);
}

#[tokio::test]
async fn the_setting_of_the_collection_decides_on_automatic_versions() {
    use cenote_store::{AttributeChange, Retention, Versioning};
    for (versioning, count, status) in [
        (None, 0, 201),
        (Some(Versioning::Off), 0, 409),
        (Some(Versioning::EachChange(Retention::default())), 2, 201),
    ] {
        let web = Web::new("/rest");
        let store = web.store.clone();
        let change = AttributeChange { versioning: Some(versioning), ..AttributeChange::default() };
        store
            .set_attributes(&web.admin(), &cenote_store::StorePath::root().into(), &change)
            .unwrap();
        for n in 0..3 {
            web.put("/r", &format!("<> <urn:p> {n} .")).await;
        }
        let list =
            web.request("GET", "/r/fcr:versions").header("accept", "application/link-format");
        assert_eq!(list.send().await.text().matches("rel=\"memento\"").count(), count);
        let answer = web.request("POST", "/r/fcr:versions").send().await;
        assert_eq!(answer.status, status);
        assert_eq!(
            links(
                &answer,
                "http://localhost/info/ldp_constraints",
                "http://www.w3.org/ns/ldp#constrainedBy"
            ),
            status == 409
        );
    }
}

#[tokio::test]
async fn the_addresses_of_the_versions_of_the_root_have_no_empty_segment() {
    for mount in super::MOUNTS {
        let web = Web::new(mount);
        let version = keep(&web, "").await;
        assert!(version.starts_with(&web.address("/fcr:versions/")), "{version}");
        let shown = web.get(below(&web, &version)).await;
        assert_eq!(shown.status, 200);
        let list = web.request("GET", "/fcr:versions").header("accept", "application/link-format");
        let list = list.send().await;
        let (graph, root) = (web.get("/fcr:versions").await, web.triples("/").await);
        let root = root.into_iter().collect::<Vec<_>>().join("\n");
        let linked = [&shown, &list].map(|it| headers(it, "link").join("\n"));
        for text in [list.text(), graph.text(), root, linked.concat()] {
            assert!(!text.contains("//fcr:"), "{text}");
        }
    }
}
