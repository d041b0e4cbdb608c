//! Keys: a name, a value, and metakeys. [`Key`] owns them; [`KeyRef`] points
//! into a key set, whose keys may still lie in the bytes of the file they came from.
//!
//! Invariants: the metakeys are in order and unique by name; a key is binary
//! if, and only if, it has the metakey `binary`.

use std::sync::Arc;

use crate::block::Block;
use crate::meta::{self, BINARY, MetaError, MetaId, MetaKey, MetaRef};
use crate::name::{KeyName, NameError, NameRef};
use crate::value::{NulInString, Value, ValueRef};

/// A key. Clones share their contents until one of them changes.
#[derive(Clone)]
pub struct Key(Arc<Data>);

#[derive(Clone)]
struct Data {
    name: KeyName,
    value: Value,
    meta: Vec<MetaKey>,
}

impl Key {
    /// A key with an empty string as its value.
    pub fn new(name: KeyName) -> Self {
        Self::from_parts(name, ValueRef::String(b""), Vec::new())
    }

    /// A key from parts that keep the invariants.
    pub(crate) fn from_parts(name: KeyName, value: ValueRef<'_>, meta: Vec<MetaKey>) -> Self {
        Self(Arc::new(Data { name, value: value.into(), meta }))
    }

    /// The name.
    pub fn name(&self) -> &KeyName {
        &self.0.name
    }

    /// The value.
    pub fn value(&self) -> ValueRef<'_> {
        self.0.value.borrow()
    }

    /// The borrowed form, which also reads the metakeys.
    pub fn borrow(&self) -> KeyRef<'_> {
        KeyRef(Place::Owned(self))
    }

    /// The same key under another name; metakeys stay shared.
    #[must_use]
    pub fn renamed(mut self, name: KeyName) -> Self {
        Arc::make_mut(&mut self.0).name = name;
        self
    }

    /// The metakeys that other keys may have too.
    pub(crate) fn shareable_meta(&self) -> impl Iterator<Item = MetaId> {
        self.0.meta.iter().filter(|meta| meta.may_be_shared()).map(|meta| meta.borrow().id)
    }

    /// Makes this a string key; `binary` and `origvalue` go (`keySetString`).
    ///
    /// # Errors
    /// If the text holds a NUL.
    pub fn set_string(&mut self, text: impl AsRef<[u8]>) -> Result<(), NulInString> {
        let value = Value::string(text.as_ref())?;
        let data = Arc::make_mut(&mut self.0);
        data.value = value;
        data.meta.retain(|meta| !matches!(meta.borrow().name, BINARY | b"origvalue"));
        Ok(())
    }

    /// Makes this a binary key; no bytes mean null (`keySetBinary`).
    pub fn set_binary(&mut self, bytes: impl AsRef<[u8]>) {
        let data = Arc::make_mut(&mut self.0);
        data.value = Value::binary(bytes.as_ref());
        if find(&data.meta, BINARY).is_err() {
            insert(&mut data.meta, MetaKey::own(BINARY.to_vec(), b""));
        }
    }

    /// Sets a metakey (`keySetMeta`). Setting `binary` makes the key a binary one.
    ///
    /// # Errors
    /// If the name is invalid or the value holds a NUL.
    pub fn set_meta(
        &mut self,
        name: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Result<(), MetaError> {
        self.share_meta(MetaKey::new(name, value)?);
        Ok(())
    }

    /// Gives the key this very metakey, as other keys may have it (`keyCopyMeta`).
    pub fn share_meta(&mut self, meta: MetaKey) {
        let data = Arc::make_mut(&mut self.0);
        if meta.borrow().name == BINARY {
            data.value = data.value.clone().into_binary();
        }
        insert(&mut data.meta, meta);
    }

    /// Removes a metakey and says whether there was one.
    ///
    /// # Errors
    /// If the name is invalid.
    pub fn remove_meta(&mut self, name: impl AsRef<[u8]>) -> Result<bool, NameError> {
        let name = meta::canonical_name(name.as_ref())?;
        let Ok(at) = find(&self.0.meta, &name) else { return Ok(false) };
        let data = Arc::make_mut(&mut self.0);
        data.meta.remove(at);
        if name == BINARY {
            data.value = data.value.clone().into_string();
        }
        Ok(true)
    }
}

