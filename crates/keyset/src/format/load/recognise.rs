//! Recognises metakeys by those of the previous key: most differ only in their values, so that one comparison
//! replaces parsing.

use super::Loader;
use super::meta_names::Head;
use crate::block::{Block, Span};
use crate::format::layout::Layout;

impl Loader {
    /// The stored form of the open key's metakeys, if its record is exactly as a writer writes it; otherwise empty.
    pub(super) fn heads(&self) -> Vec<Head> {
        let current = &self.current;
        let layout = self.block.layout;
        let mut at = layout.metas_after(current.value.end());
        let next = || {
            let meta = layout.meta(&self.block.bytes, at)?;
            let span = Span { at, len: (meta.value_at - at) as u32 };
            at = meta.next;
            let binary = meta.name == crate::meta::BINARY;
            Some(Head { span, value_len: meta.value.len() as u32, binary })
        };
        match current.record_end {
            Some(_) => std::iter::from_fn(next).take(current.metas).collect(),
            None => Vec::new(),
        }
    }

    /// Takes the expected metakeys at the start of `rest`, which is at `offset` in the file; returns their size in
    /// bytes.
    #[inline]
    pub(super) fn recognise_metas(&mut self, rest: &[u8], offset: u64) -> usize {
        let current = &mut self.current;
        if !current.open || !current.stored || self.strict {
            return 0;
        }
        let clean = self.next_nul.saturating_sub(offset).min(rest.len() as u64) as usize;
        let mut taken = 0;
        while let Some(head) = self.meta_names.head(current.metas)
            && let Some(len) = recognised(&self.block, head, &rest[taken..clean])
        {
            taken += len;
            current.metas += 1;
            current.expected += 1;
            current.binary_meta |= head.binary;
        }
        current.record_end = current.record_end.map(|end| end + taken as u64);
        taken
    }
}

/// The size of the metakey at the start of `rest`, if it matches `head`.
#[inline]
fn recognised(block: &Block, head: Head, rest: &[u8]) -> Option<usize> {
    let len = (head.span.len + head.value_len) as usize;
    let is_like = rest.starts_with(block.slice(head.span));
    match block.layout {
        Layout::Dump => (is_like && rest.get(len) == Some(&b'\n')).then_some(len + 1),
        _ => (is_like && rest.len() >= len).then_some(len),
    }
}
