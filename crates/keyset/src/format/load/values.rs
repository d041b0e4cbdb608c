//! Locates the value of a key and determines its final type.

use super::current::Kind;
use super::{Loader, span};
use crate::block::{Flags, Span};
use crate::format::Fault;
use crate::format::error::Looseness;
use crate::format::sink::StoredValue;
use crate::value::until_nul;

impl Loader {
    #[inline]
    pub(super) fn locate_value(
        &mut self,
        value: StoredValue<'_>,
    ) -> Result<(Kind, Span), Box<Fault>> {
        Ok(match value {
            StoredValue::String(text) => (Kind::String, span(self.text(text)?)?),
            StoredValue::Binary(bytes, 0) => (Kind::Binary, span(bytes)?),
            StoredValue::Binary(bytes, padding) => {
                let mut padded = bytes.bytes.to_vec();
                padded.resize(padded.len() + padding as usize, 0);
                (Kind::Binary, self.block.keep(&padded))
            }
            StoredValue::Raw(bytes) => (Kind::Raw, span(bytes)?),
        })
    }

    /// Makes the type, the value and the metakey `binary` consistent.
    #[inline]
    pub(super) fn settle_type(&mut self) -> Result<(), Box<Fault>> {
        match (self.current.kind, self.current.binary_meta) {
            (Kind::String, false) => {}
            (Kind::Binary | Kind::Raw, true) => self.mark_binary(),
            (Kind::Raw, false) => self.end_at_nul(),
            (Kind::String, true) => {
                self.loose(|| Looseness::TypeMismatch)?;
                self.current.record_end = None;
                self.unstore();
                self.add_nul();
            }
            (Kind::Binary, false) => {
                self.loose(|| Looseness::TypeMismatch)?;
                self.current.record_end = None;
                if self.current.binary_removed {
                    self.end_at_nul();
                } else {
                    self.mark_binary();
                    self.add_binary_meta();
                }
            }
        }
        Ok(())
    }

    fn end_at_nul(&mut self) {
        let text = until_nul(self.block.slice(self.current.value));
        self.current.value.len = text.len() as u32;
    }

    /// A string that becomes binary includes its terminator, unless it is empty.
    fn add_nul(&mut self) {
        self.mark_binary();
        if self.current.value.len > 0 {
            let with_nul = [self.block.slice(self.current.value), b"\0"].concat();
            self.current.value = self.block.keep(&with_nul);
        }
    }

    fn mark_binary(&mut self) {
        self.current.flags = self.current.flags.with(Flags::BINARY, true);
    }
}
