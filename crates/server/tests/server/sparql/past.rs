//! The graphs of versions, and the graph about them, in LAKEsuperior's words: with its prefixes, which need not be declared.

use std::collections::BTreeSet;

use super::query_as;
use crate::support::{ADMIN, TestServer};

/// A container and a binary with two versions each, a root with one, and a resource without any.
async fn server() -> TestServer {
    let server = TestServer::new();
    for (title, label) in [("one", Some("v 1")), ("two", Some("v2")), ("three", None)] {
        put(&server, "/a", &format!("<> dcterms:title '{title}' ; dcterms:is [ dcterms:of <#x> ] . <#x> dcterms:title 'part {title}' . <urn:other> dcterms:title 'o{title}' .")).await;
        server
            .request("PUT", "/ldp/b.txt")
            .header("content-type", "application/sparql-results+json")
            .body(title)
            .send()
            .await
            .expect_status(if title == "one" { 201 } else { 204 });
        for path in ["/a", "/b.txt"] {
            if let Some(label) = label {
                keep(&server, path, label).await;
            }
        }
    }
    put(&server, "/c", "<> dcterms:title 'one' .").await;
    keep(&server, "", "all").await;
    server
}

async fn put(server: &TestServer, path: &str, statements: &str) {
    let request =
        server.request("PUT", &format!("/ldp{path}")).header("content-type", "text/turtle");
    let body = format!("@prefix dcterms: <http://purl.org/dc/terms/> . {statements}");
    let answer = request.body(body).send().await;
    assert!(answer.status.is_success(), "{path}: {}", answer.text());
}

async fn keep(server: &TestServer, path: &str, label: &str) {
    let request = server.request("POST", &format!("/ldp{path}/fcr:versions")).header("slug", label);
    request.send().await.expect_status(201);
}

/// What a query finds, for an administrator.
async fn found(server: &TestServer, query: &str) -> BTreeSet<String> {
    found_by(server, Some(ADMIN), query).await
}

async fn found_by(server: &TestServer, who: Option<(&str, &str)>, query: &str) -> BTreeSet<String> {
    let answer = query_as(server, who, "/query/sparql", query, "text/csv").await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    answer.text().lines().skip(1).map(str::to_owned).collect()
}

fn set(lines: &[&str]) -> BTreeSet<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

const VERSIONS: [&str; 5] = [
    "info:fcres/a/fcr:versions/v%201",
    "info:fcres/a/fcr:versions/v2",
    "info:fcres/b.txt/fcr:versions/v%201",
    "info:fcres/b.txt/fcr:versions/v2",
    "info:fcres/fcr:versions/all",
];

#[tokio::test]
async fn the_graph_of_historic_graphs_names_each_version() {
    let server = server().await;
    let versions = found(
        &server,
        "SELECT DISTINCT ?v { GRAPH fcsystem:histmeta { ?g foaf:primaryTopic ?v } }",
    )
    .await;
    assert_eq!(versions, set(&VERSIONS));
    let stated =
        found(&server, "SELECT ?g { GRAPH fcsystem:histmeta { ?g a fcsystem:UserProvidedGraph } }")
            .await;
    let graphs = VERSIONS[..2]
        .iter()
        .map(|it| it.replace("info:fcres", "info:fcsystem/graph/userdata/_main"));
    assert_eq!(stated, graphs.collect());
    let labelled = "SELECT ?v ?l { GRAPH fcsystem:histmeta { ?g a fcsystem:AdminGraph ; fcrepo:hasVersionLabel ?l ; foaf:primaryTopic ?v ; fcrepo:created ?t } }";
    let labels = ["v 1", "v2", "v 1", "v2", "all"];
    let expected = VERSIONS.iter().zip(labels).map(|(version, label)| format!("{version},{label}"));
    assert_eq!(found(&server, labelled).await, expected.collect());
}

