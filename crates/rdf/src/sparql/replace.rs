//! `REPLACE` with a limit: of a text of a megabyte and a replacement of another one, the standard function makes a terabyte.

use std::borrow::Cow;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term};
use regex::{Regex, RegexBuilder};
use spareval::QueryEvaluator;
use spargebra::algebra::{Expression, Function, GraphPattern};

use super::order::each_expression;

/// The name under which the evaluator knows it.
const NAME: &str = "urn:cenote:replace";

/// The most bytes of a text that it makes; beyond, the call is an error.
const LONGEST: usize = 4 << 20;

/// The most bytes of a compiled expression, as the evaluator has it.
const COMPILED: usize = 1_000_000;

/// Puts it where a query has the standard function.
pub(crate) fn bounded(pattern: &mut GraphPattern) {
    each_expression(pattern, &mut |expression| {
        if let Expression::FunctionCall(function, _) = expression
            && *function == Function::Replace
        {
            *function = Function::Custom(NamedNode::new_unchecked(NAME));
        }
    });
}

/// An evaluator that knows it.
pub fn known(evaluator: QueryEvaluator) -> QueryEvaluator {
    evaluator.with_custom_function(NamedNode::new_unchecked(NAME), replace)
}

/// `REPLACE(text, pattern, replacement, flags)` of SPARQL 1.1, section 17.4.3.15.
fn replace(arguments: &[Term]) -> Option<Term> {
    let (text, pattern, replacement) = match arguments {
        [text, pattern, replacement] | [text, pattern, replacement, _] => {
            (literal(text)?, plain(pattern)?, plain(replacement)?)
        }
        _ => return None,
    };
    let flags = arguments.get(3).map_or(Some(""), plain)?;
    let replaced = within(&compiled(pattern, flags)?, text.value(), replacement)?;
    Some(match text.language() {
        Some(language) => Literal::new_language_tagged_literal_unchecked(replaced, language).into(),
        None => Literal::new_simple_literal(replaced).into(),
    })
}

/// All matches replaced, if that is not too long.
fn within(regex: &Regex, text: &str, replacement: &str) -> Option<String> {
    let (mut result, mut at) = (String::new(), 0);
    for captures in regex.captures_iter(text) {
        let whole = captures.get(0)?;
        result.push_str(&text[at..whole.start()]);
        captures.expand(replacement, &mut result);
        at = whole.end();
        if result.len() > LONGEST {
            return None;
        }
    }
    result.push_str(&text[at..]);
    Some(result)
}

/// A string, with or without a language.
fn literal(term: &Term) -> Option<&Literal> {
    match term {
        Term::Literal(literal)
            if literal.language().is_some() || literal.datatype() == xsd::STRING =>
        {
            Some(literal)
        }
        _ => None,
    }
}

/// A string without a language.
fn plain(term: &Term) -> Option<&str> {
    literal(term).filter(|literal| literal.language().is_none()).map(Literal::value)
}

fn compiled(pattern: &str, flags: &str) -> Option<Regex> {
    let literally = flags.contains('q');
    let pattern = if literally { regex::escape(pattern).into() } else { Cow::Borrowed(pattern) };
    let mut builder = RegexBuilder::new(&pattern);
    builder.size_limit(COMPILED);
    for flag in flags.chars() {
        match flag {
            's' => builder.dot_matches_new_line(true),
            'm' => builder.multi_line(true),
            'i' => builder.case_insensitive(true),
            'x' => builder.ignore_whitespace(true),
            'q' => &mut builder,
            _ => return None,
        };
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str, pattern: &str, replacement: &str, flags: Option<&str>) -> Option<String> {
        let flags = flags.into_iter();
        let texts = [text, pattern, replacement].into_iter().chain(flags);
        let arguments: Vec<Term> = texts.map(|it| Literal::new_simple_literal(it).into()).collect();
        match replace(&arguments)? {
            Term::Literal(literal) => Some(literal.value().to_owned()),
            _ => None,
        }
    }

    #[test]
    fn it_replaces_as_specified() {
        for (text, pattern, replacement, flags, expected) in [
            ("abcd", "b", "Z", None, Some("aZcd")),
            ("abab", "B", "Z", Some("i"), Some("aZaZ")),
            ("abab", "B.", "Z", Some("i"), Some("aZb")),
            ("abcb", "(b)c", "$1$1", None, Some("abbb")),
            ("a.b", ".", "-", Some("q"), Some("a-b")),
            ("ab", "(", "-", None, None),
            ("ab", "a", "-", Some("z"), None),
        ] {
            assert_eq!(call(text, pattern, replacement, flags).as_deref(), expected, "{pattern}");
        }
    }

    #[test]
    fn the_result_is_limited() {
        let long = "a".repeat(1 << 20);
        assert_eq!(call(&long, "a", &long, None), None);
    }
}
