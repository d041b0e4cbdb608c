//! Writing dump, version 2; the reader's module shows the layout.

use std::io::Write;

use super::HEADER;
use crate::format::Fault;
use crate::format::layout::Layout;
use crate::format::output::Output;
use crate::format::save::RecordSink;
use crate::format::sink::{Field, NameForm, Sink, StoredValue};

/// Writes items to a dump file, in constant memory.
#[derive(Debug)]
pub struct Writer<W: Write> {
    output: Output<W>,
}

impl<W: Write> Writer<W> {
    /// A writer to `out`, which should handle large writes well.
    pub fn new(out: W) -> Self {
        Self { output: Output::new(out) }
    }

    /// A command with the lengths of two fields, followed by the fields.
    #[inline]
    fn command(&mut self, command: &[u8], first: &[u8], second: &[u8]) {
        let mut digits = itoa::Buffer::new();
        self.output.put(command);
        self.output.put(digits.format(first.len()).as_bytes());
        self.output.put(b" ");
        self.output.put(digits.format(second.len()).as_bytes());
        self.output.put(b"\n");
        self.output.put(first);
        self.output.put(b"\n");
        self.output.put(second);
        self.output.put(b"\n");
    }
}

impl<W: Write> RecordSink for Writer<W> {
    const LAYOUT: Layout = Layout::Dump;

    fn records(&mut self, records: &[u8]) -> Result<(), Box<Fault>> {
        Ok(self.output.pass_on(records)?)
    }
}

impl<W: Write> Sink for Writer<W> {
    fn begin(&mut self, names: NameForm) -> Result<(), Box<Fault>> {
        if names == NameForm::Old {
            return Err(Box::new(Fault::NameForm));
        }
        self.output.put(HEADER);
        self.output.put(b"\n");
        Ok(())
    }

    fn clear(&mut self) -> Result<(), Box<Fault>> {
        Err(Box::new(Fault::NameForm))
    }

    fn key(&mut self, name: Field<'_>, value: StoredValue<'_>) -> Result<(), Box<Fault>> {
        match value {
            StoredValue::String(text) => self.command(b"$key string ", name.bytes, text.bytes),
            StoredValue::Binary(value, 0) => {
                self.command(b"$key binary ", name.bytes, value.bytes);
            }
            StoredValue::Binary(..) | StoredValue::Raw(_) => {
                return Err(Box::new(Fault::UnexpectedEnd));
            }
        }
        Ok(())
    }

    fn meta(&mut self, name: Field<'_>, value: Field<'_>) -> Result<(), Box<Fault>> {
        self.command(b"$meta ", name.bytes, value.bytes);
        Ok(())
    }

    fn copy_meta(&mut self, key: Field<'_>, meta: Field<'_>) -> Result<(), Box<Fault>> {
        self.command(b"$copymeta ", key.bytes, meta.bytes);
        Ok(())
    }

    fn end_key(&mut self) -> Result<(), Box<Fault>> {
        Ok(self.output.flush_if_full()?)
    }

    fn end(&mut self) -> Result<(), Box<Fault>> {
        self.output.put(b"$end\n");
        Ok(self.output.flush()?)
    }
}
