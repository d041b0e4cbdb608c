//! Copying the store of a directory, or a backup, to another directory, database or bucket, and what is left of the first one.
//!
//! Invariants: the settings of the copy are written last, and those of the original renamed after that, so that one of the two can be
//! opened, and only one.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use cenote_store::{BackupDir, CatalogInfo, Copied, CopyChoices, Landing, RestoredPlaces, Watch};

use super::backing::Company;
use super::settings::Settings;
use super::{Backing, Embedded, MIGRATED, OpenError, SETTINGS, io_error, vacant};

impl Embedded {
    /// Copies this store, which is in the directory `from`, to another directory or to what `backing` names. It can be read
    /// meanwhile, but takes no more changes. What an interrupted call left is completed by the next one.
    ///
    /// # Errors
    /// [`OpenError::Exists`] and [`OpenError::Occupied`] if something is there; [`OpenError::Store`] if a part of the store is damaged.
    pub async fn copy_to(
        &self,
        from: &Path,
        to: &Path,
        backing: Backing,
        choices: CopyChoices,
        watch: &Watch,
    ) -> Result<Copied, OpenError> {
        let settings = Settings::read(from)?.moved(backing);
        let store = self.store();
        arrive(to, &settings, async |landing| store.copy_to(landing, choices, watch).await).await
    }

    /// Closes a store that was copied, so that it cannot be opened by mistake: its settings are renamed.
    pub fn retire(self, dir: &Path) -> Result<(), OpenError> {
        let rename = || {
            fs::rename(dir.join(SETTINGS), dir.join(MIGRATED))?;
            File::open(dir)?.sync_all()
        };
        rename().map_err(|error| io_error(dir, error))
    }
}

/// Makes a store of a backup, in a directory or in what `backing` names; returns also which of its places are down now.
///
/// # Errors
/// As for [`Embedded::copy_to`].
pub async fn restore_dir(
    backups: &Arc<BackupDir>,
    catalog: &CatalogInfo,
    to: &Path,
    backing: Backing,
    choices: CopyChoices,
    watch: &Watch,
) -> Result<(Copied, RestoredPlaces), OpenError> {
    let settings = Settings::new(backing);
    arrive(to, &settings, async |landing| backups.restore(catalog, landing, choices, watch).await)
        .await
}

/// Makes a directory for a store with these settings, which `copy` fills.
async fn arrive<T>(
    dir: &Path,
    settings: &Settings,
    copy: impl AsyncFnOnce(&Landing) -> Result<T, cenote_store::Error>,
) -> Result<T, OpenError> {
    let _lock = vacant(dir)?;
    let parts = settings.parts(dir, Company::None)?;
    let copied = copy(&Landing::new(&parts)).await?;
    drop(parts);
    settings.write(dir)?;
    Ok(copied)
}
