//! Writing quickdump, version 3; the reader's module shows the layout.

use std::io::Write;

use super::{MAGIC, varint};
use crate::format::Fault;
use crate::format::layout::Layout;
use crate::format::output::Output;
use crate::format::save::RecordSink;
use crate::format::sink::{Field, NameForm, Sink, StoredValue};

const VERSION: [u8; 4] = 3_u32.to_be_bytes();

/// Writes items to a quickdump file, in constant memory.
#[derive(Debug)]
pub struct Writer<W: Write> {
    output: Output<W>,
}

impl<W: Write> Writer<W> {
    /// A writer to `out`, which should handle large writes well.
    pub fn new(out: W) -> Self {
        Self { output: Output::new(out) }
    }

    fn string(&mut self, bytes: &[u8]) {
        varint::write(bytes.len() as u64, self.output.buffer());
        self.output.put(bytes);
    }
}

impl<W: Write> RecordSink for Writer<W> {
    const LAYOUT: Layout = Layout::Quickdump;

    fn records(&mut self, records: &[u8]) -> Result<(), Box<Fault>> {
        Ok(self.output.pass_on(records)?)
    }
}

impl<W: Write> Sink for Writer<W> {
    fn begin(&mut self, names: NameForm) -> Result<(), Box<Fault>> {
        if names != NameForm::Relative {
            return Err(Box::new(Fault::NameForm));
        }
        self.output.put(MAGIC);
        self.output.put(&VERSION);
        Ok(())
    }

    fn clear(&mut self) -> Result<(), Box<Fault>> {
        Err(Box::new(Fault::NameForm))
    }

    fn key(&mut self, name: Field<'_>, value: StoredValue<'_>) -> Result<(), Box<Fault>> {
        self.string(name.bytes);
        match value {
            StoredValue::String(text) => {
                self.output.put(b"s");
                self.string(text.bytes);
            }
            StoredValue::Binary(bytes, 0) => {
                self.output.put(b"b");
                self.string(bytes.bytes);
            }
            StoredValue::Binary(..) | StoredValue::Raw(_) => {
                return Err(Box::new(Fault::UnexpectedEnd));
            }
        }
        Ok(())
    }

    fn meta(&mut self, name: Field<'_>, value: Field<'_>) -> Result<(), Box<Fault>> {
        self.output.put(b"m");
        self.string(name.bytes);
        self.string(value.bytes);
        Ok(())
    }

    fn copy_meta(&mut self, key: Field<'_>, meta: Field<'_>) -> Result<(), Box<Fault>> {
        self.output.put(b"c");
        self.string(key.bytes);
        self.string(meta.bytes);
        Ok(())
    }

    fn end_key(&mut self) -> Result<(), Box<Fault>> {
        self.output.put(b"\0");
        Ok(self.output.flush_if_full()?)
    }

    fn end(&mut self) -> Result<(), Box<Fault>> {
        Ok(self.output.flush()?)
    }
}
