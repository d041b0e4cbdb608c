//! The nesting depth of a SPARQL text, determined without parsing it.
//!
//! The parser and the evaluator call themselves for each bracket and each operator: a short text of thousands of them would exhaust
//! the stack, which ends the process. So brackets may be [`DEEPEST`] deep, and there may be [`OPERATORS`] operators.

use std::fmt;

/// The deepest nesting of brackets.
const DEEPEST: usize = 64;

/// The most operators, keywords that combine patterns, and groups.
const OPERATORS: usize = 1_000;

/// Why a text is too complex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TooComplex {
    Deep,
    Long,
}

impl fmt::Display for TooComplex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deep => write!(f, "brackets are nested deeper than {DEEPEST}"),
            Self::Long => write!(f, "it has more than {OPERATORS} operators and groups"),
        }
    }
}

/// Refuses a text that nests too deep. A text that is not SPARQL may pass.
pub(crate) fn check(text: &str) -> Result<(), TooComplex> {
    let (mut depth, mut operators, mut round) = (0_usize, 0_usize, 0_usize);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (token, weight) = token(rest, first, round > 0);
        match first {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match first {
            '(' => round += 1,
            ')' => round = round.saturating_sub(1),
            _ => {}
        }
        operators += weight;
        if depth > DEEPEST {
            return Err(TooComplex::Deep);
        }
        if operators > OPERATORS {
            return Err(TooComplex::Long);
        }
        rest = &rest[token..];
    }
    Ok(())
}

/// The length in bytes of what a text begins with, and whether that counts as an operator. A sign outside of an expression is part
/// of a number.
fn token(text: &str, first: char, in_expression: bool) -> (usize, usize) {
    match first {
        '^' if text.starts_with("^^") => (2, 0),
        '+' | '-' if !in_expression => (1, 0),
        '#' => (text.find(['\n', '\r']).unwrap_or(text.len()), 0),
        '"' | '\'' => (string(text, first), 0),
        '<' => iri(text).map_or((1, 1), |length| (length, 0)),
        '{' | '|' | '&' | '!' | '+' | '-' | '*' | '/' | '^' | '=' | '>' => (1, 1),
        _ if is_of_name(first) => name(text),
        _ => (first.len_utf8(), 0),
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "_:%?$@".contains(c)
}

/// A word, a variable, a number or a prefixed name; keywords that combine patterns count.
fn name(text: &str) -> (usize, usize) {
    let is_prefixed = |end: usize| text[..end].contains(':');
    let goes_on =
        |(at, c): &(usize, char)| is_of_name(*c) || (*c == '-' || *c == '.') && is_prefixed(*at);
    let last = text.char_indices().take_while(goes_on).last();
    let length = last.map_or(1, |(at, c)| at + c.len_utf8());
    let word = text[..length].to_ascii_uppercase();
    let counts = matches!(
        word.as_str(),
        "AS" | "BIND"
            | "EXISTS"
            | "FILTER"
            | "GRAPH"
            | "HAVING"
            | "LATERAL"
            | "MINUS"
            | "OPTIONAL"
            | "SELECT"
            | "SERVICE"
            | "UNION"
            | "VALUES"
            | "NOT"
            | "IN"
    );
    (length, usize::from(counts))
}

/// The length of a string with its quotes.
fn string(text: &str, quote: char) -> usize {
    let long: String = [quote; 3].iter().collect();
    let end = if text.starts_with(&long) { long } else { quote.to_string() };
    let mut at = end.len();
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(&end) {
            return at + end.len();
        }
        let mut chars = rest.chars();
        let skipped = match chars.next() {
            Some('\\') => 1 + chars.next().map_or(0, char::len_utf8),
            // A short string ends with its line.
            Some('\n' | '\r') if end.len() == 1 => return at,
            Some(c) => c.len_utf8(),
            None => break,
        };
        at += skipped;
    }
    text.len()
}

/// The length of an IRI in angle brackets; none if it is none.
fn iri(text: &str) -> Option<usize> {
    let end = text[1..].find(|c: char| "<>\"{}|^`\\".contains(c) || c <= ' ')? + 1;
    text[end..].starts_with('>').then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use spargebra::SparqlParser;

    use super::*;

    #[test]
    fn deep_nesting_is_refused() {
        for (unit, end) in
            [("(", ""), ("!(", ""), ("{", "}"), ("[ <a:p> ", "]"), ("!", ""), ("-", "")]
        {
            let text = format!("ASK {{ FILTER({}1{}) }}", unit.repeat(2_000), end.repeat(2_000));
            assert!(check(&text).is_err(), "{unit}");
        }
        for chain in
            ["(1 -1 + 1)", " || 1", "/<a:p>", " UNION { }", " OPTIONAL { }", "{ }", "|<a:p>"]
        {
            assert!(check(&chain.repeat(2_000)).is_err(), "{chain}");
        }
    }

    #[test]
    fn long_lists_do_not_nest() {
        let rows = "(<a:b-c> 'x-y' \"\"\"!!\"\"\" dc:a-b)".repeat(10_000);
        assert_eq!(check(&format!("SELECT * {{ VALUES (?a ?b ?c ?d) {{ {rows} }} }}")), Ok(()));
        let triples = "<a:s/x> <a:p-q> -5, '1'^^xsd:int, 'it''s' ; # <((((\n".repeat(10_000);
        assert_eq!(check(&format!("INSERT DATA {{ {triples} }}")), Ok(()));
    }

    /// The allowed depth fits on the stack of any parsing thread.
    #[test]
    fn allowed_queries_can_be_parsed() {
        let deep = |open: &str, close: &str, inner: &str| {
            let depth = DEEPEST - 2;
            format!("ASK {{ {}{inner}{} }}", open.repeat(depth), close.repeat(depth))
        };
        let texts = [
            deep("{", "}", ""),
            format!("ASK {{ FILTER({}1{}) }}", "(".repeat(60), ")".repeat(60)),
            format!("ASK {{ FILTER(1{}) }}", " || 1".repeat(490)),
            format!("ASK {{ <a:s> <a:p>{} ?o }}", "/<a:p>".repeat(990)),
            format!("ASK {{ {{}}{} }}", " UNION {}".repeat(490)),
            format!("ASK {{ {} }}", "OPTIONAL {} ".repeat(490)),
            format!("ASK {{ {} }}", "{} ".repeat(990)),
        ];
        for text in texts {
            assert_eq!(check(&text), Ok(()), "{text}");
            let shown = text.clone();
            let parsed = std::thread::Builder::new().stack_size(2 << 20);
            let parse = move || SparqlParser::new().parse_query(&text).is_ok();
            assert!(parsed.spawn(parse).unwrap().join().unwrap(), "{shown}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_measured(text in "([<>\"'#\\\\(){}|!-]|\\PC){0,40}") {
            let _ = check(&text);
        }
    }
}
