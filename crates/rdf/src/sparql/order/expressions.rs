//! The expressions of a pattern.

use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression};

/// Visits each expression of a pattern, those within others and within patterns of expressions, too.
pub(crate) fn each_expression(pattern: &mut GraphPattern, visit: &mut dyn FnMut(&mut Expression)) {
    use GraphPattern as P;
    match pattern {
        P::Bgp { .. } | P::Path { .. } | P::Values { .. } => {}
        P::Join { left, right }
        | P::Lateral { left, right }
        | P::Union { left, right }
        | P::Minus { left, right } => {
            each_expression(left, visit);
            each_expression(right, visit);
        }
        P::LeftJoin { left, right, expression } => {
            each_expression(left, visit);
            each_expression(right, visit);
            expression.iter_mut().for_each(|it| each_within(it, visit));
        }
        P::Filter { expr, inner } => {
            each_within(expr, visit);
            each_expression(inner, visit);
        }
        P::Extend { inner, expression, .. } => {
            each_within(expression, visit);
            each_expression(inner, visit);
        }
        P::OrderBy { inner, expression } => {
            for OrderExpression::Asc(it) | OrderExpression::Desc(it) in expression {
                each_within(it, visit);
            }
            each_expression(inner, visit);
        }
        P::Group { inner, aggregates, .. } => {
            for (_, aggregate) in aggregates {
                if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                    each_within(expr, visit);
                }
            }
            each_expression(inner, visit);
        }
        P::Project { inner, .. }
        | P::Distinct { inner }
        | P::Reduced { inner }
        | P::Slice { inner, .. }
        | P::Graph { inner, .. }
        | P::Service { inner, .. } => each_expression(inner, visit),
    }
}

/// Visits an expression and those in it, and in its patterns.
fn each_within(expression: &mut Expression, visit: &mut dyn FnMut(&mut Expression)) {
    each(expression, &mut |it| {
        visit(it);
        if let Expression::Exists(pattern) = it {
            each_expression(pattern, visit);
        }
    });
}

/// Visits an expression and those in it, but not those in its patterns.
pub(super) fn each(expression: &mut Expression, visit: &mut dyn FnMut(&mut Expression)) {
    use Expression as E;
    visit(expression);
    match expression {
        E::NamedNode(_) | E::Literal(_) | E::Variable(_) | E::Bound(_) | E::Exists(_) => {}
        E::Or(a, b)
        | E::And(a, b)
        | E::Equal(a, b)
        | E::SameTerm(a, b)
        | E::Greater(a, b)
        | E::GreaterOrEqual(a, b)
        | E::Less(a, b)
        | E::LessOrEqual(a, b)
        | E::Add(a, b)
        | E::Subtract(a, b)
        | E::Multiply(a, b)
        | E::Divide(a, b) => {
            each(a, visit);
            each(b, visit);
        }
        E::UnaryPlus(a) | E::UnaryMinus(a) | E::Not(a) => each(a, visit),
        E::In(a, list) => {
            each(a, visit);
            list.iter_mut().for_each(|it| each(it, visit));
        }
        E::If(a, b, c) => [a, b, c].into_iter().for_each(|it| each(it, visit)),
        E::Coalesce(list) | E::FunctionCall(_, list) => {
            list.iter_mut().for_each(|it| each(it, visit));
        }
    }
}
