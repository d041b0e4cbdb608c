//! What the conditions of a query leave of the objects of a predicate, so that an index of values need not be read as a whole.
//!
//! Invariant: a triple whose object is outside of the bounds of its predicate is in no solution of the query. They hold for a predicate only if
//! they do for each pattern that has it, wherever in the query; a variable or a path that leads over it has no bounds.

use std::collections::HashMap;

use oxrdf::{Literal, NamedNode, Variable};
use spargebra::algebra::{Expression, GraphPattern, PropertyPathExpression};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use super::order::each_expression;

/// The least and the greatest object: constants of the query, with which objects are compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The least, if there is one.
    pub least: Option<Literal>,
    /// The greatest, if there is one.
    pub most: Option<Literal>,
}

type Active = HashMap<Variable, Bounds>;

/// The bounds of each predicate that has some.
pub(super) fn bounds(pattern: &GraphPattern) -> HashMap<NamedNode, Bounds> {
    let mut found = Found::default();
    found.pattern(pattern, &Active::new());
    each_expression(&mut pattern.clone(), &mut |expression| {
        if let Expression::Exists(inner) = expression {
            found.pattern(inner, &Active::new());
        }
    });
    if found.any {
        return HashMap::new();
    }
    found.of.into_iter().filter_map(|(predicate, bounds)| Some((predicate, bounds?))).collect()
}

#[derive(Default)]
struct Found {
    /// None: a pattern with this predicate has no bounds, or others.
    of: HashMap<NamedNode, Option<Bounds>>,
    /// Whether a pattern may have any predicate.
    any: bool,
}

impl Found {
    /// A pattern whose solutions are dropped if a variable is not within its bounds.
    fn pattern(&mut self, pattern: &GraphPattern, active: &Active) {
        use GraphPattern as P;
        let none = Active::new();
        match pattern {
            P::Bgp { patterns } => patterns.iter().for_each(|triple| self.triple(triple, active)),
            P::Path { path, .. } => self.path(path),
            P::Values { .. } => {}
            P::Join { left, right } | P::Lateral { left, right } | P::Union { left, right } => {
                self.pattern(left, active);
                self.pattern(right, active);
            }
            P::LeftJoin { left, right, expression } => {
                self.pattern(left, active);
                self.pattern(
                    right,
                    &expression.as_ref().map_or(none, |it| narrowed(&Active::new(), it)),
                );
            }
            P::Minus { left, right } => {
                self.pattern(left, active);
                self.pattern(right, &none);
            }
            P::Filter { expr, inner } => self.pattern(inner, &narrowed(active, expr)),
            P::Project { inner, variables } => {
                let shown = active.iter().filter(|(name, _)| variables.contains(name));
                self.pattern(inner, &shown.map(|(name, it)| (name.clone(), it.clone())).collect());
            }
            P::Extend { inner, .. }
            | P::OrderBy { inner, .. }
            | P::Distinct { inner }
            | P::Reduced { inner }
            | P::Graph { inner, .. } => self.pattern(inner, active),
            // Which solutions a slice has, and what a group is made of, depends on all.
            P::Slice { inner, .. } | P::Group { inner, .. } | P::Service { inner, .. } => {
                self.pattern(inner, &none);
            }
        }
    }

    fn triple(&mut self, triple: &TriplePattern, active: &Active) {
        let NamedNodePattern::NamedNode(predicate) = &triple.predicate else {
            self.any = true;
            return;
        };
        let bounds = match &triple.object {
            TermPattern::Variable(name) => active.get(name).cloned(),
            _ => None,
        };
        self.note(predicate, bounds);
    }

    fn note(&mut self, predicate: &NamedNode, bounds: Option<Bounds>) {
        match self.of.get_mut(predicate) {
            Some(known) if *known != bounds => *known = None,
            Some(_) => {}
            None => drop(self.of.insert(predicate.clone(), bounds)),
        }
    }

    fn path(&mut self, path: &PropertyPathExpression) {
        use PropertyPathExpression as X;
        match path {
            X::NamedNode(node) => self.note(node, None),
            X::Sequence(one, other) | X::Alternative(one, other) => {
                self.path(one);
                self.path(other);
            }
            X::Reverse(inner) | X::ZeroOrMore(inner) | X::OneOrMore(inner) => self.path(inner),
            X::ZeroOrOne(inner) => self.path(inner),
            X::NegatedPropertySet(_) => self.any = true,
        }
    }
}

/// The bounds after a condition.
fn narrowed(active: &Active, condition: &Expression) -> Active {
    let mut all = active.clone();
    narrow(&mut all, condition);
    all
}

