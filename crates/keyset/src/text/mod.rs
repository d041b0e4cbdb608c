//! Text formats to exchange key sets with other programs: JSON, TOML and INI.
//!
//! Each is lossless but for which metakeys are shared, and each reads files
//! that never saw a key set. JSON and TOML nest: the parts of a name are the
//! levels, `#0`, `#1`, … an array, and a value that other programs know is
//! itself. A key that needs more has a member `@`:
//!
//! ```json
//! {"port": {"@": {"value": "80", "meta": {"comment/#0": "plain HTTP"}}}}
//! ```
//!
//! Numbers, booleans and null are string keys with the metakey `type` (`long`,
//! `double`, `boolean` with `1` and `0`) and the binary null key. INI writes the
//! parts before the last as the section, and metakeys as `;@ name = value`
//! before the entry.

mod ini;
mod json;
mod toml;
mod tree;

use std::io::Write;

use crate::format::{Fault, Format, ReadError, WriteError};
use crate::keyset::KeySet;
use crate::name::KeyName;

/// Reads a text format.
pub(crate) fn read(bytes: &[u8], parent: &KeyName, format: Format) -> Result<KeySet, ReadError> {
    match format {
        Format::Ini => ini::read(bytes, parent),
        Format::Toml => tree::keys(toml::parse(bytes)?, parent).map_err(at_start),
        _ => tree::keys(json::parse(bytes)?, parent).map_err(at_start),
    }
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
        Format::Toml => toml::text(&tree::value(keys, parent, format)?)?,
        _ => json::text(&tree::value(keys, parent, format)?)?,
    };
    Ok(out.write_all(&text)?)
}

/// An error that has no better place than the file as a whole.
fn at_start(fault: Fault) -> ReadError {
    ReadError { offset: 0, fault }
}

fn fault(format: &'static str, offset: usize, message: impl ToString) -> ReadError {
    let fault = Fault::Text { format, message: message.to_string() };
    ReadError { offset: offset as u64, fault }
}
