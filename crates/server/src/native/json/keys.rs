//! Keys of a key set. Text that is not UTF-8 is base64 as a value, and has U+FFFD in its place in a
//! name or in metadata.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use cenote_keyset::{KeyRef, ValueRef};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// One key of a key set.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct KeyQuery {
    /// The parent key of the names in it; by default `user:/`.
    #[param(example = "user:/")]
    pub(crate) parent: Option<String>,
    /// The key: an absolute name, a name relative to the parent, or a cascading name, which is looked up.
    #[param(example = "server/port")]
    pub(crate) name: String,
}

/// Which keys of a key set.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct KeysQuery {
    /// The parent key of the names in it; by default `user:/`.
    #[param(example = "user:/")]
    pub(crate) parent: Option<String>,
    /// Only this key and those below it.
    #[param(example = "server")]
    pub(crate) under: Option<String>,
    /// Begin after this key.
    pub(crate) after: Option<String>,
    /// At most this many keys.
    #[param(minimum = 1, maximum = 10000)]
    pub(crate) limit: Option<u32>,
    /// A version, instead of the current content.
    pub(crate) version: Option<u64>,
}

/// A key. A binary one without a value has neither `value` nor `base64`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Key)]
pub(crate) struct KeyBody<'a> {
    /// The absolute name.
    #[schema(example = "user:/server/port")]
    pub(crate) name: String,
    /// The value, if it is text.
    #[schema(value_type = Option<String>, example = "8080")]
    value: Option<Cow<'a, str>>,
    /// The value in base64, if it is bytes, or text that is not UTF-8.
    base64: Option<String>,
    /// Whether it is a binary key.
    binary: bool,
    /// The metakeys, without `meta:/`.
    #[schema(value_type = BTreeMap<String, String>)]
    meta: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
}

impl<'a> From<KeyRef<'a>> for KeyBody<'a> {
    fn from(key: KeyRef<'a>) -> Self {
        let (value, base64) = match key.value() {
            ValueRef::Null => (None, None),
            ValueRef::Binary(bytes) => (None, Some(BASE64_STANDARD.encode(bytes))),
            ValueRef::String(text) => match std::str::from_utf8(text) {
                Ok(text) => (Some(text.into()), None),
                Err(_) => (None, Some(BASE64_STANDARD.encode(text))),
            },
        };
        let text = String::from_utf8_lossy;
        let meta = key.meta().map(|meta| (text(meta.name()), text(meta.value()))).collect();
        Self { name: key.name().to_string(), value, base64, binary: key.value().is_binary(), meta }
    }
}

/// Part of a key set, in the order of the keys.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyPage<'a> {
    pub(crate) items: Vec<KeyBody<'a>>,
    /// Where the next page begins: after this key; null at the end.
    pub(crate) next: Option<String>,
}

/// The new state of a key. Missing fields are unchanged, or empty in a new key.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyChange {
    /// The name again, as in an answer.
    pub(crate) name: Option<String>,
    /// The value, as text.
    #[schema(example = "8080")]
    pub(crate) value: Option<String>,
    /// The value, as bytes in base64.
    pub(crate) base64: Option<String>,
    /// Whether it is a binary key; without a value, it has none.
    pub(crate) binary: Option<bool>,
    /// All metakeys, without `meta:/`.
    pub(crate) meta: Option<BTreeMap<String, String>>,
}
