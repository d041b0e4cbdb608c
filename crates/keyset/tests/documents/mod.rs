//! Random JSON, TOML and INI documents in the style of hand-written ones, with the positions of
//! their values.
#![allow(dead_code, reason = "each test binary uses a part")]

mod ini;
mod json;
mod toml;

use std::ops::Range;

use cenote_keyset::Format;
use proptest::prelude::*;

/// A document and its scalars.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) format: Format,
    pub(crate) text: Vec<u8>,
    /// The effective values: of duplicates, the last.
    pub(crate) leaves: Vec<Leaf>,
}

/// A scalar of a document.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) parts: Vec<String>,
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
    /// Whether removing it alone may be refused.
    pub(crate) may_stay: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Integer,
    Float,
    Boolean,
    Date,
}

/// Random bytes that determine the next elements.
pub(crate) struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    /// A number below `limit`; 0 once there are no more bytes.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0.next().map_or(0, |byte| usize::from(*byte)) % limit
    }

    pub(crate) fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// A document of any of the formats.
pub(crate) fn document() -> impl Strategy<Value = Document> {
    let formats = prop::sample::select(vec![Format::Json, Format::Toml, Format::Ini]);
    (formats, prop::collection::vec(any::<u8>(), 0..120)).prop_map(|(format, bytes)| {
        let mut writer = Writer { text: String::new(), leaves: Vec::new(), eol: "\n" };
        let mut choices = Choices(bytes.iter());
        writer.eol = choices.one_of(&["\n", "\n", "\r\n"]);
        match format {
            Format::Json => json::write(&mut writer, &mut choices),
            Format::Toml => toml::write(&mut writer, &mut choices),
            _ => ini::write(&mut writer, &mut choices),
        }
        Document { format, text: writer.text.into_bytes(), leaves: writer.leaves }
    })
}

/// A document being written.
pub(crate) struct Writer {
    pub(crate) text: String,
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) eol: &'static str,
}

impl Writer {
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(crate) fn leaf(&mut self, parts: &[String], text: &str, kind: Kind) {
        let start = self.text.len();
        self.text.push_str(text);
        let span = start..self.text.len();
        self.leaves.push(Leaf { parts: parts.to_vec(), span, kind, may_stay: false });
    }

    /// A value that is not a leaf replaces everything below this name.
    pub(crate) fn shadow(&mut self, parts: &[String], from: usize) {
        let shadowed = |leaf: &Leaf| leaf.parts.starts_with(parts);
        let mut at = 0;
        self.leaves.retain(|leaf| {
            at += 1;
            at > from || !shadowed(leaf)
        });
    }

    /// Removing what was written since `from` may be refused.
    pub(crate) fn may_stay(&mut self, from: usize) {
        self.leaves[from..].iter_mut().for_each(|leaf| leaf.may_stay = true);
    }
}

pub(crate) fn below(parts: &[String], part: &str) -> Vec<String> {
    [parts, &[part.to_owned()]].concat()
}

/// The name part of an array element below 10.
pub(crate) fn element(index: usize) -> String {
    format!("#{index}")
}
