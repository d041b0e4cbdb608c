//! Locates the name of a key and determines its form.

use super::{Loader, lossy, span};
use crate::block::{Flags, Span};
use crate::format::Fault;
use crate::format::error::Looseness;
use crate::format::sink::{Field, NameForm};
use crate::name::{self, KeyName, NameError};

impl Loader {
    /// The name as it will be stored; `None` to skip the key, as the real readers do if its name is invalid.
    #[inline]
    pub(super) fn locate_name(
        &mut self,
        stored: Field<'_>,
    ) -> Result<Option<(Span, Flags)>, Box<Fault>> {
        if self.form == NameForm::Relative && name::is_simple(stored.bytes) {
            return Ok(Some((span(stored)?, Flags::PLAIN)));
        }
        self.locate_odd_name(stored)
    }

    fn locate_odd_name(&mut self, stored: Field<'_>) -> Result<Option<(Span, Flags)>, Box<Fault>> {
        self.refuse_old_root(stored.bytes)?;
        let full = match self.full_name(stored.bytes) {
            Ok(full) => full,
            Err(error) => {
                self.loose(|| Looseness::InvalidName(error))?;
                return Ok(None);
            }
        };
        let relative = self.relative_to_parent(&full);
        if self.strict {
            self.check_name(stored.bytes, &full, relative.as_deref())?;
        }
        let complete = relative.is_none();
        let kept = relative.unwrap_or_else(|| full.as_bytes().to_vec());
        let at = if kept == stored.bytes { span(stored)? } else { self.block.keep(&kept) };
        let flags = Flags::default().with(Flags::PLAIN, name::is_plain(&kept));
        Ok(Some((at, flags.with(Flags::COMPLETE, complete))))
    }

    /// Rejects names without a slash from before 0.9.4, on which the real reader crashes.
    pub(super) fn refuse_old_root(&self, stored: &[u8]) -> Result<(), Box<Fault>> {
        if self.form == NameForm::Old && memchr::memchr(b'/', stored).is_none() {
            return Err(Box::new(Fault::Name(NameError::NoNamespace)));
        }
        Ok(())
    }

    /// The complete name for a stored one.
    pub(super) fn full_name(&self, stored: &[u8]) -> Result<KeyName, NameError> {
        match self.form {
            NameForm::Relative => self.parent.join(stored),
            NameForm::Full => KeyName::new(stored),
            NameForm::Old => KeyName::new(with_colon(stored)),
        }
    }

    fn relative_to_parent(&self, full: &KeyName) -> Option<Vec<u8>> {
        if full.as_bytes() == self.parent.as_bytes() {
            return Some(Vec::new());
        }
        full.as_bytes().strip_prefix(self.block.head()).map(<[u8]>::to_vec)
    }

    fn check_name(
        &self,
        stored: &[u8],
        full: &KeyName,
        relative: Option<&[u8]>,
    ) -> Result<(), Box<Fault>> {
        match (self.form, relative) {
            (NameForm::Relative, None) => Err(Looseness::OutsideParent(full.to_string()).into()),
            (NameForm::Relative, Some(relative)) if relative != stored => {
                Err(Looseness::NotCanonical(lossy(stored)).into())
            }
            (NameForm::Full, _) if full.as_bytes() != stored => {
                Err(Looseness::NotCanonical(lossy(stored)).into())
            }
            _ => Ok(()),
        }
    }
}

/// A name from before 0.9.4 in the current form: `user/a` becomes `user:/a`.
fn with_colon(stored: &[u8]) -> Vec<u8> {
    match memchr::memchr(b'/', stored) {
        Some(slash @ 1..) => [&stored[..slash], b":", &stored[slash..]].concat(),
        _ => stored.to_vec(),
    }
}
