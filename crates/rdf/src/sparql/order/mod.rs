//! In which order the patterns of a query are joined: the one with the fewest matches first, then those connected to it
//! before, each looked up for the solutions of those before it.
//!
//! The evaluator's own optimiser knows the shape of a pattern only. Knowledge of the data is supplied as an [`Estimate`], and the
//! resulting order is expressed as lateral joins, which it keeps. The answer is the same in any order.

mod expressions;
mod parts;

use std::collections::{HashMap, HashSet};

use oxrdf::{NamedNode, Term, Variable};
use spargebra::algebra::{Expression, GraphPattern, PropertyPathExpression};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use expressions::each;
pub(super) use expressions::each_expression;
use parts::{flatten, ground, variable, variables};

/// The known terms at the beginning: the terms of a pattern that are not variables.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// The subject.
    pub subject: Option<NamedNode>,
    /// The predicate.
    pub predicate: Option<NamedNode>,
    /// The object.
    pub object: Option<Term>,
}

/// Roughly how many triples are like this.
pub type Estimate<'a> = dyn FnMut(&Wanted) -> u64 + 'a;

/// Triples of one subject with one predicate, and all of one subject, as a guess.
const OF_SUBJECT: u64 = 2;
const ABOUT_SUBJECT: u64 = 32;
/// One of this many triples with a predicate has a given object.
const SHARE: u64 = 64;
/// How much more a path of any length leads to than its step.
const LONG_PATH: u64 = 100;

type Bound = HashSet<Variable>;

/// The same pattern, with its joins in the cheapest order.
pub(super) fn ordered(pattern: GraphPattern, estimate: &mut Estimate<'_>) -> GraphPattern {
    Ordering { estimate, known: HashMap::new() }.pattern(pattern, &Bound::new())
}

struct Ordering<'a, 'e> {
    estimate: &'a mut Estimate<'e>,
    known: HashMap<Wanted, u64>,
}

impl Ordering<'_, '_> {
    /// A pattern that is evaluated for solutions in which some variables are bound.
    fn pattern(&mut self, pattern: GraphPattern, bound: &Bound) -> GraphPattern {
        use GraphPattern as P;
        let (mut of, boxed) = (|inner: Box<P>| self.pattern(*inner, bound), Box::new);
        match pattern {
            P::Bgp { .. } | P::Join { .. } => self.join(pattern, bound),
            P::Path { .. } | P::Values { .. } => pattern,
            P::LeftJoin { left, right, expression } => {
                let left = of(left);
                let right = self.pattern(*right, &variables(&left));
                P::LeftJoin { left: boxed(left), right: boxed(right), expression }
            }
            P::Lateral { left, right } => {
                let left = of(left);
                let right = self.pattern(*right, &variables(&left));
                P::Lateral { left: boxed(left), right: boxed(right) }
            }
            P::Filter { mut expr, inner } => {
                let inner = of(inner);
                let bound = variables(&inner);
                each(&mut expr, &mut |expression| self.exists(expression, &bound));
                P::Filter { expr, inner: boxed(inner) }
            }
            P::Union { left, right } => P::Union { left: boxed(of(left)), right: boxed(of(right)) },
            P::Minus { left, right } => {
                let nothing = Bound::new();
                let left = of(left);
                P::Minus { left: boxed(left), right: boxed(self.pattern(*right, &nothing)) }
            }
            P::Graph { name, inner } => P::Graph { name, inner: boxed(of(inner)) },
            P::Extend { inner, variable, expression } => {
                P::Extend { inner: boxed(of(inner)), variable, expression }
            }
            P::OrderBy { inner, expression } => P::OrderBy { inner: boxed(of(inner)), expression },
            P::Project { inner, variables } => P::Project { inner: boxed(of(inner)), variables },
            P::Distinct { inner } => P::Distinct { inner: boxed(of(inner)) },
            P::Reduced { inner } => P::Reduced { inner: boxed(of(inner)) },
            P::Slice { inner, start, length } => {
                P::Slice { inner: boxed(of(inner)), start, length }
            }
            P::Group { inner, variables, aggregates } => {
                P::Group { inner: boxed(of(inner)), variables, aggregates }
            }
            P::Service { .. } => pattern,
        }
    }

