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
//! Like the real reader, this takes bytes that a cut file no longer has for NULs.

use super::{HEADER, version1};
use crate::format::error::Looseness;
use crate::format::input::Input;
use crate::format::sink::{Field, NameForm, Sink, StoredValue};
use crate::format::{Fault, ReadError};

/// Beyond this a length that runs past the end is taken for nonsense rather
/// than for a cut file; the real reader dies of such lengths.
const MAX_CUT: u64 = u32::MAX as u64 >> 1;

/// Parses a whole file into `sink`.
pub(crate) fn parse(
    input: impl Input,
    full_names: bool,
    strict: bool,
    sink: &mut impl Sink,
) -> Result<(), ReadError> {
    let mut parser = Parser { input, sink, strict, open: false, item: 0 };
    parser.file(full_names).map_err(|fault| ReadError { offset: parser.item, fault })
}

pub(super) struct Parser<'s, I, S> {
    pub(super) input: I,
    pub(super) sink: &'s mut S,
    pub(super) strict: bool,
    /// Whether a key was begun and not yet ended.
    pub(super) open: bool,
    /// Where the item that is being parsed starts.
    pub(super) item: u64,
}

/// Bytes that may have been cut off at the end of the file.
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
    fn file(&mut self, full_names: bool) -> Result<(), Fault> {
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

    fn commands(&mut self) -> Result<(), Fault> {
        loop {
            self.item = self.input.offset();
            let Some(line) = self.input.line()? else { return self.loose(Looseness::End) };
            let mut words = words(line.as_ref());
            match words.next().unwrap_or_default() {
                b"$meta" => self.meta(words)?,
                b"$key" => self.key(words)?,
                b"$copymeta" => self.copy_meta(words)?,
                b"$end" => break,
                other => return Err(unknown_command(other)),
            }
        }
        match self.input.byte()? {
            Some(_) => self.loose(Looseness::End),
            None => Ok(()),
        }
    }

    fn key<'l>(&mut self, mut words: impl Iterator<Item = &'l [u8]>) -> Result<(), Fault> {
        self.close_key()?;
        let kind = words.next().unwrap_or_default();
        let (name_len, value_len) = (self.length(words.next())?, self.length(words.next())?);
        let name = self.counted_line(name_len)?;
        let value = match kind {
            b"string" | b"binary" => self.counted_line(value_len)?,
            other => return Err(Fault::UnknownType(String::from_utf8_lossy(other).into())),
        };
        let stored = match kind {
            b"string" => StoredValue::String(value.field()),
            _ => StoredValue::Binary(value.field(), self.padding(&value)?),
        };
        self.sink.key(name.field(), stored)?;
        self.open = true;
        Ok(())
    }

    fn meta<'l>(&mut self, words: impl Iterator<Item = &'l [u8]>) -> Result<(), Fault> {
        let (name, value) = self.pair(words)?;
        if !self.open {
            return self.loose(Looseness::StrayMeta);
        }
        self.sink.meta(name.field(), value.field())
    }

    fn copy_meta<'l>(&mut self, words: impl Iterator<Item = &'l [u8]>) -> Result<(), Fault> {
        let (key, name) = self.pair(words)?;
        if !self.open {
            return self.loose(Looseness::StrayMeta);
        }
        self.sink.copy_meta(key.field(), name.field())
    }

    #[expect(clippy::type_complexity, reason = "a pair of the same")]
    fn pair<'l>(
        &mut self,
        mut words: impl Iterator<Item = &'l [u8]>,
    ) -> Result<(Counted<I::Bytes>, Counted<I::Bytes>), Fault> {
        let (first, second) = (self.length(words.next())?, self.length(words.next())?);
        Ok((self.counted_line(first)?, self.counted_line(second)?))
    }

    pub(super) fn close_key(&mut self) -> Result<(), Fault> {
        if std::mem::take(&mut self.open) { self.sink.end_key() } else { Ok(()) }
    }

    /// A decimal length as C reads it: a sign and leading zeros are fine.
    pub(super) fn length(&self, word: Option<&[u8]>) -> Result<u64, Fault> {
        let word = word.ok_or(Fault::BadLength)?;
        let digits = word.strip_prefix(b"+").unwrap_or(word);
        if self.strict && (digits.len() != word.len() || matches!(digits, [b'0', _, ..])) {
            return Err(Looseness::LongLength.into());
        }
        decimal(digits).ok_or(Fault::BadLength)
    }

    /// Takes `len` bytes and the LF after them.
    fn counted_line(&mut self, len: u64) -> Result<Counted<I::Bytes>, Fault> {
        let counted = self.counted(len)?;
        match self.input.byte()? {
            Some(b'\n') => Ok(counted),
            Some(other) => Err(Fault::ExpectedNewline(other)),
            None => self.loose(Looseness::End).map(|()| counted),
        }
    }

    /// Takes `len` bytes, or what is left of the file.
    pub(super) fn counted(&mut self, len: u64) -> Result<Counted<I::Bytes>, Fault> {
        let offset = self.input.offset();
        let bytes = self.input.up_to(len)?;
        let missing = len - bytes.as_ref().len() as u64;
        if missing > MAX_CUT {
            return Err(Fault::BadLength);
        }
        Ok(Counted { bytes, offset, missing })
    }

    /// The NULs that stand for what a binary value lost, at most a file's worth.
    fn padding<B: AsRef<[u8]>>(&self, value: &Counted<B>) -> Result<u32, Fault> {
        match self.input.total() {
            _ if value.missing == 0 => Ok(0),
            Some(total) if value.missing <= total => Ok(value.missing as u32),
            _ => Err(Fault::BadLength),
        }
    }

    pub(super) fn loose(&self, looseness: Looseness) -> Result<(), Fault> {
        if self.strict { Err(looseness.into()) } else { Ok(()) }
    }
}

/// The digits that a word starts with, as a number.
fn decimal(word: &[u8]) -> Option<u64> {
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit());
    let mut some = false;
    let number = digits.map(|byte| u64::from(byte - b'0')).try_fold(0_u64, |number, digit| {
        some = true;
        number.checked_mul(10)?.checked_add(digit)
    })?;
    some.then_some(number)
}

/// The words of a command line, separated as C++ streams separate them.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c))
        .filter(|word| !word.is_empty())
}

pub(super) fn unknown_command(word: &[u8]) -> Fault {
    Fault::UnknownCommand(String::from_utf8_lossy(&word[..word.len().min(40)]).into())
}
