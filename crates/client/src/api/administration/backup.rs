//! Backups of the whole store.

use crate::call::Call;
use crate::{Client, Content, Result};

impl Client {
    /// The rows of the catalog at one moment, in the form of a file of a backup. After the last row the bytes go on until they are
    /// dropped: as long as they last, contents that these rows name are not erased.
    pub async fn backup(&self) -> Result<Content> {
        self.content(Call::get("/v1/backup").query("hold", true)).await
    }

    /// All bytes of a blob (32 hexadecimal digits) that a backup names.
    pub async fn backup_blob(&self, blob: &str) -> Result<Content> {
        self.content(Call::get(&format!("/v1/backup/blobs/{blob}"))).await
    }
}
