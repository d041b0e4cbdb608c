//! A query, parsed.

use std::collections::HashMap;

use oxrdf::{GraphName, NamedNode, NamedOrBlankNode};
use spareval::QueryDatasetSpecification;
use spargebra::SparqlParser;
use spargebra::algebra::GraphPattern;

use super::bounds::{Bounds, bounds};
use super::order::{Estimate, ordered};
use super::{check_complexity, replace, text};

/// Why a text is no query.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct QueryError(String);

/// A SPARQL 1.1 query.
#[derive(Debug, Clone)]
pub struct Query {
    query: spargebra::Query,
    graphs: Graphs,
    searches_text: bool,
}

/// Graphs that were named beside the text.
#[derive(Debug, Clone, Default)]
struct Graphs {
    default: Vec<NamedNode>,
    named: Vec<NamedNode>,
}

impl Query {
    /// The most bytes of a text.
    pub const LONGEST: usize = 1 << 20;

    /// Parses a query. Relative IRIs are resolved against `base`, an absolute IRI.
    ///
    /// # Errors
    /// [`QueryError`] for text that is no query, is longer than [`Query::LONGEST`], or nests too deep to be evaluated.
    pub fn parse(text: &str, base: &str) -> Result<Self, QueryError> {
        Self::parse_with(text, base, &[])
    }

    /// The same of a text in which some prefixes need not be declared: pairs of a name and an absolute IRI.
    pub fn parse_with(
        text: &str,
        base: &str,
        prefixes: &[(&str, &str)],
    ) -> Result<Self, QueryError> {
        if text.len() > Self::LONGEST {
            return Err(QueryError(format!("it has more than {} bytes", Self::LONGEST)));
        }
        check_complexity(text).map_err(fault)?;
        let mut parser = SparqlParser::new().with_base_iri(base).map_err(fault)?;
        for (name, iri) in prefixes {
            parser = parser.with_prefix(*name, *iri).map_err(fault)?;
        }
        let mut query = parser.parse_query(text).map_err(fault)?;
        replace::bounded(pattern(&mut query));
        let searches_text = text::joined(pattern(&mut query)).map_err(QueryError)?;
        Ok(Self { query, graphs: Graphs::default(), searches_text })
    }

    /// Has the query look at these graphs instead of those that its text names (SPARQL 1.1 Protocol, section 2.1.4). Nothing
    /// changes if both are empty.
    ///
    /// # Errors
    /// [`QueryError`] for an IRI that is not absolute.
    pub fn on_graphs(&mut self, default: &[String], named: &[String]) -> Result<(), QueryError> {
        let node = |iri: &String| NamedNode::new(iri).map_err(fault);
        self.graphs.default = default.iter().map(node).collect::<Result<_, _>>()?;
        self.graphs.named = named.iter().map(node).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Joins the patterns in the order that these estimates make cheapest.
    pub fn order(&mut self, estimate: &mut Estimate<'_>) {
        let pattern = pattern(&mut self.query);
        let empty = GraphPattern::Bgp { patterns: Vec::new() };
        *pattern = ordered(std::mem::replace(pattern, empty), estimate);
    }

    /// What its conditions leave of the objects of predicates: triples with others are in no solution.
    pub fn bounds(&self) -> HashMap<NamedNode, Bounds> {
        match &self.query {
            spargebra::Query::Select { pattern, .. }
            | spargebra::Query::Construct { pattern, .. }
            | spargebra::Query::Describe { pattern, .. }
            | spargebra::Query::Ask { pattern, .. } => bounds(pattern),
        }
    }

    /// Whether the answer is a graph, and not a table or a truth.
    pub fn constructs(&self) -> bool {
        matches!(self.query, spargebra::Query::Construct { .. } | spargebra::Query::Describe { .. })
    }

    /// Whether it asks for words ([`TEXT_QUERY`](super::TEXT_QUERY)).
    pub fn searches_text(&self) -> bool {
        self.searches_text
    }

    /// The query as the evaluator takes it.
    pub fn algebra(&self) -> &spargebra::Query {
        &self.query
    }

    /// Sets the graphs that the evaluator uses.
    pub fn specify(&self, dataset: &mut QueryDatasetSpecification) {
        let Graphs { default, named } = &self.graphs;
        if default.is_empty() && named.is_empty() {
            return;
        }
        dataset.set_default_graph(default.iter().cloned().map(GraphName::from).collect());
        let named = named.iter().cloned().map(NamedOrBlankNode::from);
        dataset.set_available_named_graphs(named.collect());
    }
}

fn pattern(query: &mut spargebra::Query) -> &mut GraphPattern {
    match query {
        spargebra::Query::Select { pattern, .. }
        | spargebra::Query::Construct { pattern, .. }
        | spargebra::Query::Describe { pattern, .. }
        | spargebra::Query::Ask { pattern, .. } => pattern,
    }
}

fn fault(error: impl std::fmt::Display) -> QueryError {
    QueryError(error.to_string())
}
