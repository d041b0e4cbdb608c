//! SPARQL 1.1 Update of several graphs in memory, each of which is that of a resource.
//!
//! Invariant: a triple is removed from, and added to, one graph: the one that the update names (`GRAPH`, `WITH`), or that of what the
//! triple is about. Patterns look at the union of all graphs, or at those that they name.

use std::collections::HashMap;

use oxrdf::{BlankNode, Dataset, GraphName, NamedNode, NamedOrBlankNode, Quad, Term};
use spareval::{CancellationToken, DeleteInsertQuad, QueryEvaluator};
use spargebra::{GraphUpdateOperation as Operation, SparqlParser};

use super::UpdateError;
use super::bounded::Bounded;
use crate::sparql::{check_complexity, evaluator};

/// A parsed update of several graphs.
#[derive(Debug, Clone)]
pub struct DatasetUpdate(spargebra::Update);

/// The graph that has the statements about a subject; for the name of a graph it is this graph.
pub type Owner<'a> = dyn Fn(&NamedOrBlankNode) -> Option<NamedNode> + 'a;

/// What one operation removes and adds.
#[derive(Debug, Default)]
struct Change {
    removed: Vec<Quad>,
    added: Vec<Quad>,
}

impl DatasetUpdate {
    /// Parses an update. Relative IRIs are resolved against `base`.
    ///
    /// # Errors
    /// [`UpdateError`] for an invalid update, and for operations on graphs as a whole.
    pub fn parse(text: &str, base: &str) -> Result<Self, UpdateError> {
        let syntax = |error: &dyn std::fmt::Display| UpdateError::Syntax(error.to_string());
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        check_complexity(text).map_err(|error| syntax(&error))?;
        let parser = SparqlParser::new().with_base_iri(base).map_err(|error| syntax(&error))?;
        let mut update = parser.parse_update(text).map_err(|error| syntax(&error))?;
        for operation in &update.operations {
            match operation {
                Operation::Load { .. } => return Err(UpdateError::Whole("LOAD")),
                Operation::Clear { .. } => return Err(UpdateError::Whole("CLEAR")),
                Operation::Create { .. } => return Err(UpdateError::Whole("CREATE")),
                Operation::Drop { .. } => return Err(UpdateError::Whole("DROP")),
                Operation::InsertData { .. }
                | Operation::DeleteData { .. }
                | Operation::DeleteInsert { .. } => {}
            }
        }
        super::bound(&mut update);
        Ok(Self(update))
    }

    /// Changes the graphs, none of which is the default graph. They have at most `most` triples together then.
    ///
    /// # Errors
    /// [`UpdateError::Homeless`] for a triple that belongs into none of the graphs.
    pub fn apply(
        &self,
        dataset: &mut Dataset,
        owner: &Owner<'_>,
        most: usize,
        cancel: &CancellationToken,
    ) -> Result<(), UpdateError> {
        for operation in &self.0.operations {
            let change = self.solve(operation, dataset, most, cancel)?;
            for quad in change.removed {
                if let Some(quad) = at_home(quad, owner, &HashMap::new()) {
                    dataset.remove(&quad);
                }
            }
            let blanks = homes_of_blanks(&change.added, owner);
            for quad in change.added {
                let shown = quad.to_string();
                let quad = at_home(quad, owner, &blanks).ok_or(UpdateError::Homeless(shown))?;
                dataset.insert(&quad);
            }
            if dataset.len() > most {
                return Err(UpdateError::TooMany(most));
            }
        }
        Ok(())
    }

    /// What an operation removes and adds: all of it is found before any of it is done.
    fn solve(
        &self,
        operation: &Operation,
        dataset: &Dataset,
        most: usize,
        cancel: &CancellationToken,
    ) -> Result<Change, UpdateError> {
        let mut change = Change::default();
        match operation {
            Operation::InsertData { data } => change.added.extend(data.iter().cloned().map(quad)),
            Operation::DeleteData { data } => {
                let ground = |it: &spargebra::term::GroundQuad| {
                    Quad::new(
                        it.subject.clone(),
                        it.predicate.clone(),
                        Term::from(it.object.clone()),
                        name(it.graph_name.clone()),
                    )
                };
                change.removed.extend(data.iter().map(ground));
            }
            Operation::DeleteInsert { delete, insert, using, pattern } => {
                let plain = QueryEvaluator::new().with_cancellation_token(cancel.clone());
                let evaluator = evaluator(plain);
                let (base, (delete, insert)) =
                    (self.0.base_iri.clone(), (delete.clone(), insert.clone()));
                let mut prepared =
                    evaluator.prepare_delete_insert(delete, insert, base, using.clone(), pattern);
                if using.is_none() {
                    prepared.dataset_mut().set_default_graph_as_union();
                }
                for found in prepared.execute(Bounded::new(dataset))? {
                    match found? {
                        DeleteInsertQuad::Delete(quad) => change.removed.push(quad),
                        DeleteInsertQuad::Insert(quad) => change.added.push(quad),
                    }
                    if change.added.len().max(change.removed.len()) > most {
                        return Err(UpdateError::TooMany(most));
                    }
                }
            }
            _ => return Err(UpdateError::Whole("a graph operation")),
        }
        Ok(change)
    }
}

fn quad(it: spargebra::term::Quad) -> Quad {
    Quad::new(it.subject, it.predicate, it.object, name(it.graph_name))
}

fn name(graph: spargebra::term::GraphName) -> GraphName {
    match graph {
        spargebra::term::GraphName::NamedNode(node) => node.into(),
        spargebra::term::GraphName::DefaultGraph => GraphName::DefaultGraph,
    }
}

