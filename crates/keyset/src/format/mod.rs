//! The storage formats: their names, detecting them, reading and writing whole files and streams.

pub mod dump;
mod error;
mod input;
pub(crate) mod layout;
mod load;
mod output;
pub mod quickdump;
mod save;
mod sink;

use std::io::{BufRead, Write};

use bytes::Bytes;

pub use self::error::{Fault, Looseness, ReadError, WriteError};
use self::input::{SliceInput, StreamInput};
use self::load::Loader;
pub use self::sink::{Field, NameForm, Sink, StoredValue};
use crate::keyset::KeySet;
use crate::name::KeyName;
use crate::text;

/// A format in which key sets are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Elektra's binary format, version 3.
    Quickdump,
    /// Elektra's line format, version 2.
    Dump,
    /// A tree of objects; see [`crate::text`].
    Json,
    /// A tree of tables; see [`crate::text`].
    Toml,
    /// Sections and entries; see [`crate::text`].
    Ini,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [Self::Quickdump, Self::Dump, Self::Json, Self::Toml, Self::Ini];

    /// The name, as a file's extension and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quickdump => "quickdump",
            Self::Dump => "dump",
            Self::Json => "json",
            Self::Toml => "toml",
            Self::Ini => "ini",
        }
    }

    /// The format of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The media type of contents in this format, for the two that contain nothing but key sets.
    pub fn media_type(self) -> Option<&'static str> {
        match self {
            Self::Quickdump => Some("application/vnd.elektra.quickdump"),
            Self::Dump => Some("application/vnd.elektra.dump"),
            Self::Json | Self::Toml | Self::Ini => None,
        }
    }

    /// The format with this media type, ignoring parameters.
    pub fn from_media_type(media_type: &str) -> Option<Self> {
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        let is_of = |format: &Self| {
            format.media_type().is_some_and(|own| own.eq_ignore_ascii_case(essence))
        };
        Self::ALL.into_iter().find(is_of)
    }

    /// The storage format whose signature these bytes start with; the text formats have none.
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [b'E', b'K', b'D', b'B', ..] => Some(Self::Quickdump),
            bytes if bytes.starts_with(b"kdbOpen ") => Some(Self::Dump),
            _ => None,
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Options for reading.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// Reject what the real readers accept although no writer produces it: see [`Looseness`].
    pub strict: bool,
    /// The names in a dump are complete (the plugin's configuration `/fullname`).
    pub full_names: bool,
}

/// How names are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// Relative to the parent.
    #[default]
    Relative,
    /// In full; only for dump (the plugin's configuration `/fullname`).
    Full,
    /// Cascading names without their slash; only for quickdump (`/noparent`).
    Cascading,
    /// As quickdump 0.11 writes them: below a root parent each name lacks its first letter. Only for comparing bytes.
    UpstreamRelative,
}

/// Options for writing.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// How names are written.
    pub names: Names,
}

/// Reads a whole file, whose names are below `parent`. The key set keeps the bytes, and its keys are slices of them.
/// They may be a vector, or anything that [`Bytes::from_owner`] accepts, such as a mapped file, as long as no program
/// changes it in place.
///
/// # Errors
/// Why the bytes are not a file of that format, and where.
pub fn read(
    bytes: impl Into<Bytes>,
    parent: &KeyName,
    format: Format,
    options: ReadOptions,
) -> Result<KeySet, ReadError> {
    let bytes = bytes.into();
    if !matches!(format, Format::Quickdump | Format::Dump) {
        return text::read(&bytes, parent, format);
    }
    let mut loader = Loader::new(bytes.clone(), parent, format, options.strict);
    parse(SliceInput::new(&bytes), format, options, &mut loader)?;
    Ok(KeySet::from_block(loader.finish()))
}

/// Reads a stream of either storage format and passes each item to `sink` as it is read, holding one item in memory.
///
/// # Errors
/// Why the bytes are not a file of that format, and where, or why `sink` rejected them.
pub fn stream(
    reader: impl BufRead,
    format: Format,
    options: ReadOptions,
    sink: &mut impl Sink,
) -> Result<(), ReadError> {
    parse(StreamInput::new(reader), format, options, sink)
}

fn parse(
    input: impl input::Input,
    format: Format,
    options: ReadOptions,
    sink: &mut impl Sink,
) -> Result<(), ReadError> {
    match format {
        Format::Dump => dump::parse(input, options.full_names, options.strict, sink),
        _ => quickdump::parse(input, options.strict, sink),
    }
}

/// Writes a key set whose keys are all below `parent`; otherwise nothing is written.
///
/// # Errors
/// If a key is outside the parent or cannot be represented, or writing fails.
pub fn write(
    keys: &KeySet,
    parent: &KeyName,
    format: Format,
    options: WriteOptions,
    out: impl Write,
) -> Result<(), WriteError> {
    match format {
        Format::Quickdump => {
            save::save(keys, parent, options.names, &mut quickdump::Writer::new(out))
        }
        Format::Dump => save::save(keys, parent, options.names, &mut dump::Writer::new(out)),
        text => text::write(keys, parent, text, out),
    }
}

/// Writes a key set to memory; see [`write()`].
///
/// # Errors
/// As [`write()`].
pub fn to_bytes(keys: &KeySet, parent: &KeyName, format: Format) -> Result<Vec<u8>, WriteError> {
    let mut bytes = Vec::new();
    write(keys, parent, format, WriteOptions::default(), &mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn media_types_are_recognised_whatever_their_case_and_parameters() {
        for format in Format::ALL {
            let known = format.media_type().map(|text| format!("{}; v=3", text.to_uppercase()));
            assert_eq!(
                known.and_then(|text| Format::from_media_type(&text)),
                format.media_type().map(|_| format)
            );
        }
        for other in ["", "application/json", "application/vnd.elektra", "dump"] {
            assert_eq!(Format::from_media_type(other), None, "{other}");
        }
    }
}
