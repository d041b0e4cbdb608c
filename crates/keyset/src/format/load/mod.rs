//! Builds a block from parsed items: no allocation per key.
//!
//! Invariant: each entry is finished (metakeys sorted and unique, type determined) before the next one starts, so
//! that copies always find finished sources.

mod current;
mod meta_names;
mod metas;
mod names;
mod recognise;
mod record;
mod room;
mod sources;
mod values;

use bytes::Bytes;

use self::current::Current;
use self::meta_names::MetaNames;
use self::record::meta_record;
use self::sources::Sources;
use crate::block::{Block, Entry, Flags, MetaEntry, Span};
use crate::format::error::Looseness;
use crate::format::layout::Layout;
use crate::format::sink::{Field, NameForm, Sink, StoredValue};
use crate::format::{Fault, Format};
use crate::name::KeyName;

/// How to handle metadata copied from a missing key or metakey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingSource {
    /// The file is rejected (quickdump).
    Refuse,
    /// Nothing is copied; a metakey of that name is removed (dump).
    Ignore,
}

/// Builds a block from the items of one file.
pub(crate) struct Loader {
    block: Block,
    parent: KeyName,
    form: NameForm,
    strict: bool,
    missing: MissingSource,
    /// The open key.
    current: Current,
    meta_names: MetaNames,
    sources: Sources,
    ordered: bool,
    /// Whether all records so far are exactly as a writer writes them.
    verbatim: bool,
    /// The end of the last key's record, while `verbatim` holds.
    record_end: u64,
    /// The file contains no NUL from where it was last searched up to here.
    next_nul: u64,
}

impl Loader {
    pub(crate) fn new(bytes: Bytes, parent: &KeyName, format: Format, strict: bool) -> Self {
        let layout = Layout::of(format, &bytes);
        let missing = match format {
            Format::Dump => MissingSource::Ignore,
            _ => MissingSource::Refuse,
        };
        Self {
            block: Block::new(bytes, parent, layout),
            parent: parent.clone(),
            form: NameForm::Relative,
            strict,
            missing,
            current: Current::none(),
            meta_names: MetaNames::default(),
            sources: Sources::default(),
            ordered: true,
            verbatim: layout != Layout::Other,
            record_end: layout.first_record(),
            next_nul: 0,
        }
    }

    /// The finished block, in key order.
    pub(crate) fn finish(mut self) -> Block {
        if !self.ordered {
            self.sort();
        }
        let within = self.record_end <= self.block.bytes.len() as u64;
        self.block.verbatim = (self.verbatim && self.ordered && within).then_some(self.record_end);
        self.block.uniform = self.block.is_uniform();
        self.block.entries.shrink_to_fit();
        self.block.metas.shrink_to_fit();
        self.block
    }

    /// Sorts the entries; of duplicates, the last is kept.
    fn sort(&mut self) {
        let mut entries = std::mem::take(&mut self.block.entries);
        let block = &self.block;
        entries.sort_by(|a, b| block.name_of(a).cmp(&block.name_of(b)));
        entries.reverse();
        entries.dedup_by(|a, b| block.name_of(a) == block.name_of(b));
        entries.reverse();
        self.block.entries = entries;
    }

    /// Rejects this if `strict`.
    fn loose(&self, looseness: impl FnOnce() -> Looseness) -> Result<(), Box<Fault>> {
        if self.strict { Err(looseness().into()) } else { Ok(()) }
    }

    /// The text of a field, as C would read it.
    #[inline]
    fn text<'a>(&mut self, field: Field<'a>) -> Result<Field<'a>, Box<Fault>> {
        let text = if field.offset + field.bytes.len() as u64 <= self.next_nul {
            field
        } else {
            self.until_nul(field)
        };
        if self.strict {
            check_text(field.bytes, text.bytes)?;
        }
        Ok(text)
    }

    /// Finds the next NUL: one search serves the following fields, while they are in the cache.
    fn until_nul<'a>(&mut self, field: Field<'a>) -> Field<'a> {
        const AHEAD: usize = 64 << 10;
        let rest = &self.block.bytes[field.offset as usize..];
        let rest = &rest[..rest.len().min(field.bytes.len().max(AHEAD))];
        let nul = memchr::memchr(0, rest).unwrap_or(rest.len());
        self.next_nul = field.offset + nul as u64;
        Field { bytes: &field.bytes[..nul.min(field.bytes.len())], ..field }
    }

    /// Checks whether the key about to be pushed sorts after all others.
    #[inline]
    fn check_order(&mut self) -> Result<(), Box<Fault>> {
        let Some(last) = self.block.entries.last() else { return Ok(()) };
        let (last, name) = (self.block.name_of(last), self.block.name_of(&self.current.entry()));
        let order = last.cmp(&name);
        if order.is_lt() {
            return Ok(());
        }
        let name = name.to_string();
        self.ordered = false;
        self.loose(|| match order {
            std::cmp::Ordering::Equal => Looseness::Duplicate(name),
            _ => Looseness::Unordered(name),
        })
    }
}

