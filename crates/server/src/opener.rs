//! Opens the places of a store from their addresses: directories and buckets.
//!
//! Credentials come from `[places.NAME]` in `store.toml`, or from the environment (`AWS_ACCESS_KEY_ID`, …): never from
//! the catalog. Files are registered in place, and places are added, only below the directories that `store.toml`
//! names, so that an administrator of the store is not one of the machine; and never inside the directory of the store.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use cenote_blob::{Error, Outside, Place};
use cenote_store::PlaceOpener;
use serde::{Deserialize, Serialize};

/// The places that may be opened, according to `store.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct UrlOpener {
    /// Directories below which files may be registered in place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    register: Vec<PathBuf>,
    /// Directories below which administrators of the store may add places. A process that has the store's directory open may add
    /// them anywhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    vaults: Vec<PathBuf>,
    /// How many bytes of what clients read from a bucket are kept in the directory of the store; none if it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    read_cache_bytes: Option<u64>,
    /// The directory of the store itself.
    #[serde(skip)]
    store: Option<PathBuf>,
    /// Options of places by their names, in the words of `object_store`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    places: BTreeMap<String, BTreeMap<String, String>>,
}

/// Where contents of buckets are kept that clients have read, below the directory of the store.
const CACHE: &str = "cache";

impl UrlOpener {
    /// The same for the store in a directory.
    pub(crate) fn for_store(self, dir: &Path) -> Self {
        Self { store: std::path::absolute(dir).ok(), ..self }
    }

    /// The same without the options of a place.
    pub(crate) fn without_place(mut self, name: &str) -> Self {
        self.places.remove(name);
        self
    }
}

impl PlaceOpener for UrlOpener {
    fn open(&self, name: &str, address: &str) -> Result<Place, Error> {
        if address.starts_with("memory:") {
            let source = "contents in memory are lost when the program ends".into();
            return Err(Error::Settings { place: name.to_owned(), source });
        }
        let own = self.places.get(name).cloned().unwrap_or_default();
        let place = Place::from_url(name, address, environment().chain(own))?;
        match (&self.store, self.read_cache_bytes) {
            (Some(store), Some(bytes)) => {
                place.with_cache(store.join(CACHE).join(hex::encode(name)), bytes)
            }
            _ => Ok(place),
        }
    }

    fn may_add(&self, address: &str) -> bool {
        match Place::local_directory(address) {
            Some(directory) => is_below(&directory, &self.vaults),
            None => true,
        }
    }

    fn overlap(&self, address: &str, other: &str) -> bool {
        match (Place::local_directory(address), Place::local_directory(other)) {
            (Some(one), Some(other)) => {
                let (one, other) = (resolved(&one), resolved(&other));
                one.starts_with(&other) || other.starts_with(&one)
            }
            (None, None) => is_bucket_below(address, other) || is_bucket_below(other, address),
            _ => false,
        }
    }

    fn is_inside_store(&self, address: &str) -> bool {
        let directory = Place::local_directory(address).map(|directory| resolved(&directory));
        let inside =
            |store: &PathBuf| directory.is_some_and(|found| found.starts_with(resolved(store)));
        self.store.as_ref().is_some_and(inside)
    }

    fn outside(&self, name: &str, path: &str) -> Option<Outside> {
        let path = Path::new(path);
        is_below(path, &self.register).then(|| Outside::new(name, path).ok()).flatten()
    }
}

/// Whether a path is below one of the directories, links followed as far as they lead anywhere.
fn is_below(path: &Path, directories: &[PathBuf]) -> bool {
    let plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    if !path.is_absolute() || !path.components().all(plain) {
        return false;
    }
    let found = resolved(path);
    directories.iter().any(|directory| found.starts_with(resolved(directory)))
}

/// Whether an address in a bucket is another one, or has it as its prefix.
fn is_bucket_below(address: &str, other: &str) -> bool {
    let (address, other) = (address.trim_end_matches('/'), other.trim_end_matches('/'));
    address.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path with the links in its existing part followed.
fn resolved(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let (Ok(found), Ok(rest)) = (above.canonicalize(), path.strip_prefix(above)) {
            return found.join(rest);
        }
    }
    path.to_owned()
}

