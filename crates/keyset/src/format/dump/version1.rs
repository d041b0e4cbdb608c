//! Reading dump, version 1 (written up to 0.9.2): `keyNew`, `keyMeta` and
//! `keyCopyMeta` with NUL-terminated fields, then the rest of the line.

use super::line::split_word;
use super::reader::{Counted, Parser, unknown_command};
use crate::format::Fault;
use crate::format::error::Looseness;
use crate::format::input::Input;
use crate::format::sink::{Field, Sink, StoredValue};

/// Parses the commands of a file, starting with its first line.
pub(super) fn commands<I: Input, S: Sink>(
    parser: &mut Parser<'_, I, S>,
    first: I::Bytes,
) -> Result<(), Box<Fault>> {
    let mut line = Some(first);
    while let Some(command) = line {
        if !parser.command(command.as_ref())? {
            // A key without `keyEnd` is dropped.
            parser.open = false;
            return Ok(());
        }
        parser.item = parser.input.offset();
        line = parser.input.line()?;
    }
    parser.open = false;
    parser.loose(Looseness::End)
}

impl<I: Input, S: Sink> Parser<'_, I, S> {
    /// Parses one command; returns `false` after the last.
    fn command(&mut self, line: &[u8]) -> Result<bool, Box<Fault>> {
        let (command, rest) = split_word(line);
        match command {
            b"kdbOpen" => check_version(split_word(rest).0)?,
            b"ksNew" => self.sink.clear()?,
            b"keyNew" => self.key_new(rest)?,
            b"keyMeta" => self.key_meta(rest)?,
            b"keyCopyMeta" => self.key_copy_meta(rest)?,
            b"keyEnd" => self.close_key()?,
            b"ksEnd" => return Ok(false),
            other => return Err(unknown_command(other)),
        }
        Ok(true)
    }

    fn key_new(&mut self, rest: &[u8]) -> Result<(), Box<Fault>> {
        let [name, value] = self.fields(rest)?;
        self.sink.key(without_nul(name.field()), StoredValue::Raw(value.field()))?;
        self.open = true;
        Ok(())
    }

    fn key_meta(&mut self, rest: &[u8]) -> Result<(), Box<Fault>> {
        let [name, value] = self.fields(rest)?;
        if !self.open {
            return self.loose(Looseness::StrayMeta);
        }
        self.sink.meta(without_nul(name.field()), without_nul(value.field()))
    }

    fn key_copy_meta(&mut self, rest: &[u8]) -> Result<(), Box<Fault>> {
        let [key, name] = self.fields(rest)?;
        if !self.open {
            return self.loose(Looseness::StrayMeta);
        }
        self.sink.copy_meta(without_nul(key.field()), without_nul(name.field()))
    }

    fn fields(&mut self, rest: &[u8]) -> Result<[Counted<I::Bytes>; 2], Box<Fault>> {
        let (first, second) = self.lengths(rest)?;
        let fields = [self.counted(first)?, self.counted(second)?];
        self.input.line()?;
        Ok(fields)
    }
}

fn check_version(version: &[u8]) -> Result<(), Box<Fault>> {
    if version == b"1" {
        return Ok(());
    }
    let version = String::from_utf8_lossy(version).into_owned();
    Err(Box::new(Fault::UnknownVersion { format: "dump", version }))
}

fn without_nul(field: Field<'_>) -> Field<'_> {
    Field { bytes: field.bytes.strip_suffix(b"\0").unwrap_or(field.bytes), ..field }
}
