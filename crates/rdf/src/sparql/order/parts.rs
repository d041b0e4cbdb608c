//! What a pattern consists of: the parts of a join, and variables.

use oxrdf::{Term, Variable};
use spargebra::algebra::GraphPattern;
use spargebra::term::{NamedNodePattern, TermPattern};

use super::Bound;

/// Takes a join apart: triples, paths and tables, each by itself, and all else.
pub(super) fn flatten(
    pattern: GraphPattern,
    simple: &mut Vec<GraphPattern>,
    others: &mut Vec<GraphPattern>,
) {
    match pattern {
        GraphPattern::Join { left, right } => {
            flatten(*left, simple, others);
            flatten(*right, simple, others);
        }
        GraphPattern::Bgp { patterns } => {
            let single = |pattern| GraphPattern::Bgp { patterns: vec![pattern] };
            simple.extend(patterns.into_iter().map(single));
        }
        GraphPattern::Path { .. } => simple.push(pattern),
        // A variable that is UNDEF in a row is bound by other patterns.
        GraphPattern::Values { ref bindings, .. }
            if bindings.iter().flatten().all(Option::is_some) =>
        {
            simple.push(pattern);
        }
        other => others.push(other),
    }
}

/// The variables that solutions of a pattern bind, as far as its triples show.
pub(super) fn variables(pattern: &GraphPattern) -> Bound {
    let mut found = Bound::new();
    gather(pattern, &mut found);
    found
}

pub(super) fn gather(pattern: &GraphPattern, found: &mut Bound) {
    use GraphPattern as P;
    match pattern {
        P::Bgp { patterns } => {
            for triple in patterns {
                found.extend(variable(&triple.subject));
                found.extend(variable(&triple.object));
                if let NamedNodePattern::Variable(name) = &triple.predicate {
                    found.insert(name.clone());
                }
            }
        }
        P::Path { subject, object, .. } => {
            found.extend([subject, object].into_iter().filter_map(variable))
        }
        P::Values { variables, .. } => found.extend(variables.iter().cloned()),
        P::Join { left, right } | P::Lateral { left, right } => {
            gather(left, found);
            gather(right, found);
        }
        P::LeftJoin { left, .. } | P::Minus { left, .. } => gather(left, found),
        P::Project { variables, .. } => found.extend(variables.iter().cloned()),
        P::Filter { inner, .. }
        | P::Extend { inner, .. }
        | P::OrderBy { inner, .. }
        | P::Distinct { inner }
        | P::Reduced { inner }
        | P::Slice { inner, .. }
        | P::Graph { inner, .. } => gather(inner, found),
        P::Group { variables, .. } => found.extend(variables.iter().cloned()),
        P::Union { .. } | P::Service { .. } => {}
    }
}

/// The variable that a term is, or that stands for a blank node.
pub(super) fn variable(term: &TermPattern) -> Option<Variable> {
    match term {
        TermPattern::Variable(name) => Some(name.clone()),
        TermPattern::BlankNode(node) => {
            Some(Variable::new_unchecked(format!("cenote_blank_{}", node.as_str())))
        }
        TermPattern::NamedNode(_) | TermPattern::Literal(_) => None,
    }
}

pub(super) fn ground(term: &TermPattern) -> Option<Term> {
    match term {
        TermPattern::NamedNode(node) => Some(node.clone().into()),
        TermPattern::Literal(literal) => Some(literal.clone().into()),
        TermPattern::Variable(_) | TermPattern::BlankNode(_) => None,
    }
}
