//! Parameters: from the query of the address, a form, or the parts of a multipart body.
//!
//! A pair is split at its first `=`; `+` becomes a space before percent-decoding. Numbers may come in R's
//! exponent notation (`1e+07`), as long as they are integers.

use std::collections::HashMap;

use bytes::Bytes;
use percent_encoding::percent_decode;

/// The parameters of a call; if a name is repeated, the last value counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Form(HashMap<String, Bytes>);

impl Form {
    /// From `a=b&c=d`, percent-encoded.
    pub(crate) fn decode(encoded: &[u8]) -> Self {
        let pairs = encoded.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty());
        Self(pairs.map(split).collect())
    }

    pub(crate) fn insert(&mut self, name: String, value: Bytes) {
        self.0.insert(name, value);
    }

    pub(crate) fn bytes(&self, name: &str) -> Option<&Bytes> {
        self.0.get(name)
    }

    /// A parameter as text, if it is present and not empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let text = std::str::from_utf8(self.0.get(name)?).ok()?;
        Some(text).filter(|text| !text.is_empty())
    }

    /// Whether a switch is on: `1` turns it on, `0` turns off one that is on by default, anything else is ignored.
    pub(crate) fn flag(&self, name: &str, default: bool) -> bool {
        match (self.text(name), default) {
            (Some("0"), true) => false,
            (Some("1"), false) => true,
            _ => default,
        }
    }

    /// A number; an error if the parameter is not one.
    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, NotANumber> {
        self.text(name).map(number).transpose()
    }
}

/// A parameter should be an integer, and is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotANumber;

fn split(pair: &[u8]) -> (String, Bytes) {
    let at = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
    let name = decode(&pair[..at]);
    let value = decode(pair.get(at + 1..).unwrap_or_default());
    (String::from_utf8_lossy(&name).into_owned(), value)
}

fn decode(encoded: &[u8]) -> Bytes {
    let spaced: Vec<u8> =
        encoded.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    percent_decode(&spaced).collect()
}

/// Integers up to 2^53 are exact as floats, too.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn number(text: &str) -> Result<i64, NotANumber> {
    text.parse::<i64>().or_else(|_| {
        let float: f64 = text.parse().map_err(|_| NotANumber)?;
        let whole = float.fract() == 0.0 && float.abs() <= EXACT;
        if whole { Ok(float as i64) } else { Err(NotANumber) }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pairs_are_split_at_the_first_equals_sign_and_decoded_in_order() {
        let form = Form::decode(b"a=b=c&d=x+y&e=x%2By&f&g=&a=last%3D");
        assert_eq!(form.text("a"), Some("last="));
        assert_eq!(form.text("d"), Some("x y"));
        assert_eq!(form.text("e"), Some("x+y"));
        assert_eq!((form.text("f"), form.text("g"), form.text("h")), (None, None, None));
        assert_eq!(form.bytes("g").unwrap(), "");
    }

    #[test]
    fn numbers_may_have_exponents_but_no_fraction() {
        for (text, expected) in [
            ("12", Ok(12)),
            ("-1", Ok(-1)),
            ("1e+07", Ok(10_000_000)),
            ("1e%2B07", Ok(10_000_000)),
            ("1.5e1", Ok(15)),
            ("1.5", Err(NotANumber)),
            ("1e99", Err(NotANumber)),
            ("nan", Err(NotANumber)),
            ("x", Err(NotANumber)),
        ] {
            let form = Form::decode(format!("n={}", text.replace("+", "%2B")).as_bytes());
            assert_eq!(form.number("n"), expected.map(Some), "{text}");
        }
    }

    #[test]
    fn flags_have_their_defaults() {
        let form = Form::decode(b"a=1&b=0&c=yes");
        assert!(form.flag("a", false) && !form.flag("b", true));
        assert!(!form.flag("c", false) && form.flag("c", true) && form.flag("d", true));
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_as_a_form(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
            let form = Form::decode(&noise);
            let _ = (form.text("a"), form.number("a"));
        }

        #[test]
        fn encoded_pairs_are_decoded(value in "\\PC{0,20}") {
            let encoded = percent_encoding::utf8_percent_encode(&value, percent_encoding::NON_ALPHANUMERIC);
            let form = Form::decode(format!("v={encoded}").as_bytes());
            prop_assert_eq!(form.bytes("v").unwrap(), value.as_bytes());
        }
    }
}
