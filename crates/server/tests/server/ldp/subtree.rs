//! `fcr:sparql`: updates of a resource and everything below it together.

use serde_json::json;

use super::Web;
use crate::support::{ADMIN, Answer, USER};

impl Web {
    async fn update_as(&self, who: (&str, &str), path: &str, update: &str) -> Answer {
        let request = self.request_as(Some(who), "POST", &format!("{path}/fcr:sparql"));
        request
            .header("content-type", "application/sparql-update")
            .body(update.to_owned())
            .send()
            .await
    }

    /// The statements about a resource, without its address, sorted.
    async fn stated(&self, path: &str) -> Vec<String> {
        let own = format!("<{}>", self.address(path));
        let triples = self.preferred(path, "return=minimal").await;
        let short = |line: &String| line.replace(&own, "<>").replace(&self.address(""), "");
        triples.iter().map(short).filter(|line| !line.contains("rdf-syntax-ns#type")).collect()
    }

    async fn grant(&self, path: &str, level: &str) {
        let operation = json!({ "name": USER.0, "level": level, "scope": "subtree" });
        let path = format!("{}{path}", self.base);
        let grant = json!({ "path": path, "operations": [operation] });
        self.server.post("/v1/access", grant).await.expect(200);
    }
}

#[tokio::test]
async fn one_pattern_changes_everything_below() {
    for web in Web::each() {
        web.put("/other", "<> <urn:old> 1 .").await;
        web.put("/c", "<> <urn:old> 1 ; <urn:has> [ <urn:old> 2 ] .").await;
        web.put("/c/d", "<> <urn:old> 3 ; <urn:has> [ <urn:old> 4 ] .").await;
        web.request("PUT", "/c/d/file").header("content-type", "text/plain").body("x").send().await;
        web.patch("/c/d/file/fcr:metadata", "INSERT DATA { <> <urn:old> 'f' }").await;
        let rename =
            "DELETE { ?s <urn:old> ?o } INSERT { ?s <urn:new> ?o } WHERE { ?s <urn:old> ?o }";
        let answer = web.update("/c", rename).await;
        assert_eq!(answer.status, 204, "{}", answer.text());
        for (path, old, new) in
            [("/other", 1, 0), ("/c", 0, 2), ("/c/d", 0, 2), ("/c/d/file/fcr:metadata", 0, 1)]
        {
            let text = web.stated(path).await.join("\n");
            let counts = (text.matches("<urn:old>").count(), text.matches("<urn:new>").count());
            assert_eq!(counts, (old, new), "{} {path}: {text}", web.mount);
        }
    }
}

#[tokio::test]
async fn patterns_join_resources_and_triples_go_where_they_belong() {
    for web in Web::each() {
        web.put("/c", "<> <urn:unit> 'K' .").await;
        web.put("/c/d", "<> <urn:n> 1 .").await;
        let join = "INSERT { ?in <urn:of> ?top ; <urn:unit> ?unit } \
            WHERE { ?top <http://www.w3.org/ns/ldp#contains> ?in ; <urn:unit> ?unit }";
        assert_eq!(web.update("/c", join).await.status, 204);
        let of = "<> <urn:of> </c>".to_owned();
        assert_eq!(web.stated("/c/d").await[1..], [of, "<> <urn:unit> \"K\"".to_owned()]);

        let (c, d) = (web.address("/c"), web.address("/c/d"));
        let named = format!(
            "INSERT DATA {{ GRAPH <{d}> {{ <urn:x> <urn:p> 2 }} }} ; \
             WITH <{c}> DELETE {{ ?s <urn:unit> ?o }} INSERT {{ ?s <urn:list> [ <urn:n> ?o ] }} WHERE {{ ?s <urn:unit> ?o }}"
        );
        assert_eq!(web.update("/c", &named).await.status, 204);
        let (of_c, of_d) = (web.stated("/c").await.join("\n"), web.stated("/c/d").await.join("\n"));
        assert!(of_d.contains("<urn:x> <urn:p>") && of_d.contains("<urn:unit>"), "{of_d}");
        assert!(of_c.contains("<urn:list> _:") && of_c.contains("<urn:n> \"K\""), "{of_c}");
        assert!(!of_c.contains("<urn:unit>"), "{of_c}");
    }
}

