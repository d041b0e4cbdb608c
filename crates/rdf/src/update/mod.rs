//! SPARQL 1.1 Update of one graph in memory, and in `dataset` of several.
//!
//! Invariant: an update reads and writes the one graph and nothing else. Operations that name a graph, load, clear, create,
//! drop, or query a service are refused when the text is parsed, before anything is changed.

mod bounded;
mod dataset;

pub use self::dataset::{DatasetUpdate, Owner};

use std::collections::HashSet;

use oxrdf::{Dataset, Triple};
use spareval::{CancellationToken, DeleteInsertQuad, QueryEvaluationError, QueryEvaluator};
use spargebra::algebra::GraphPattern;
use spargebra::term::{
    GraphName, GraphNamePattern, GroundQuad, GroundQuadPattern, Quad, QuadPattern,
};
use spargebra::{GraphUpdateOperation as Operation, SparqlParser};

use self::bounded::Bounded;
use crate::sparql::{bound_replacements, check_complexity, evaluator};

/// A parsed update.
#[derive(Debug, Clone)]
pub struct Update(spargebra::Update);

/// Why an update was refused or cancelled.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// It is not SPARQL Update.
    #[error("{0}")]
    Syntax(String),
    /// It requests more than a change of one graph.
    #[error("{0} is not supported in an update of one resource")]
    Foreign(&'static str),
    /// It requests an operation on graphs as a whole.
    #[error("{0} is not supported, an update inserts and deletes triples")]
    Whole(&'static str),
    /// It makes a graph that is larger than allowed.
    #[error("more than {0} triples")]
    TooMany(usize),
    /// It adds a triple that belongs into no graph.
    #[error("no resource here can have this triple, name one with GRAPH: {0}")]
    Homeless(String),
    /// It was cancelled.
    #[error("the update took too long")]
    Cancelled,
    /// A pattern could not be evaluated.
    #[error("{0}")]
    Evaluation(String),
}

impl Update {
    /// Parses an update. Relative IRIs are resolved against `base`.
    pub fn parse(text: &str, base: &str) -> Result<Self, UpdateError> {
        let syntax = |error: &dyn std::fmt::Display| UpdateError::Syntax(error.to_string());
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        check_complexity(text).map_err(|error| syntax(&error))?;
        let parser = SparqlParser::new().with_base_iri(base).map_err(|error| syntax(&error))?;
        let mut update = parser.parse_update(text).map_err(|error| syntax(&error))?;
        update.operations.iter().try_for_each(check)?;
        bound(&mut update);
        Ok(Self(update))
    }

    /// Whether it only adds triples, whatever is in the graph: no operation can remove one.
    pub fn only_adds(&self) -> bool {
        self.0.operations.iter().all(|operation| match operation {
            Operation::InsertData { .. } => true,
            Operation::DeleteInsert { delete, .. } => delete.is_empty(),
            _ => false,
        })
    }

    /// Whether it reads the graph, by a pattern.
    pub fn looks(&self) -> bool {
        let looks = |operation: &Operation| matches!(operation, Operation::DeleteInsert { .. });
        self.0.operations.iter().any(looks)
    }

    /// The graph after the update, of at most `most` triples.
    pub fn apply(
        &self,
        graph: impl IntoIterator<Item = Triple>,
        most: usize,
        cancel: &CancellationToken,
    ) -> Result<HashSet<Triple>, UpdateError> {
        let mut graph: HashSet<Triple> = graph.into_iter().collect();
        for operation in &self.0.operations {
            self.run(operation, &mut graph, most, cancel)?;
            if graph.len() > most {
                return Err(UpdateError::TooMany(most));
            }
        }
        Ok(graph)
    }

    fn run(
        &self,
        operation: &Operation,
        graph: &mut HashSet<Triple>,
        most: usize,
        cancel: &CancellationToken,
    ) -> Result<(), UpdateError> {
        match operation {
            Operation::InsertData { data } => graph.extend(data.iter().cloned().map(inserted)),
            Operation::DeleteData { data } => {
                for quad in data {
                    graph.remove(&deleted(quad.clone()));
                }
            }
            Operation::DeleteInsert { delete, insert, pattern, .. } => {
                let (gone, new) = self.solve(graph, delete, insert, pattern, most, cancel)?;
                graph.retain(|triple| !gone.contains(triple));
                graph.extend(new);
            }
            _ => return Err(UpdateError::Whole("a graph operation")),
        }
        Ok(())
    }

    /// What an operation with a pattern removes and adds: all of it is found before any of it is done.
    fn solve(
        &self,
        graph: &HashSet<Triple>,
        delete: &[GroundQuadPattern],
        insert: &[QuadPattern],
        pattern: &GraphPattern,
        most: usize,
        cancel: &CancellationToken,
    ) -> Result<(HashSet<Triple>, HashSet<Triple>), UpdateError> {
        let quad = |triple: &Triple| triple.clone().in_graph(oxrdf::GraphName::DefaultGraph);
        let dataset: Dataset = graph.iter().map(quad).collect();
        let evaluator = evaluator(QueryEvaluator::new().with_cancellation_token(cancel.clone()));
        let base = self.0.base_iri.clone();
        let prepared =
            evaluator.prepare_delete_insert(delete.to_vec(), insert.to_vec(), base, None, pattern);
        let (mut gone, mut new) = (HashSet::new(), HashSet::new());
        for change in prepared.execute(Bounded::new(&dataset))? {
            match change? {
                DeleteInsertQuad::Delete(quad) => gone.insert(quad.into()),
                DeleteInsertQuad::Insert(quad) => new.insert(quad.into()),
            };
            if new.len() > most {
                return Err(UpdateError::TooMany(most));
            }
        }
        Ok((gone, new))
    }
}

impl From<QueryEvaluationError> for UpdateError {
    fn from(error: QueryEvaluationError) -> Self {
        match error {
            QueryEvaluationError::Cancelled => Self::Cancelled,
            other => Self::Evaluation(other.to_string()),
        }
    }
}

/// Has the patterns of an update make no endless texts.
fn bound(update: &mut spargebra::Update) {
    for operation in &mut update.operations {
        if let Operation::DeleteInsert { pattern, .. } = operation {
            bound_replacements(pattern);
        }
    }
}

fn inserted(quad: Quad) -> Triple {
    Triple::new(quad.subject, quad.predicate, quad.object)
}

fn deleted(quad: GroundQuad) -> Triple {
    Triple::new(quad.subject, quad.predicate, quad.object)
}

/// Refuses an operation on anything but the one graph.
fn check(operation: &Operation) -> Result<(), UpdateError> {
    let pattern_is_ours = |graph: &GraphNamePattern| *graph == GraphNamePattern::DefaultGraph;
    let is_ours = match operation {
        Operation::InsertData { data } => {
            data.iter().all(|quad| quad.graph_name == GraphName::DefaultGraph)
        }
        Operation::DeleteData { data } => {
            data.iter().all(|quad| quad.graph_name == GraphName::DefaultGraph)
        }
        Operation::DeleteInsert { using: Some(_), .. } => {
            return Err(UpdateError::Foreign("USING"));
        }
        Operation::DeleteInsert { delete, insert, pattern, .. } => {
            check_pattern(pattern)?;
            delete.iter().all(|quad| pattern_is_ours(&quad.graph_name))
                && insert.iter().all(|quad| pattern_is_ours(&quad.graph_name))
        }
        Operation::Load { .. } => return Err(UpdateError::Whole("LOAD")),
        Operation::Clear { .. } => return Err(UpdateError::Whole("CLEAR")),
        Operation::Create { .. } => return Err(UpdateError::Whole("CREATE")),
        Operation::Drop { .. } => return Err(UpdateError::Whole("DROP")),
    };
    if is_ours { Ok(()) } else { Err(UpdateError::Foreign("GRAPH")) }
}

/// Refuses a pattern that uses another graph or a service.
fn check_pattern(pattern: &GraphPattern) -> Result<(), UpdateError> {
    use GraphPattern as P;
    match pattern {
        P::Graph { .. } => Err(UpdateError::Foreign("GRAPH")),
        P::Service { .. } => Err(UpdateError::Foreign("SERVICE")),
        P::Bgp { .. } | P::Path { .. } | P::Values { .. } => Ok(()),
        P::Join { left, right }
        | P::LeftJoin { left, right, .. }
        | P::Union { left, right }
        | P::Lateral { left, right }
        | P::Minus { left, right } => check_pattern(left).and_then(|()| check_pattern(right)),
        P::Filter { inner, .. }
        | P::Extend { inner, .. }
        | P::OrderBy { inner, .. }
        | P::Project { inner, .. }
        | P::Distinct { inner }
        | P::Reduced { inner }
        | P::Slice { inner, .. }
        | P::Group { inner, .. } => check_pattern(inner),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Syntax, read};

    fn graph(text: &str) -> Vec<Triple> {
        let limits = Limits { triples: 100, term: 100 };
        read(text.as_bytes(), Syntax::Turtle, "http://h/r", limits).unwrap()
    }

    fn applied(update: &str, to: &str) -> HashSet<Triple> {
        let update = Update::parse(update, "http://h/r").unwrap();
        update.apply(graph(to), 100, &CancellationToken::new()).unwrap()
    }

    #[test]
    fn updates_change_the_graph() {
        for (update, before, after) in [
            ("INSERT DATA { <> <a:p> 1 }", "", "<> <a:p> 1 ."),
            ("INSERT DATA { <#x> <a:p> <b> }", "<> <a:p> 1 .", "<> <a:p> 1 . <#x> <a:p> <b> ."),
            ("DELETE DATA { <> <a:p> 1 }", "<> <a:p> 1, 2 .", "<> <a:p> 2 ."),
            ("DELETE WHERE { <> <a:p> ?o }", "<> <a:p> 1, 2 ; <a:q> 3 .", "<> <a:q> 3 ."),
            (
                "DELETE { ?s <a:p> ?o } INSERT { ?s <a:p> ?n } WHERE { ?s <a:p> ?o BIND(?o + 1 AS ?n) }",
                "<> <a:p> 1, 2 .",
                "<> <a:p> 2, 3 .",
            ),
            (
                "INSERT DATA { <> <a:p> 1 } ; DELETE WHERE { <> ?p 1 } ; INSERT { <> <a:q> 2 } WHERE {}",
                "",
                "<> <a:q> 2 .",
            ),
            ("", "<> <a:p> 1 .", "<> <a:p> 1 ."),
        ] {
            assert_eq!(applied(update, before), graph(after).into_iter().collect(), "{update}");
        }
    }

    #[test]
    fn updates_beyond_the_graph_are_refused() {
        for update in [
            "INSERT DATA { GRAPH <g> { <> <a:p> 1 } }",
            "DELETE DATA { GRAPH <g> { <> <a:p> 1 } }",
            "WITH <g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
            "INSERT { GRAPH <g> { ?s ?p ?o } } WHERE { ?s ?p ?o }",
            "INSERT { ?s ?p ?o } USING <g> WHERE { ?s ?p ?o }",
            "INSERT { ?s ?p ?o } WHERE { GRAPH <g> { ?s ?p ?o } }",
            "INSERT { ?s ?p ?o } WHERE { OPTIONAL { SERVICE <http://h/> { ?s ?p ?o } } }",
            "LOAD <http://h/>",
            "CLEAR ALL",
            "CLEAR DEFAULT",
            "DROP ALL",
            "CREATE GRAPH <g>",
        ] {
            let refused = Update::parse(update, "http://h/r");
            assert!(
                matches!(refused, Err(UpdateError::Foreign(_) | UpdateError::Whole(_))),
                "{update}: {refused:?}"
            );
        }
        assert!(matches!(Update::parse("INSERT", "http://h/r"), Err(UpdateError::Syntax(_))));
    }

    #[test]
    fn an_update_with_too_many_results_is_refused() {
        let update = "INSERT { ?a ?p ?b } WHERE { ?a ?x ?y . ?b ?p ?z }";
        let update = Update::parse(update, "http://h/r").unwrap();
        let large: String = (0..20).map(|n| format!("<a:{n}> <p:{n}> {n} . ")).collect();
        let refused = update.apply(graph(&large), 100, &CancellationToken::new());
        assert!(matches!(refused, Err(UpdateError::TooMany(100))));
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        assert!(matches!(
            update.apply(graph(&large), 100, &cancelled),
            Err(UpdateError::Cancelled)
        ));
    }

    #[test]
    fn an_update_that_builds_huge_texts_is_aborted() {
        let mut doubled = "BIND('0123456789' AS ?a0)".to_owned();
        for n in 0..40 {
            doubled += &format!(" BIND(CONCAT(?a{n}, ?a{n}) AS ?a{})", n + 1);
        }
        let long = "a".repeat(500_000);
        let texts = format!("BIND(REPLACE('{long}', 'a', '{long}') AS ?a40)");
        for pattern in [doubled, texts] {
            let update = format!("INSERT {{ <> <a:p> ?a40 }} WHERE {{ {pattern} }}");
            let update = Update::parse(&update, "http://h/r").unwrap();
            let applied = update.apply(graph(""), 100, &CancellationToken::new());
            assert!(applied.is_err() || applied.unwrap().is_empty());
        }
    }

    #[test]
    fn pure_insertions_are_recognised() {
        for (update, adds) in [
            ("INSERT DATA { <> <a:p> 1 }", true),
            ("INSERT { <> <a:p> ?o } WHERE { <> <a:q> ?o }", true),
            ("INSERT DATA { <> <a:p> 1 } ; DELETE DATA { <> <a:q> 1 }", false),
            ("DELETE WHERE { <> ?p ?o }", false),
        ] {
            assert_eq!(Update::parse(update, "http://h/r").unwrap().only_adds(), adds, "{update}");
        }
    }
}
