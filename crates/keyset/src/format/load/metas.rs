//! The metakeys of the open key.

use super::sources::Source;
use super::{Loader, MissingSource, lossy, span};
use crate::block::{Flags, MetaEntry, Span};
use crate::format::Fault;
use crate::format::error::Looseness;
use crate::format::sink::Field;
use crate::meta::{self, BINARY};

/// Leaves one bit to mark origins.
const MAX_METAS: usize = u32::MAX as usize >> 1;

impl Loader {
    /// Adds a metakey that differs from the previous key's at this position.
    pub(super) fn unexpected_meta(
        &mut self,
        stored: Field<'_>,
        value: Span,
    ) -> Result<(), Box<Fault>> {
        let name = self.intern_meta_name(stored)?;
        if self.block.meta_name(name) != stored.bytes {
            self.current.record_end = None;
        }
        self.push_meta(MetaEntry::new(name, value))
    }

    /// Adds a metakey to those of the open key in the table, in any order.
    fn push_meta(&mut self, entry: MetaEntry) -> Result<(), Box<Fault>> {
        self.unstore();
        if !self.current.open {
            return Ok(());
        }
        let current = &mut self.current;
        if self.block.metas.len() >= MAX_METAS {
            return Err(Box::new(Fault::TooLarge));
        }
        let before = self.block.metas[current.meta_at as usize..].last();
        let name = self.block.meta_name(entry.name());
        let ordered = before.is_none_or(|before| {
            meta::compare_names(self.block.meta_name(before.name()), name).is_lt()
        });
        if !ordered {
            current.metas_ordered = false;
            current.record_end = None;
            if self.strict {
                return Err(Looseness::UnorderedMeta(lossy(name)).into());
            }
        }
        current.metas += 1;
        current.binary_meta |= self.meta_names.is_binary(entry.name());
        self.block.metas.push(entry);
        Ok(())
    }

    /// Moves the open key's metakeys from where they are stored to the table.
    pub(super) fn unstore(&mut self) {
        if self.current.open && std::mem::take(&mut self.current.stored) {
            let metas = self.stored_metas(self.current.value, self.current.metas);
            self.block.metas.extend(metas);
        }
    }

    /// The metakeys stored after a value, as entries of the table.
    fn stored_metas(&self, value: Span, count: usize) -> Vec<MetaEntry> {
        let mut at = self.block.layout.metas_after(value.end());
        let next = || {
            let meta = self.block.layout.meta(&self.block.bytes, at)?;
            at = meta.next;
            let value = Span { at: meta.value_at, len: meta.value.len() as u32 };
            Some(MetaEntry::new(self.meta_names.find(meta.name)?, value))
        };
        std::iter::from_fn(next).take(count).collect()
    }

    /// The name, stored once. An invalid one becomes that of the root metakey, as in `keySetMeta`.
    pub(super) fn intern_meta_name(&mut self, stored: Field<'_>) -> Result<u32, Box<Fault>> {
        if let Some(name) = self.meta_names.find(stored.bytes) {
            return Ok(name);
        }
        let canonical = match meta::canonical_name(stored.bytes) {
            Ok(name) => name,
            Err(error) => {
                self.loose(|| Looseness::InvalidName(error))?;
                Vec::new()
            }
        };
        let at = if canonical == stored.bytes {
            span(stored)?
        } else {
            self.loose(|| Looseness::NotCanonical(lossy(stored.bytes)))?;
            self.block.keep(&canonical)
        };
        Ok(self.meta_names.add(&mut self.block, stored.bytes, at))
    }

