//! Extended attributes.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Which extended attribute.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct XattrQuery {
    /// Its name, without the prefix `user.` of file systems: 1 to 250 bytes.
    #[param(example = "mime_type")]
    pub(crate) name: String,
}

/// The extended attributes of a resource, by name.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Xattrs {
    pub(crate) items: Vec<Xattr>,
}

/// An extended attribute; it has either `value` or `base64`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Xattr {
    /// Its name, without the prefix `user.`.
    #[schema(example = "mime_type")]
    name: String,
    /// The value, if it is UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// The bytes in Base64, if they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl From<cenote_store::Xattr> for Xattr {
    fn from(xattr: cenote_store::Xattr) -> Self {
        let name = xattr.name;
        match String::from_utf8(xattr.value.into()) {
            Ok(text) => Self { name, value: Some(text), base64: None },
            Err(bytes) => {
                Self { name, value: None, base64: Some(BASE64_STANDARD.encode(bytes.as_bytes())) }
            }
        }
    }
}