fn narrow(all: &mut Active, condition: &Expression) {
    use Expression as E;
    match condition {
        E::And(one, other) => {
            narrow(all, one);
            narrow(all, other);
        }
        E::Greater(one, other) | E::GreaterOrEqual(one, other) => compare(all, other, one),
        E::Less(one, other) | E::LessOrEqual(one, other) => compare(all, one, other),
        E::Equal(one, other) => {
            compare(all, one, other);
            compare(all, other, one);
        }
        _ => {}
    }
}

/// One is less than the other, or equal. The first bound that a variable gets is kept.
fn compare(all: &mut Active, less: &Expression, greater: &Expression) {
    match (less, greater) {
        (Expression::Variable(name), most) => {
            if let Some(most) = constant(most) {
                all.entry(name.clone()).or_default().most.get_or_insert(most);
            }
        }
        (least, Expression::Variable(name)) => {
            if let Some(least) = constant(least) {
                all.entry(name.clone()).or_default().least.get_or_insert(least);
            }
        }
        _ => {}
    }
}

/// A literal; the grammar has a negative number as the opposite of one.
fn constant(expression: &Expression) -> Option<Literal> {
    match expression {
        Expression::Literal(literal) => Some(literal.clone()),
        Expression::UnaryMinus(number) => match &**number {
            Expression::Literal(it) if !it.value().starts_with(['-', '+']) => {
                let datatype = it.datatype().into_owned();
                Some(Literal::new_typed_literal(format!("-{}", it.value()), datatype))
            }
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::Query;

    /// The bounds of the predicates of a query, as text.
    fn bounds(text: &str) -> Vec<String> {
        let query = Query::parse(text, "http://h/").unwrap();
        let text = |literal: Option<super::Literal>| {
            literal.map_or(String::new(), |it| it.value().to_owned())
        };
        let bounds = query.bounds().into_iter();
        let mut all: Vec<_> = bounds
            .map(|(predicate, it)| {
                format!("{} {}..{}", predicate.as_str(), text(it.least), text(it.most))
            })
            .collect();
        all.sort();
        all
    }

    #[test]
    fn conditions_bound_the_objects_of_their_patterns() {
        for (text, wanted) in [
            ("SELECT * { ?s <p:a> ?a FILTER(?a > 5) }", "p:a 5.."),
            ("SELECT * { ?s <p:a> ?a FILTER(?a > -5) }", "p:a -5.."),
            ("SELECT * { ?s <p:a> ?a FILTER(7 >= ?a && ?a >= 5) }", "p:a 5..7"),
            (
                "SELECT * { ?s <p:a> ?a . ?s <p:b> ?b FILTER(?a = 5) FILTER(?b < 2) }",
                "p:a 5..5 p:b ..2",
            ),
            ("SELECT * { ?s <p:b> ?b OPTIONAL { ?s <p:a> ?a FILTER(?a < 5) } }", "p:a ..5"),
            ("SELECT * { { SELECT ?a { ?s <p:a> ?a } } FILTER(?a < 5) }", "p:a ..5"),
            ("SELECT * { ?s <p:b> ?b FILTER EXISTS { ?s <p:a> ?a FILTER(?a < 5) } }", "p:a ..5"),
        ] {
            assert_eq!(bounds(text).join(" "), wanted, "{text}");
        }
    }

    #[test]
    fn what_another_pattern_may_need_is_not_bounded() {
        for text in [
            "SELECT * { ?s <p:a> ?a FILTER(?a > 5 || ?a < 3) }",
            "SELECT * { ?s <p:a> ?a . ?s <p:a> ?b FILTER(?a > 5) }",
            "SELECT * { ?s <p:a> ?a . ?s ?p ?o FILTER(?a > 5) }",
            "SELECT * { ?s <p:a> ?a . ?s <p:a>/<p:b> ?o FILTER(?a > 5) }",
            "SELECT * { ?s <p:a> ?a . ?s !<p:b> ?o FILTER(?a > 5) }",
            "SELECT * { { SELECT * { ?s <p:a> ?a } LIMIT 2 } FILTER(?a < 5) }",
            "SELECT * { { SELECT ?s { ?s <p:a> ?a } } ?s <p:b> ?c . BIND(1 AS ?a) FILTER(?a < 5) }",
            "SELECT * { ?s <p:b> ?b OPTIONAL { ?s <p:a> ?a } FILTER(!BOUND(?a) || ?a < 5) }",
            "SELECT * { ?s <p:b> ?b MINUS { ?s <p:a> ?a } FILTER(?a < 5) }",
            "SELECT (MAX(?a) AS ?m) { ?s <p:a> ?a } GROUP BY ?s HAVING(MAX(?a) < 5)",
            "SELECT * { ?s <p:a> ?a FILTER EXISTS { ?x <p:a> ?y } FILTER(?a < 5) }",
        ] {
            assert_eq!(bounds(text), Vec::<String>::new(), "{text}");
        }
    }
}
