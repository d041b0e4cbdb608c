//! The name under which bytes were sent: a statement of their description, and `Content-Disposition` in requests and answers (RFC 6266).
//!
//! Names in other characters than those of ASCII come as `filename*` (RFC 8187), or as the bytes of UTF-8, as browsers send them in forms.
//! What is not understood is ignored, as it is by browsers: a name is no reason to refuse bytes.

use axum::http::{HeaderMap, header};
use cenote_store::{Graph, Statement, Term};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::ldp::representation::vocabulary::FILENAME;

/// Characters of an extended value that are not encoded (`attr-char` of RFC 8187).
const ATTR_CHAR: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

/// The name that a description has.
pub(crate) fn stated(description: &Graph) -> Option<&str> {
    description.iter().find(|it| is_name(it)).map(|it| it.object.text())
}

/// A description with this name, or with none.
pub(crate) fn settled(description: &Graph, name: Option<&str>) -> Graph {
    let statement = name.map(|name| Statement {
        subject: None,
        predicate: FILENAME.to_owned(),
        object: Term::string(name),
        unit: None,
    });
    description.iter().filter(|it| !is_name(it)).cloned().chain(statement).collect()
}

fn is_name(statement: &Statement) -> bool {
    statement.subject.is_none() && statement.predicate == FILENAME
}

/// The name in `Content-Disposition`, without the directories that some clients send.
pub(crate) fn sent(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_DISPOSITION)?.as_bytes();
    let text = String::from_utf8(value.to_vec()).unwrap_or_else(|_| latin1(value));
    let (_, parameters) = text.split_once(';')?;
    let parameters: Vec<_> = parameters_of(parameters).collect();
    let value = |wanted: &str| {
        let mut named = parameters.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
        named.next().map(|(_, value)| value.as_str())
    };
    let named = value("filename*").and_then(extended);
    base(&named.or_else(|| value("filename").map(str::to_owned))?)
}

/// The parameters after the first semicolon, each with its value.
fn parameters_of(mut rest: &str) -> impl Iterator<Item = (&str, String)> {
    std::iter::from_fn(move || {
        let (name, after) = rest.split_once('=')?;
        // Parameters without a value are passed over.
        let name = name.rsplit(';').next().unwrap_or_default().trim();
        let after = after.trim_start();
        let (value, left) = match after.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                let (value, left) = after.split_at(after.find(';').unwrap_or(after.len()));
                (value.trim().to_owned(), left)
            }
        };
        rest = left;
        Some((name, value))
    })
}

/// What is before the closing quote, and what follows it. A backslash escapes quotes and backslashes; before anything else it is itself, as
/// in the paths that some clients send.
fn unquoted(quoted: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = quoted.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => {
                let escaped = characters.next_if(|(_, next)| matches!(next, '"' | '\\'));
                value.push(escaped.map_or('\\', |(_, escaped)| escaped));
            }
            _ => value.push(character),
        }
    }
    (value, "")
}

/// A value with its character set, a language and percent-encoded bytes.
fn extended(value: &str) -> Option<String> {
    let (charset, rest) = value.split_once('\'')?;
    let (_, encoded) = rest.split_once('\'')?;
    let bytes: Vec<u8> = percent_decode_str(encoded).collect();
    match charset.to_ascii_lowercase().as_str() {
        "utf-8" => String::from_utf8(bytes).ok(),
        "iso-8859-1" => Some(latin1(&bytes)),
        _ => None,
    }
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// The last segment of a path, without control characters.
fn base(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next()?;
    let name: String = name.chars().filter(|character| !character.is_control()).collect();
    (!matches!(name.trim(), "" | "." | "..")).then_some(name)
}

/// The value of `Content-Disposition` that has a name: in ASCII for every client, and as it is if that is not the same.
pub(crate) fn disposition(name: &str) -> String {
    let is_plain =
        |character: &char| matches!(character, ' '..='~') && !matches!(character, '"' | '\\' | '%');
    let plain: String = name.chars().map(|it| if is_plain(&it) { it } else { '_' }).collect();
    let exact = match plain == name {
        true => String::new(),
        false => format!("; filename*=UTF-8''{}", utf8_percent_encode(name, ATTR_CHAR)),
    };
    format!("attachment; filename=\"{plain}\"{exact}")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn sent(value: &[u8]) -> Option<String> {
        let Ok(value) = HeaderValue::from_bytes(value) else { return None };
        super::sent(&HeaderMap::from_iter([(header::CONTENT_DISPOSITION, value)]))
    }

    #[test]
    fn a_name_is_found_wherever_it_is() {
        for (value, name) in [
            ("attachment; filename=a.txt", Some("a.txt")),
            ("attachment; filename=\"a b.txt\"", Some("a b.txt")),
            ("form-data; name=\"filename=no\"; filename=\"a;b\"", Some("a;b")),
            ("attachment; x; FILENAME = a ; y=z", Some("a")),
            (r#"attachment; filename="a\"b""#, Some("a\"b")),
            (r#"attachment; filename="C:\dir\a.txt""#, Some("a.txt")),
            ("attachment; filename=\"/etc/passwd\"", Some("passwd")),
            ("attachment; filename=b; filename*=UTF-8''%e2%82%ac%20a", Some("€ a")),
            ("attachment; filename*=utf-8'de'a; filename=b", Some("a")),
            ("attachment; filename*=ISO-8859-1''%A3", Some("£")),
            ("attachment; filename*=UTF-8''..%2fa", Some("a")),
            ("attachment; filename=b; filename*=UTF-8''%ff", Some("b")),
            ("attachment; filename=b; filename*=koi8-r''%C1", Some("b")),
            ("attachment; filename=b; filename*=broken", Some("b")),
            ("attachment; filename=\"n\u{e4}me\"", Some("näme")),
            ("attachment; filename*=UTF-8''a%0d%0ab", Some("ab")),
            ("attachment; filename=\"open", Some("open")),
            ("attachment; filename=\"\"", None),
            ("attachment; filename=..", None),
            ("attachment; filename=a/", None),
            ("attachment", None),
            ("filename=a", None),
            ("", None),
        ] {
            assert_eq!(sent(value.as_bytes()).as_deref(), name, "{value}");
        }
        assert_eq!(sent(b"attachment; filename=\"n\xe4me\"").as_deref(), Some("näme"));
    }

    proptest! {
        #[test]
        fn any_value_is_read(value in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = sent(&value);
        }

        #[test]
        fn any_text_is_read(value in "attachment(;| |=|filename|\\*|\"|\\\\|'|UTF-8|%|é|a){0,20}") {
            let name = sent(value.as_bytes());
            prop_assert!(name.is_none_or(|name| !name.is_empty() && !name.contains(['/', '\n'])));
        }

        #[test]
        fn a_name_comes_back_as_it_was_sent(name in "[^/\\\\\\pC]{1,12}") {
            prop_assume!(!matches!(name.trim(), "" | "." | ".."));
            prop_assert_eq!(sent(disposition(&name).as_bytes()), Some(name));
        }
    }
}
