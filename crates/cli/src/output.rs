//! What a verb prints on stdout: with `--json` one stable object a line, else
//! text for people.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use crate::error::Result;

/// Where the results of a verb go.
#[derive(Debug)]
pub(crate) struct Output {
    json: bool,
    quiet: bool,
    stdout: Mutex<BufWriter<File>>,
}

impl Output {
    /// Prints to the standard output, without the buffer of [`io::stdout`], which searches all that is written for line ends.
    pub(crate) fn new(json: bool, quiet: bool) -> Result<Self> {
        let stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        Ok(Self { json, quiet, stdout: Mutex::new(BufWriter::with_capacity(1 << 16, stdout)) })
    }

    /// Whether results are for programs.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints one result.
    pub(crate) fn item<T: Serialize>(
        &self,
        value: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<()> {
        let mut line = if self.json {
            serde_json::to_vec(value).map_err(io::Error::from)?
        } else {
            text(value).into_bytes()
        };
        line.push(b'\n');
        self.bytes(&line)
    }

    /// Prints what was done: a result with `--json`, else text that `--quiet` leaves out.
    pub(crate) fn done<T: Serialize>(
        &self,
        value: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<()> {
        if self.quiet && !self.json { Ok(()) } else { self.item(value, text) }
    }

    /// Prints what another process said that was done; `--quiet` leaves that out, too.
    pub(crate) fn relayed(&self, line: &[u8]) -> Result<()> {
        if self.quiet && !self.json { Ok(()) } else { self.bytes(line) }
    }

    /// Tells stderr of a danger, which does not end the verb.
    pub(crate) fn warn(&self, message: &str, hint: &str) {
        match (self.quiet, self.json) {
            (true, _) => {}
            (_, true) => {
                eprintln!(
                    "{}",
                    serde_json::json!({ "warning": { "message": message, "hints": [hint] } })
                );
            }
            _ => eprintln!("cenote: warning: {message}\n  hint: {hint}"),
        }
    }

    /// Prints raw bytes.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<()> {
        let mut stdout = self.stdout.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(stdout.write_all(bytes)?)
    }

    /// Makes everything printed so far visible.
    pub(crate) fn flush(&self) -> Result<()> {
        let mut stdout = self.stdout.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(stdout.flush()?)
    }
}
