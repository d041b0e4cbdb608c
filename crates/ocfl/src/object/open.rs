//! Reading the declaration and the inventory of an object.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::fault::At;
use crate::inventory::parse;
use crate::{Algorithm, Fault, Faults, Inventory, Spec};

/// The most that an inventory may have, in bytes.
const LARGEST: u64 = 256 << 20;
pub(super) const INVENTORY: &str = "inventory.json";
const DECLARATION: &str = "0=ocfl_object_";
/// Contents that are not part of a version yet.
const MUTABLE_HEAD: &str = "extensions/0005-mutable-head";

/// An object whose inventory was read.
#[derive(Debug)]
pub struct Object {
    pub(super) root: PathBuf,
    pub(super) inventory: Inventory,
    /// The text of the inventory.
    pub(super) text: Vec<u8>,
}

impl Object {
    /// Reads the object in a directory. Its contents are not looked at: [`Object::check`] does that.
    ///
    /// # Errors
    /// What is wrong with the declaration or the inventory.
    pub fn open(root: &Path) -> Result<Self, Faults> {
        let spec = declared(root)?;
        let (text, inventory) = inventory_in(root)?;
        if inventory.spec != spec {
            let what = format!("the inventory is of OCFL {}", inventory.spec.name());
            return Err(Fault::new("E038", root.display().to_string(), what).into());
        }
        if root.join(MUTABLE_HEAD).symlink_metadata().is_ok() {
            let what = "it has changes that are not a version yet (0005-mutable-head)";
            return Err(Fault::new("E111", root.display().to_string(), what).into());
        }
        Ok(Self { root: root.to_owned(), inventory, text })
    }

    /// Its inventory.
    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// The file with the bytes of a digest.
    ///
    /// # Errors
    /// What is not in the manifest, or not a file.
    pub fn file(&self, digest: &str) -> Result<PathBuf, Fault> {
        let missing = || Fault::new("E050", self.root.display().to_string(), "no such content");
        let path = self.root.join(self.inventory.content(digest).ok_or_else(missing)?);
        match path.symlink_metadata().at(&path)?.is_file() {
            true => Ok(path),
            false => Err(Fault::new("E090", path.display().to_string(), "it is not a file")),
        }
    }

    /// The bytes with a digest, which may not be many.
    ///
    /// # Errors
    /// As [`file`](Self::file), and for what has more bytes than `most`, or other ones.
    pub fn read(&self, digest: &str, most: u64) -> Result<Vec<u8>, Fault> {
        let path = self.file(digest)?;
        let bytes = small(&path, most)?;
        match self.inventory.algorithm.of(&bytes).eq_ignore_ascii_case(digest) {
            true => Ok(bytes),
            false => {
                Err(Fault::new("E092", path.display().to_string(), "it has changed meanwhile"))
            }
        }
    }
}

/// Whether a directory has the declaration of an object.
pub(crate) fn is_object(root: &Path) -> bool {
    let Ok(entries) = fs::read_dir(root) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with(DECLARATION))
}

pub(super) fn declaration(spec: Spec) -> (String, String) {
    let name = format!("{DECLARATION}{}", spec.name());
    let text = format!("ocfl_object_{}\n", spec.name());
    (name, text)
}

/// The version of the specification that an object declares.
fn declared(root: &Path) -> Result<Spec, Fault> {
    let at = |name: &str| root.join(name).display().to_string();
    let mut found = None;
    for entry in fs::read_dir(root).at(root)? {
        let name = entry.at(root)?.file_name().to_string_lossy().into_owned();
        if !name.starts_with("0=") {
            continue;
        }
        if found.is_some() {
            return Err(Fault::new("E003", at(&name), "there is another declaration"));
        }
        let spec = name.strip_prefix(DECLARATION).and_then(Spec::named);
        let unknown =
            || Fault::new("E004", at(&name), "not the declaration of an OCFL 1.0 or 1.1 object");
        let spec = spec.ok_or_else(unknown)?;
        if small(&root.join(&name), 64)? != declaration(spec).1.into_bytes() {
            return Err(Fault::new("E007", at(&name), "the declaration has another text"));
        }
        found = Some(spec);
    }
    found.ok_or_else(|| Fault::new("E003", root.display().to_string(), "no declaration"))
}

/// The inventory in a directory and its text, which has the digest of the sidecar.
pub(super) fn inventory_in(root: &Path) -> Result<(Vec<u8>, Inventory), Faults> {
    let path = root.join(INVENTORY);
    if path.symlink_metadata().is_err() {
        return Err(Fault::new("E063", root.display().to_string(), "no inventory").into());
    }
    let text = small(&path, LARGEST)?;
    sidecar(root, &text)?;
    let inventory = parse(&text, &path.display().to_string())?;
    if !root.join(sidecar_name(inventory.algorithm)).exists() {
        let what = "the sidecar is of another algorithm than the inventory";
        return Err(Fault::new("E058", root.display().to_string(), what).into());
    }
    Ok((text, inventory))
}

pub(super) fn sidecar_name(algorithm: Algorithm) -> String {
    format!("{INVENTORY}.{}", algorithm.name())
}

pub(super) fn sidecar_text(algorithm: Algorithm, text: &[u8]) -> String {
    format!("{} {INVENTORY}\n", algorithm.of(text))
}

/// Compares the text of an inventory with its sidecar, before any of it is believed.
fn sidecar(root: &Path, text: &[u8]) -> Result<(), Fault> {
    let known = [Algorithm::Sha512, Algorithm::Sha256];
    let mut sidecars = known
        .into_iter()
        .filter(|algorithm| root.join(sidecar_name(*algorithm)).symlink_metadata().is_ok());
    let missing = || Fault::new("E058", root.display().to_string(), "no sidecar of the inventory");
    let algorithm = sidecars.next().ok_or_else(missing)?;
    let path = root.join(sidecar_name(algorithm));
    let at = path.display().to_string();
    let line = String::from_utf8(small(&path, 4096)?).unwrap_or_default();
    let mut words = line.split_whitespace();
    let (digest, name, rest) = (words.next(), words.next(), words.next());
    let digest = digest.filter(|_| name == Some(INVENTORY) && rest.is_none());
    let digest = digest.filter(|_| !line.starts_with(char::is_whitespace));
    let unread = || Fault::new("E061", &at, "not a digest and the name inventory.json");
    if !digest.ok_or_else(unread)?.eq_ignore_ascii_case(&algorithm.of(text)) {
        return Err(Fault::new("E060", &at, "the inventory has another digest"));
    }
    Ok(())
}

/// The bytes of a file that may not be large, or a link.
pub(crate) fn small(path: &Path, most: u64) -> Result<Vec<u8>, Fault> {
    let status = path.symlink_metadata().at(path)?;
    let wrong = |code, what: &str| Fault::new(code, path.display().to_string(), what);
    if !status.is_file() {
        return Err(wrong("E090", "it is not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path).at(path)?.take(most + 1).read_to_end(&mut bytes).at(path)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > most) {
        return Err(wrong("io", &format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}
