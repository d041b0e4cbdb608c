//! Any bytes are a graph in each syntax of RDF, within its limits, or an error.

#![no_main]

use cenote_rdf::{Limits, Syntax, read};

const LIMITS: Limits = Limits { triples: 1_000, term: 1_000 };

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    for syntax in Syntax::ALL {
        if let Ok(triples) = read(text, syntax, "http://h/r", LIMITS) {
            assert!(triples.len() <= LIMITS.triples);
        }
    }
});
