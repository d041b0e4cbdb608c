//! A graph that was put in any syntax comes back in every one with the same statements, whatever its blank nodes are called (RDFC-1.0), also
//! after another opening has added to it.

use cenote_rdf::{Graph, Limits, Literal, NamedNode, Syntax, Triple, canonical, read, write};
use serde_json::json;

use super::Web;

const LIMITS: Limits = Limits { triples: 1_000, term: 1 << 20 };
/// Only what was stated, in Fedora's words.
const STATED: &str =
    "return=representation; omit=\"http://fedora.info/definitions/fcrepo#ServerManaged\"";

/// Blank nodes that refer to each other and to themselves, parts, languages, types, and texts that have to be escaped.
const TURTLE: &str = r#"
    @prefix h: <http://h/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    <> h:text "a", "a"@en, "a"@en-gb, "a"^^h:type, "", " \t\n\r\"\\'<&>]]> é 漢 \U0001F600 \uFFFD" ;
        h:number 1, 1.0, 1e0, "01"^^xsd:integer, true, "1"^^xsd:boolean ;
        h:to <#part>, <http://h/?q=a%20b&c#d>, <urn:uuid:1>, _:a, [ h:name "one" ; h:next [ h:name "two" ] ] ;
        h:list (1 "two" <urn:three> ()) .
    <#part> h:of <> ; h:name "part" .
    _:a h:next _:b . _:b h:next _:a . _:a h:self _:a .
    _:c h:next _:d . _:d h:next _:c .
"#;

fn triples(text: &[u8], syntax: Syntax, base: &str) -> Vec<Triple> {
    let read = read(text, syntax, base, LIMITS);
    read.unwrap_or_else(|error| panic!("{syntax:?}: {error} in {}", String::from_utf8_lossy(text)))
}

fn written(triples: &[Triple], syntax: Syntax) -> Vec<u8> {
    write(triples, syntax).unwrap()
}

async fn comes_back(web: &Web, wanted: &Graph, put_as: Syntax) {
    for syntax in Syntax::ALL {
        let request = web.request("GET", "/g").header("accept", syntax.media_type());
        let answer = request.header("prefer", STATED).send().await;
        let graph = canonical(&triples(&answer.body, syntax, &web.address("/g")));
        assert_eq!(graph, *wanted, "put as {put_as:?}, read as {syntax:?}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_graph_in_any_syntax_comes_back_in_every_syntax() {
    for put_as in Syntax::ALL {
        let web = Web::new("/rest");
        let own = web.address("/g");
        let mut graph = triples(TURTLE.as_bytes(), Syntax::Turtle, &own);
        let put = web.request("PUT", "/g").header("content-type", put_as.media_type());
        let put = put.body(written(&graph, put_as)).send().await;
        assert_eq!(put.status, 201, "{put_as:?}: {}", put.text());
        comes_back(&web, &canonical(&graph), put_as).await;

        let operations =
            json!([{"op": "add", "attribute": "http://h/p", "value": "v", "unit": "kg"}]);
        let added =
            web.server.post("/v1/meta", json!({"path": "/g", "operations": operations})).await;
        assert!(added.status.is_success(), "{}", added.text());
        let node = |iri: &str| NamedNode::new(iri).unwrap();
        graph.push(Triple::new(node(&own), node("http://h/p"), Literal::from("v")));
        comes_back(&web, &canonical(&graph), put_as).await;
    }
}
