//! A fault of a storage root or an object, with its code in the specification.

use std::fmt;
use std::io;
use std::path::Path;

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The code of the specification, such as `E040`; `io` for errors of reading and writing.
    pub code: &'static str,
    /// The file or directory.
    pub at: String,
    /// What is wrong.
    pub what: String,
}

/// All faults that were found; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl Fault {
    pub(crate) fn new(code: &'static str, at: impl Into<String>, what: impl Into<String>) -> Self {
        Self { code, at: at.into(), what: what.into() }
    }

    pub(crate) fn io(at: &Path, error: &io::Error) -> Self {
        Self::new("io", at.display().to_string(), error.to_string())
    }
}

impl Faults {
    /// Whether one of the faults has this code.
    pub fn has(&self, code: &str) -> bool {
        self.0.iter().any(|fault| fault.code == code)
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self(vec![fault])
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.at, self.what, self.code)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 5;
        for (index, fault) in self.0.iter().take(SHOWN).enumerate() {
            write!(f, "{}{fault}", if index > 0 { "; " } else { "" })?;
        }
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl std::error::Error for Fault {}
impl std::error::Error for Faults {}

/// Converts an error of reading or writing, with its path.
pub(crate) trait At<T> {
    fn at(self, path: &Path) -> Result<T, Fault>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T, Fault> {
        self.map_err(|error| Fault::io(path, &error))
    }
}