/// The graphs that new blank nodes belong into: those of what leads to them.
fn homes_of_blanks(added: &[Quad], owner: &Owner<'_>) -> HashMap<BlankNode, NamedNode> {
    let mut homes = HashMap::new();
    loop {
        let known = homes.len();
        for quad in added {
            let Term::BlankNode(blank) = &quad.object else { continue };
            if let Some(home) = home(quad, owner, &homes) {
                homes.entry(blank.clone()).or_insert(home);
            }
        }
        if homes.len() == known {
            return homes;
        }
    }
}

/// The graph that a triple belongs into.
fn home(
    quad: &Quad,
    owner: &Owner<'_>,
    blanks: &HashMap<BlankNode, NamedNode>,
) -> Option<NamedNode> {
    match &quad.graph_name {
        GraphName::NamedNode(graph) => {
            owner(&graph.clone().into()).filter(|_| !graph.as_str().contains('#'))
        }
        GraphName::BlankNode(_) => None,
        GraphName::DefaultGraph => owner(&quad.subject).or_else(|| match &quad.subject {
            NamedOrBlankNode::BlankNode(blank) => blanks.get(blank).cloned(),
            NamedOrBlankNode::NamedNode(_) => None,
        }),
    }
}

/// The triple in the graph that it belongs into.
fn at_home(quad: Quad, owner: &Owner<'_>, blanks: &HashMap<BlankNode, NamedNode>) -> Option<Quad> {
    let home = home(&quad, owner, blanks)?;
    Some(Quad { graph_name: home.into(), ..quad })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const BASE: &str = "http://h/r";

    /// Graphs named `a:1` and `a:2`, each of what begins with its name.
    fn owner(subject: &NamedOrBlankNode) -> Option<NamedNode> {
        let NamedOrBlankNode::NamedNode(node) = subject else { return None };
        let name = node.as_str().split('#').next().unwrap_or_default();
        ["a:1", "a:2"].contains(&name).then(|| NamedNode::new_unchecked(name))
    }

    /// The dataset after an update of two graphs, as lines, without the names of blank nodes.
    fn applied(update: &str) -> Result<BTreeSet<String>, UpdateError> {
        let mut dataset = Dataset::new();
        let load = "INSERT DATA { <a:1> <a:p> 1 ; <a:q> 2 . <a:2> <a:p> 2 }";
        for text in [load, update] {
            let update = DatasetUpdate::parse(text, BASE)?;
            update.apply(&mut dataset, &owner, 8, &CancellationToken::new())?;
        }
        let blank =
            |text: &str| if text.starts_with("_:") { "_:b".to_owned() } else { text.to_owned() };
        let lines = dataset.iter().map(|quad| {
            let text = quad.to_string().replace("^^<http://www.w3.org/2001/XMLSchema#integer>", "");
            text.split(' ').map(blank).collect::<Vec<_>>().join(" ")
        });
        Ok(lines.collect())
    }

    #[test]
    fn triples_are_changed_in_the_graphs_that_they_are_about() {
        let (one, two, other) =
            ("<a:1> <a:p> \"1\" <a:1>", "<a:2> <a:p> \"2\" <a:2>", "<a:1> <a:q> \"2\" <a:1>");
        for (update, expected) in [
            ("DELETE WHERE { ?s <a:p> ?o }", vec![other]),
            ("DELETE DATA { <a:1> <a:q> 2 }", vec![one, two]),
            ("WITH <a:1> DELETE { ?s ?p 2 } WHERE { ?s ?p 2 }", vec![one, two]),
            (
                "DELETE { GRAPH <a:2> { ?s ?p ?o } } WHERE { GRAPH <a:2> { ?s ?p ?o } }",
                vec![one, other],
            ),
            (
                "INSERT { ?s <a:n> ?o } WHERE { ?s <a:p> ?o FILTER(?o = 2) }",
                vec![one, two, other, "<a:2> <a:n> \"2\" <a:2>"],
            ),
            (
                "INSERT DATA { GRAPH <a:2> { <a:x> <a:p> 3 } . <a:1#h> <a:p> 4 }",
                vec![one, two, other, "<a:x> <a:p> \"3\" <a:2>", "<a:1#h> <a:p> \"4\" <a:1>"],
            ),
            (
                "INSERT { ?s <a:n> [ <a:m> 5 ] } WHERE { ?s <a:q> 2 }",
                vec![one, two, other, "<a:1> <a:n> _:b <a:1>", "_:b <a:m> \"5\" <a:1>"],
            ),
        ] {
            let expected = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(applied(update).unwrap(), expected, "{update}");
        }
    }

    #[test]
    fn triples_outside_the_graphs_are_refused() {
        for update in [
            "INSERT DATA { <a:3> <a:p> 1 }",
            "INSERT DATA { GRAPH <a:3> { <a:1> <a:p> 1 } }",
            "INSERT DATA { GRAPH <a:1#h> { <a:1> <a:p> 1 } }",
            "INSERT DATA { _:b <a:p> 1 }",
        ] {
            assert!(matches!(applied(update), Err(UpdateError::Homeless(_))), "{update}");
        }
        for update in ["LOAD <http://h/>", "CLEAR ALL", "DROP ALL", "CREATE GRAPH <a:3>"] {
            assert!(matches!(applied(update), Err(UpdateError::Whole(_))), "{update}");
        }
        assert!(applied("INSERT {} WHERE { SERVICE <http://h/> { ?s ?p ?o } }").is_err());
        let many =
            "INSERT { ?s ?p ?y } WHERE { ?s ?p ?o . ?x ?q ?y . ?z ?r ?n BIND(?n + 1 AS ?m) }";
        assert!(applied(many).is_err() || applied(many).unwrap().len() <= 8);
    }
}
