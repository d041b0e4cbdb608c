//! Reading quickdump, versions 1 to 3.
//!
//! ```text
//! file = "EKDB" version:u32be key*          (an empty file is an empty set)
//! key  = str type value meta* 00            type: 's' str | 'b' length bytes
//! meta = 'm' str str | 'c' str str          name and value | source key and name
//! str  = length bytes                       length: varint (3), u64le (1, 2)
//! ```

use crate::format::error::Looseness;
use crate::format::input::Input;
use crate::format::sink::{Field, NameForm, Sink, StoredValue};
use crate::format::{Fault, ReadError};

use super::{MAGIC, varint};

/// Parses a whole file into `sink`.
pub(crate) fn parse(
    input: impl Input,
    strict: bool,
    sink: &mut impl Sink,
) -> Result<(), ReadError> {
    let mut parser = Parser { input, sink, strict, lengths: Lengths::Variable, item: 0 };
    parser.file().map_err(|fault| ReadError { offset: parser.item, fault: *fault })
}

struct Parser<'s, I, S> {
    input: I,
    sink: &'s mut S,
    strict: bool,
    lengths: Lengths,
    /// Where the item being parsed starts.
    item: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Lengths {
    Fixed,
    Variable,
}

impl<I: Input, S: Sink> Parser<'_, I, S> {
    fn file(&mut self) -> Result<(), Box<Fault>> {
        if let Some(names) = self.header()? {
            self.sink.begin(names)?;
            while let Some(first) = self.next_item()? {
                self.key(first)?;
            }
        }
        self.sink.end()
    }

    /// The form of the names in this version; `None` for an empty file.
    fn header(&mut self) -> Result<Option<NameForm>, Box<Fault>> {
        let header = self.input.up_to(8)?;
        let (magic, version) = match header.as_ref() {
            [] => return Ok(None),
            [magic @ .., a, b, c, d] if magic.len() == 4 => (magic, [*a, *b, *c, *d]),
            cut if cut.iter().zip(MAGIC).any(|(a, b)| a != b) => (cut, [0; 4]),
            _ => return Err(Box::new(Fault::UnexpectedEnd)),
        };
        if magic != MAGIC {
            return Err(Box::new(Fault::WrongMagic("quickdump")));
        }
        let (names, lengths) = match u32::from_be_bytes(version) {
            1 => (NameForm::Old, Lengths::Fixed),
            2 => (NameForm::Relative, Lengths::Fixed),
            3 => (NameForm::Relative, Lengths::Variable),
            other => {
                let version = other.to_string();
                return Err(Box::new(Fault::UnknownVersion { format: "quickdump", version }));
            }
        };
        self.lengths = lengths;
        Ok(Some(names))
    }

    /// Records where the next item starts, and takes its first byte.
    #[inline]
    fn next_item(&mut self) -> Result<Option<u8>, Box<Fault>> {
        self.item = self.input.offset();
        self.input.byte()
    }

    #[inline]
    fn key(&mut self, first: u8) -> Result<(), Box<Fault>> {
        let len = self.length_from(first)?;
        let name = self.input.exactly(len)?;
        let name = field(&self.input, &name);
        match self.input.some_byte()? {
            b's' => {
                let text = self.string()?;
                self.sink.key(name, StoredValue::String(field(&self.input, &text)))?;
            }
            b'b' => {
                let bytes = self.string()?;
                self.sink.key(name, StoredValue::Binary(field(&self.input, &bytes), 0))?;
            }
            other => return Err(Box::new(Fault::UnknownType(char::from(other).to_string()))),
        }
        let recognised = self.sink.recognise(self.input.rest(), self.input.offset());
        self.input.up_to(recognised as u64)?;
        while self.meta()? {}
        self.sink.end_key()
    }

    /// Parses a metakey; returns `false` at the end of the key.
    #[inline]
    fn meta(&mut self) -> Result<bool, Box<Fault>> {
        let kind = self.next_item()?.ok_or(Fault::UnexpectedEnd)?;
        if kind == 0 {
            return Ok(false);
        }
        if kind != b'm' && kind != b'c' {
            return Err(Box::new(Fault::UnknownMetaType(kind)));
        }
        let first = self.string()?;
        let first = field(&self.input, &first);
        let second = self.string()?;
        let second = field(&self.input, &second);
        match kind {
            b'm' => self.sink.meta(first, second)?,
            _ => self.sink.copy_meta(first, second)?,
        }
        Ok(true)
    }

    #[inline]
    fn string(&mut self) -> Result<I::Bytes, Box<Fault>> {
        let first = self.input.some_byte()?;
        let len = self.length_from(first)?;
        self.input.exactly(len)
    }

    /// The length whose first byte has already been taken.
    #[inline]
    fn length_from(&mut self, first: u8) -> Result<u64, Box<Fault>> {
        if self.lengths == Lengths::Fixed {
            let mut bytes = [first; 8];
            bytes[1..].copy_from_slice(self.input.exactly(7)?.as_ref());
            return Ok(u64::from_le_bytes(bytes));
        }
        let number = varint::read_from(first, &mut self.input)?;
        if self.strict && !number.shortest {
            return Err(Looseness::LongLength.into());
        }
        Ok(number.value)
    }
}

/// The bytes just taken, with their position.
#[inline]
fn field<'b>(input: &impl Input, bytes: &'b impl AsRef<[u8]>) -> Field<'b> {
    let bytes = bytes.as_ref();
    Field { offset: input.offset() - bytes.len() as u64, bytes }
}