#[tokio::test]
async fn each_version_of_a_resource_is_stated_of_it() {
    let server = server().await;
    let of = |path: &str| format!("SELECT ?v {{ <info:fcres{path}> fcrepo:hasVersion ?v }}");
    assert_eq!(found(&server, &of("/a")).await, set(&VERSIONS[..2]));
    assert_eq!(found(&server, &of("/")).await, set(&VERSIONS[4..]));
    assert_eq!(found(&server, &of("/c")).await, set(&[]));
    let of = format!("SELECT ?r {{ ?r fcrepo:hasVersion <{}> }}", VERSIONS[2]);
    assert_eq!(found(&server, &of).await, set(&["info:fcres/b.txt"]));
    let lists = "SELECT ?r ?l { ?r fcrepo:hasVersions ?l }";
    let expected = ["/a,info:fcres/a", "/b.txt,info:fcres/b.txt", "/,info:fcres"];
    let expected = expected.map(|it| format!("info:fcres{it}/fcr:versions"));
    assert_eq!(found(&server, lists).await, expected.into_iter().collect());
    let elsewhere = query_as(
        &server,
        Some(ADMIN),
        "/sparql",
        "ASK { ?r <http://fedora.info/definitions/v4/repository#hasVersion> ?v }",
        "application/sparql-results+json",
    )
    .await;
    assert_eq!(elsewhere.json()["boolean"], false);
}

#[tokio::test]
async fn what_was_is_in_the_graphs_of_versions_only() {
    let server = server().await;
    let titles = |of: &str| format!("SELECT ?t {{ {of} {{ ?s dcterms:title ?t }} }}");
    let graph = "GRAPH <info:fcsystem/graph/userdata/_main/a/fcr:versions/v%201>";
    assert_eq!(found(&server, &titles(graph)).await, set(&["one", "part one", "oone"]));
    assert_eq!(found(&server, &titles("")).await, set(&["three", "part three", "othree", "one"]));
    let joined = "SELECT ?t { GRAPH fcsystem:histmeta { ?g foaf:primaryTopic ?v } GRAPH ?g { ?v dcterms:title ?t } }";
    assert_eq!(found(&server, joined).await, set(&["one", "two"]));
    let turned = "SELECT ?t { GRAPH ?g { ?v dcterms:title ?t } GRAPH fcsystem:histmeta { ?g foaf:primaryTopic ?v } }";
    assert_eq!(found(&server, turned).await, set(&["one", "two"]));
    let blank = "SELECT ?x { GRAPH ?g { <info:fcres/a/fcr:versions/v2> dcterms:is ?b . ?b dcterms:of ?x } }";
    assert_eq!(found(&server, blank).await, set(&["info:fcres/a#x"]));
    let foreign = "SELECT ?t { GRAPH ?g { <urn:other> dcterms:title ?t } }";
    assert_eq!(found(&server, foreign).await, set(&["oone", "otwo", "othree"]));
    let chosen = "SELECT ?t FROM <info:fcsystem/graph/userdata/_main/a/fcr:versions/v2> { ?s dcterms:title ?t }";
    assert_eq!(found(&server, chosen).await, set(&["two", "part two", "otwo"]));
}

/// Each way to the same triples finds them: by name, by each of their terms, and all together.
#[tokio::test]
async fn a_triple_of_the_past_is_found_by_each_pattern() {
    let server = server().await;
    let past = "FILTER(CONTAINS(STR(?g), 'fcr:versions') || ?g = fcsystem:histmeta)";
    let all =
        found(&server, &format!("SELECT ?g ?s ?p ?o {{ GRAPH ?g {{ ?s ?p ?o }} {past} }}")).await;
    assert!(all.len() > 60, "{all:?}");
    let names = found(&server, &format!("SELECT ?g {{ GRAPH ?g {{}} {past} }}")).await;
    let mut one_by_one = BTreeSet::new();
    for name in &names {
        let triples =
            found(&server, &format!("SELECT ?s ?p ?o {{ GRAPH <{name}> {{ ?s ?p ?o }} }}")).await;
        assert!(!triples.is_empty(), "{name}");
        one_by_one.extend(triples.into_iter().map(|triple| format!("{name},{triple}")));
    }
    assert_eq!(one_by_one, all);
    for bound in ["VALUES ?s", "VALUES ?p", "VALUES ?o"] {
        let of = &bound[7..];
        let values = found(&server, &format!("SELECT DISTINCT ?x {{ GRAPH ?g {{ ?s ?p ?o }} {past} FILTER(isIRI({of})) BIND({of} AS ?x) }}")).await;
        let values: String = values.iter().map(|iri| format!("<{iri}> ")).collect();
        let by_term = format!(
            "SELECT ?g ?s ?p ?o {{ {bound} {{ {values} }} GRAPH ?g {{ ?s ?p ?o }} {past} }}"
        );
        let expected =
            format!("SELECT ?g ?s ?p ?o {{ GRAPH ?g {{ ?s ?p ?o }} {past} FILTER(isIRI({of})) }}");
        assert_eq!(found(&server, &by_term).await, found(&server, &expected).await, "{bound}");
    }
}

