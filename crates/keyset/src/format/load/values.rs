//! Where the value of a key lies, and what type it is in the end.

use super::current::{Current, Kind};
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

    /// Makes the type, the value and the metakey `binary` agree.
    #[inline]
    pub(super) fn settle_type(&mut self, current: &mut Current) -> Result<(), Box<Fault>> {
        match (current.kind, current.binary_meta) {
            (Kind::String, false) => {}
            (Kind::Binary | Kind::Raw, true) => mark_binary(current),
            (Kind::Raw, false) => self.end_at_nul(current),
            (Kind::String, true) => {
                self.loose(|| Looseness::TypeMismatch)?;
                current.record_end = None;
                self.unstore_complete(current);
                self.add_nul(current);
            }
            (Kind::Binary, false) => {
                self.loose(|| Looseness::TypeMismatch)?;
                current.record_end = None;
                if current.binary_removed {
                    self.end_at_nul(current);
                } else {
                    mark_binary(current);
                    self.add_binary_meta(current);
                }
            }
        }
        Ok(())
    }

    fn end_at_nul(&self, current: &mut Current) {
        current.value.len = until_nul(self.block.slice(current.value)).len() as u32;
    }

    /// A string that turns binary takes its terminator along, unless it is empty.
    fn add_nul(&mut self, current: &mut Current) {
        mark_binary(current);
        if current.value.len > 0 {
            let with_nul = [self.block.slice(current.value), b"\0"].concat();
            current.value = self.block.keep(&with_nul);
        }
    }
}

fn mark_binary(current: &mut Current) {
    current.flags = current.flags.with(Flags::BINARY, true);
}
