//! Extended attributes: the description of a resource.

use bytes::Bytes;
use cenote_client::{At, XattrMode};

use super::FileSystem;
use crate::cache::{Ino, ROOT};
use crate::error::{Fault, Result};
use crate::status::STATUS;

const PREFIX: &str = "user.";

impl FileSystem {
    /// The names of the extended attributes, each ended by a zero byte.
    pub async fn listxattr(&self, ino: Ino) -> Result<Vec<u8>> {
        if self.options().is_dxfuse() {
            return self.names_as_dxfuse(ino).await;
        }
        if self.lock().node(ino)?.id.is_none() {
            return Ok(Vec::new());
        }
        let place = self.lock().place(ino)?;
        let found = self.0.source.xattrs(&place).await?;
        let mut names = Vec::new();
        for xattr in found {
            names.extend_from_slice(PREFIX.as_bytes());
            names.extend_from_slice(xattr.name.as_bytes());
            names.push(0);
        }
        Ok(names)
    }

    /// The value of an extended attribute.
    pub async fn getxattr(&self, ino: Ino, name: &str) -> Result<Bytes> {
        if ino == ROOT && name == STATUS {
            return Ok(self.status_text()?.into());
        }
        if self.options().is_dxfuse() {
            return self.xattr_as_dxfuse(ino, name).await;
        }
        let name = attribute(name).ok_or_else(not_kept)?;
        if self.lock().node(ino)?.id.is_none() {
            return Err(none());
        }
        let place = self.lock().place(ino)?;
        let found = self.0.source.xattrs(&place).await?;
        let xattr = found.iter().find(|xattr| xattr.name == name).ok_or_else(none)?;
        Ok(xattr.bytes()?)
    }

    /// Sets an extended attribute.
    pub async fn setxattr(
        &self,
        ino: Ino,
        name: &str,
        value: Bytes,
        mode: XattrMode,
    ) -> Result<()> {
        if self.options().is_dxfuse() {
            return self.change_as_dxfuse(ino, name, (Some(value), mode)).await;
        }
        let name = attribute(name).ok_or_else(not_kept)?;
        let at = self.described(ino).await?;
        let client = &self.0.source.client;
        let set = || client.set_xattr(&at, name, value.clone(), mode);
        let set = self.0.source.change(set).await;
        let found = set.map_err(|fault| match (fault.errno, mode) {
            (libc::ESTALE, XattrMode::Create) => Fault::new(libc::EEXIST, fault.message),
            (libc::ESTALE, _) => none(),
            _ => fault,
        })?;
        self.lock().update(ino, &found);
        Ok(())
    }

    /// Removes an extended attribute.
    pub async fn removexattr(&self, ino: Ino, name: &str) -> Result<()> {
        if self.options().is_dxfuse() {
            return self.change_as_dxfuse(ino, name, (None, XattrMode::Any)).await;
        }
        let name = attribute(name).ok_or_else(not_kept)?;
        let at = self.described(ino).await?;
        let client = &self.0.source.client;
        let removed = self.0.source.change(|| client.remove_xattr(&at, name)).await;
        let found = removed.map_err(|fault| match fault.errno {
            libc::ENOENT => none(),
            _ => fault,
        })?;
        self.lock().update(ino, &found);
        Ok(())
    }

    /// A resource whose description is changed; a file that is not in the store yet gets there first.
    async fn described(&self, ino: Ino) -> Result<At> {
        self.require_changeable(ino)?;
        if self.lock().node(ino)?.id.is_none() {
            self.publish(ino).await?;
        }
        Ok(At::Id(self.lock().place(ino)?.id))
    }
}

/// The attribute that an extended attribute is; other name spaces are not kept.
pub(crate) fn attribute(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX).filter(|name| !name.is_empty())
}

fn not_kept() -> Fault {
    Fault::new(libc::EOPNOTSUPP, "only attributes that begin with `user.` are kept")
}

pub(crate) fn none() -> Fault {
    Fault::new(libc::ENODATA, "no such attribute")
}
