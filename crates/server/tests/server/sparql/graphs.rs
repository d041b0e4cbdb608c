//! The graph of a resource: the same as in the linked-data opening.

use std::collections::BTreeSet;

use super::{query_as, rows};
use crate::support::{ADMIN, TestServer};

const LDP: &str = "http://www.w3.org/ns/ldp#";

/// Containers of each class with members, binaries, links, a description, blank nodes and attributes with units.
async fn server() -> TestServer {
    let server = TestServer::new();
    let put = async |path: &str, class: &str, turtle: &str| {
        let link = format!("<{LDP}{class}>; rel=\"type\"");
        let request =
            server.request("PUT", &format!("/rest{path}")).header("content-type", "text/turtle");
        let answer = request.header("link", &link).body(turtle.to_owned()).send().await;
        assert!(answer.status.is_success(), "{path}: {}", answer.text());
    };
    put(
        "/a",
        "BasicContainer",
        "<> <urn:p> [ <urn:q> 1 ] ; <urn:r> <#x> . <#x> <urn:s> \"x\"@en .",
    )
    .await;
    put(
        "/d",
        "DirectContainer",
        &format!("<> <{LDP}membershipResource> </rest/a> ; <{LDP}hasMemberRelation> <urn:has> ."),
    )
    .await;
    put("/d/one", "BasicContainer", "<> <urn:about> <http://other/> . <http://other/> <urn:p> 1 .")
        .await;
    put(
        "/i",
        "IndirectContainer",
        &format!("<> <{LDP}membershipResource> </rest/a> ; <{LDP}isMemberOfRelation> <urn:of> ."),
    )
    .await;
    put("/i/one", "BasicContainer", "<> <urn:p> </rest/a> .").await;
    put(
        "/j",
        "IndirectContainer",
        &format!(
            "<> <{LDP}hasMemberRelation> <urn:has> ; <{LDP}insertedContentRelation> <urn:about> ."
        ),
    )
    .await;
    put("/j/one", "BasicContainer", "<> <urn:about> <http://e/x>, <http://e/y>, 5 .").await;
    // Members of something that has no graph itself.
    for (path, of) in [("/h", "<#it>"), ("/x", "<http://elsewhere/>"), ("/y", "</rest/a#part>")] {
        let of =
            format!("<> <{LDP}membershipResource> {of} ; <{LDP}hasMemberRelation> <urn:has> .");
        put(path, "DirectContainer", &of).await;
        put(&format!("{path}/one"), "BasicContainer", "").await;
    }
    put("/r", "RDFSource", "<> <urn:p> </rest/d/one> .").await;
    server.put("/a/b.txt", "bytes").await;
    let operations = serde_json::json!([
        {"op": "add", "attribute": "k", "value": "v", "unit": "m"},
        {"op": "add", "attribute": "k", "value": "v", "unit": "s"},
        {"op": "add", "attribute": "http://h/p", "value": "w"},
    ]);
    let described = serde_json::json!({"path": "/a/b.txt", "operations": operations});
    server.post("/v1/meta", described).await.expect(200);
    server
}

const PATHS: [&str; 13] =
    ["/", "/a", "/a/b.txt", "/d", "/d/one", "/h", "/i", "/i/one", "/j", "/j/one", "/r", "/x", "/y"];

/// Triples as N-Triples, whatever the labels of blank nodes, without those about other resources of this server: a
/// container shows the membership that it defines, which is in the graph of the resource with the members.
fn triples(text: &str, root: &str, path: &str) -> BTreeSet<String> {
    let own = format!("<{root}{path}");
    let is_own = |line: &&str| {
        let rest = line.strip_prefix(&own);
        !line.starts_with(&format!("<{root}")) || rest.is_some_and(|it| it.starts_with(['>', '#']))
    };
    let lines = text.lines().filter(|line| !line.is_empty()).filter(is_own);
    lines.map(|line| line.split(' ').map(nameless).collect::<Vec<_>>().join(" ")).collect()
}

fn nameless(word: &str) -> &str {
    if word.starts_with("_:") { "_:b" } else { word }
}

#[tokio::test]
async fn the_graph_of_a_resource_is_the_same_as_through_linked_data() {
    let server = server().await;
    for path in PATHS {
        let metadata = if path.ends_with(".txt") { "/fcr:metadata" } else { "" };
        let shown = server.request("GET", &format!("/rest{path}{metadata}"));
        let shown = shown.header("accept", "application/n-triples").send().await;
        let iri = format!("http://localhost/rest{path}");
        let query = format!("CONSTRUCT {{ ?s ?p ?o }} WHERE {{ GRAPH <{iri}> {{ ?s ?p ?o }} }}");
        let answer =
            query_as(&server, Some(ADMIN), "/sparql", &query, "application/n-triples").await;
        assert_eq!(shown.status, 200, "{path}: {}", shown.text());
        let root = "http://localhost/rest";
        let shown = triples(&shown.text(), root, path);
        assert!(shown.len() > 5);
        assert_eq!(triples(&answer.text(), root, path), shown, "{path}");
    }
}

