//! Checking all objects of a root before any of it is brought.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use cenote_ocfl::{Checked, Faults, Object};
use futures_util::{StreamExt, stream};

use super::Import;
use super::read::{Found, resources};
use crate::archive::names::{Names, Place};
use crate::archive::wrong;
use crate::error::{CliError, Kind, Result};

/// What is known of an object without faults.
pub(super) struct Valid {
    pub(super) checked: Checked,
    pub(super) places: Vec<Place>,
    /// What is not brought of it, and why.
    pub(super) left_out: Vec<(String, String)>,
    pub(super) has_history: bool,
    id: String,
}

impl Import<'_> {
    /// Checks every object with all of its files.
    pub(super) async fn valid(&self) -> Result<BTreeMap<PathBuf, Valid>> {
        let directories = self.root.objects().map_err(refused)?;
        self.bar.set_length(directories.len() as u64);
        self.bar.set_message("checking");
        let checks = directories.into_iter().map(|directory| {
            let names = self.names.clone();
            tokio::task::spawn_blocking(move || (check(&directory, &names), directory))
        });
        let mut checks = stream::iter(checks).buffer_unordered(self.jobs);
        let (mut valid, mut invalid) = (BTreeMap::new(), 0_u64);
        while let Some(checked) = checks.next().await {
            let (checked, directory) = checked.map_err(wrong)?;
            self.bar.inc(1);
            match checked {
                Ok(checked) => drop(valid.insert(directory, checked)),
                Err(error) => {
                    invalid += 1;
                    self.session.failed(&directory.display().to_string(), &error);
                }
            }
        }
        self.bar.reset();
        self.bar.set_message("importing");
        match invalid {
            0 => once(valid),
            _ => Err(CliError::new(Kind::Mismatch, format!("{invalid} objects are not valid"))
                .hint("nothing was imported")),
        }
    }
}

fn check(directory: &std::path::Path, names: &Names) -> Result<Valid> {
    let object = Object::open(directory).map_err(refused)?;
    let checked = object.check().map_err(refused)?;
    let resources = resources(&object, names)?;
    Ok(Valid {
        checked,
        has_history: resources.found.iter().any(Found::has_history),
        places: resources.found.into_iter().map(|found| found.place).collect(),
        left_out: resources.left_out,
        id: object.inventory().id.clone(),
    })
}

/// Each id is that of one object.
fn once(valid: BTreeMap<PathBuf, Valid>) -> Result<BTreeMap<PathBuf, Valid>> {
    let mut known = HashMap::new();
    for (directory, valid) in &valid {
        if let Some(other) = known.insert(valid.id.as_str(), directory) {
            let what = format!("{} and {} have the same id", other.display(), directory.display());
            return Err(CliError::new(Kind::Mismatch, what).hint("nothing was imported"));
        }
    }
    Ok(valid)
}

fn refused(faults: Faults) -> CliError {
    CliError::new(Kind::Mismatch, faults.to_string())
}
