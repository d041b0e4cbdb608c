//! Any text is a graph, a query or an update within the limits, or an error.

use std::collections::HashSet;

use cenote_rdf::{
    Cancel, Dataset, DatasetUpdate, Limits, NamedNode, NamedOrBlankNode, Query, Syntax, Triple,
    Update, read,
};
use proptest::prelude::*;

const BASE: &str = "http://h/r";
const LIMITS: Limits = Limits { triples: 8, term: 24 };

/// Text of the words of a language, in any order.
fn of_words(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(words), 0..24)
        .prop_map(|words| words.join(" "))
}

/// Valid text with some characters removed or replaced.
fn almost(texts: &'static [&'static str]) -> impl Strategy<Value = String> {
    let changes = proptest::collection::vec((any::<prop::sample::Index>(), "[ -~]?"), 0..4);
    (proptest::sample::select(texts), changes).prop_map(|(text, changes)| {
        let mut letters: Vec<String> = text.chars().map(String::from).collect();
        for (at, letter) in changes {
            let at = at.index(letters.len());
            letters[at] = letter;
        }
        letters.concat()
    })
}

const TURTLE: &[&str] = &[
    "<>", "<a:p>", "<../x>", "_:b", "[", "]", "(", ")", "a", ";", ",", ".", "1", "-1.5e3", "true",
    "'x'", "\"\"\"", "\\u00e9", "@en", "^^<a:t>", "@prefix", "x:", "@base", "PREFIX", "{", "}",
    "=>", "<<", ">>", "#",
];
const GRAPHS: &[&str] = &[
    "@prefix x: <http://x/> . <> x:p 1, [ x:q \"a\"@en ] ; a x:T .",
    "{\"@context\": {\"x\": \"http://x/\", \"q\": {\"@id\": \"x:q\", \"@type\": \"@id\"}}, \"@id\": \"\", \"x:p\": [1, {\"@list\": [2]}], \"q\": \"u\"}",
    "[{\"@id\": \"a:s\", \"@type\": \"a:T\", \"@reverse\": {\"a:p\": {\"@id\": \"_:b\"}}, \"a:l\": {\"@value\": \"x\", \"@language\": \"en\"}}]",
    "<?xml version=\"1.0\"?><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:x=\"a:\"><rdf:Description rdf:about=\"\"><x:p xml:lang=\"en\">y</x:p></rdf:Description></rdf:RDF>",
    "<!DOCTYPE d [<!ENTITY e \"a:\"><!ENTITY f \"&e;&e;\">]><d xmlns=\"a:\"><p>&f;</p></d>",
];
const SPARQL: &[&str] = &[
    "SELECT",
    "ASK",
    "CONSTRUCT",
    "DESCRIBE",
    "*",
    "?x",
    "?y",
    "WHERE",
    "{",
    "}",
    "(",
    ")",
    "<>",
    "<a:p>",
    "a",
    ".",
    ";",
    ",",
    "OPTIONAL",
    "UNION",
    "MINUS",
    "FILTER",
    "BIND",
    "AS",
    "VALUES",
    "GRAPH",
    "SERVICE",
    "EXISTS",
    "NOT",
    "IN",
    "COUNT",
    "GROUP BY",
    "HAVING",
    "ORDER BY",
    "LIMIT",
    "OFFSET",
    "1",
    "'x'",
    "+",
    "/",
    "^",
    "|",
    "!",
    "=",
    "<",
    "REPLACE",
    "INSERT",
    "DELETE",
    "DATA",
    "WITH",
    "USING",
    "LOAD",
    "CLEAR",
    "DROP",
    "BASE",
    "PREFIX x:",
    "<< ",
    ">>",
    "[]",
    "_:b",
];
const QUERIES: &[&str] = &[
    "PREFIX x: <a:> SELECT ?x (COUNT(*) AS ?n) WHERE { ?x x:p/x:q* ?y OPTIONAL { ?y a x:T } FILTER(?y > 1 && REGEX(STR(?x), 'a')) } GROUP BY ?x LIMIT 3",
    "CONSTRUCT { ?s ?p ?o } WHERE { { ?s ?p ?o } UNION { GRAPH <g> { ?s ?p ?o } } MINUS { ?s a <a:T> } }",
    "ASK { VALUES (?x ?y) { (1 UNDEF) (<a:s> 'b'@en) } BIND(REPLACE(?y, 'b', 'c') AS ?z) }",
];
const UPDATES: &[&str] = &[
    "INSERT DATA { <> <a:p> 1, 'x'@en ; <a:q> <#h> }",
    "DELETE { ?s ?p ?o } INSERT { ?s ?p ?n } WHERE { ?s ?p ?o BIND(?o + 1 AS ?n) }",
    "DELETE WHERE { <> <a:p> ?o } ; INSERT { ?a ?p ?b } WHERE { ?a ?p ?x . ?b ?q ?y }",
    "DELETE DATA { <> <a:p> 1 } ; INSERT DATA { <> <a:p> 2 }",
];

fn graph() -> HashSet<Triple> {
    let text = b"<> <a:p> 1, 2 ; <a:q> <#h> . <#h> <a:p> 'x'@en .";
    let triples = read(text, Syntax::Turtle, BASE, LIMITS);
    triples.expect("it is a graph").into_iter().collect()
}

proptest! {
    #[test]
    fn a_graph_is_read_within_its_limits_or_refused(text in prop_oneof![of_words(TURTLE), almost(GRAPHS)]) {
        for syntax in Syntax::ALL {
            if let Ok(triples) = read(text.as_bytes(), syntax, BASE, LIMITS) {
                prop_assert!(triples.len() <= LIMITS.triples);
            }
        }
    }

    #[test]
    fn a_query_is_parsed_or_refused(text in prop_oneof![of_words(SPARQL), almost(QUERIES), almost(UPDATES)]) {
        let _ = Query::parse(&text, BASE);
    }

    #[test]
    fn an_update_of_several_graphs_keeps_within_its_limits(text in prop_oneof![of_words(SPARQL), almost(UPDATES)]) {
        let Ok(update) = DatasetUpdate::parse(&text, BASE) else { return Ok(()) };
        let mut dataset = Dataset::new();
        let owner = |_: &NamedOrBlankNode| Some(NamedNode::new_unchecked(BASE));
        if update.apply(&mut dataset, &owner, 16, &Cancel::new()).is_ok() {
            prop_assert!(dataset.len() <= 16);
        }
    }

    #[test]
    fn an_update_keeps_within_its_limits_and_has_the_specified_effect(text in prop_oneof![of_words(SPARQL), almost(UPDATES)]) {
        let Ok(update) = Update::parse(&text, BASE) else { return Ok(()) };
        if let Ok(after) = update.apply(graph(), 16, &Cancel::new()) {
            prop_assert!(after.len() <= 16);
            prop_assert!(!update.only_adds() || after.is_superset(&graph()), "{}", text);
        }
    }
}