fn check_text(stored: &[u8], text: &[u8]) -> Result<(), Box<Fault>> {
    if stored.len() != text.len() {
        return Err(Looseness::Nul.into());
    }
    match std::str::from_utf8(text) {
        Ok(_) => Ok(()),
        Err(_) => Err(Looseness::NotUtf8.into()),
    }
}

/// A field as a span.
#[inline]
fn span(field: Field<'_>) -> Result<Span, Box<Fault>> {
    match u32::try_from(field.bytes.len()) {
        Ok(len) if len < u32::MAX => Ok(Span { at: field.offset, len }),
        _ => Err(Box::new(Fault::TooLarge)),
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Sink for Loader {
    fn begin(&mut self, names: NameForm) -> Result<(), Box<Fault>> {
        self.form = names;
        Ok(())
    }

    fn clear(&mut self) -> Result<(), Box<Fault>> {
        self.block.entries.clear();
        self.sources.clear();
        self.ordered = true;
        Ok(())
    }

    #[inline]
    fn key(&mut self, name: Field<'_>, value: StoredValue<'_>) -> Result<(), Box<Fault>> {
        let (name_end, value_end) = (name.end(), value.field().end());
        let name = self.text(name)?;
        let Some((name, flags)) = self.locate_name(name)? else {
            self.verbatim = false;
            self.current.open = false;
            return Ok(());
        };
        let (kind, value) = self.locate_value(value)?;
        self.current.begin(name, flags, kind, value);
        self.current.meta_at = self.block.metas.len() as u32;
        // After a value that was truncated at a NUL, or padded, metakeys could not be found.
        let whole_value = value.end() == value_end;
        self.current.stored = self.block.layout != Layout::Other && whole_value;
        if whole_value && name.end() == name_end && !flags.has(Flags::COMPLETE) {
            self.current.record_end = self.record();
        }
        Ok(())
    }

    #[inline]
    fn recognise(&mut self, rest: &[u8], offset: u64) -> usize {
        self.recognise_metas(rest, offset)
    }

    #[inline]
    fn meta(&mut self, name: Field<'_>, value: Field<'_>) -> Result<(), Box<Fault>> {
        let stored_len = name.bytes.len() + value.bytes.len();
        let (name, value) = (self.text(name)?, self.text(value)?);
        let uncut = name.bytes.len() + value.bytes.len() == stored_len;
        if !self.current.open {
            return self.loose(|| Looseness::StrayMeta);
        }
        let current = &mut self.current;
        current.record_end = if uncut {
            current.record_end.and_then(|end| meta_record(&self.block, end, name, value))
        } else {
            None
        };
        if uncut
            && current.expected == current.metas
            && let Some(name) = self.meta_names.expected(&self.block, current.metas, name.bytes)
        {
            current.expected += 1;
            current.metas += 1;
            current.binary_meta |= self.meta_names.is_binary(name);
            if !current.stored {
                self.block.metas.push(MetaEntry::new(name, span(value)?));
            }
            return Ok(());
        }
        self.unexpected_meta(name, span(value)?)
    }

    fn copy_meta(&mut self, key: Field<'_>, meta: Field<'_>) -> Result<(), Box<Fault>> {
        let (key, meta) = (self.text(key)?, self.text(meta)?);
        self.share_meta(key.bytes, meta.bytes)
    }

    #[inline]
    fn end_key(&mut self) -> Result<(), Box<Fault>> {
        if !self.current.open {
            return Ok(());
        }
        self.settle_metas();
        self.settle_type()?;
        if self.current.metas > Entry::MAX_METAS {
            return Err(Box::new(Fault::TooLarge));
        }
        self.check_order()?;
        match self.current.record_end {
            Some(end) => self.record_end = end + self.block.layout.after_key(),
            None => self.verbatim = false,
        }
        self.block.entries.push(self.current.entry());
        self.current.open = false;
        self.reserve();
        Ok(())
    }

    fn end(&mut self) -> Result<(), Box<Fault>> {
        Ok(())
    }
}