#[tokio::test]
async fn an_update_is_atomic() {
    for web in Web::each() {
        web.put("/c", "<> <urn:p> 1 .").await;
        web.put("/c/d", "<> <urn:p> 1 .").await;
        let before = (web.stated("/c").await, web.stated("/c/d").await);
        let (outside, missing) = (web.address(""), web.address("/c/none"));
        for (update, status) in [
            ("DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }".to_owned(), web_managed(&web)),
            ("DELETE WHERE { ?s <urn:p> ?o } ; INSERT DATA { <urn:x> <urn:p> 1 }".to_owned(), 400),
            (format!("INSERT DATA {{ <> <urn:q> 1 . <{outside}> <urn:q> 1 }}"), 400),
            (format!("INSERT DATA {{ <> <urn:q> 1 . <{missing}> <urn:q> 1 }}"), 400),
            ("INSERT DATA { <> <urn:q> 1 } ; CLEAR ALL".to_owned(), 400),
            ("INSERT".to_owned(), 400),
        ] {
            let answer = web.update("/c", &update).await;
            assert_eq!(answer.status.as_u16(), status, "{update}: {}", answer.text());
            assert_eq!((web.stated("/c").await, web.stated("/c/d").await), before, "{update}");
        }
        let plain = web.request("POST", "/c/fcr:sparql").header("content-type", "text/plain");
        assert_eq!(plain.body("x").send().await.status, 415);
        assert_eq!(web.get("/c/fcr:sparql").await.status, 405);
        assert_eq!(web.update("/none", "DELETE WHERE { ?s <urn:p> ?o }").await.status, 404);
    }
}

/// The status of a change of server-managed triples.
fn web_managed(web: &Web) -> u16 {
    if web.mount == "/ldp" { 412 } else { 409 }
}

#[tokio::test]
async fn an_update_requires_write_access_to_all_its_resources() {
    let rename = "DELETE { ?s <urn:p> ?o } INSERT { ?s <urn:q> ?o } WHERE { ?s <urn:p> ?o }";
    for web in Web::each() {
        for path in ["/c", "/c/d", "/c/d/e"] {
            web.put(path, "<> <urn:p> 1 .").await;
        }
        assert!([401, 403, 404].contains(&web.update_as(USER, "/c", rename).await.status.as_u16()));
        web.grant("/c", "read").await;
        web.grant("/c/d", "write").await;
        assert_eq!(web.update_as(USER, "/c", rename).await.status, 403, "{}", web.mount);
        for path in ["/c", "/c/d", "/c/d/e"] {
            assert!(web.stated(path).await.join("").contains("urn:p"), "{path}");
        }
        let nothing = web.update_as(USER, "/c", "DELETE WHERE { ?s <urn:none> ?o }").await;
        assert_eq!(nothing.status, 204, "{}", nothing.text());
        assert_eq!(web.update_as(USER, "/c/d", rename).await.status, 204);
        for path in ["/c/d", "/c/d/e"] {
            assert!(web.stated(path).await.join("").contains("urn:q"), "{path}");
        }
        assert!(web.stated("/c").await.join("").contains("urn:p"));
    }
}

#[tokio::test]
async fn an_update_can_be_part_of_a_transaction() {
    let web = Web::new("/rest");
    web.put("/c", "<> <urn:p> 1 .").await;
    let begun = web.request("POST", "/fcr:tx").send().await;
    let tx = begun.headers["location"].to_str().unwrap().to_owned();
    let request = web.request("POST", "/c/fcr:sparql").header("atomic-id", &tx);
    let request = request.header("content-type", "application/sparql-update");
    let answer = request.body("DELETE WHERE { ?s <urn:p> ?o }").send().await;
    assert_eq!(answer.status, 204, "{}", answer.text());
    assert_eq!(web.stated("/c").await.len(), 1);
    let path = tx.strip_prefix("http://localhost").unwrap();
    assert_eq!(web.server.request_as(Some(ADMIN), "PUT", path).send().await.status, 204);
    assert!(web.stated("/c").await.is_empty());
}

#[tokio::test]
async fn refusals_of_updates_name_what_they_are_about() {
    for web in Web::each() {
        web.put("/c/d", "<> <urn:p> 1 .").await;
        web.grant("", "read").await;
        let update = "DELETE { ?s <urn:p> ?o } WHERE { ?s <urn:p> ?o }";
        let refused = web.update_as(USER, "/c", update).await;
        let text = refused.text();
        assert_eq!(refused.status, 403, "{text}");
        assert!(!text.contains("id "), "{text}");
        assert_eq!(text.contains(&format!("{}/c/d", web.base)), web.mount != "/rest", "{text}");
        for operation in ["CLEAR ALL", "LOAD <http://h/>", "CREATE GRAPH <urn:g>"] {
            let refused = web.update("/c", operation).await;
            let word = operation.split(' ').next().unwrap();
            let text = refused.text();
            assert_eq!(refused.status, 400, "{operation}");
            assert!(text.contains(word) && !text.contains("one resource"), "{text}");
        }
    }
}
