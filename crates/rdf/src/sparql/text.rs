//! `text:query`, by which a query asks for words: `?s text:query "words"`, or `?s text:query (dcterms:title "words")` for those that have
//! them in one property.
//!
//! Source: Apache Jena's text search (<https://jena.apache.org/documentation/query/text-query.html>). Of its lists a property and the words
//! are accepted; scores and limits are not.
//!
//! A list is several triples in the algebra. It is written as one literal here, so that a dataset that answers the pattern sees it
//! whole: its datatype is [`WITHIN`], a language or nothing, a colon, and the property.

use std::collections::HashMap;

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{BlankNode, Literal, NamedNode};
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use super::order::each_expression;

/// The predicate.
pub const TEXT_QUERY: &str = "http://jena.apache.org/text#query";

const WITHIN: &str = "cenote:text-within:";

/// What the object of a `text:query` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoughtText {
    /// The words.
    pub words: String,
    /// Only in literals of this property.
    pub property: Option<String>,
    /// Only in literals of this language, in lower case.
    pub language: Option<String>,
}

impl SoughtText {
    /// What a literal asks for, as an evaluated pattern has it.
    pub fn of(literal: &Literal) -> Self {
        let words = literal.value().to_owned();
        let within = literal.datatype().as_str().strip_prefix(WITHIN);
        let (language, property) = match within.and_then(|within| within.split_once(':')) {
            Some((language, property)) => (Some(language), Some(property)),
            None => (literal.language(), None),
        };
        let language = language.filter(|it| !it.is_empty()).map(str::to_ascii_lowercase);
        Self { words, property: property.map(str::to_owned), language }
    }

    fn literal(property: &NamedNode, words: &Literal) -> Literal {
        let language = words.language().unwrap_or_default();
        let within = format!("{WITHIN}{language}:{}", property.as_str());
        Literal::new_typed_literal(words.value(), NamedNode::new_unchecked(within))
    }
}

/// Writes each list as one literal; returns whether anything asks for words.
///
/// # Errors
/// What is wrong with a list.
pub(super) fn joined(pattern: &mut GraphPattern) -> Result<bool, String> {
    let (mut searches, mut wrong) = (false, None);
    each_pattern(pattern, &mut |patterns| match joined_in(patterns) {
        Ok(searches_here) => searches |= searches_here,
        Err(fault) => {
            wrong.get_or_insert(fault);
        }
    });
    wrong.map_or(Ok(searches), Err)
}

const FORM: &str = "text:query takes words as a string, or a list of a property and a string";

fn joined_in(patterns: &mut Vec<TriplePattern>) -> Result<bool, String> {
    let is_text = |it: &TriplePattern| is(&it.predicate, TEXT_QUERY);
    let sought: Vec<usize> = (0..patterns.len()).filter(|at| is_text(&patterns[*at])).collect();
    let mut cells = Cells::of(patterns);
    for at in &sought {
        if let TermPattern::BlankNode(node) = &patterns[*at].subject
            && cells.items.contains_key(node)
        {
            return Err("text:query computes no scores: write one variable before it".to_owned());
        }
        if let TermPattern::BlankNode(node) = &patterns[*at].object {
            patterns[*at].object = cells.taken(node.clone())?.into();
        }
    }
    let used = cells.used;
    patterns
        .retain(|it| !matches!(&it.subject, TermPattern::BlankNode(node) if used.contains(node)));
    Ok(!sought.is_empty())
}

/// The cells of lists: their items, and what follows.
struct Cells {
    items: HashMap<BlankNode, TermPattern>,
    rests: HashMap<BlankNode, TermPattern>,
    used: Vec<BlankNode>,
}

impl Cells {
    fn of(patterns: &[TriplePattern]) -> Self {
        let of = |predicate: &str| {
            let with = patterns.iter().filter(|it| is(&it.predicate, predicate));
            let cells = with.filter_map(|it| match &it.subject {
                TermPattern::BlankNode(node) => Some((node.clone(), it.object.clone())),
                _ => None,
            });
            cells.collect()
        };
        Self { items: of(rdf::FIRST.as_str()), rests: of(rdf::REST.as_str()), used: Vec::new() }
    }

