//! INI text. Names of sections and entries are escaped relative names, so that
//! one part may hold a slash; the entry `.` is the parent key itself.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::fault;
use crate::format::{ReadError, WriteError};
use crate::key::{Key, KeyRef};
use crate::keyset::KeySet;
use crate::meta::BINARY;
use crate::name::KeyName;

/// Starts a line that gives the next entry a metakey.
const META: &str = ";@";

/// Writes the keys below `parent`; those of one section stand together.
pub(super) fn text(keys: &KeySet, parent: &KeyName) -> Result<Vec<u8>, WriteError> {
    let mut sections: BTreeMap<Vec<u8>, Vec<Entry<'_>>> = BTreeMap::new();
    for key in keys {
        let (section, name) = split_name(key, parent)?;
        sections.entry(section).or_default().push(Entry { name, key });
    }
    let mut out = Vec::new();
    for (section, entries) in sections {
        write_section(&section, &entries, &mut out);
    }
    Ok(out)
}

/// A key with its name within the section.
struct Entry<'a> {
    name: Vec<u8>,
    key: KeyRef<'a>,
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

fn write_section(section: &[u8], entries: &[Entry<'_>], out: &mut Vec<u8>) {
    if !section.is_empty() {
        let gap: &[u8] = if out.is_empty() { b"" } else { b"\n" };
        out.extend_from_slice(&[gap, b"[", &quoted(section), b"]\n"].concat());
    }
    for Entry { name, key } in entries {
        for meta in key.meta() {
            let line = [b";@ ", &*quoted(meta.name()), b" = ", &quoted(meta.value()), b"\n"];
            out.extend_from_slice(&line.concat());
        }
        let value = match key.value() {
            value if value.is_binary() => BASE64_STANDARD.encode(value.as_bytes()).into_bytes(),
            value => quoted(value.as_bytes()),
        };
        out.extend_from_slice(&[&*quoted(name), b" = ", &value, b"\n"].concat());
    }
}

/// The text, in quotes if it would otherwise be read as something else.
fn quoted(text: &[u8]) -> Vec<u8> {
    let odd = |byte: &u8| byte.is_ascii_control() || matches!(byte, b'"' | b'=' | b']');
    let edge =
        |byte: Option<&u8>| byte.is_none_or(|byte| matches!(byte, b' ' | b';' | b'#' | b'['));
    let bare = !text.iter().any(odd) && !edge(text.first()) && text.last() != Some(&b' ');
    if bare && std::str::from_utf8(text).is_ok() {
        return text.to_vec();
    }
    let mut quoted = b"\"".to_vec();
    for &byte in text {
        match byte {
            b'"' | b'\\' => quoted.extend_from_slice(&[b'\\', byte]),
            b'\n' => quoted.extend_from_slice(b"\\n"),
            b' '..=b'~' => quoted.push(byte),
            other => quoted.extend_from_slice(format!("\\x{other:02x}").as_bytes()),
        }
    }
    quoted.push(b'"');
    quoted
}

/// Reads the keys below `parent`.
pub(super) fn read(bytes: &[u8], parent: &KeyName) -> Result<KeySet, ReadError> {
    let mut reader =
        Reader { keys: KeySet::new(), parent, section: parent.clone(), metas: Vec::new() };
    let mut offset = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        reader.line(line.trim_ascii()).map_err(|message| fault("ini", offset, message))?;
        offset += line.len();
    }
    Ok(reader.keys)
}

struct Reader<'a> {
    keys: KeySet,
    parent: &'a KeyName,
    section: KeyName,
    /// Metakeys for the next entry.
    metas: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Reader<'_> {
    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        match line {
            _ if line.starts_with(META.as_bytes()) => {
                self.metas.push(assignment(&line[META.len()..])?);
                Ok(())
            }
            [] | [b';' | b'#', ..] => Ok(()),
            [b'[', name @ .., b']'] => {
                let name = unquoted(name)?;
                self.section = self.parent.join(name).map_err(|error| error.to_string())?;
                Ok(())
            }
            [b'[', ..] => Err("a section ends with `]`".into()),
            line => self.entry(line),
        }
    }

    fn entry(&mut self, line: &[u8]) -> Result<(), String> {
        let (name, value) = assignment(line)?;
        let mut key = Key::new(self.section.join(name).map_err(|error| error.to_string())?);
        let metas = std::mem::take(&mut self.metas);
        if metas.iter().any(|(name, _)| name == BINARY) {
            key.set_binary(BASE64_STANDARD.decode(value).map_err(|error| error.to_string())?);
        } else {
            key.set_string(value).map_err(|error| error.to_string())?;
        }
        for (name, value) in metas {
            key.set_meta(name, value).map_err(|error| error.to_string())?;
        }
        self.keys.append(key);
        Ok(())
    }
}

/// The two sides of the `=`; a name alone is assigned nothing.
fn assignment(line: &[u8]) -> Result<(Vec<u8>, Vec<u8>), String> {
    let line = line.trim_ascii();
    let from = if line.starts_with(b"\"") { quoted_len(line)? } else { 0 };
    let sign = line[from..].iter().position(|byte| *byte == b'=').map(|at| from + at);
    let (name, value) = sign.map_or((line, &[][..]), |at| (&line[..at], &line[at + 1..]));
    Ok((unquoted(name)?, unquoted(value)?))
}

/// How many bytes the quoted text at the start takes.
fn quoted_len(text: &[u8]) -> Result<usize, String> {
    let mut escaped = false;
    let end = text[1..].iter().position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    end.map(|end| end + 2).ok_or_else(|| "a quote is not closed".to_owned())
}

fn unquoted(text: &[u8]) -> Result<Vec<u8>, String> {
    let text = text.trim_ascii();
    if !text.starts_with(b"\"") {
        return Ok(text.to_vec());
    }
    if quoted_len(text)? != text.len() {
        return Err("something follows a closing quote".into());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = &text[1..text.len() - 1];
    while let [first, after @ ..] = rest {
        rest = after;
        match first {
            b'\\' => bytes.push(unescape(&mut rest)?),
            byte => bytes.push(*byte),
        }
    }
    Ok(bytes)
}

/// The byte that follows a backslash.
fn unescape(rest: &mut &[u8]) -> Result<u8, String> {
    let (byte, len) = match rest {
        [b'n', ..] => (Some(b'\n'), 1),
        [b't', ..] => (Some(b'\t'), 1),
        [b'x', high, low, ..] => (hex(*high).zip(hex(*low)).map(|(h, l)| h << 4 | l), 3),
        [byte @ (b'"' | b'\\'), ..] => (Some(*byte), 1),
        _ => (None, 0),
    };
    *rest = &rest[len..];
    byte.ok_or_else(|| "an escape is one of \\\\ \\\" \\n \\t \\xHH".to_owned())
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}