/// What a version shows at its own address is what its graphs have of it, but for what is of the resource as it is.
#[tokio::test]
async fn a_version_is_the_same_as_through_linked_data() {
    let server = server().await;
    for (path, version) in [("/a", VERSIONS[0]), ("/b.txt/fcr:metadata", VERSIONS[2])] {
        let shown = server.request("GET", &format!("/ldp{path}/fcr:versions/v%201"));
        let shown = shown.header("accept", "application/n-triples").send().await;
        assert_eq!(shown.status, 200, "{}", shown.text());
        let graphs = ["admin", "userdata/_main"].map(|part| {
            format!(
                "FROM <{}> ",
                version.replace("info:fcres", &format!("info:fcsystem/graph/{part}"))
            )
        });
        let query = format!("CONSTRUCT {{ ?s ?p ?o }} {} WHERE {{ ?s ?p ?o }}", graphs.concat());
        let answer =
            query_as(&server, Some(ADMIN), "/query/sparql", &query, "application/n-triples").await;
        let own = version.split("/fcr:versions").next().unwrap();
        let shown = shown
            .text()
            .replace("http://localhost/ldp", "info:fcres")
            .replace(&format!("<{own}>"), &format!("<{version}>"))
            .replace(
                &format!("<{own}#x> <http://purl.org/dc/terms/title>"),
                &format!("<{version}#x> <http://purl.org/dc/terms/title>"),
            );
        let of_present = [
            "#hasParent>",
            "#hasMessageDigest>",
            "fcrepo#Resource>",
            "fcrepo#Container>",
            "fcrepo#Binary>",
            "#hasVersions>",
            "describedby>",
        ];
        let lines = |text: &str| -> BTreeSet<String> {
            let kept = text.lines().filter(|line| !of_present.iter().any(|it| line.contains(it)));
            kept.map(|line| {
                line.split(' ')
                    .map(|word| if word.starts_with("_:") { "_:b" } else { word })
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect()
        };
        let mut expected = lines(&shown);
        expected.insert(format!("<{version}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://fedora.info/definitions/fcrepo#Version> ."));
        assert_eq!(lines(&answer.text()), expected, "{path}");
    }
}

#[tokio::test]
async fn versions_that_a_caller_may_not_read_are_in_no_graph() {
    let server = server().await;
    let all = "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } FILTER(CONTAINS(STR(?g), 'fcr:versions') || ?g = fcsystem:histmeta) }";
    assert_eq!(found_by(&server, None, all).await, set(&[]));
    let named =
        "SELECT ?t { GRAPH <info:fcsystem/graph/userdata/_main/a/fcr:versions/v2> { ?s ?p ?t } }";
    assert_eq!(found_by(&server, None, named).await, set(&[]));
    let seen =
        format!("ASK {{ GRAPH fcsystem:histmeta {{ ?g foaf:primaryTopic <{}> }} }}", VERSIONS[0]);
    let answer = query_as(&server, None, "/query/sparql", &seen, "application/sparql-results+json");
    assert_eq!(answer.await.json()["boolean"], false);
}

#[tokio::test]
async fn a_version_that_was_removed_is_in_no_graph() {
    let server = server().await;
    server.request("DELETE", "/ldp/a/fcr:versions/v2").send().await.expect_status(204);
    server.request("DELETE", "/ldp/b.txt").send().await.expect_status(204);
    let left = "SELECT DISTINCT ?v { GRAPH fcsystem:histmeta { ?g foaf:primaryTopic ?v } }";
    assert_eq!(found(&server, left).await, set(&[VERSIONS[0], VERSIONS[4]]));
    let gone =
        "SELECT ?t { GRAPH <info:fcsystem/graph/userdata/_main/a/fcr:versions/v2> { ?s ?p ?t } }";
    assert_eq!(found(&server, gone).await, set(&[]));
}

#[tokio::test]
async fn lakesuperiors_prefixes_are_known_at_its_address_only_and_can_be_declared_anew() {
    let server = server().await;
    let titled = "SELECT ?t { <info:fcres/c> dcterms:title ?t }";
    assert_eq!(found(&server, titled).await, set(&["one"]));
    let anew = format!("PREFIX dcterms: <urn:> {titled}");
    assert_eq!(found(&server, &anew).await, set(&[]));
    assert_eq!(found(&server, "SELECT ?t { fcres:\\/c dcterms:title ?t }").await, set(&["one"]));
    let elsewhere = query_as(&server, Some(ADMIN), "/sparql", titled, "text/csv").await;
    assert_eq!(elsewhere.status, 400, "{}", elsewhere.text());
}
