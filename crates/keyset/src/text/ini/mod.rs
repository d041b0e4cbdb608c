//! INI text. Names of sections and entries are escaped relative names, so that one part may contain a slash; the
//! entry `.` is the parent key itself.

mod edit;
mod lines;

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

pub(super) use self::edit::{remove, set};
use self::lines::{META, Statement, lines, quoted};
use super::fault;
use crate::format::{ReadError, WriteError};
use crate::key::{Key, KeyRef};
use crate::keyset::KeySet;
use crate::meta::BINARY;
use crate::name::KeyName;

/// Writes the keys below `parent`, grouped by section.
pub(super) fn text(keys: &KeySet, parent: &KeyName) -> Result<Vec<u8>, WriteError> {
    let mut sections: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
    for key in keys {
        let (section, name) = split_name(key, parent)?;
        sections.entry(section).or_default().extend(entry_lines(&name, key));
    }
    let mut out = Vec::new();
    for (section, lines) in sections {
        if !section.is_empty() {
            let gap: &[u8] = if out.is_empty() { b"" } else { b"\n" };
            out.extend_from_slice(&[gap, &header(&section), b"\n"].concat());
        }
        for line in lines {
            out.extend_from_slice(&[&line[..], b"\n"].concat());
        }
    }
    Ok(out)
}

/// The escaped relative name before and after its last slash.
fn split_name(key: KeyRef<'_>, parent: &KeyName) -> Result<(Vec<u8>, Vec<u8>), WriteError> {
    let name = key.name().to_name();
    let outside = || WriteError::OutsideParent(name.to_string());
    if name.namespace() != parent.namespace() || !name.is_below_or_same(parent) {
        return Err(outside());
    }
    let root = KeyName::root(name.namespace());
    let mut parts = name.parts().skip(parent.parts().count());
    let relative = parts.try_fold(root, |above, part| above.child(part)).map_err(|_| outside())?;
    let Some(above) = relative.parent() else { return Ok((Vec::new(), b".".to_vec())) };
    let stem = above.without_root_slash();
    let entry = relative.as_bytes()[stem.len() + 1..].to_vec();
    let section = stem.get(relative.floor() + 1..).unwrap_or_default().to_vec();
    Ok((section, entry))
}

fn header(section: &[u8]) -> Vec<u8> {
    [b"[", &quoted(section)[..], b"]"].concat()
}

/// The lines of a key: its metakeys, and the entry.
fn entry_lines(name: &[u8], key: KeyRef<'_>) -> Vec<Vec<u8>> {
    let metas = key.meta().map(|meta| meta_line(meta.name(), meta.value()));
    let entry = [&quoted(name)[..], b" = ", &written(key)].concat();
    metas.chain([entry]).collect()
}

fn meta_line(name: &[u8], value: &[u8]) -> Vec<u8> {
    [META.as_bytes(), b" ", &quoted(name), b" = ", &quoted(value)].concat()
}

/// A key's value as written after the `=`.
fn written(key: KeyRef<'_>) -> Vec<u8> {
    match key.value() {
        value if value.is_binary() => BASE64_STANDARD.encode(value.as_bytes()).into_bytes(),
        value => quoted(value.as_bytes()),
    }
}

/// Reads the keys below `parent`.
pub(super) fn read(text: &[u8], parent: &KeyName) -> Result<KeySet, ReadError> {
    let mut keys = KeySet::new();
    let mut section = parent.clone();
    let mut metas = Vec::new();
    for line in lines(text) {
        let line = line.map_err(|bad| fault("ini", text, bad.at, bad.message))?;
        let wrong = |message: String| fault("ini", text, line.span.start, message);
        match line.statement {
            Statement::Section(name) => {
                section = parent.join(name).map_err(|error| wrong(error.to_string()))?;
            }
            Statement::Meta(meta) => metas.push((meta.name, meta.value)),
            Statement::Entry(entry) => {
                let name = section.join(entry.name).map_err(|error| wrong(error.to_string()))?;
                let metas = std::mem::take(&mut metas);
                keys.append(key(name, entry.value, metas).map_err(wrong)?);
            }
        }
    }
    Ok(keys)
}

/// The key of an entry and the metakeys before it.
fn key(name: KeyName, value: Vec<u8>, metas: Vec<(Vec<u8>, Vec<u8>)>) -> Result<Key, String> {
    let mut key = Key::new(name);
    if metas.iter().any(|(name, _)| name == BINARY) {
        key.set_binary(BASE64_STANDARD.decode(value).map_err(|error| error.to_string())?);
    } else {
        key.set_string(value).map_err(|error| error.to_string())?;
    }
    for (name, value) in metas {
        key.set_meta(name, value).map_err(|error| error.to_string())?;
    }
    Ok(key)
}