/// The settings of the clouds from the environment.
fn environment() -> impl Iterator<Item = (String, String)> {
    let clouds = ["AWS_", "GOOGLE_", "AZURE_"];
    std::env::vars()
        .filter(move |(name, _)| clouds.iter().any(|cloud| name.starts_with(cloud)))
        .map(|(name, value)| (name.to_lowercase(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opener(register: &Path) -> UrlOpener {
        UrlOpener { register: vec![register.to_owned()], ..UrlOpener::default() }
    }

    #[test]
    fn places_are_added_only_below_the_given_directories() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        std::fs::create_dir(&data).unwrap();
        std::os::unix::fs::symlink(dir.path(), data.join("up")).unwrap();
        let opener = UrlOpener { vaults: vec![data.clone()], ..UrlOpener::default() };
        let at = |path: &str| format!("file://{}{path}", dir.path().display());
        for allowed in ["/data", "/data/vault", "/data/not/yet/there", "/data/../data/vault"] {
            assert!(opener.may_add(&at(allowed)), "{allowed}");
        }
        for refused in ["", "/vault", "/database", "/data/..", "/data/up/vault", "/data/%2e%2e/x"] {
            assert!(!opener.may_add(&at(refused)), "{refused}");
        }
        for refused in ["file:///", "file:///etc", "file:///etc/../", "FILE:///etc"] {
            assert!(!opener.may_add(refused), "{refused}");
            assert!(!UrlOpener::default().may_add(refused), "{refused}");
        }
        assert!(opener.may_add("s3://bucket/prefix"));
    }

    #[test]
    fn addresses_overlap_if_one_is_inside_the_other() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("a")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("a"), dir.path().join("link")).unwrap();
        let opener = UrlOpener::default().for_store(&dir.path().join("a/store"));
        let at = |path: &str| format!("file://{}{path}", dir.path().display());
        for (one, other) in [
            (at("/a"), at("/a")),
            (at("/a"), at("/a/")),
            (at("/a/blobs"), at("/a")),
            (at("/link/x"), at("/a")),
            ("s3://bucket".into(), "s3://bucket/prefix".into()),
            ("s3://bucket/p".into(), "s3://bucket/p/".into()),
        ] {
            assert!(opener.overlap(&one, &other) && opener.overlap(&other, &one), "{one} {other}");
        }
        for (one, other) in [
            (at("/a"), at("/ab")),
            (at("/a"), "s3://bucket/a".into()),
            ("s3://bucket/p".into(), "s3://bucket/prefix".into()),
            ("s3://bucket".into(), "s3://bucket2/prefix".into()),
        ] {
            assert!(
                !opener.overlap(&one, &other) && !opener.overlap(&other, &one),
                "{one} {other}"
            );
        }
        for inside in ["/a/store", "/a/store/contents", "/link/store/contents/blobs/x"] {
            assert!(opener.is_inside_store(&at(inside)), "{inside}");
        }
        assert!(!opener.is_inside_store(&at("/a/stores")) && !opener.is_inside_store("s3://b/a"));
    }

    #[test]
    fn directories_are_opened_and_volatile_places_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let address = format!("file://{}/vault", dir.path().display());
        assert!(UrlOpener::default().open("vault", &address).is_ok());
        assert!(dir.path().join("vault/blobs").is_dir());
        for wrong in ["memory:///", "vault", "nowhere://x", "file://host/x"] {
            assert!(UrlOpener::default().open("vault", wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn files_are_registered_only_below_the_given_directories() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        std::fs::create_dir(&data).unwrap();
        std::fs::write(dir.path().join("secret"), b"s").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret"), data.join("link")).unwrap();
        let opener = opener(&data);
        let may = |path: PathBuf| opener.outside("vault", path.to_str().unwrap()).is_some();
        assert!(may(data.join("not yet there")));
        std::fs::write(data.join("file"), b"f").unwrap();
        assert!(may(data.join("file")));
        for not in [data.join("link"), data.join("../secret"), dir.path().join("secret")] {
            assert!(!may(not.clone()), "{}", not.display());
        }
        assert!(!may("data/file".into()));
        assert!(
            UrlOpener::default().outside("vault", data.join("file").to_str().unwrap()).is_none()
        );
    }
}
