//! The files that say which tables a keyspace has.
//!
//! fjall writes the checksum of such a file beside its number, into `current`, and does not compare it: a flipped bit there could
//! hide tables, or end the process. It is compared here, before the database is opened.

use std::fs;
use std::io;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use super::io as failed;
use crate::{Error, Result};

/// Refuses a database with a keyspace whose tables are not known for sure.
pub(super) fn check(dir: &Path) -> Result<()> {
    let keyspaces = match fs::read_dir(dir.join("keyspaces")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        keyspaces => keyspaces.map_err(failed)?,
    };
    for keyspace in keyspaces {
        let keyspace = keyspace.map_err(failed)?.path();
        if keyspace.is_dir() {
            check_keyspace(&keyspace)?;
        }
    }
    Ok(())
}

fn check_keyspace(dir: &Path) -> Result<()> {
    let current = match fs::read(dir.join("current")) {
        // A keyspace whose creation was interrupted; for others the file has already been checked to exist.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        current => current.map_err(failed)?,
    };
    let Some((id, checksum)) = parts(&current) else {
        return Err(corrupt(dir, "`current` is not what it should be"));
    };
    let name = format!("v{id}");
    match fs::read(dir.join(&name)) {
        Ok(version) if xxh3_128(&version) == checksum => Ok(()),
        Ok(_) => Err(corrupt(dir, &format!("`{name}` does not have its checksum"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(corrupt(dir, &format!("`{name}` is missing")))
        }
        Err(error) => Err(failed(error)),
    }
}

/// The number of the version, little-endian, its XXH3-128, and 0 for the algorithm.
fn parts(current: &[u8]) -> Option<(u64, u128)> {
    let (id, rest) = current.split_first_chunk::<8>()?;
    let (checksum, algorithm) = rest.split_first_chunk::<16>()?;
    let known = algorithm == [0];
    known.then(|| (u64::from_le_bytes(*id), u128::from_le_bytes(*checksum)))
}

fn corrupt(dir: &Path, what: &str) -> Error {
    Error::Corrupt(format!("{}: {what}; restore the catalog from a backup", dir.display()))
}
