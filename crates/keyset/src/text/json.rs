//! JSON text.

use serde_json::Value;

use super::fault;
use crate::format::{ReadError, WriteError};

pub(super) fn parse(bytes: &[u8]) -> Result<Value, ReadError> {
    serde_json::from_slice(bytes)
        .map_err(|error| fault("json", offset(bytes, error.line(), error.column()), error))
}

pub(super) fn text(value: &Value) -> Result<Vec<u8>, WriteError> {
    let mut text = serde_json::to_vec_pretty(value).map_err(std::io::Error::from)?;
    text.push(b'\n');
    Ok(text)
}

/// Where a line and column, both from 1, are in the text.
fn offset(bytes: &[u8], line: usize, column: usize) -> usize {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines.take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    (before + column.saturating_sub(1)).min(bytes.len())
}
