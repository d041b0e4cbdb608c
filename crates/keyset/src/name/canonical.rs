//! From text to canonical names: validation, canonicalisation and escaping, equivalent to `elektraKeyNameValidate`,
//! `elektraKeyNameCanonicalize` and `elektraKeyNameEscapePart`.
//!
//! Invariant: what `canonicalise` leaves in its buffer is canonical if the previous content was, and never shorter
//! than the namespace.

use super::NameError;
use crate::Namespace;

/// The largest array index, as text: longer or larger numbers are ordinary parts.
const MAX_INDEX: &[u8] = b"9223372036854775807";

/// Finds the namespace and where the path (`/…`) starts.
pub(crate) fn split_namespace(name: &[u8]) -> Result<(Namespace, usize), NameError> {
    let Some(first) = memchr::memchr2(b':', b'/', name) else {
        return Err(if name.is_empty() { NameError::Empty } else { NameError::NoNamespace });
    };
    if name[first] == b'/' {
        return if first == 0 {
            Ok((Namespace::Cascading, 0))
        } else {
            Err(NameError::NoNamespace)
        };
    }
    let word = &name[..first];
    let namespace = Namespace::from_word(word)
        .ok_or_else(|| NameError::UnknownNamespace(String::from_utf8_lossy(word).into_owned()))?;
    if name.get(first + 1) == Some(&b'/') {
        Ok((namespace, first + 1))
    } else {
        Err(NameError::NoNamespace)
    }
}

/// Checks NUL bytes and escapes in a path. It is parsed as if preceded by a slash, so that a relative path may start
/// with an escaped part.
pub(crate) fn validate_path(path: &[u8]) -> Result<(), NameError> {
    if let Some(at) = memchr::memchr(0, path) {
        return Err(NameError::Nul(at));
    }
    let mut from = 0;
    while let Some(found) = memchr::memchr(b'\\', &path[from..]) {
        let at = from + found;
        from = at + escape_len(path, at).ok_or(NameError::BadEscape(at))?;
    }
    Ok(())
}

/// The length of the escape at `at` in `path`, in bytes; `None` if it is invalid.
fn escape_len(path: &[u8], at: usize) -> Option<usize> {
    let starts_part = at == 0 || path[at - 1] == b'/';
    let after = &path[at + 1..];
    match *after.first()? {
        b'\\' | b'/' => Some(2),
        b'%' => (starts_part && ends_part(&after[1..])).then_some(2),
        b'.' => (starts_part && (ends_part(&after[1..]) || is_dots(after))).then_some(2),
        b'#' => is_escaped_index(&after[1..]).then_some(2),
        _ => None,
    }
}

fn ends_part(rest: &[u8]) -> bool {
    matches!(rest.first(), None | Some(b'/'))
}

fn is_dots(after: &[u8]) -> bool {
    after.get(1) == Some(&b'.') && ends_part(&after[2..])
}

/// Whether this may follow `\#`. Like the original, this does not require a digit.
fn is_escaped_index(rest: &[u8]) -> bool {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    ends_part(&rest[digits..])
        && rest.first() != Some(&b'0')
        && (digits < MAX_INDEX.len() || &rest[..MAX_INDEX.len()] <= MAX_INDEX)
}

/// Appends the parts of a valid `path` to `name`, whose first `floor` bytes (the namespace, without the slash) are
/// never removed by `..`. A root is left as the namespace alone: see [`finish`].
pub(crate) fn canonicalise(name: &mut Vec<u8>, floor: usize, path: &[u8]) {
    for part in split_parts(path) {
        match part {
            b"" | b"." => {}
            b".." => name.truncate(last_part(name, floor).unwrap_or(floor)),
            part => push_part(name, part),
        }
    }
}

/// Adds the slash to a root key.
pub(crate) fn finish(name: &mut Vec<u8>, floor: usize) {
    if name.len() == floor {
        name.push(b'/');
    }
}

fn push_part(name: &mut Vec<u8>, part: &[u8]) {
    name.push(b'/');
    match part {
        [b'#', digits @ ..] if is_index(digits) => {
            name.push(b'#');
            name.resize(name.len() + digits.len() - 1, b'_');
            name.extend_from_slice(digits);
        }
        part => name.extend_from_slice(part),
    }
}

/// Whether `digits` is an array index: no leading zero unless it is `0`, in range.
fn is_index(digits: &[u8]) -> bool {
    let in_range =
        digits.len() < MAX_INDEX.len() || (digits.len() == MAX_INDEX.len() && digits <= MAX_INDEX);
    let leading_zero = digits.first() == Some(&b'0');
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) && in_range && !leading_zero
}

/// Where the last part of `name` after `floor` starts (at its slash).
pub(crate) fn last_part(name: &[u8], floor: usize) -> Option<usize> {
    let mut end = name.len();
    while let Some(at) = memchr::memrchr(b'/', &name[floor..end]) {
        let at = floor + at;
        let escapes = name[floor..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        if escapes % 2 == 0 {
            return Some(at);
        }
        end = at;
    }
    None
}

/// The pieces of a path between its unescaped slashes, including empty ones.
pub(crate) fn split_parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut escaped = false;
    path.split(move |byte| {
        let separates = *byte == b'/' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        separates
    })
}

/// Appends the unescaped form of one canonical part.
pub(crate) fn unescape_part(part: &[u8], out: &mut Vec<u8>) {
    if part == b"%" {
        return;
    }
    let mut escaped = false;
    for &byte in part {
        escaped = byte == b'\\' && !escaped;
        if !escaped {
            out.push(byte);
        }
    }
}

/// Appends the escaped form of one part (`keyAddBaseName`).
///
/// Unlike the original, a part gets the array escape only if all of it is an index: the original turns `#99a` into
/// the invalid name `\#99a`.
pub(crate) fn escape_part(part: &[u8], out: &mut Vec<u8>) {
    match part {
        b"" => out.push(b'%'),
        b"%" | b"." | b".." => {
            out.push(b'\\');
            out.extend_from_slice(part);
        }
        [b'#', digits @ ..] if digits.len() > 1 && is_index(digits) => {
            out.push(b'\\');
            out.extend_from_slice(part);
        }
        part => part.iter().for_each(|&byte| {
            if matches!(byte, b'\\' | b'/') {
                out.push(b'\\');
            }
            out.push(byte);
        }),
    }
}

/// Whether a canonical name equals its unescaped form except for the slashes.
pub(crate) fn is_plain(name: &[u8]) -> bool {
    memchr::memchr2(b'\\', b'%', name).is_none()
}

/// A quick check whether a relative path is canonical and plain. `false` is inconclusive: the slow path decides.
pub(crate) fn is_simple(path: &[u8]) -> bool {
    let mut starts_part = true;
    for &byte in path {
        match SIMPLE[byte as usize] {
            Class::Ordinary => starts_part = false,
            Class::Inside if !starts_part => {}
            Class::Slash if !starts_part => starts_part = true,
            _ => return false,
        }
    }
    path.is_empty() || !starts_part
}

#[derive(Clone, Copy)]
enum Class {
    Ordinary,
    /// Ordinary, but not as the first byte of a part.
    Inside,
    Slash,
    Special,
}

static SIMPLE: [Class; 256] = {
    let mut table = [Class::Ordinary; 256];
    table[0] = Class::Special;
    table[b'\\' as usize] = Class::Special;
    table[b'%' as usize] = Class::Special;
    table[b'/' as usize] = Class::Slash;
    table[b'.' as usize] = Class::Inside;
    table[b'#' as usize] = Class::Inside;
    table
};
