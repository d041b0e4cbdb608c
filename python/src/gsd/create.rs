//! Opening or creating a file on disk, with the modes of the reference.

use std::fs::File;
use std::path::Path;

use cenote_gsd::{Reader, Version, Writer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::file::State;
use super::source::Medium;

/// Whether a mode creates a new file.
pub(super) fn creates(mode: &str, name: &str) -> PyResult<bool> {
    match mode {
        "r" | "r+" => Ok(false),
        "w" | "x" => Ok(true),
        "a" => Ok(!Path::new(name).exists()),
        _ => Err(PyValueError::new_err(format!("Invalid mode: {mode}"))),
    }
}

pub(super) fn open_existing(name: &str, reading: bool) -> cenote_gsd::Result<State> {
    if reading {
        return Ok(State::Read(Reader::open(Medium::File(File::open(name)?))?));
    }
    let file = File::options().read(true).write(true).open(name)?;
    Ok(State::Write(Writer::open_in(Medium::File(file))?))
}

/// The arguments required to create a file.
pub(super) struct NewFile {
    application: String,
    schema: String,
    schema_version: Version,
}

impl NewFile {
    pub(super) fn from_arguments(
        application: Option<String>,
        schema: Option<String>,
        schema_version: Option<Vec<u32>>,
    ) -> PyResult<Self> {
        let missing = |what| PyValueError::new_err(format!("Provide {what} when creating a file"));
        let application = application.ok_or_else(|| missing("application"))?;
        let schema = schema.ok_or_else(|| missing("schema"))?;
        let schema_version = schema_version.ok_or_else(|| missing("schema_version"))?;
        let part = |i: usize| schema_version.get(i).and_then(|&part| u16::try_from(part).ok());
        let (Some(major), Some(minor)) = (part(0), part(1)) else {
            return Err(PyValueError::new_err("schema_version is two numbers below 65536"));
        };
        Ok(Self { application, schema, schema_version: Version::new(major, minor) })
    }

    pub(super) fn create(&self, name: &str, exclusive: bool) -> cenote_gsd::Result<State> {
        use std::os::unix::fs::OpenOptionsExt;
        let mut options = File::options();
        options.read(true).write(true).mode(0o660);
        if exclusive {
            options.create_new(true)
        } else {
            options.create(true).truncate(true)
        };
        self.create_in(Medium::File(options.open(name)?))
    }

    pub(super) fn create_in(&self, medium: Medium) -> cenote_gsd::Result<State> {
        let version = self.schema_version;
        Ok(State::Write(Writer::create_in(medium, &self.application, &self.schema, version)?))
    }
}
