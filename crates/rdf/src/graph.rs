//! Graphs as sets, whatever their blank nodes are called.

use oxrdf::dataset::CanonicalizationAlgorithm;
use oxrdf::{Graph, Triple};

/// The graph of these triples, with names of blank nodes that follow from what is stated of them: graphs that state the same are equal.
pub fn canonical(triples: &[Triple]) -> Graph {
    let mut graph = Graph::from_iter(triples);
    graph.canonicalize(CanonicalizationAlgorithm::Unstable);
    graph
}
