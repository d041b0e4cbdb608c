//! Keys: a name, a value, and metakeys. [`Key`] owns them; [`KeyRef`] points into a key set, whose keys may still be
//! in the bytes of the file they were read from.
//!
//! Invariants: the metakeys are in order and unique by name; a key is binary if, and only if, it has the metakey
//! `binary`.

mod metas;

use std::sync::Arc;

pub use self::metas::MetaIter;
use self::metas::Metas;
use crate::block::Block;
use crate::meta::{self, BINARY, MetaError, MetaId, MetaKey};
use crate::name::{KeyName, NameError, NameRef};
use crate::value::{NulInString, Value, ValueRef};

/// A key. Clones share their contents until one of them changes; a key read from a file shares the file's bytes.
#[derive(Clone)]
pub struct Key(Repr);

#[derive(Clone)]
enum Repr {
    Packed(Arc<Block>, u32),
    Owned(Arc<Data>),
}

#[derive(Clone)]
pub(crate) struct Data {
    name: KeyName,
    value: Value,
    meta: Vec<MetaKey>,
}

impl Key {
    /// A key with an empty string as its value.
    pub fn new(name: KeyName) -> Self {
        let value = ValueRef::String(b"").into();
        Self(Repr::Owned(Arc::new(Data { name, value, meta: Vec::new() })))
    }

    pub(crate) fn packed(block: &Arc<Block>, index: u32) -> Self {
        Self(Repr::Packed(Arc::clone(block), index))
    }

    /// The contents, for changing them.
    fn data(&mut self) -> &mut Data {
        if let Repr::Packed(..) = self.0 {
            let key = self.borrow();
            let (name, value) = (key.name().to_name(), key.value().into());
            let meta = key.meta_keys().collect();
            self.0 = Repr::Owned(Arc::new(Data { name, value, meta }));
        }
        match &mut self.0 {
            Repr::Owned(data) => Arc::make_mut(data),
            Repr::Packed(..) => unreachable!("it was just made an owned one"),
        }
    }

    /// The name.
    pub fn name(&self) -> NameRef<'_> {
        self.borrow().name()
    }

    /// The value.
    pub fn value(&self) -> ValueRef<'_> {
        self.borrow().value()
    }

    /// The borrowed form, which also gives access to the metakeys.
    pub fn borrow(&self) -> KeyRef<'_> {
        KeyRef(match &self.0 {
            Repr::Packed(block, index) => Place::Packed(block, *index),
            Repr::Owned(data) => Place::Owned(data),
        })
    }

    /// The same key under another name; metakeys stay shared.
    #[must_use]
    pub fn renamed(mut self, name: KeyName) -> Self {
        self.data().name = name;
        self
    }

    /// Sets the value, of any type.
    pub fn set_value(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::String(text) => {
                let _ = self.set_string(text);
            }
            value => self.set_binary(value.as_bytes()),
        }
    }

    /// Makes this a string key; `binary` and `origvalue` are removed (`keySetString`).
    ///
    /// # Errors
    /// If the text contains a NUL.
    pub fn set_string(&mut self, text: impl AsRef<[u8]>) -> Result<(), NulInString> {
        let value = Value::string(text.as_ref())?;
        let data = self.data();
        data.value = value;
        data.meta.retain(|meta| !matches!(meta.borrow().name, BINARY | b"origvalue"));
        Ok(())
    }

    /// Makes this a binary key; an empty value means null (`keySetBinary`).
    pub fn set_binary(&mut self, bytes: impl AsRef<[u8]>) {
        let data = self.data();
        data.value = Value::binary(bytes.as_ref());
        if find(&data.meta, BINARY).is_err() {
            insert(&mut data.meta, MetaKey::own(BINARY.to_vec(), b""));
        }
    }

    /// Sets a metakey (`keySetMeta`). Setting `binary` makes the key binary.
    ///
    /// # Errors
    /// If the name is invalid or the value contains a NUL.
    pub fn set_meta(
        &mut self,
        name: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Result<(), MetaError> {
        self.share_meta(MetaKey::new(name, value)?);
        Ok(())
    }

    /// Adds this very metakey, which other keys may share (`keyCopyMeta`).
    pub fn share_meta(&mut self, meta: MetaKey) {
        let data = self.data();
        if meta.borrow().name == BINARY {
            data.value = data.value.clone().into_binary();
        }
        insert(&mut data.meta, meta);
    }

    /// Removes a metakey, and returns whether it existed.
    ///
    /// # Errors
    /// If the name is invalid.
    pub fn remove_meta(&mut self, name: impl AsRef<[u8]>) -> Result<bool, NameError> {
        let name = meta::canonical_name(name.as_ref())?;
        let data = self.data();
        let Ok(at) = find(&data.meta, &name) else { return Ok(false) };
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
    Owned(&'a Arc<Data>),
}

impl<'a> KeyRef<'a> {
    /// The name.
    pub fn name(self) -> NameRef<'a> {
        match self.0 {
            Place::Packed(block, index) => block.name(index),
            Place::Owned(data) => data.name.borrow(),
        }
    }

    /// The value.
    pub fn value(self) -> ValueRef<'a> {
        match self.0 {
            Place::Packed(block, index) => block.value(index),
            Place::Owned(data) => data.value.borrow(),
        }
    }

    /// The metakeys in order.
    pub fn meta(self) -> MetaIter<'a> {
        MetaIter(match self.0 {
            Place::Packed(block, index) => Metas::Packed(Block::metas(block, index)),
            Place::Owned(data) => Metas::Owned(data.meta.iter()),
        })
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

    /// The metakeys in order, to share them with another key.
    pub fn meta_keys(self) -> impl Iterator<Item = MetaKey> {
        let metas = match self.0 {
            Place::Packed(..) => &[][..],
            Place::Owned(data) => &data.meta,
        };
        let block = match self.0 {
            Place::Packed(block, index) => Some((block, Block::metas(block, index))),
            Place::Owned(_) => None,
        };
        let packed = block
            .into_iter()
            .flat_map(|(block, metas)| metas.map(|meta| MetaKey::packed(block, meta.id.number)));
        packed.chain(metas.iter().cloned())
    }

    /// The key itself, which shares its contents with the set.
    pub fn to_key(self) -> Key {
        Key(match self.0 {
            Place::Packed(block, index) => Repr::Packed(Arc::clone(block), index),
            Place::Owned(data) => Repr::Owned(Arc::clone(data)),
        })
    }

    /// The metakeys that may be shared with other keys, except within a block.
    pub(crate) fn shareable_meta(self) -> impl Iterator<Item = MetaId> {
        let metas = match self.0 {
            Place::Packed(..) => &[][..],
            Place::Owned(data) => &data.meta,
        };
        metas.iter().filter(|meta| meta.may_be_shared()).map(|meta| meta.borrow().id)
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