#[tokio::test]
async fn with_lakesuperiors_terms_the_graph_is_the_same_as_in_its_dialect() {
    let server = server().await;
    for path in PATHS {
        let metadata = if path.ends_with(".txt") { "/fcr:metadata" } else { "" };
        let shown = server.request("GET", &format!("/ldp{path}{metadata}"));
        let shown = shown.header("accept", "application/n-triples").send().await.text();
        let shown = shown.replace("http://localhost/ldp", "info:fcres");
        let graphs = ["admin", "structure", "userdata/_main"]
            .map(|part| format!("FROM <info:fcsystem/graph/{part}{path}> "))
            .concat();
        let query = format!("CONSTRUCT {{ ?s ?p ?o }} {graphs} WHERE {{ ?s ?p ?o }}");
        let answer =
            query_as(&server, Some(ADMIN), "/query/sparql", &query, "application/n-triples").await;
        let root = "info:fcres";
        assert_eq!(triples(&answer.text(), root, path), triples(&shown, root, path), "{path}");
    }
}

#[tokio::test]
async fn server_managed_triples_are_found_by_pattern() {
    let server = server().await;
    let at = |path: &str| format!("<http://localhost/rest{path}>");
    for (pattern, found) in [
        (format!("?x <{LDP}contains> {}", at("/a/b.txt")), vec!["/a"]),
        (format!("{} <{LDP}contains> ?x", at("/d")), vec!["/d/one"]),
        (format!("?x a <{LDP}DirectContainer>"), vec!["/d", "/h", "/x", "/y"]),
        (format!("?x a <{LDP}NonRDFSource>"), vec!["/a/b.txt"]),
        ("?x <http://www.loc.gov/premis/rdf/v1#hasSize> 5".to_owned(), vec![]),
        (
            "?x <http://www.loc.gov/premis/rdf/v1#hasSize> ?n FILTER(?n = 5)".to_owned(),
            vec!["/a/b.txt"],
        ),
        (format!("{} <urn:has> ?x", at("/a")), vec!["/d/one"]),
        (format!("?x <urn:of> {}", at("/a")), vec!["/i/one"]),
        (format!("{} <urn:has> ?x", at("/h#it")), vec!["/h/one"]),
        ("<http://elsewhere/> ?p ?x".to_owned(), vec!["/x/one"]),
        (format!("{} ?p ?x", at("/a#part")), vec!["/y/one"]),
        (format!("?x <urn:has> {}", at("/y/one")), vec!["/a#part"]),
        (
            "?x <http://fedora.info/definitions/v4/repository#hasParent> <http://localhost/rest/i>"
                .to_owned(),
            vec!["/i/one"],
        ),
        ("?x <cenote:attribute/k> 'v'".to_owned(), vec!["/a/b.txt"]),
        (format!("?x <urn:p> {}", at("/d/one")), vec!["/r"]),
        (
            format!("{} (<{LDP}contains>)+ ?x FILTER(?x = {})", at("/"), at("/d/one")),
            vec!["/d/one"],
        ),
    ] {
        let rows = rows(&server, &format!("SELECT ?x {{ {pattern} }}")).await;
        assert_eq!(rows, found.into_iter().map(at).collect(), "{pattern}");
    }
}

#[tokio::test]
async fn a_result_includes_every_earlier_write() {
    let server = TestServer::new();
    for n in 0..5 {
        server.put(&format!("/{n}"), "x").await;
        let count = format!("SELECT (COUNT(?x) AS ?n) {{ ?x a <{LDP}NonRDFSource> }}");
        let rows = rows(&server, &count).await;
        assert_eq!(
            rows.first().unwrap().trim_matches('"').chars().next(),
            Some(char::from(b'1' + n))
        );
    }
}

/// What a query through LAKEsuperior's address finds, without the first row, which names the variables.
async fn found(server: &TestServer, who: Option<(&str, &str)>, query: &str) -> BTreeSet<String> {
    let answer = query_as(server, who, "/query/sparql", query, "text/csv").await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    answer.text().lines().skip(1).map(str::to_owned).collect()
}

const TOPIC: &str = "<http://xmlns.com/foaf/0.1/primaryTopic>";
const META: &str = "<info:fcsystem/meta>";

