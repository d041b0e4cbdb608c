//! Reading dump, version 2.
//!
//! ```text
//! kdbOpen 2
//! $key <string|binary> <name length> <value length>
//! <name>
//! <value>
//! $meta <name length> <value length>             (of the last key)
//! <name>
//! <value>
//! $copymeta <key name length> <name length>      (shared with an earlier key)
//! <key name>
//! <name>
//! $end
//! ```
//!
//! Like the real reader, this treats the missing bytes of a truncated file as NULs, once it has seen a line end.

use super::line::{self, split_word};
use super::{HEADER, version1};
use crate::format::error::Looseness;
use crate::format::input::Input;
use crate::format::sink::{Field, NameForm, Sink, StoredValue};
use crate::format::{Fault, ReadError};

/// A length beyond this that exceeds the file is considered invalid rather than a sign of truncation; the real reader
/// crashes on such lengths.
const MAX_CUT: u64 = u32::MAX as u64 >> 1;

/// Parses a whole file into `sink`.
pub(crate) fn parse(
    input: impl Input,
    full_names: bool,
    strict: bool,
    sink: &mut impl Sink,
) -> Result<(), ReadError> {
    let mut parser = Parser { input, sink, strict, open: false, line_ended: false, item: 0 };
    parser.file(full_names).map_err(|fault| ReadError { offset: parser.item, fault: *fault })
}

pub(super) struct Parser<'s, I, S> {
    pub(super) input: I,
    pub(super) sink: &'s mut S,
    pub(super) strict: bool,
    /// Whether a key has been started and not yet ended.
    pub(super) open: bool,
    /// Whether any line after a command has ended so far.
    line_ended: bool,
    /// Where the item being parsed starts.
    pub(super) item: u64,
}

/// Bytes that may be truncated at the end of the file.
pub(super) struct Counted<B> {
    bytes: B,
    offset: u64,
    missing: u64,
}

impl<B: AsRef<[u8]>> Counted<B> {
    pub(super) fn field(&self) -> Field<'_> {
        Field { offset: self.offset, bytes: self.bytes.as_ref() }
    }
}

impl<I: Input, S: Sink> Parser<'_, I, S> {
    fn file(&mut self, full_names: bool) -> Result<(), Box<Fault>> {
        let Some(first) = self.input.line()? else { return self.sink.end() };
        if first.as_ref() == HEADER {
            let form = if full_names { NameForm::Full } else { NameForm::Relative };
            self.sink.begin(form)?;
            self.commands()?;
        } else {
            self.sink.begin(NameForm::Old)?;
            version1::commands(self, first)?;
        }
        self.close_key()?;
        self.sink.end()
    }

    fn commands(&mut self) -> Result<(), Box<Fault>> {
        loop {
            self.item = self.input.offset();
            let Some(line) = self.input.line()? else { return self.loose(Looseness::End) };
            let (command, rest) = split_word(line.as_ref());
            match command {
                b"$meta" => self.meta(rest)?,
                b"$key" => self.key(rest)?,
                b"$copymeta" => self.copy_meta(rest)?,
                b"$end" => break,
                other => return Err(unknown_command(other)),
            }
        }
        match self.input.byte()? {
            Some(_) => self.loose(Looseness::End),
            None => Ok(()),
        }
    }

    #[inline]
    fn key(&mut self, rest: &[u8]) -> Result<(), Box<Fault>> {
        self.close_key()?;
        let (kind, rest) = split_word(rest);
        let (name, value) = self.lengths(rest)?;
        let name = self.counted_line(name)?;
        let value = match kind {
            b"string" | b"binary" => self.counted_line(value)?,
            other => {
                let kind = String::from_utf8_lossy(other).into();
                return Err(Box::new(Fault::UnknownType(kind)));
            }
        };
        let stored = match kind {
            b"string" => StoredValue::String(value.field()),
            _ => StoredValue::Binary(value.field(), self.padding(&value)?),
        };
        self.sink.key(name.field(), stored)?;
        self.open = true;
        let recognised = self.sink.recognise(self.input.rest(), self.input.offset());
        self.input.up_to(recognised as u64)?;
        Ok(())
    }

    #[inline]
    fn meta(&mut self, rest: &[u8]) -> Result<(), Box<Fault>> {
        let (name, value) = self.lengths(rest)?;
        let name = self.counted_line(name)?;
        let value = self.counted_line(value)?;
        if !self.open {
            return self.loose(Looseness::StrayMeta);
        }
        self.sink.meta(name.field(), value.field())
    }

    fn copy_meta(&mut self, rest: &[u8]) -> Result<(), Box<Fault>> {
        let (key, name) = self.lengths(rest)?;
        let key = self.counted_line(key)?;
        let name = self.counted_line(name)?;
        if !self.open {
            return self.loose(Looseness::StrayMeta);
        }
        self.sink.copy_meta(key.field(), name.field())
    }

    pub(super) fn close_key(&mut self) -> Result<(), Box<Fault>> {
        if std::mem::take(&mut self.open) { self.sink.end_key() } else { Ok(()) }
    }

    /// The two lengths of a command line; anything after them is ignored.
    #[inline]
    pub(super) fn lengths(&self, rest: &[u8]) -> Result<(u64, u64), Box<Fault>> {
        let (first, second) = line::lengths(rest).ok_or_else(|| Box::new(Fault::BadLength))?;
        if self.strict && !line::ends_with_lengths(rest, first, second) {
            return Err(Looseness::LongLength.into());
        }
        Ok((first, second))
    }

    /// Takes `len` bytes and the following LF.
    #[inline(always)]
    fn counted_line(&mut self, len: u64) -> Result<Counted<I::Bytes>, Box<Fault>> {
        let counted = self.counted(len)?;
        match self.input.byte()? {
            Some(b'\n') => {
                self.line_ended = true;
                Ok(counted)
            }
            Some(other) => Err(Box::new(Fault::ExpectedNewline(other))),
            None if !self.line_ended => Err(Box::new(Fault::UnexpectedEnd)),
            None => self.loose(Looseness::End).map(|()| counted),
        }
    }

    /// Takes `len` bytes, or the rest of the file if that is shorter.
    pub(super) fn counted(&mut self, len: u64) -> Result<Counted<I::Bytes>, Box<Fault>> {
        let offset = self.input.offset();
        let bytes = self.input.up_to(len)?;
        let missing = len - bytes.as_ref().len() as u64;
        if missing > MAX_CUT {
            return Err(Box::new(Fault::BadLength));
        }
        Ok(Counted { bytes, offset, missing })
    }

    /// The number of NULs that replace the missing bytes of a binary value, at most a file's worth.
    fn padding<B: AsRef<[u8]>>(&self, value: &Counted<B>) -> Result<u32, Box<Fault>> {
        match self.input.total() {
            _ if value.missing == 0 => Ok(0),
            Some(total) if value.missing <= total => Ok(value.missing as u32),
            _ => Err(Box::new(Fault::BadLength)),
        }
    }

    pub(super) fn loose(&self, looseness: Looseness) -> Result<(), Box<Fault>> {
        if self.strict { Err(looseness.into()) } else { Ok(()) }
    }
}

pub(super) fn unknown_command(word: &[u8]) -> Box<Fault> {
    let word = String::from_utf8_lossy(&word[..word.len().min(40)]);
    Box::new(Fault::UnknownCommand(word.into()))
}