    /// Shares the metakey `meta` of the earlier key whose stored name is `key`.
    pub(super) fn share_meta(&mut self, key: &[u8], meta: &[u8]) -> Result<(), Box<Fault>> {
        self.refuse_old_root(key)?;
        let name = meta::canonical_name(meta).unwrap_or_default();
        let unknown = || Fault::UnknownSourceMeta { key: lossy(key), meta: lossy(meta) };
        self.unstore();
        self.current.record_end = None;
        if !self.current.open {
            return self.missing_source(unknown());
        }
        let source = match self.find_source(key) {
            Some(Source::Entry(source)) => source,
            Some(Source::Open) => return Ok(()),
            None => return self.missing_source(Fault::UnknownSource(lossy(key))),
        };
        let Some(origin) = self.source_meta(source, &name) else {
            self.missing_source(unknown())?;
            self.drop_meta(&name);
            return Ok(());
        };
        let entry = self.block.share(origin);
        self.push_meta(entry)
    }

    fn source_meta(&mut self, source: u32, name: &[u8]) -> Option<u32> {
        self.unstore_source(source);
        let entry = &self.block.entries[source as usize];
        (entry.meta_at()..entry.meta_at() + entry.meta_len() as u32).find(|&at| {
            let other = self.block.metas[at as usize].name();
            meta::compare_names(self.block.meta_name(other), name).is_eq()
        })
    }

    /// Moves the metakeys of a finished key to the table, before the open key's.
    fn unstore_source(&mut self, source: u32) {
        let entry = self.block.entries[source as usize];
        if !entry.has(Flags::STORED) {
            return;
        }
        let of_open = self.block.metas.split_off(self.current.meta_at as usize);
        let metas = self.stored_metas(entry.value(), entry.meta_len());
        self.block.entries[source as usize].move_metas(self.block.metas.len() as u32);
        self.block.metas.extend(metas);
        self.current.meta_at = self.block.metas.len() as u32;
        self.block.metas.extend(of_open);
    }

    fn missing_source(&self, fault: Fault) -> Result<(), Box<Fault>> {
        match self.missing {
            MissingSource::Refuse => Err(Box::new(fault)),
            MissingSource::Ignore => self.loose(|| Looseness::StrayMeta),
        }
    }

    /// Removes the open key's metakey of this name.
    fn drop_meta(&mut self, name: &[u8]) {
        let current = &mut self.current;
        let of_key = self.block.metas.split_off(current.meta_at as usize);
        let kept = of_key
            .into_iter()
            .filter(|meta| meta::compare_names(self.block.meta_name(meta.name()), name).is_ne())
            .collect::<Vec<_>>();
        current.metas = kept.len();
        current.expected = usize::MAX;
        self.block.metas.extend(kept);
        if name == BINARY {
            current.binary_meta = false;
            current.binary_removed = true;
        }
    }

    /// Sorts the metakeys of a complete key; of duplicates, the last is kept.
    #[inline]
    pub(super) fn settle_metas(&mut self) {
        let current = &self.current;
        if current.stored {
            return;
        }
        if !current.metas_ordered {
            self.order_metas();
        } else if current.expected != current.metas {
            let heads = self.heads();
            let metas = &self.block.metas[self.current.meta_at as usize..];
            self.meta_names.expect(metas, heads);
        }
    }

    fn order_metas(&mut self) {
        let mut metas = self.block.metas.split_off(self.current.meta_at as usize);
        let name = |meta: &MetaEntry| self.block.meta_name(meta.name());
        metas.sort_by(|a, b| meta::compare_names(name(a), name(b)));
        metas.reverse();
        metas.dedup_by(|a, b| meta::compare_names(name(a), name(b)).is_eq());
        self.current.metas = metas.len();
        self.block.metas.extend(metas.into_iter().rev());
    }

    /// Adds the metakey that marks a key as binary.
    pub(super) fn add_binary_meta(&mut self) {
        let name = self.meta_names.find(BINARY).unwrap_or_else(|| {
            let span = self.block.keep(BINARY);
            self.meta_names.add(&mut self.block, BINARY, span)
        });
        self.unstore();
        self.block.metas.push(MetaEntry::new(name, Span::default()));
        self.order_metas();
    }
}