#[tokio::test]
async fn the_graph_of_graphs_names_each_graph_with_its_resource() {
    let server = server().await;
    for who in [Some(ADMIN), None] {
        let named =
            found(&server, who, &format!("SELECT ?g {{ GRAPH {META} {{ ?g {TOPIC} ?r }} }}")).await;
        let with_triples =
            found(&server, who, "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }").await;
        let listed = found(&server, who, "SELECT ?g { GRAPH ?g {} }").await;
        let mut expected = named.clone();
        expected.extend((!named.is_empty()).then(|| "info:fcsystem/meta".to_owned()));
        assert_eq!(with_triples, expected, "{who:?}");
        assert_eq!(listed, expected, "{who:?}");
        let topics = found(&server, who, &format!("SELECT DISTINCT ?r {{ ?g {TOPIC} ?r }}")).await;
        let resources =
            found(&server, who, "SELECT ?r { ?r a <http://www.w3.org/ns/ldp#Resource> }").await;
        assert_eq!(topics, resources, "{who:?}");
    }
}

#[tokio::test]
async fn what_is_known_of_a_graph_is_found_by_each_pattern() {
    let server = server().await;
    let graph = |part: &str| format!("info:fcsystem/graph/{part}/d");
    let (admin, structure, main) = (graph("admin"), graph("structure"), graph("userdata/_main"));
    let all = format!("SELECT ?g ?p ?o {{ GRAPH {META} {{ ?g ?p ?o }} }}");
    let all = found(&server, Some(ADMIN), &all).await;
    for (pattern, expected) in [
        (format!("?x {TOPIC} <info:fcres/d>"), vec![&admin, &structure, &main]),
        ("?x a <info:fcsystem/StructureGraph> . ?x ?p <info:fcres/d>".to_owned(), vec![&structure]),
        (format!("?x a <info:fcsystem/AdminGraph> ; {TOPIC} <info:fcres/d>"), vec![&admin]),
        (format!("VALUES ?x {{ <{main}> }} ?x a <info:fcsystem/UserProvidedGraph>"), vec![&main]),
        (format!("VALUES ?x {{ <{main}> }} ?x a <info:fcsystem/AdminGraph>"), vec![]),
        (format!("?x {TOPIC} 'd'"), vec![]),
    ] {
        let expected: BTreeSet<String> = expected.into_iter().cloned().collect();
        for pattern in [pattern.clone(), format!("GRAPH {META} {{ {pattern} }}")] {
            let query = format!("SELECT ?x {{ {pattern} }}");
            assert_eq!(found(&server, Some(ADMIN), &query).await, expected, "{pattern}");
        }
    }
    let union = "SELECT ?g ?p ?o { ?g ?p ?o FILTER(STRSTARTS(STR(?g), 'info:fcsystem/graph/')) }";
    assert_eq!(found(&server, Some(ADMIN), union).await, all);
    let dated = format!(
        "SELECT ?g {{ ?g {TOPIC} ?r ; <http://fedora.info/definitions/fcrepo#created> ?t }}"
    );
    assert_eq!(found(&server, Some(ADMIN), &dated).await.len() * 3, all.len());
}

#[tokio::test]
async fn elsewhere_there_is_no_graph_of_graphs() {
    let server = server().await;
    let query =
        format!("SELECT ?x {{ {{ ?x {TOPIC} ?y }} UNION {{ GRAPH {META} {{ ?x ?p ?y }} }} }}");
    assert!(rows(&server, &query).await.is_empty());
}

/// As in the linked-data opening: the members of a container count as far as its owner may describe what has them.
#[tokio::test]
async fn members_that_do_not_count_are_in_no_graph() {
    let server = TestServer::new();
    let put = async |who, path: &str, turtle: &str| {
        let request = server.request_as(Some(who), "PUT", &format!("/rest{path}"));
        let answer =
            request.header("content-type", "text/turtle").body(turtle.to_owned()).send().await;
        assert_eq!(answer.status, 201, "{}", answer.text());
    };
    put(ADMIN, "/book", "").await;
    put(ADMIN, "/home", "").await;
    let grant =
        serde_json::json!({"path": "/home", "operations": [{"name": "grace", "level": "own"}]});
    server.post("/v1/access", grant).await.expect(200);
    let of_book = format!("<{LDP}membershipResource> <http://localhost/rest/book>");
    let container =
        format!("<> a <{LDP}DirectContainer> ; {of_book} ; <{LDP}hasMemberRelation> <urn:m> .");
    put(crate::support::USER, "/home/c", &container).await;
    put(crate::support::USER, "/home/c/one", "").await;
    for pattern in [
        "?x <urn:m> ?y",
        "?x <urn:m> <http://localhost/rest/home/c/one>",
        "<http://localhost/rest/book> <urn:m> ?y",
    ] {
        assert!(rows(&server, &format!("SELECT * {{ {pattern} }}")).await.is_empty(), "{pattern}");
    }
}