    fn exists(&mut self, expression: &mut Expression, bound: &Bound) {
        if let Expression::Exists(pattern) = expression {
            let empty = GraphPattern::Bgp { patterns: Vec::new() };
            **pattern = self.pattern(std::mem::replace(pattern, empty), bound);
        }
    }

    /// The parts of a join, those that can be looked up for a solution first.
    fn join(&mut self, pattern: GraphPattern, bound: &Bound) -> GraphPattern {
        let (mut simple, mut others) = (Vec::new(), Vec::new());
        flatten(pattern, &mut simple, &mut others);
        let others: Vec<_> = others.into_iter().map(|it| self.pattern(it, bound)).collect();
        let chain = self.chain(simple, bound);
        let join =
            |left, right| GraphPattern::Join { left: Box::new(left), right: Box::new(right) };
        let parts = chain.into_iter().chain(others);
        parts.reduce(join).unwrap_or(GraphPattern::Bgp { patterns: Vec::new() })
    }

    /// These patterns one after the other; those that nothing connects are joined in the end.
    fn chain(&mut self, mut left: Vec<GraphPattern>, bound: &Bound) -> Option<GraphPattern> {
        let mut whole: Option<GraphPattern> = None;
        while !left.is_empty() {
            let mut known = bound.clone();
            let mut chain = self.take(&mut left, &known, |_| true)?;
            known.extend(variables(&chain));
            while let Some(next) = self.take(&mut left, &known, |it| !it.is_disjoint(&known)) {
                known.extend(variables(&next));
                chain = GraphPattern::Lateral { left: Box::new(chain), right: Box::new(next) };
            }
            whole = Some(match whole {
                None => chain,
                Some(one) => GraphPattern::Join { left: Box::new(one), right: Box::new(chain) },
            });
        }
        whole
    }

    /// Takes the cheapest of those whose variables are eligible.
    fn take(
        &mut self,
        from: &mut Vec<GraphPattern>,
        known: &Bound,
        eligible: impl Fn(&Bound) -> bool,
    ) -> Option<GraphPattern> {
        let candidates = from.iter().enumerate().filter(|(_, it)| eligible(&variables(it)));
        // At equal cost, the more selective pattern leaves fewer rows.
        let nothing = Bound::new();
        let costs = candidates
            .map(|(at, pattern)| (self.cost(pattern, known), self.cost(pattern, &nothing), at));
        let (.., at) = costs.min()?;
        Some(from.remove(at))
    }

    /// How many solutions a pattern has for one in which some variables are bound.
    fn cost(&mut self, pattern: &GraphPattern, known: &Bound) -> u64 {
        match pattern {
            GraphPattern::Values { bindings, .. } => bindings.len() as u64,
            GraphPattern::Path { subject, path, object } => self.path(subject, path, object, known),
            GraphPattern::Bgp { patterns } => {
                patterns.iter().map(|it| self.triple(it, known)).min().unwrap_or(0)
            }
            _ => u64::MAX,
        }
    }

    fn triple(&mut self, pattern: &TriplePattern, known: &Bound) -> u64 {
        let predicate = match &pattern.predicate {
            NamedNodePattern::NamedNode(node) => Some(node),
            NamedNodePattern::Variable(_) => None,
        };
        self.step(&pattern.subject, predicate, &pattern.object, known)
    }

