//! Extended attributes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{IF_MATCH, IF_NONE_MATCH};
use serde::{Deserialize, Serialize};

use crate::call::{Call, Payload};
use crate::{At, Client, Error, Resource, Result};

/// An extended attribute, as listed: its value is text, or bytes in Base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Xattr {
    /// Its name, without the prefix `user.` that file systems use.
    pub name: String,
    /// The value, if it is UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The bytes in Base64, if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

impl Xattr {
    /// The bytes of the value.
    ///
    /// # Errors
    /// [`Kind::Protocol`](crate::Kind::Protocol) if the response has neither text nor Base64.
    pub fn bytes(&self) -> Result<Bytes> {
        match (&self.value, &self.base64) {
            (Some(text), _) => Ok(text.clone().into()),
            (None, Some(base64)) => {
                STANDARD.decode(base64).map(Bytes::from).map_err(Error::protocol)
            }
            (None, None) => Err(Error::protocol("an extended attribute has no value")),
        }
    }
}

/// The condition for setting an extended attribute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum XattrMode {
    /// None.
    #[default]
    Any,
    /// It must not exist (`XATTR_CREATE`).
    Create,
    /// It must exist (`XATTR_REPLACE`).
    Replace,
}

impl Client {
    /// The extended attributes of a resource, by name.
    pub async fn xattrs(&self, at: &At) -> Result<Vec<Xattr>> {
        self.items(Call::get("/v1/xattrs").at(at)).await
    }

    /// The value of an extended attribute.
    ///
    /// # Errors
    /// [`Kind::NotFound`](crate::Kind::NotFound) if it does not exist.
    pub async fn xattr(&self, at: &At, name: &str) -> Result<Bytes> {
        self.bytes(Call::get("/v1/xattr").at(at).query("name", name)).await
    }

    /// Sets an extended attribute, of up to 64 KiB.
    ///
    /// # Errors
    /// [`Kind::Precondition`](crate::Kind::Precondition) if its existence contradicts `mode`.
    pub async fn set_xattr(
        &self,
        at: &At,
        name: &str,
        value: Bytes,
        mode: XattrMode,
    ) -> Result<Resource> {
        let call = Call::put("/v1/xattr").at(at).query("name", name).body(Payload::Bytes(value));
        let call = match mode {
            XattrMode::Any => call.repeatable(),
            XattrMode::Create => call.header(IF_NONE_MATCH, "*")?,
            XattrMode::Replace => call.header(IF_MATCH, "*")?.repeatable(),
        };
        self.json(call).await
    }

    /// Removes an extended attribute.
    ///
    /// # Errors
    /// [`Kind::NotFound`](crate::Kind::NotFound) if it does not exist.
    pub async fn remove_xattr(&self, at: &At, name: &str) -> Result<Resource> {
        self.json(Call::delete("/v1/xattr").at(at).query("name", name)).await
    }
}
