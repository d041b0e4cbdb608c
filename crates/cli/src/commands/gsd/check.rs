//! `cenote gsd check`: checks whether a file is sound.

use serde::Serialize;

use super::file::GsdFile;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;
use crate::text::count;

/// Check every index entry, every name, and the use of every byte
///
/// The format has no checksums, so changed values cannot be detected. Exit code 12 if there are
/// problems, 8 if the file cannot be opened at all.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A GSD file
    file: GsdFile,
}

#[derive(Serialize)]
struct ProblemLine<'a> {
    at: u64,
    problem: &'a str,
}

#[derive(Serialize)]
struct Summary {
    sound: bool,
    problems: u64,
    frames: u64,
    chunks: u64,
    used_bytes: u64,
    unreachable_bytes: u64,
}

impl Args {
    pub(super) fn run(self, session: &Session) -> Result<()> {
        let reader = self.file.open(session)?;
        let report = reader.check().map_err(|e| self.file.error(e))?;
        for problem in &report.problems {
            let line = ProblemLine { at: problem.at, problem: &problem.what };
            session.output.item(&line, |line| format!("byte {}: {}", line.at, line.problem))?;
        }
        let summary = Summary {
            sound: report.is_sound(),
            problems: report.found,
            frames: reader.frames(),
            chunks: reader.chunks(),
            used_bytes: report.used,
            unreachable_bytes: report.unreachable,
        };
        session.output.done(&summary, text)?;
        if report.is_sound() {
            return Ok(());
        }
        let message = format!("{}: {}", self.file, count(report.found, "problem"));
        let hint = "`cenote gsd repack --recover` saves the frames that are whole";
        Err(CliError::new(Kind::Found, message).hint(hint))
    }
}

fn text(summary: &Summary) -> String {
    format!(
        "{}: {}, {}, {} bytes in use, {} unreachable",
        if summary.sound { "sound" } else { "damaged" },
        count(summary.frames, "frame"),
        count(summary.chunks, "chunk"),
        summary.used_bytes,
        summary.unreachable_bytes
    )
}
