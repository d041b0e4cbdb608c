//! PATCH with SPARQL Update: only effective changes count.

use super::Web;

#[tokio::test]
async fn an_update_changes_the_description() {
    for web in Web::each() {
        web.put("/g", "<> <urn:p> \"one\", \"two\" ; <urn:n> 1 .").await;
        for update in [
            "DELETE DATA { <> <urn:p> \"one\" }",
            "INSERT DATA { <#part> <urn:q> <urn:x> }",
            "DELETE { <> <urn:n> ?n } INSERT { <> <urn:n> ?m } WHERE { <> <urn:n> ?n BIND(?n + 1 AS ?m) }",
        ] {
            let patched = web.patch("/g", update).await;
            assert_eq!(patched.status, 204, "{update}: {}", patched.text());
        }
        assert!(web.has_triple("/g", "<> <urn:p> \"two\"").await);
        assert!(!web.has_triple("/g", "<> <urn:p> \"one\"").await);
        assert!(
            web.has_triple("/g", "<> <urn:n> \"2\"^^<http://www.w3.org/2001/XMLSchema#integer>")
                .await
        );
        let part = format!("<{}#part> <urn:q> <urn:x>", web.address("/g"));
        assert!(web.triples("/g").await.contains(&part));
    }
}

#[tokio::test]
async fn server_managed_triples_are_not_updated() {
    for (web, status) in Web::each().zip([412, 409, 409]) {
        web.put("/g", "<> <urn:p> 1 .").await;
        web.put("/g/child", "").await;
        for update in [
            "DELETE { <> <http://www.w3.org/ns/ldp#contains> ?o } WHERE { <> <http://www.w3.org/ns/ldp#contains> ?o }",
            "INSERT DATA { <> <http://www.w3.org/ns/ldp#contains> <urn:x> }",
            "INSERT DATA { <> a <http://www.w3.org/ns/ldp#NonRDFSource> }",
            "INSERT DATA { <> a \"a literal\" }",
            "DELETE WHERE { <> <http://fedora.info/definitions/fcrepo#created> ?t . <> ?p ?t }",
            "DELETE { <> ?p ?o } WHERE { <> ?p ?o }",
        ] {
            let refused = web.patch("/g", update).await;
            let is_void = update.starts_with("DELETE WHERE") && web.mount != "/ldp";
            assert_eq!(refused.status, if is_void { 204 } else { status }, "{update}");
        }
        assert!(web.triples("/g").await.iter().any(|triple| triple.contains("urn:p")));
        let idle = "INSERT DATA { <> a <http://www.w3.org/ns/ldp#Container> }";
        assert_eq!(web.patch("/g", idle).await.status, 204, "it is one");
        let lenient = web.request("PATCH", "/g").header("prefer", "handling=lenient");
        let lenient = lenient.header("content-type", "application/sparql-update");
        let lenient = lenient.body("DELETE { <> ?p ?o } WHERE { <> ?p ?o }").send().await;
        assert_eq!(lenient.status, 204);
        let left = web.triples("/g").await;
        assert!(!left.iter().any(|triple| triple.contains("urn:p")));
        assert!(left.iter().any(|triple| triple.contains("#created>")));
    }
}

#[tokio::test]
async fn malformed_updates_and_those_beyond_the_resource_are_refused() {
    for web in Web::each() {
        web.put("/g", "").await;
        for update in
            ["INSERT", "LOAD <http://h/>", "INSERT DATA { GRAPH <urn:g> { <> <urn:p> 1 } }"]
        {
            assert_eq!(web.patch("/g", update).await.status, 400, "{update}");
        }
        let other =
            web.request("PATCH", "/g").header("content-type", "text/turtle").body("").send().await;
        assert_eq!(other.status, 415);
        assert_eq!(web.patch("/none", "INSERT DATA { <> <urn:p> 1 }").await.status, 404);
    }
}

/// The server states the media type of bytes: a second one would contradict it.
#[tokio::test]
async fn a_binary_has_one_media_type() {
    const TYPE: &str = "<http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#hasMimeType>";
    for (web, status) in Web::each().zip([412, 409, 409]) {
        web.request("PUT", "/b").header("content-type", "text/plain").body("x").send().await;
        web.put("/g", "").await;
        let about = "/b/fcr:metadata";
        let two = format!("INSERT DATA {{ <> {TYPE} \"a/b\", \"c/d\" }}");
        for update in [&two, &format!("INSERT DATA {{ <> {TYPE} \"a/b\" }}")] {
            let refused = web.patch(about, update).await;
            assert_eq!(refused.status, status, "{update}: {}", refused.text());
        }
        assert_eq!(web.put(about, &format!("<> {TYPE} \"a/b\" .")).await.status, status);
        let same = format!("<> {TYPE} \"text/plain\" . <urn:other> {TYPE} \"a/b\" .");
        assert_eq!(web.put(about, &same).await.status, 204, "what it is, and of something else");
        let lenient = web.request("PATCH", about).header("prefer", "handling=lenient");
        let lenient = lenient.header("content-type", "application/sparql-update").body(two.clone());
        assert_eq!(lenient.send().await.status, 204);
        let own = format!("<{}> {TYPE}", web.address("/b"));
        let types = web.triples(about).await;
        let types: Vec<_> = types.iter().filter(|it| it.starts_with(&own)).collect();
        assert_eq!(types, [&format!("{own} \"text/plain\"")]);
        assert_eq!(web.patch("/g", &two).await.status, 204, "of a graph it says nothing itself");
    }
}
