//! The key set that a verb works on, and what can go wrong with it.

use std::io::Write;
use std::time::Duration;

use bytes::Bytes;
use cenote_keyset::{
    Format, Key, KeyName, KeyRef, KeySet, NameError, Namespace, ReadError, ReadOptions, WriteError,
    WriteOptions,
};

use super::storage::{Found, KeyFile, Original};
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// A file of keys and how to read it.
#[derive(Debug, clap::Args)]
pub(crate) struct FileArgs {
    /// The key set file; `:/…` for one in the store
    #[arg(value_parser = KeyFile::parser())]
    file: KeyFile,
    #[command(flatten)]
    how: HowArgs,
}

/// How to read files of keys.
#[derive(Debug, clap::Args)]
pub(crate) struct HowArgs {
    /// The parent key of the names in the file
    #[arg(long, value_name = "NAME", default_value = "user:/", value_parser = name)]
    pub(crate) parent: KeyName,
    /// The format of the file: quickdump, dump, json, toml or ini
    #[arg(long, value_parser = format)]
    pub(crate) format: Option<Format>,
    /// Refuse duplicate keys, keys out of order and text that is not UTF-8
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Parses the name of a format.
pub(crate) fn format(name: &str) -> Result<Format, String> {
    Format::from_name(name)
        .ok_or_else(|| format!("choose from {}", Format::ALL.map(Format::name).join(", ")))
}

fn name(text: &str) -> Result<KeyName, NameError> {
    KeyName::new(text)
}

/// A key set and what it was read from.
pub(crate) struct Opened {
    pub(crate) keys: KeySet,
    pub(crate) parent: KeyName,
    pub(crate) format: Format,
    /// What the file held; nothing if there was none.
    content: Option<Bytes>,
    original: Original,
}

/// How often a change is tried while other programs change the same file.
const ATTEMPTS: u32 = 40;

/// Changes a key set; a change that does not depend on other keys is made again on what another
/// program wrote in the meantime.
#[expect(clippy::disallowed_methods, reason = "a file has no store, and so no clock of one")]
pub(crate) fn retrying<T>(mut change: impl FnMut() -> Result<T>) -> Result<T> {
    for attempt in 1..ATTEMPTS {
        match change() {
            Err(error) if error.kind() == Kind::Changed => std::thread::sleep(pause(attempt)),
            done => return done,
        }
    }
    change()
}

/// A pause that grows, and differs between processes that wait for each other.
fn pause(attempt: u32) -> Duration {
    let apart = std::process::id().wrapping_mul(attempt.wrapping_mul(0x9e37_79b9)) >> 24;
    Duration::from_micros(u64::from(attempt.min(20) * (500 + 16 * apart)))
}

impl FileArgs {
    /// Reads the file.
    pub(crate) fn open(&self, session: &Session) -> Result<Opened> {
        let (found, original) = self.file.read(session)?;
        let found = found.ok_or_else(|| missing(&self.file))?;
        let content = Some(found.bytes.clone());
        let (keys, format) = self.how.parse(found, &self.file)?;
        Ok(Opened { keys, parent: self.how.parent.clone(), format, content, original })
    }

    /// Reads the file; a missing one has no keys.
    pub(crate) fn open_or_new(&self, session: &Session) -> Result<Opened> {
        let (found, original) = self.file.read(session)?;
        let content = found.as_ref().map(|found| found.bytes.clone());
        let (keys, format) = match found {
            Some(found) => self.how.parse(found, &self.file)?,
            None => {
                let format = self.how.format.or_else(|| self.file.by_extension());
                (KeySet::new(), format.unwrap_or(Format::Quickdump))
            }
        };
        Ok(Opened { keys, parent: self.how.parent.clone(), format, content, original })
    }

    /// The file of keys.
    pub(crate) fn file(&self) -> &KeyFile {
        &self.file
    }
}

impl HowArgs {
    /// Reads a file that must be there, or standard input for `-`.
    pub(crate) fn read(&self, session: &Session, file: &KeyFile) -> Result<KeySet> {
        let (found, _) = file.read(session)?;
        Ok(self.parse(found.ok_or_else(|| missing(file))?, file)?.0)
    }