fn find(meta: &[MetaKey], name: &[u8]) -> Result<usize, usize> {
    meta.binary_search_by(|other| meta::compare_names(other.borrow().name, name))
}

fn insert(metas: &mut Vec<MetaKey>, meta: MetaKey) {
    match find(metas, meta.borrow().name) {
        Ok(at) => metas[at] = meta,
        Err(at) => metas.insert(at, meta),
    }
}

/// A key in a key set.
#[derive(Clone, Copy)]
pub struct KeyRef<'a>(pub(crate) Place<'a>);

#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    Packed(&'a Arc<Block>, u32),
    Owned(&'a Key),
}

impl<'a> KeyRef<'a> {
    /// The name.
    pub fn name(self) -> NameRef<'a> {
        match self.0 {
            Place::Packed(block, index) => block.name(index),
            Place::Owned(key) => key.0.name.borrow(),
        }
    }

    /// The value.
    pub fn value(self) -> ValueRef<'a> {
        match self.0 {
            Place::Packed(block, index) => block.value(index),
            Place::Owned(key) => key.value(),
        }
    }

    /// The metakeys in order.
    pub fn meta(self) -> impl ExactSizeIterator<Item = MetaRef<'a>> {
        let len = match self.0 {
            Place::Packed(block, index) => block.meta_len(index),
            Place::Owned(key) => key.0.meta.len(),
        };
        (0..len).map(move |at| self.meta_at(at))
    }

    fn meta_at(self, at: usize) -> MetaRef<'a> {
        match self.0 {
            Place::Packed(block, index) => Block::meta(block, block.meta_index(index, at)),
            Place::Owned(key) => key.0.meta[at].borrow(),
        }
    }

    /// The value of the metakey called `name`, with or without `meta:/`.
    pub fn meta_value(self, name: impl AsRef<[u8]>) -> Option<&'a [u8]> {
        let name = meta::canonical_name(name.as_ref()).ok()?;
        self.meta().find(|meta| meta::compare_names(meta.name, &name).is_eq()).map(|m| m.value)
    }

    /// The metakey called `name`, to share it with another key.
    pub fn meta_key(self, name: impl AsRef<[u8]>) -> Option<MetaKey> {
        let name = meta::canonical_name(name.as_ref()).ok()?;
        self.meta_keys().find(|meta| meta::compare_names(meta.borrow().name, &name).is_eq())
    }

    fn meta_keys(self) -> impl Iterator<Item = MetaKey> {
        (0..self.meta().len()).map(move |at| match self.0 {
            Place::Packed(block, index) => MetaKey::packed(block, block.meta_index(index, at)),
            Place::Owned(key) => key.0.meta[at].clone(),
        })
    }

    /// An owned key with the same metakeys.
    pub fn to_key(self) -> Key {
        match self.0 {
            Place::Owned(key) => key.clone(),
            Place::Packed(..) => {
                Key::from_parts(self.name().to_name(), self.value(), self.meta_keys().collect())
            }
        }
    }
}

impl PartialEq for KeyRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        let pairs = |key: Self| key.meta().map(|meta| (meta.name, meta.value));
        self.name() == other.name()
            && self.value() == other.value()
            && pairs(*self).eq(pairs(*other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.borrow() == other.borrow()
    }
}

impl std::fmt::Debug for KeyRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} = {:?} {:?}", self.name(), self.value(), self.meta().collect::<Vec<_>>())
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.borrow().fmt(f)
    }
}
