//! Text formats to exchange key sets with other programs: JSON, TOML and INI.
//!
//! Each is lossless except for which metakeys are shared, and each reads files that were not written from a key set.
//! JSON and TOML nest: the parts of a name are the levels, `#0`, `#1`, … an array, and a value that other programs
//! understand is written as is. A key that needs more has a member `@`:
//!
//! ```json
//! {"port": {"@": {"value": "80", "meta": {"comment/#0": "plain HTTP"}}}}
//! ```
//!
//! Numbers, booleans and null are string keys with the metakey `type` (`long`, `double`, `boolean` with `1` and `0`)
//! and the binary null key. In INI the section contains the parts before the last, and metakeys are written as `;@
//! name = value` before the entry.
//!
//! A document written by a person or another program is not rewritten, but edited where a key changed: see [`edit()`].

mod document;
mod edit;
mod ini;
mod json;
mod literal;
mod read;
mod toml;
mod tree;
mod write;

use std::io::Write;

use self::document::Node;
pub use self::edit::edit;
use crate::format::{Fault, Format, ReadError, WriteError};
use crate::keyset::KeySet;
use crate::name::KeyName;

/// Reads a text format.
pub(crate) fn read(bytes: &[u8], parent: &KeyName, format: Format) -> Result<KeySet, ReadError> {
    if format == Format::Ini {
        return ini::read(bytes, parent);
    }
    let keys = read::keys(&parse(bytes, format)?, parent);
    keys.map_err(|misfit| fault(format.name(), bytes, misfit.at, misfit.message))
}

/// Writes a text format.
pub(crate) fn write(
    keys: &KeySet,
    parent: &KeyName,
    format: Format,
    mut out: impl Write,
) -> Result<(), WriteError> {
    let text = match format {
        Format::Ini => ini::text(keys, parent)?,
        Format::Toml => toml::text(&write::tree(keys, parent, format)?),
        _ => json::text(&write::tree(keys, parent, format)?),
    };
    Ok(out.write_all(&text)?)
}

/// Parses a document of a nesting format.
fn parse(bytes: &[u8], format: Format) -> Result<Node, ReadError> {
    if format == Format::Toml { toml::parse(bytes) } else { json::parse(bytes) }
}

/// An error in a text, with line and column.
fn fault(format: &'static str, text: &[u8], offset: usize, message: impl ToString) -> ReadError {
    let before = &text[..offset.min(text.len())];
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    let column = 1 + before.iter().rev().take_while(|byte| **byte != b'\n').count();
    let message = format!("{} (line {line}, column {column})", message.to_string());
    ReadError { offset: offset as u64, fault: Fault::Text { format, message } }
}
