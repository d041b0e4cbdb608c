//! Extended attributes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{IF_MATCH, IF_NONE_MATCH};
use serde::{Deserialize, Serialize};

use crate::call::{Call, Payload};
use crate::{At, Client, Error, Resource, Result};

/// An extended attribute, as it is listed: its value is text, or bytes in Base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Xattr {
    /// Its name, without the prefix `user.` that a file system gives it.
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
    /// [`Kind::Protocol`](crate::Kind::Protocol) if the answer has neither text nor Base64.
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

/// What must hold for an extended attribute to be set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum XattrMode {
    /// Nothing.
    #[default]
    Any,
    /// There is none of this name (`XATTR_CREATE`).
    Create,
    /// There is one of this name (`XATTR_REPLACE`).
    Replace,
}

#[derive(Deserialize)]
struct Xattrs {
    items: Vec<Xattr>,
}

impl Client {
    /// The extended attributes of a resource, by name.
    pub async fn xattrs(&self, at: &At) -> Result<Vec<Xattr>> {
        let all: Xattrs = self.json(Call::get("/v1/xattrs").at(at)).await?;
        Ok(all.items)
    }

    /// The bytes of one.
    ///
    /// # Errors
    /// [`Kind::NotFound`](crate::Kind::NotFound) if there is none of this name.
    pub async fn xattr(&self, at: &At, name: &str) -> Result<Bytes> {
        self.bytes(Call::get("/v1/xattr").at(at).query("name", name)).await
    }

    /// Sets one, of up to 64 KiB.
    ///
    /// # Errors
    /// [`Kind::Precondition`](crate::Kind::Precondition) if it is there, or is not, against `mode`.
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

    /// Removes one.
    ///
    /// # Errors
    /// [`Kind::NotFound`](crate::Kind::NotFound) if there is none of this name.
    pub async fn remove_xattr(&self, at: &At, name: &str) -> Result<Resource> {
        self.json(Call::delete("/v1/xattr").at(at).query("name", name)).await
    }
}
