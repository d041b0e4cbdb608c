//! Graphs as sets, whatever their blank nodes are called.

use oxrdf::dataset::CanonicalizationAlgorithm;
use oxrdf::{Graph, Triple};

/// The graph of these triples, with names of blank nodes that depend on their statements: graphs with the same statements are equal.
pub fn canonical(triples: &[Triple]) -> Graph {
    let mut graph = Graph::from_iter(triples);
    graph.canonicalize(CanonicalizationAlgorithm::Unstable);
    graph
}
