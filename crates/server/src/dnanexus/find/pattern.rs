//! Patterns for names and words: a text, a glob, a regular expression; and, for sets of words, all of or any of.
//!
//! A glob has `*`, `?` and `[…]`, and `\` before what stands for itself. Both are matched by automata in time that grows with the
//! text alone; an expression whose automaton would be large is refused.

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::input::Input;

/// A pattern for a name.
#[derive(Debug, Clone)]
pub(crate) enum Pattern {
    Exactly(String),
    Matches(Regex),
}

/// The largest automaton, in bytes.
const LARGEST: usize = 1 << 20;

impl Pattern {
    /// A text, `{"glob": …}` or `{"regexp": …}`.
    pub(crate) fn read(value: &Value) -> Result<Self, Fault> {
        if let Value::String(text) = value {
            return Ok(Self::Exactly(text.clone()));
        }
        let input = Input::of(value).map_err(|_| wrong())?;
        let ignore_case = match input.text("flags")? {
            None | Some("") => false,
            Some("i") => true,
            Some(_) => return Err(Fault::input("the only flag of a pattern is \"i\"")),
        };
        match (input.text("glob")?, input.text("regexp")?) {
            (Some(glob), None) => Self::glob(glob, ignore_case),
            (None, Some(regexp)) => compiled(regexp, ignore_case).map(Self::Matches),
            _ => Err(wrong()),
        }
    }

    fn glob(glob: &str, ignore_case: bool) -> Result<Self, Fault> {
        let (expression, literal) = translate(glob);
        match literal.filter(|_| !ignore_case) {
            Some(literal) => Ok(Self::Exactly(literal)),
            None => compiled(&expression, ignore_case).map(Self::Matches),
        }
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Exactly(exact) => exact == text,
            Self::Matches(expression) => expression.is_match(text),
        }
    }
}

fn wrong() -> Fault {
    Fault::input("a pattern is a string, or an object with one of \"glob\" and \"regexp\"")
}

fn compiled(expression: &str, ignore_case: bool) -> Result<Regex, Fault> {
    let mut builder = RegexBuilder::new(expression);
    let built = builder.case_insensitive(ignore_case).size_limit(LARGEST).dfa_size_limit(LARGEST);
    built.build().map_err(|error| Fault::input(format!("not a regular expression: {error}")))
}

/// A glob as a regular expression; and the one text that it matches, if it has no wildcard.
fn translate(glob: &str) -> (String, Option<String>) {
    let (mut expression, mut literal, mut is_literal) = ("(?s)^".to_owned(), String::new(), true);
    let mut letters = glob.chars();
    while let Some(letter) = letters.next() {
        let plain = match letter {
            '*' | '?' => {
                expression.push_str(if letter == '*' { ".*" } else { "." });
                is_literal = false;
                continue;
            }
            '[' => match class(letters.as_str()) {
                Some((class, rest)) => {
                    expression.push_str(&class);
                    letters = rest.chars();
                    is_literal = false;
                    continue;
                }
                None => '[',
            },
            '\\' => letters.next().unwrap_or('\\'),
            letter => letter,
        };
        expression.push_str(&regex::escape(plain.encode_utf8(&mut [0; 4])));
        literal.push(plain);
    }
    (expression + "$", is_literal.then_some(literal))
}

/// The class that begins behind `[`, and what comes behind its end; none if it has no end.
fn class(text: &str) -> Option<(String, &str)> {
    let negated = text.starts_with(['!', '^']);
    let body = if negated { &text[1..] } else { text };
    // A leading bracket is a literal character.
    let end = body.char_indices().skip(1).find(|(_, letter)| *letter == ']')?.0;
    let mut class = if negated { "[^" } else { "[" }.to_owned();
    for letter in body[..end].chars() {
        if letter != '-' && !letter.is_alphanumeric() {
            class.push('\\');
            if letter.is_ascii_whitespace() || !letter.is_ascii() {
                class.pop();
            }
        }
        class.push(letter);
    }
    class.push(']');
    // A reversed range is not a valid class.
    Regex::new(&class).ok()?;
    Some((class, &body[end + 1..]))
}

/// A condition on a set of words: one word, or all of or any of some.
#[derive(Debug, Clone)]
pub(crate) enum Words<T> {
    All(Vec<T>),
    Any(Vec<T>),
}

impl<T> Words<T> {
    /// A value that `one` reads, or an array of such under `$and` or `$or`.
    pub(crate) fn read(
        value: &Value,
        one: impl Fn(&Value) -> Result<T, Fault>,
    ) -> Result<Self, Fault> {
        let list = |key: &str| match value.get(key) {
            None => Ok(None),
            Some(Value::Array(items)) => items.iter().map(&one).collect::<Result<_, _>>().map(Some),
            Some(_) => Err(Fault::input(format!("\"{key}\" is not an array"))),
        };
        match (list("$and")?, list("$or")?) {
            (None, None) => Ok(Self::All(vec![one(value)?])),
            (Some(all), None) => Ok(Self::All(all)),
            (None, Some(any)) => Ok(Self::Any(any)),
            _ => Err(Fault::input("give one of \"$and\" and \"$or\"")),
        }
    }

    pub(crate) fn hold(&self, holds: impl Fn(&T) -> bool) -> bool {
        match self {
            Self::All(words) => words.iter().all(holds),
            Self::Any(words) => words.iter().any(holds),
        }
    }

    /// One that must hold.
    pub(crate) fn necessary(&self) -> Option<&T> {
        match self {
            Self::All(words) => words.first(),
            Self::Any(words) => words.first().filter(|_| words.len() == 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn matches(glob: &str, text: &str) -> bool {
        Pattern::read(&json!({ "glob": glob })).unwrap().matches(text)
    }

    #[test]
    fn globs_match_as_in_a_shell() {
        for (glob, text, expected) in [
            ("b*", "b1", true),
            ("b*", "ab", false),
            ("*.txt", "a\nb.txt", true),
            ("?", "ü", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]]", "]", true),
            ("[", "[", true),
            ("[z-a]", "[z-a]", true),
            ("a\\*b", "a*b", true),
            ("a\\*b", "axb", false),
            ("a.b", "axb", false),
            ("(x)|y", "(x)|y", true),
            ("[&&a]", "&", true),
            ("", "", true),
        ] {
            assert_eq!(matches(glob, text), expected, "{glob} {text:?}");
        }
    }

    #[test]
    fn a_glob_without_wildcards_is_a_text() {
        let pattern = Pattern::read(&json!({ "glob": "a\\[b.txt" })).unwrap();
        assert!(matches!(pattern, Pattern::Exactly(text) if text == "a[b.txt"));
    }

    #[test]
    fn invalid_patterns_are_refused() {
        for value in [
            json!(3),
            json!({}),
            json!({ "glob": "a", "regexp": "b" }),
            json!({ "regexp": "(" }),
            json!({ "regexp": "a{1000}{1000}" }),
            json!({ "glob": "a", "flags": "x" }),
        ] {
            assert!(Pattern::read(&value).is_err(), "{value}");
        }
    }

    proptest! {
        #[test]
        fn any_glob_is_parsed_and_a_quoted_text_matches_itself(glob in "\\PC{0,12}", text in "[\\PC&&[^\\\\]]{0,12}") {
            matches(&glob, &text);
            let quoted: String = text.chars().flat_map(|letter| ['\\', letter]).collect();
            prop_assert!(matches(&quoted, &text));
        }
    }
}
