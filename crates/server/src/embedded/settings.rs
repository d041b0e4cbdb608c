//! `store.toml`: the first file to be read of a store, and the last to be written when it is made.

use std::fs::{self, File};
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cenote_store::Parts;
use serde::{Deserialize, Serialize};

use super::backing::{Company, MAIN};
use super::{Backing, MIGRATED, NEW_SETTINGS, OpenError, SETTINGS, io_error};
use crate::opener::UrlOpener;

/// The version of the layout that this program knows: a store with its catalog and contents in its directory has 1, so that
/// earlier programs open it; they refuse 2, since they would make a second catalog there.
pub(super) const FORMAT: u32 = 2;

/// The seconds of a day.
const DAY: u64 = 24 * 3_600;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Settings {
    format: u32,
    #[serde(flatten)]
    pub(super) backing: Backing,
    /// How many days the change feed keeps a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_changes_days: Option<NonZeroU32>,
    #[serde(flatten)]
    opener: UrlOpener,
}

impl Settings {
    pub(super) fn new(backing: Backing) -> Self {
        let format = if backing.is_local() { 1 } else { FORMAT };
        Self { format, backing, keep_changes_days: None, opener: UrlOpener::default() }
    }

    /// The same for a copy of the store elsewhere. The options of its main place are those of the environment.
    pub(super) fn moved(self, backing: Backing) -> Self {
        let Self { keep_changes_days, opener, .. } = self;
        Self { keep_changes_days, opener: opener.without_place(MAIN), ..Self::new(backing) }
    }

    pub(super) fn read(dir: &Path) -> Result<Self, OpenError> {
        let path = dir.join(SETTINGS);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing(dir)),
            text => text.map_err(|error| io_error(&path, error))?,
        };
        let settings: Self = toml::from_str(&text)
            .map_err(|error| OpenError::Settings(path, error.message().to_owned()))?;
        match settings.format {
            ..=FORMAT => Ok(settings),
            found => Err(OpenError::TooNew { found }),
        }
    }

    /// The store exists once the file exists.
    pub(super) fn write(&self, dir: &Path) -> Result<(), OpenError> {
        let text = toml::to_string(self).expect("numbers and texts are TOML");
        let new = dir.join(NEW_SETTINGS);
        let write = || {
            let mut file = File::create(&new)?;
            cenote_blob::make_file_private(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, dir.join(SETTINGS))?;
            File::open(dir)?.sync_all()
        };
        write().map_err(|error| io_error(dir, error))
    }

    /// What the store in a directory is made of.
    pub(super) fn parts(&self, dir: &Path, company: Company) -> Result<Parts, OpenError> {
        let opener = self.opener.clone().for_store(dir);
        let parts = self.backing.parts(dir, &opener, company)?;
        let days = |days: NonZeroU32| Duration::from_secs(u64::from(days.get()) * DAY);
        let keep_changes = self.keep_changes_days.map_or(parts.keep_changes, days);
        Ok(Parts { opener: Arc::new(opener), keep_changes, ..parts })
    }
}

fn missing(dir: &Path) -> OpenError {
    match dir.join(MIGRATED).exists() {
        true => OpenError::Migrated(dir.to_owned()),
        false => OpenError::Missing(dir.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(line: &str) -> Result<Duration, OpenError> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(SETTINGS), format!("format = 1\n{line}\n")).unwrap();
        let settings = Settings::read(dir.path())?.moved(Backing::default());
        Ok(settings.parts(dir.path(), Company::None)?.keep_changes)
    }

    #[test]
    fn changes_are_kept_as_long_as_configured() {
        assert_eq!(kept("").unwrap(), Duration::from_secs(30 * DAY));
        assert_eq!(kept("keep_changes_days = 365").unwrap(), Duration::from_secs(365 * DAY));
        assert!(matches!(kept("keep_changes_days = 0"), Err(OpenError::Settings(..))));
    }
}
