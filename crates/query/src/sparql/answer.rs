//! A query, evaluated and written down.

use cenote_rdf::{Format, Query, RowError, Solutions, Triple, Writer, evaluator};
use cenote_store::{Reading, TextLead};
use spareval::{QueryEvaluationError, QueryEvaluator, QueryResults};

use super::graph::{Failed, Graph};
use super::meter::{self, Limits};
use super::words::Words;
use crate::{Error, Result};

/// The text of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// In the requested format.
    pub text: Vec<u8>,
    /// How many solutions or triples it has; 1 for a truth.
    pub results: u64,
}

/// What a query is answered over.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// One state of the store.
    pub reading: &'a Reading,
    /// An index of texts, made before that; without one, words are looked for everywhere.
    pub lead: Option<&'a dyn TextLead>,
}

impl<'a> From<&'a Reading> for Source<'a> {
    fn from(reading: &'a Reading) -> Self {
        Self { reading, lead: None }
    }
}

/// Answers a query over one state of the store.
///
/// # Errors
/// [`Error::Syntax`] for what cannot be evaluated, such as `SERVICE`; [`Error::Limit`] for what takes more than the limits allow;
/// [`Error::Inexpressible`] for an answer that the format cannot express; [`Error::Stopped`] once the caller has gone.
pub fn query<'a>(
    source: impl Into<Source<'a>>,
    query: Query,
    words: &'a dyn Words,
    format: Format,
    limits: &Limits,
) -> Result<Answer> {
    let source = source.into();
    meter::run(limits, || answer(&Graph::new(source, words, &query)?, query, format, limits))
}

fn answer(graph: &Graph<'_>, mut query: Query, format: Format, limits: &Limits) -> Result<Answer> {
    let mut failed = None;
    query.order(&mut |wanted| {
        graph.estimate(wanted).unwrap_or_else(|error| {
            failed.get_or_insert(error);
            0
        })
    });
    failed.map_or(Ok(()), Err)?;
    let evaluator = evaluator(QueryEvaluator::new());
    let mut prepared = evaluator.prepare(query.algebra());
    query.specify(prepared.dataset_mut());
    match (prepared.execute(graph).map_err(fault)?, format) {
        (QueryResults::Boolean(truth), Format::Answers(answers)) => {
            Ok(Answer { text: answers.truth(truth), results: 1 })
        }
        (QueryResults::Solutions(solutions), Format::Answers(answers)) => {
            let columns = solutions.variables().to_vec();
            let mut text = Solutions::new(answers, columns, limits.answer).map_err(too_long)?;
            let mut results = 0;
            for solution in solutions {
                let solution = solution.map_err(fault)?;
                let bound = solution.iter().map(|(name, term)| (name.as_ref(), term.as_ref()));
                text.row(bound).map_err(unwritten)?;
                results += 1;
            }
            Ok(Answer { text: text.finish().map_err(too_long)?, results })
        }
        (QueryResults::Graph(triples), Format::Graph(syntax)) => {
            let triples = triples.collect::<Result<Vec<Triple>, _>>().map_err(fault)?;
            written(triples, syntax, limits.answer)
        }
        _ => Err(Error::Syntax("the answer is not available in this format".to_owned())),
    }
}

/// A graph as text, grouped by subject.
fn written(mut triples: Vec<Triple>, syntax: cenote_rdf::Syntax, most: usize) -> Result<Answer> {
    triples.sort_by_cached_key(ToString::to_string);
    triples.dedup();
    let mut writer = Writer::new(syntax, &triples);
    let mut text = Vec::new();
    for triple in &triples {
        writer.triple(triple);
        text.append(&mut writer.take()?);
        if text.len() > most {
            return Err(too_long(cenote_rdf::TooLong(most)));
        }
    }
    text.append(&mut writer.finish()?);
    Ok(Answer { text, results: triples.len() as u64 })
}

fn unwritten(error: RowError) -> Error {
    match error {
        RowError::TooLong(error) => too_long(error),
        RowError::Inexpressible(error) => error.into(),
    }
}

fn too_long(error: cenote_rdf::TooLong) -> Error {
    meter::limit(format!("has an answer of more than {} bytes", error.0))
}

fn fault(error: QueryEvaluationError) -> Error {
    match error {
        QueryEvaluationError::Dataset(error) => match error.downcast::<Failed>() {
            Ok(failed) => failed.0,
            Err(other) => Error::Syntax(other.to_string()),
        },
        QueryEvaluationError::Cancelled => Error::Stopped,
        other => Error::Syntax(other.to_string()),
    }
}
