//! Changes to an INI document: to a value, to the metakeys before it, or to whole entries.

use std::ops::Range;

use super::lines::{Assignment, Statement, lines};
use super::{entry_lines, header, meta_line, quoted, split_name, written};
use crate::format::WriteError;
use crate::key::KeyRef;
use crate::name::KeyName;
use crate::text::edit::not_editable;
use crate::text::edit::splice::{Splice, append_lines, insert_lines, line_start, text_start, top};

/// An entry of a document and its metakeys.
struct Entry {
    name: KeyName,
    section: KeyName,
    span: Range<usize>,
    assignment: Assignment,
    metas: Vec<(Range<usize>, Assignment)>,
}

/// A section of a document.
struct Section {
    name: KeyName,
    /// Where its header ends, or the document starts.
    start: usize,
}

struct Document {
    sections: Vec<Section>,
    entries: Vec<Entry>,
}

/// The changes that set a key's value and metakeys.
pub(in crate::text) fn set(
    text: &[u8],
    key: KeyRef<'_>,
    parent: &KeyName,
) -> Result<Vec<Splice>, WriteError> {
    let name = key.name().to_name();
    let document = document(text, parent);
    match document.entries.iter().rev().find(|entry| entry.name == name) {
        Some(entry) => Ok(changes(text, entry, key)),
        None => Ok(vec![added(text, &document, key, parent)?]),
    }
}

/// The changes that remove a key.
pub(in crate::text) fn remove(
    text: &[u8],
    key: KeyRef<'_>,
    parent: &KeyName,
) -> Result<Vec<Splice>, WriteError> {
    let name = key.name().to_name();
    let document = document(text, parent);
    let mut found = document.entries.iter().filter(|entry| entry.name == name);
    let (Some(entry), None) = (found.next(), found.next()) else {
        return Err(not_editable(key, "the document has it twice: remove one by hand"));
    };
    let metas = entry.metas.iter().map(|(span, _)| span.clone());
    Ok(metas.chain([entry.span.clone()]).map(Splice::remove).collect())
}

/// The entries of a document that was read before; other lines are skipped.
fn document(text: &[u8], parent: &KeyName) -> Document {
    let mut sections = vec![Section { name: parent.clone(), start: text_start(text) }];
    let mut entries = Vec::new();
    let mut metas = Vec::new();
    for line in lines(text).filter_map(Result::ok) {
        let section = sections.last().map_or_else(|| parent.clone(), |last| last.name.clone());
        match line.statement {
            Statement::Section(name) => {
                let name = parent.join(name).unwrap_or_else(|_| parent.clone());
                sections.push(Section { name, start: line.span.end });
            }
            Statement::Meta(meta) => metas.push((line.span, meta)),
            Statement::Entry(assignment) => {
                let name = section.join(&assignment.name).unwrap_or_else(|_| section.clone());
                let metas = std::mem::take(&mut metas);
                entries.push(Entry { name, section, span: line.span, assignment, metas });
            }
        }
    }
    Document { sections, entries }
}

/// The changes to an existing entry.
fn changes(text: &[u8], entry: &Entry, key: KeyRef<'_>) -> Vec<Splice> {
    let mut splices = Vec::new();
    let value = written(key);
    if text[entry.assignment.place.clone()] != value[..] && !has_value_of(&entry.assignment, key) {
        splices.push(assigned(&entry.assignment, &value));
    }
    for (span, meta) in &entry.metas {
        if key.meta_value(&meta.name).is_none() {
            splices.push(Splice::remove(span.clone()));
        }
    }
    for meta in key.meta() {
        match entry.metas.iter().rev().find(|(_, old)| is_name(&old.name, meta.name())) {
            Some((_, old)) if old.value == meta.value() => {}
            Some((_, old)) => splices.push(assigned(old, &quoted(meta.value()))),
            None => {
                let line = meta_line(meta.name(), meta.value());
                let indent = text[entry.span.clone()].iter().take_while(|byte| **byte == b' ');
                let line = indent.copied().chain(line).collect();
                splices.push(insert_lines(text, entry.span.start, &[line]));
            }
        }
    }
    splices
}

/// Whether an entry has the key's value, however it is written.
fn has_value_of(entry: &Assignment, key: KeyRef<'_>) -> bool {
    !key.value().is_binary() && entry.value == key.value().as_bytes()
}

/// Whether a name, as written, is that of a metakey.
fn is_name(written: &[u8], name: &[u8]) -> bool {
    crate::meta::canonical_name(written).is_ok_and(|written| written == name)
}

/// The change of an assigned value.
fn assigned(assignment: &Assignment, value: &[u8]) -> Splice {
    let place = assignment.place.clone();
    match (assignment.has_sign, place.is_empty()) {
        (true, false) => Splice::replace(place, value),
        (true, true) => Splice::insert(place.start, [b" ", value].concat()),
        (false, _) => Splice::insert(place.start, [b" = ", value].concat()),
    }
}

/// A new entry: in its section, or in one at the end.
fn added(
    text: &[u8],
    document: &Document,
    key: KeyRef<'_>,
    parent: &KeyName,
) -> Result<Splice, WriteError> {
    let (section, name) = split_name(key, parent)?;
    let wanted = parent.join(&section).unwrap_or_else(|_| parent.clone());
    let mut lines = entry_lines(&name, key);
    let Some(found) = document.sections.iter().rev().find(|section| section.name == wanted) else {
        lines.insert(0, header(&section));
        return Ok(append_lines(text, lines));
    };
    let next = document.sections.iter().map(|section| section.start).find(|at| *at > found.start);
    let within = |entry: &&Entry| {
        entry.section == wanted
            && entry.span.start >= found.start
            && next.is_none_or(|next| entry.span.start < next)
    };
    let last = document.entries.iter().rfind(within).map(|entry| entry.span.end);
    let is_top = found.start == text_start(text);
    let at = match last {
        Some(end) => end,
        None if is_top => top(text, first_line(text, document)),
        None => found.start,
    };
    Ok(insert_lines(text, at, &lines))
}

/// The position of the first line that is a header or an entry.
fn first_line(text: &[u8], document: &Document) -> usize {
    let header = document.sections.get(1).map(|section| {
        let ends_line = text[..section.start].ends_with(b"\n");
        line_start(text, section.start - usize::from(ends_line))
    });
    header.unwrap_or(text.len())
}
