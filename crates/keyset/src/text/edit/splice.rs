//! Replacements of ranges of a text.

use std::ops::Range;

/// A range of a text and its replacement.
#[derive(Debug)]
pub(in crate::text) struct Splice {
    pub(in crate::text) range: Range<usize>,
    pub(in crate::text) text: Vec<u8>,
}

impl Splice {
    pub(in crate::text) fn replace(range: Range<usize>, text: impl Into<Vec<u8>>) -> Self {
        Self { range, text: text.into() }
    }

    pub(in crate::text) fn insert(at: usize, text: impl Into<Vec<u8>>) -> Self {
        Self::replace(at..at, text)
    }

    pub(in crate::text) fn remove(range: Range<usize>) -> Self {
        Self::replace(range, "")
    }
}

/// Applies the replacements, whose ranges do not overlap.
pub(in crate::text) fn apply(text: &[u8], mut splices: Vec<Splice>) -> Vec<u8> {
    splices.sort_by_key(|splice| splice.range.start);
    let mut out = Vec::with_capacity(text.len());
    let mut from = 0;
    for splice in splices {
        out.extend_from_slice(&text[from..splice.range.start.max(from)]);
        out.extend_from_slice(&splice.text);
        from = splice.range.end.max(from);
    }
    out.extend_from_slice(&text[from..]);
    out
}

/// Where a text starts, after any byte order mark.
pub(in crate::text) fn text_start(text: &[u8]) -> usize {
    if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }
}

/// The end of the line containing `at`, including its line break.
pub(in crate::text) fn line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |found| at + found + 1)
}

/// The start of the line containing `at`.
pub(in crate::text) fn line_start(text: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &text[..at]).map_or_else(|| text_start(text).min(at), |found| found + 1)
}

/// The line ending of a text.
pub(in crate::text) fn line_break(text: &[u8]) -> &'static str {
    let first = memchr::memchr(b'\n', text);
    if first.is_some_and(|at| text[..at].ends_with(b"\r")) { "\r\n" } else { "\n" }
}

/// Inserts lines at `at`, which is the start of a line or the end of the text.
pub(in crate::text) fn insert_lines(text: &[u8], at: usize, lines: &[Vec<u8>]) -> Splice {
    let line_break = line_break(text).as_bytes();
    let starts_line = at <= text_start(text) || text[..at].ends_with(b"\n");
    let mut inserted = Vec::new();
    for line in lines {
        let parts = if starts_line { [line, line_break] } else { [line_break, line] };
        inserted.extend_from_slice(&parts.concat());
    }
    Splice::insert(at, inserted)
}

/// Inserts lines at the end, after a blank line.
pub(in crate::text) fn append_lines(text: &[u8], mut lines: Vec<Vec<u8>>) -> Splice {
    let last = text.trim_ascii_end().len();
    let breaks = text[last..].iter().filter(|byte| **byte == b'\n').count();
    if last > 0 && breaks < 2 {
        lines.insert(0, Vec::new());
    }
    insert_lines(text, text.len(), &lines)
}

/// The position for lines that come before everything else up to `limit`: after the comments at the top, if these are
/// followed by a blank line.
pub(in crate::text) fn top(text: &[u8], limit: usize) -> usize {
    let start = text_start(text);
    let (mut at, mut blank) = (start, start);
    for line in text[start..limit.max(start)].split_inclusive(|byte| *byte == b'\n') {
        at += line.len();
        if line.trim_ascii().is_empty() && line.ends_with(b"\n") {
            blank = at;
        }
    }
    blank
}
