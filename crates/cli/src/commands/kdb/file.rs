//! The file that a verb works on, and what can go wrong with it.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use cenote_keyset::file::{FileError, FileFault, Snapshot};
use cenote_keyset::{
    Format, KeyName, KeyRef, KeySet, NameError, ReadError, ReadOptions, WriteError, WriteOptions,
};

use crate::error::{CliError, Kind, Result};

/// A file of keys and how to read it.
#[derive(Debug, clap::Args)]
pub(crate) struct FileArgs {
    /// The file of keys
    file: PathBuf,
    #[command(flatten)]
    how: HowArgs,
}

/// How to read files of keys.
#[derive(Debug, clap::Args)]
pub(crate) struct HowArgs {
    /// The key that the names in the file are below
    #[arg(long, value_name = "NAME", default_value = "user:/", value_parser = name)]
    pub(crate) parent: KeyName,
    /// The format of the file: quickdump, dump, json, toml or ini
    #[arg(long, value_parser = format)]
    pub(crate) format: Option<Format>,
    /// Refuse what only lenient readers read: duplicates, disorder, text that is not UTF-8
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Parses the name of a format.
pub(crate) fn format(name: &str) -> Result<Format, String> {
    Format::from_name(name).ok_or_else(|| {
        format!("choose from {}", Format::ALL.map(Format::name).join(", "))
    })
}

fn name(text: &str) -> Result<KeyName, NameError> {
    KeyName::new(text)
}

/// A key set and the file it was read from.
pub(crate) struct Opened {
    pub(crate) keys: KeySet,
    pub(crate) parent: KeyName,
    pub(crate) format: Format,
    snapshot: Snapshot,
}

impl FileArgs {
    /// Reads the file.
    pub(crate) fn open(&self) -> Result<Opened> {
        self.how.open(&self.file)?.ok_or_else(|| missing(&self.file))
    }

    /// Reads the file; one that is not there has no keys.
    pub(crate) fn open_or_new(&self) -> Result<Opened> {
        if let Some(opened) = self.how.open(&self.file)? {
            return Ok(opened);
        }
        let snapshot = Snapshot::of(&self.file).map_err(file_error)?;
        let format = self.how.format.or_else(|| by_extension(&self.file));
        let (keys, format) = (KeySet::new(), format.unwrap_or(Format::Quickdump));
        Ok(Opened { keys, parent: self.how.parent.clone(), format, snapshot })
    }
}

impl HowArgs {
    /// Reads a file; `None` if there is none.
    fn open(&self, path: &Path) -> Result<Option<Opened>> {
        let (bytes, snapshot) = Snapshot::read(path).map_err(file_error)?;
        let Some(bytes) = bytes else { return Ok(None) };
        let format = self.format_of(&bytes, path)?;
        let keys = self.parse(bytes, format).map_err(|error| unreadable(path, &error))?;
        Ok(Some(Opened { keys, parent: self.parent.clone(), format, snapshot }))
    }

    /// Reads a file that must be there, or standard input for `-`.
    pub(crate) fn read(&self, path: &Path) -> Result<KeySet> {
        if path != Path::new("-") {
            return Ok(self.open(path)?.ok_or_else(|| missing(path))?.keys);
        }
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        let format = self.format_of(&bytes, path)?;
        self.parse(bytes, format).map_err(|error| unreadable(path, &error))
    }

    fn parse(&self, bytes: Vec<u8>, format: Format) -> Result<KeySet, ReadError> {
        let options = ReadOptions { strict: self.strict, ..ReadOptions::default() };
        cenote_keyset::read(bytes, &self.parent, format, options)
    }

    fn format_of(&self, bytes: &[u8], path: &Path) -> Result<Format> {
        let found = self.format.or_else(|| Format::detect(bytes)).or_else(|| by_extension(path));
        found.or_else(|| bytes.is_empty().then_some(Format::Quickdump)).ok_or_else(|| {
            CliError::new(Kind::Usage, format!("{}: the format is not known", path.display()))
                .hint("name it: --format quickdump, dump, json, toml or ini")
        })
    }
}

/// The format that the end of a file's name tells.
pub(crate) fn by_extension(path: &Path) -> Option<Format> {
    Format::from_name(path.extension()?.to_str()?)
}

impl Opened {
    /// Replaces the file by the keys as they are now.
    pub(crate) fn save(self) -> Result<()> {
        let Self { keys, parent, format, snapshot } = self;
        let replaced = snapshot.replace(|out| {
            cenote_keyset::write(&keys, &parent, format, WriteOptions::default(), out)
        });
        replaced.map_err(file_error)
    }

    /// The name that a user wrote: whole, cascading, or below the parent.
    pub(crate) fn name(&self, text: &str) -> Result<KeyName> {
        self.parent.resolve(text).map_err(|error| CliError::new(Kind::Usage, format!("`{text}`: {error}")))
    }

    /// The key of this name; a cascading one is looked up.
    pub(crate) fn key(&mut self, text: &str) -> Result<KeyRef<'_>> {
        let name = self.name(text)?;
        self.keys.lookup(&name).ok_or_else(|| no_key(&name))
    }
}

/// Writes a key set to a file, replacing it at once, or to standard output for `-`.
pub(crate) fn write_to(
    path: &Path,
    keys: &KeySet,
    parent: &KeyName,
    format: Format,
) -> Result<()> {
    if path == Path::new("-") {
        let mut out = std::io::stdout().lock();
        let options = WriteOptions::default();
        cenote_keyset::write(keys, parent, format, options, &mut out).map_err(unwritable)?;
        return Ok(out.flush()?);
    }
    let snapshot = Snapshot::of(path).map_err(file_error)?;
    let (keys, parent) = (keys.clone(), parent.clone());
    Opened { keys, parent, format, snapshot }.save()
}

/// That a key is not there.
pub(crate) fn no_key(name: &KeyName) -> CliError {
    CliError::new(Kind::NotFound, format!("there is no key `{name}`"))
}

/// That something in a name or a value is wrong.
pub(crate) fn wrong(error: impl std::fmt::Display) -> CliError {
    CliError::new(Kind::Usage, error.to_string())
}

fn missing(path: &Path) -> CliError {
    CliError::new(Kind::NotFound, format!("{}: there is no such file", path.display()))
}

fn unreadable(path: &Path, error: &ReadError) -> CliError {
    CliError::new(Kind::Mismatch, format!("{}: {error}", path.display()))
}

/// An error of writing with the exit code of its kind.
pub(crate) fn unwritable(error: WriteError) -> CliError {
    match error {
        WriteError::Io(error) => error.into(),
        other => wrong(other),
    }
}

fn file_error(error: FileError) -> CliError {
    let message = error.to_string();
    match error.source {
        FileFault::Changed => CliError::new(Kind::Changed, message),
        FileFault::Write(WriteError::Io(source)) | FileFault::Io(source) => {
            CliError::from(source).told(message)
        }
        _ => CliError::new(Kind::Usage, message),
    }
}
