//! Comparing an object with all of its files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use super::Object;
use super::files::{Found, look};
use super::older;
use crate::fault::At;
use crate::{Algorithm, Fault, Faults, Hashes};

/// What is known of the contents of an object in which no fault was found, by their digests in the manifest.
#[derive(Debug, Default)]
pub struct Checked(BTreeMap<String, Content>);

/// What is known of a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The length in bytes.
    pub size: u64,
    /// The SHA-256, in hexadecimal.
    pub sha256: String,
}

impl Checked {
    /// The content with a digest of the manifest.
    pub fn content(&self, digest: &str) -> Option<&Content> {
        self.0.get(digest)
    }
}

/// The digests that files have to have: by path, and algorithm, the digest with the code of its fault.
#[derive(Debug, Default)]
pub(super) struct Wanted<'a>(BTreeMap<&'a str, Vec<(Algorithm, &'a str, &'static str)>>);

impl<'a> Wanted<'a> {
    pub(super) fn add(
        &mut self,
        path: &'a str,
        algorithm: Algorithm,
        digest: &'a str,
        code: &'static str,
    ) {
        self.0.entry(path).or_default().push((algorithm, digest, code));
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }
}

impl Object {
    /// Looks at every file of the object, and reads each content once.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn check(&self) -> Result<Checked, Faults> {
        let mut faults = Vec::new();
        let found = look(&self.root, &self.inventory, &mut faults);
        let older = older::read(self, &found, &mut faults);
        let mut wanted = Wanted::default();
        for (digest, paths) in &self.inventory.manifest {
            for path in paths {
                wanted.add(path, self.inventory.algorithm, digest, "E092");
            }
        }
        for (name, block) in &self.inventory.fixity {
            // Digests of other algorithms cannot be compared, which the specification allows.
            let Some(algorithm) = Algorithm::named(name) else { continue };
            for (digest, paths) in block {
                paths.iter().for_each(|path| wanted.add(path, algorithm, digest, "E093"));
            }
        }
        older.iter().for_each(|older| older.compare(self, &found, &mut wanted, &mut faults));
        self.presence(&found, &wanted, &mut faults);
        let checked = self.digests(&found, &wanted, &mut faults);
        if faults.is_empty() { Ok(checked) } else { Err(Faults(faults)) }
    }

    /// Each content exists, and is in the manifest.
    fn presence(&self, found: &Found, wanted: &Wanted<'_>, faults: &mut Vec<Fault>) {
        let at = |path: &str| self.root.join(path).display().to_string();
        for path in found.contents.iter().filter(|path| !wanted.has(path)) {
            faults.push(Fault::new("E023", at(path), "the manifest does not have it"));
        }
        for path in wanted.0.keys().filter(|path| !found.contents.contains(**path)) {
            faults.push(Fault::new("E092", at(path), "it is missing"));
        }
    }

    fn digests(&self, found: &Found, wanted: &Wanted<'_>, faults: &mut Vec<Fault>) -> Checked {
        let mut checked = Checked::default();
        let known = self.inventory.digests();
        for (path, digests) in wanted.0.iter().filter(|(path, _)| found.contents.contains(**path)) {
            let at = self.root.join(path);
            let algorithms = digests.iter().map(|(algorithm, ..)| *algorithm);
            match hashed(&at, algorithms.chain([Algorithm::Sha256])) {
                Err(fault) => faults.push(fault),
                Ok((size, hashed)) => {
                    for (algorithm, digest, code) in digests {
                        if !hashed[algorithm].eq_ignore_ascii_case(digest) {
                            let what = format!("another {} digest", algorithm.name());
                            faults.push(Fault::new(code, at.display().to_string(), what));
                        }
                    }
                    if let Some(digest) = known.get(path) {
                        let sha256 = hashed[&Algorithm::Sha256].clone();
                        checked.0.insert((*digest).to_owned(), Content { size, sha256 });
                    }
                }
            }
        }
        checked
    }
}

/// The length and the digests of a file.
fn hashed(
    path: &std::path::Path,
    algorithms: impl Iterator<Item = Algorithm>,
) -> Result<(u64, BTreeMap<Algorithm, String>), Fault> {
    let mut file = File::open(path).at(path)?;
    let (mut hashes, mut size) = (Hashes::new(algorithms), 0);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer).at(path)?;
        if read == 0 {
            return Ok((size, hashes.finish()));
        }
        hashes.update(&buffer[..read]);
        size += u64::try_from(read).unwrap_or(0);
    }
}