    fn step(
        &mut self,
        subject: &TermPattern,
        predicate: Option<&NamedNode>,
        object: &TermPattern,
        known: &Bound,
    ) -> u64 {
        let is_known =
            |term: &TermPattern| !matches!(variable(term), Some(it) if !known.contains(&it));
        match (is_known(subject), predicate.is_some(), is_known(object)) {
            (true, _, true) => 1,
            (true, true, false) => OF_SUBJECT,
            (true, false, false) => ABOUT_SUBJECT,
            (false, _, of_object) => {
                let object_term = ground(object);
                let share = if of_object && object_term.is_none() { SHARE } else { 1 };
                let wanted =
                    Wanted { subject: None, predicate: predicate.cloned(), object: object_term };
                (self.estimated(wanted) / share).max(1)
            }
        }
    }

    fn estimated(&mut self, wanted: Wanted) -> u64 {
        let Self { estimate, known } = self;
        *known.entry(wanted).or_insert_with_key(|wanted| estimate(wanted))
    }

    fn path(
        &mut self,
        subject: &TermPattern,
        path: &PropertyPathExpression,
        object: &TermPattern,
        known: &Bound,
    ) -> u64 {
        use PropertyPathExpression as X;
        match path {
            X::NamedNode(node) => self.step(subject, Some(node), object, known),
            X::Reverse(inner) => self.path(object, inner, subject, known),
            X::Sequence(first, second) => {
                let anything = TermPattern::Variable(Variable::new_unchecked("cenote_between"));
                let forth = self.path(subject, first, &anything, known);
                let back = self.path(&anything, second, object, known);
                forth.min(back).saturating_mul(OF_SUBJECT)
            }
            X::Alternative(one, other) => {
                let one = self.path(subject, one, object, known);
                one.saturating_add(self.path(subject, other, object, known))
            }
            X::ZeroOrMore(inner) | X::OneOrMore(inner) => {
                self.path(subject, inner, object, known).saturating_mul(LONG_PATH)
            }
            X::ZeroOrOne(inner) => self.path(subject, inner, object, known).saturating_add(1),
            X::NegatedPropertySet(_) => self.step(subject, None, object, known),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Query;

    use super::*;

    /// The patterns of a query in the order in which they are joined, where `<a:few>` matches 3 and `<a:many>` a million.
    fn order(text: &str) -> String {
        let mut query = Query::parse(text, "http://h/").unwrap();
        query.order(&mut |wanted| match wanted.predicate.as_ref().map(NamedNode::as_str) {
            Some("a:few") => 3,
            Some("a:some") => 5_000,
            _ => 1_000_000,
        });
        query.algebra().to_sse()
    }

    /// Where the predicates come, in the order of the joins.
    fn places(text: &str, predicates: &[&str]) -> Vec<usize> {
        let order = order(text);
        predicates.iter().map(|it| order.find(&format!("<{it}>")).unwrap()).collect()
    }

    #[test]
    fn the_selective_pattern_comes_first() {
        for text in [
            "SELECT * { ?s <a:many> ?a . ?s <a:some> ?b . ?s <a:few> ?c }",
            "SELECT * { ?s <a:many> ?a . ?a <a:some> ?b . ?b <a:few> ?c }",
            "SELECT * { { ?s <a:many> ?a } { ?s <a:some> ?b . ?s <a:few> ?c } }",
        ] {
            let places = places(text, &["a:few", "a:some", "a:many"]);
            assert!(places.is_sorted(), "{}", order(text));
        }
    }

    #[test]
    fn unconnected_patterns_are_joined_last() {
        let text = "SELECT * { ?s <a:few> ?a . ?x <a:some> ?b . ?s <a:many> ?c }";
        assert!(places(text, &["a:few", "a:many", "a:some"]).is_sorted(), "{}", order(text));
    }

    #[test]
    fn a_table_is_joined_before_the_patterns_that_it_binds() {
        let text = "SELECT * { ?s <a:some> ?b . VALUES ?s { <a:x> <a:y> } ?b <a:many> ?c }";
        let order = order(text);
        assert!(order.find("table") < order.find("<a:some>"), "{order}");
    }
}