    fn parse(&self, found: Found, file: &KeyFile) -> Result<(KeySet, Format)> {
        let format = self.format_of(&found.bytes, found.format, file)?;
        let options = ReadOptions { strict: self.strict, ..ReadOptions::default() };
        let keys = cenote_keyset::read(found.bytes, &self.parent, format, options);
        Ok((keys.map_err(|error| unreadable(file, &error))?, format))
    }

    fn format_of(&self, bytes: &Bytes, declared: Option<Format>, file: &KeyFile) -> Result<Format> {
        let found = self.format.or_else(|| Format::detect(bytes)).or(declared);
        found.or_else(|| bytes.is_empty().then_some(Format::Quickdump)).ok_or_else(|| {
            CliError::new(Kind::Usage, format!("{file}: unknown format"))
                .hint("choose one with --format: quickdump, dump, json, toml or ini")
        })
    }
}

impl Opened {
    /// Makes the file hold the keys as they are now. A document of a text format is edited where
    /// a key changed; what it cannot hold is refused before anything is written.
    pub(crate) fn save(self) -> Result<()> {
        let is_storage = matches!(self.format, Format::Quickdump | Format::Dump);
        match self.content.filter(|_| !is_storage) {
            None => self.original.replace(&self.keys, &self.parent, self.format),
            Some(document) => {
                let edited = cenote_keyset::edit(&document, &self.keys, &self.parent, self.format);
                self.original.replace_bytes(edited.map_err(unwritable)?.into(), self.format)
            }
        }
    }

    /// The name that a user wrote: whole, cascading, or below the parent.
    pub(crate) fn name(&self, text: &str) -> Result<KeyName> {
        self.parent
            .resolve(text)
            .map_err(|error| CliError::new(Kind::Usage, format!("`{text}`: {error}")))
    }

    /// The key that a name stands for, or a new one of that name.
    pub(crate) fn key_or_new(&mut self, text: &str) -> Result<Key> {
        let name = self.name(text)?;
        if let Some(key) = self.keys.lookup(&name) {
            return Ok(key.to_key());
        }
        if name.namespace() == Namespace::Cascading
            && self.parent.namespace() != Namespace::Cascading
        {
            return Err(
                no_key(&name).hint("choose the namespace to create it in, such as `user:/`")
            );
        }
        Ok(Key::new(name))
    }

    /// The key of this name; a cascading one is looked up.
    pub(crate) fn key(&mut self, text: &str) -> Result<KeyRef<'_>> {
        let name = self.name(text)?;
        self.keys.lookup(&name).ok_or_else(|| no_key(&name))
    }
}

/// Writes a key set to a file, replacing it at once, or to standard output for `-`.
pub(crate) fn write_to(
    session: &Session,
    file: &KeyFile,
    keys: &KeySet,
    parent: &KeyName,
    format: Format,
) -> Result<()> {
    if !file.is_pipe() {
        return file.look(session)?.replace(keys, parent, format);
    }
    let mut out = std::io::stdout().lock();
    cenote_keyset::write(keys, parent, format, WriteOptions::default(), &mut out)
        .map_err(unwritable)?;
    Ok(out.flush()?)
}

/// That a key is not there.
pub(crate) fn no_key(name: &KeyName) -> CliError {
    CliError::new(Kind::NotFound, format!("no such key: `{name}`"))
}

/// That something in a name or a value is wrong.
pub(crate) fn wrong(error: impl std::fmt::Display) -> CliError {
    CliError::new(Kind::Usage, error.to_string())
}

fn missing(file: &KeyFile) -> CliError {
    let error = CliError::new(Kind::NotFound, format!("{file}: no such file"));
    match file.to_string() {
        path if path.starts_with('/') => error.hint(format!("for the store write :{path}")),
        _ => error,
    }
}

fn unreadable(file: &KeyFile, error: &ReadError) -> CliError {
    CliError::new(Kind::Mismatch, format!("{file}: {error}"))
}

/// An error of writing with the exit code of its kind.
pub(crate) fn unwritable(error: WriteError) -> CliError {
    match error {
        WriteError::Io(error) => error.into(),
        other => wrong(other),
    }
}
