//! Where the catalog and the contents of a store are, if they are not in its directory.

use std::path::Path;

use cenote_blob::{BlobId, Place};
use cenote_kv::{FjallEngine, FjallOptions, PostgresEngine};
use cenote_store::{Entropy, Parts, PlaceOpener, SystemEntropy};
use serde::{Deserialize, Serialize};

use super::{CATALOG, CONTENTS, OpenError};
use crate::listen::descriptors_for_catalog;
use crate::opener::UrlOpener;

/// Where the catalog and the contents of a store are; `None` for its directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Backing {
    /// A database of PostgreSQL: a `postgres://` URL or `key=value` pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog: Option<String>,
    /// A bucket or another directory: `s3://bucket/prefix`, `gs://…`, `az://…`, `file:///…`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contents: Option<String>,
}

/// Who else may have a catalog in a database open. A catalog in a directory is always that of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Company {
    /// Nobody.
    None,
    /// Other servers, which claim what must not be done twice.
    Servers,
}

impl Backing {
    /// Whether all is in the directory of the store.
    pub fn is_local(&self) -> bool {
        self.catalog.is_none() && self.contents.is_none()
    }

    /// Writes and removes an empty content where contents are kept outside the directory: a wrong address, or missing rights, show
    /// before a store relies on them, not with its first large content.
    pub async fn probe(&self) -> Result<(), OpenError> {
        let Some(address) = &self.contents else { return Ok(()) };
        let place = UrlOpener::default().open(MAIN, address)?;
        let mut id = [0; 16];
        SystemEntropy.fill(&mut id);
        let id = BlobId::from_bytes(id);
        place.writer(id, []).finish().await?;
        Ok(place.delete(id).await?)
    }

    /// What the store is made of.
    pub(super) fn parts(
        &self,
        dir: &Path,
        opener: &UrlOpener,
        company: Company,
    ) -> Result<Parts, OpenError> {
        let place = self.place(dir, opener)?;
        let Some(address) = &self.catalog else {
            let files = descriptors_for_catalog();
            let options = FjallOptions { files, ..FjallOptions::default() };
            return Ok(Parts::new(FjallEngine::open(dir.join(CATALOG), options)?, place));
        };
        let opened = match company {
            Company::None => PostgresEngine::open_alone(address),
            Company::Servers => PostgresEngine::open_together(address),
        };
        match opened {
            Ok(engine) => Ok(Parts::new(engine, place)),
            Err(cenote_kv::Error::Locked) => Err(OpenError::Served),
            Err(error) => Err(error.into()),
        }
    }

    fn place(&self, dir: &Path, opener: &UrlOpener) -> Result<Place, OpenError> {
        Ok(match &self.contents {
            Some(address) => opener.open(MAIN, address)?,
            None => Place::local(MAIN, dir.join(CONTENTS))?,
        })
    }
}

/// The name of the place that is opened with the store.
pub(super) const MAIN: &str = "main";
