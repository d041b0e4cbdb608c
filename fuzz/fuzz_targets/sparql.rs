//! Any text is a query or an error; and an update within its limits, which removes nothing if it is classified as only
//! adding, or an error.

#![no_main]

use std::collections::HashSet;

use cenote_rdf::{Cancel, Limits, Query, Syntax, Triple, Update, read};

const BASE: &str = "http://h/r";
const LIMITS: Limits = Limits { triples: 16, term: 1_000 };

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = Query::parse(text, BASE);
    let Ok(update) = Update::parse(text, BASE) else { return };
    let graph = b"<> <a:p> 1, 2 ; <a:q> <#h> . <#h> <a:p> 'x'@en .";
    let graph = read(graph, Syntax::Turtle, BASE, LIMITS).expect("it is a graph");
    let graph: HashSet<Triple> = graph.into_iter().collect();
    if let Ok(after) = update.apply(graph.clone(), LIMITS.triples, &Cancel::new()) {
        assert!(after.len() <= LIMITS.triples);
        assert!(!update.only_adds() || after.is_superset(&graph));
    }
});
