//! Graphs in memory for an evaluator whose texts have an end: a few dozen `CONCAT`s of a text with itself would make terabytes.

use std::cell::Cell;
use std::convert::Infallible;

use oxrdf::{Dataset, Term};
use spareval::{InternalQuad, QueryableDataset};

/// The most bytes of a text that an update computes, and of all of them together.
const LONGEST: usize = 1 << 20;
const ALL: usize = 64 << 20;

/// Graphs, and how much was computed over them.
pub(super) struct Bounded<'a> {
    graphs: &'a Dataset,
    computed: Cell<usize>,
}

/// A text is too long, or there are too many.
#[derive(Debug, thiserror::Error)]
#[error(
    "it computes a string of more than {LONGEST} bytes, or strings of more than {ALL} bytes in total"
)]
pub(super) struct TooMuch;

type Inner<'a> = <&'a Dataset as QueryableDataset<'a>>::InternalTerm;

impl<'a> Bounded<'a> {
    pub(super) fn new(graphs: &'a Dataset) -> Self {
        Self { graphs, computed: Cell::new(0) }
    }
}

fn never<T>(result: Result<T, Infallible>) -> T {
    result.unwrap_or_else(|never| match never {})
}

impl<'a> QueryableDataset<'a> for Bounded<'a> {
    type InternalTerm = Inner<'a>;
    type Error = TooMuch;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&Inner<'a>>,
        predicate: Option<&Inner<'a>>,
        object: Option<&Inner<'a>>,
        graph_name: Option<Option<&Inner<'a>>>,
    ) -> impl Iterator<Item = Result<InternalQuad<Inner<'a>>, TooMuch>> + use<'a> {
        let quads = self.graphs.internal_quads_for_pattern(subject, predicate, object, graph_name);
        quads.map(|quad| Ok(never(quad)))
    }

    fn internalize_term(&self, term: Term) -> Result<Inner<'a>, TooMuch> {
        let length = match &term {
            Term::Literal(literal) => literal.value().len(),
            Term::NamedNode(node) => node.as_str().len(),
            Term::BlankNode(_) => 0,
        };
        let computed = self.computed.get().saturating_add(length);
        self.computed.set(computed);
        match length > LONGEST || computed > ALL {
            true => Err(TooMuch),
            false => Ok(never(self.graphs.internalize_term(term))),
        }
    }

    fn externalize_term(&self, term: Inner<'a>) -> Result<Term, TooMuch> {
        Ok(never(self.graphs.externalize_term(term)))
    }
}
