//! The descriptions that examples measure: 200 statements like those of LAKEsuperior's `lsup-benchmark`, a quarter of them links to the
//! resource before, a quarter links to five others elsewhere, half of them texts.

use cenote_store::{Graph, Statement, Term};

/// The description number `n`, with links to `before`, and the texts of these numbers.
pub(crate) fn graph(n: u64, before: &str, text: impl Fn(u64) -> String) -> Graph {
    let links = (0..50).flat_map(|i| {
        let other = format!("http://example.edu/res/{}", i / 10);
        [
            (format!("urn:intp:u{i}"), Term::Iri(format!("cenote:{before}"))),
            (format!("urn:extp:u{i}"), Term::Iri(other)),
        ]
    });
    let texts = (0..50).flat_map(|i| [i, i + 200]);
    let texts = texts.map(|i| (format!("urn:litp:l{i}"), Term::string(text(n * 1_000 + i))));
    let statement =
        |(predicate, object)| Statement { subject: None, predicate, object, unit: None };
    links.chain(texts).map(statement).collect()
}