    /// The literal of a list.
    fn taken(&mut self, first: BlankNode) -> Result<Literal, String> {
        let (mut items, mut next) = (Vec::new(), TermPattern::BlankNode(first));
        while let TermPattern::BlankNode(node) = &next {
            let item = self.items.get(node).filter(|_| items.len() < 2).ok_or(FORM)?;
            items.push(item.clone());
            let rest = self.rests.get(node).ok_or(FORM)?.clone();
            self.used.push(node.clone());
            next = rest;
        }
        match (&items[..], &next) {
            ([TermPattern::Literal(words)], TermPattern::NamedNode(nil)) if *nil == rdf::NIL => {
                Ok(words.clone())
            }
            (
                [TermPattern::NamedNode(property), TermPattern::Literal(words)],
                TermPattern::NamedNode(nil),
            ) if *nil == rdf::NIL && is_string(words) => Ok(SoughtText::literal(property, words)),
            _ => Err(FORM.to_owned()),
        }
    }
}

fn is_string(literal: &Literal) -> bool {
    literal.language().is_some() || literal.datatype() == xsd::STRING
}

fn is(predicate: &NamedNodePattern, iri: &str) -> bool {
    matches!(predicate, NamedNodePattern::NamedNode(node) if node.as_str() == iri)
}

/// Visits the triples of each basic pattern, those in expressions, too.
fn each_pattern(pattern: &mut GraphPattern, visit: &mut dyn FnMut(&mut Vec<TriplePattern>)) {
    basic(pattern, visit);
    each_expression(pattern, &mut |expression| {
        if let Expression::Exists(pattern) = expression {
            basic(pattern, visit);
        }
    });
}

fn basic(pattern: &mut GraphPattern, visit: &mut dyn FnMut(&mut Vec<TriplePattern>)) {
    use GraphPattern as P;
    match pattern {
        P::Bgp { patterns } => visit(patterns),
        P::Path { .. } | P::Values { .. } => {}
        P::Join { left, right }
        | P::Lateral { left, right }
        | P::Union { left, right }
        | P::Minus { left, right }
        | P::LeftJoin { left, right, .. } => {
            basic(left, visit);
            basic(right, visit);
        }
        P::Filter { inner, .. }
        | P::Extend { inner, .. }
        | P::OrderBy { inner, .. }
        | P::Group { inner, .. }
        | P::Project { inner, .. }
        | P::Distinct { inner }
        | P::Reduced { inner }
        | P::Slice { inner, .. }
        | P::Graph { inner, .. }
        | P::Service { inner, .. } => basic(inner, visit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Query;

    const PREFIX: &str = "PREFIX text: <http://jena.apache.org/text#>\n";

    fn parsed(pattern: &str) -> Result<Query, String> {
        let text = format!("{PREFIX}SELECT * {{ {pattern} }}");
        Query::parse(&text, "http://h/").map_err(|error| error.to_string())
    }

    #[test]
    fn a_list_is_one_literal() {
        for (list, property, language) in [
            ("'a b'", None, None),
            ("('a b')", None, None),
            ("'a b'@EN", None, Some("en")),
            ("(<x:p> 'a b')", Some("x:p"), None),
            ("(<x:p> 'a b'@en-GB)", Some("x:p"), Some("en-gb")),
        ] {
            let mut query = parsed(&format!("?s <x:o> (1 2) . ?s text:query {list}")).unwrap();
            assert!(query.searches_text());
            let mut found = None;
            query.order(&mut |wanted| {
                if wanted.predicate.as_ref().is_some_and(|it| it.as_str() == TEXT_QUERY) {
                    found.clone_from(&wanted.object);
                }
                1
            });
            let Some(oxrdf::Term::Literal(literal)) = found else { panic!("{list}: {found:?}") };
            let expected = SoughtText {
                words: "a b".to_owned(),
                property: property.map(str::to_owned),
                language: language.map(str::to_owned),
            };
            assert_eq!(SoughtText::of(&literal), expected, "{list}");
            let left = query.algebra().to_string().matches("#first").count();
            assert_eq!(left, 2, "other lists stay");
        }
        assert!(!parsed("?s ?p ?o").unwrap().searches_text());
        assert!(parsed("?s ?p ?o FILTER EXISTS { ?s text:query 'a' }").unwrap().searches_text());
    }

    #[test]
    fn other_lists_are_refused() {
        for pattern in [
            "?s text:query (<x:p>)",
            "?s text:query (<x:p> <x:q> 'a')",
            "?s text:query (<x:p> 'a' 10)",
            "?s text:query ('a' 10)",
            "?s text:query (?p 'a')",
            "?s text:query (<x:p> 1)",
            "?s text:query [ <x:p> 'a' ]",
            "(?s ?score) text:query 'a'",
            "{ ?s ?p ?o } UNION { ?s text:query (1 2 3) }",
        ] {
            assert!(parsed(pattern).is_err(), "{pattern}");
        }
    }
}
