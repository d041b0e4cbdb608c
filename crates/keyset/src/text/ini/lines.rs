//! The lines of an INI document, each with its position in the text.
//!
//! Grammar: `[section]`, `name = value`, `;@ metakey = value` before the entry that it belongs to, comments after `;`
//! or `#`; quoted names and values may contain escapes.

use std::ops::Range;

use crate::text::edit::splice::text_start;

/// Starts a line that gives the next entry a metakey.
pub(super) const META: &str = ";@";

/// The content of a line.
pub(super) enum Statement {
    Section(Vec<u8>),
    Meta(Assignment),
    Entry(Assignment),
}

/// A name and what is assigned to it.
pub(super) struct Assignment {
    pub(super) name: Vec<u8>,
    pub(super) value: Vec<u8>,
    /// The range of the value, including quotes; without a `=`, the position after the name.
    pub(super) place: Range<usize>,
    pub(super) has_sign: bool,
}

/// A line with content.
pub(super) struct Line {
    /// Including its line break.
    pub(super) span: Range<usize>,
    pub(super) statement: Statement,
}

/// What is wrong with a line, and where it starts.
pub(super) struct BadLine {
    pub(super) at: usize,
    pub(super) message: &'static str,
}

/// The lines with content.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = Result<Line, BadLine>> {
    let mut next = text_start(text);
    let lines = text[next..].split_inclusive(|byte| *byte == b'\n').map(move |line| {
        let start = next;
        next += line.len();
        let statement = statement(line, start);
        (start..next, statement)
    });
    lines.filter_map(|(span, statement)| match statement {
        Ok(statement) => Some(Ok(Line { span, statement: statement? })),
        Err(message) => Some(Err(BadLine { at: span.start, message })),
    })
}

fn statement(line: &[u8], at: usize) -> Result<Option<Statement>, &'static str> {
    let at = at + line.len() - line.trim_ascii_start().len();
    Ok(match line.trim_ascii() {
        line if line.starts_with(META.as_bytes()) => {
            Some(Statement::Meta(assignment(&line[META.len()..], at + META.len())?))
        }
        [] | [b';' | b'#', ..] => None,
        [b'[', name @ .., b']'] => Some(Statement::Section(unquoted(name)?)),
        [b'[', ..] => return Err("a section ends with `]`"),
        line => Some(Statement::Entry(assignment(line, at)?)),
    })
}

/// The two sides of the `=`; a name alone has an empty value.
fn assignment(line: &[u8], at: usize) -> Result<Assignment, &'static str> {
    let blanks = line.len() - line.trim_ascii_start().len();
    let (line, at) = (line.trim_ascii(), at + blanks);
    let from = if line.starts_with(b"\"") { quoted_len(line)? } else { 0 };
    let sign = line[from..].iter().position(|byte| *byte == b'=').map(|found| from + found);
    let (name, value) = sign.map_or((line, &[][..]), |sign| (&line[..sign], &line[sign + 1..]));
    let end = at + line.len();
    let start = end - value.trim_ascii_start().len();
    Ok(Assignment {
        name: unquoted(name)?,
        value: unquoted(value)?,
        place: start..end,
        has_sign: sign.is_some(),
    })
}

/// The length in bytes of the quoted text at the start.
fn quoted_len(text: &[u8]) -> Result<usize, &'static str> {
    let mut escaped = false;
    let end = text[1..].iter().position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    end.map(|end| end + 2).ok_or("a quote is not closed")
}

fn unquoted(text: &[u8]) -> Result<Vec<u8>, &'static str> {
    let text = text.trim_ascii();
    if !text.starts_with(b"\"") {
        return Ok(text.to_vec());
    }
    if quoted_len(text)? != text.len() {
        return Err("something follows a closing quote");
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = &text[1..text.len() - 1];
    while let [first, after @ ..] = rest {
        rest = after;
        match first {
            b'\\' => bytes.push(unescape(&mut rest)?),
            byte => bytes.push(*byte),
        }
    }
    Ok(bytes)
}

/// The byte escaped by a backslash.
fn unescape(rest: &mut &[u8]) -> Result<u8, &'static str> {
    let (byte, len) = match rest {
        [b'n', ..] => (Some(b'\n'), 1),
        [b't', ..] => (Some(b'\t'), 1),
        [b'x', high, low, ..] => (hex(*high).zip(hex(*low)).map(|(h, l)| h << 4 | l), 3),
        [byte @ (b'"' | b'\\'), ..] => (Some(*byte), 1),
        _ => (None, 0),
    };
    *rest = &rest[len..];
    byte.ok_or("an escape is one of \\\\ \\\" \\n \\t \\xHH")
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// The text, quoted if it would otherwise be read as something else.
pub(super) fn quoted(text: &[u8]) -> Vec<u8> {
    let odd = |byte: &u8| byte.is_ascii_control() || matches!(byte, b'"' | b'=' | b']');
    let edge =
        |byte: Option<&u8>| byte.is_none_or(|byte| matches!(byte, b' ' | b';' | b'#' | b'['));
    let bare = !text.iter().any(odd) && !edge(text.first()) && text.last() != Some(&b' ');
    let is_mark = text.starts_with(b"\xef\xbb\xbf");
    if bare && !is_mark && std::str::from_utf8(text).is_ok() {
        return text.to_vec();
    }
    let mut quoted = b"\"".to_vec();
    for &byte in text {
        match byte {
            b'"' | b'\\' => quoted.extend_from_slice(&[b'\\', byte]),
            b'\n' => quoted.extend_from_slice(b"\\n"),
            b' '..=b'~' => quoted.push(byte),
            other => quoted.extend_from_slice(format!("\\x{other:02x}").as_bytes()),
        }
    }
    quoted.push(b'"');
    quoted
}
