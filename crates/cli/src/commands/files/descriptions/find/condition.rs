//! Conditions on metadata, as they are written on the command line.
//!
//! `ATTRIBUTE`, or `ATTRIBUTE OPERATOR VALUE`; either text may be quoted. What does not begin with a quotation mark is literal
//! up to the first operator, and never an error.

use cenote_client::Condition;

use crate::error::{CliError, Kind, Result};

/// The signs, and what the store calls them.
const OPERATORS: [(&str, &str); 7] =
    [("!=", "!="), ("<=", "<="), (">=", ">="), ("=", "="), ("<", "<"), (">", ">"), ("~", "like")];

pub(super) fn parse(text: &str) -> Result<Condition> {
    let (attribute, rest) = attribute(text.trim())?;
    if attribute.is_empty() {
        return Err(wrong("the condition has no attribute", text));
    }
    let (op, value) = match operator(rest.trim_start()) {
        Some((op, rest)) => (op, Some(value(rest.trim())?)),
        None if rest.trim().is_empty() => ("exists", None),
        None => return Err(wrong("an operator must follow the quoted attribute", text)),
    };
    Ok(Condition { attribute, op: op.to_owned(), value, unit: None })
}

/// The attribute at the beginning, and what follows it.
fn attribute(text: &str) -> Result<(String, &str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        return unquote(quoted);
    }
    let first = OPERATORS.iter().filter_map(|(sign, _)| text.find(sign)).min();
    let (attribute, rest) = text.split_at(first.unwrap_or(text.len()));
    Ok((attribute.trim().to_owned(), rest))
}

/// The operator at the beginning, the longest that it can be, and what follows it.
fn operator(text: &str) -> Option<(&'static str, &str)> {
    let found =
        OPERATORS.iter().filter_map(|(sign, op)| Some((sign, op, text.strip_prefix(sign)?)));
    found.max_by_key(|(sign, ..)| sign.len()).map(|(_, op, rest)| (*op, rest))
}

fn value(text: &str) -> Result<String> {
    let Some(quoted) = text.strip_prefix('"') else { return Ok(text.to_owned()) };
    match unquote(quoted)? {
        (value, "") => Ok(value),
        (_, rest) => Err(wrong("something follows the quoted value", rest)),
    }
}

/// What stands before the closing quotation mark, and what follows that.
fn unquote(text: &str) -> Result<(String, &str)> {
    let mut inside = String::new();
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        match next {
            '"' => return Ok((inside, rest.as_str())),
            '\\' => inside.extend(rest.next()),
            next => inside.push(next),
        }
    }
    Err(wrong("a quotation mark is not closed", text))
}

fn wrong(what: &str, text: &str) -> CliError {
    CliError::new(Kind::Usage, format!("{what}: {text}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn assert_parsed(text: &str, expected: (&str, &str, Option<&str>)) {
        let found = parse(text).unwrap();
        let parts = (found.attribute.as_str(), found.op.as_str(), found.value.as_deref());
        assert_eq!(parts, expected, "{text}");
    }

    #[test]
    fn conditions_are_cut_at_the_first_operator() {
        assert_parsed("temp", ("temp", "exists", None));
        assert_parsed("temp=300", ("temp", "=", Some("300")));
        assert_parsed("temp >= 300", ("temp", ">=", Some("300")));
        assert_parsed("a<b=c", ("a", "<", Some("b=c")));
        assert_parsed("a!=", ("a", "!=", Some("")));
        assert_parsed("note~%x_", ("note", "like", Some("%x_")));
        assert_parsed("a = it's \"so\"", ("a", "=", Some("it's \"so\"")));
        assert!(parse("=3").is_err());
    }

    #[test]
    fn quoted_texts_are_taken_as_they_are() {
        assert_parsed(r#""a=b""#, ("a=b", "exists", None));
        assert_parsed(r#" "a=b" != " c " "#, ("a=b", "!=", Some(" c ")));
        assert_parsed(r#"a="\"\\""#, ("a", "=", Some("\"\\")));
        for wrong in [r#""a"#, r#""a" b"#, r#"a="b"#, r#"a="b" c"#, r#"""=1"#, r#""a"#] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    fn quoted(text: &str) -> String {
        format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""))
    }

    proptest! {
        #[test]
        fn any_two_texts_can_be_quoted(attribute in ".+", value in ".*") {
            for (sign, op) in OPERATORS {
                let found = parse(&format!("{} {sign}{}", quoted(&attribute), quoted(&value))).unwrap();
                prop_assert_eq!((&found.attribute, found.op.as_str(), found.value.as_deref()), (&attribute, op, Some(value.as_str())));
            }
        }

        #[test]
        fn any_text_is_parsed_without_a_panic(text in ".*") {
            let _ = parse(&text);
        }
    }
}
