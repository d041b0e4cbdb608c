//! `cenote gsd extract`: one chunk, as numbers, text or an array file.

use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use cenote_gsd::Entry;

use super::file::{GsdFile, in_file, output};
use super::{GsdReader, frame_number};
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Extract one chunk, as text, a `.npy` file or raw bytes
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A GSD file
    file: GsdFile,
    /// The name of the chunk, such as `particles/position`
    name: String,
    /// The frame; -1 is the last
    #[arg(long, short, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    frame: i64,
    /// Only the rows from A up to, but not including, B
    #[arg(long, value_name = "A:B", value_parser = row_range)]
    rows: Option<Range<u64>>,
    /// If the frame does not have the chunk, use that of frame 0, by the rules of HOOMD-blue [default:
    /// true for files of the schema hoomd]
    #[arg(long, value_name = "BOOL")]
    inherit: Option<bool>,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE", value_parser = output)]
    output: Option<PathBuf>,
    /// The output format; the default follows from the extension of the output file, otherwise it is text
    #[arg(long, value_enum)]
    format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    /// Numbers separated by spaces, one row per line
    Text,
    /// A NumPy array file
    Npy,
    /// The bytes of the elements as in the file, little-endian
    Raw,
}

impl Args {
    pub(super) fn run(self, session: &Session) -> Result<()> {
        let reader = self.file.open(session)?;
        let entry = self.find(&reader)?;
        let rows = self.rows.clone().unwrap_or(0..entry.rows());
        if rows.end > entry.rows() {
            let text = format!("{} has {} rows", self.name, entry.rows());
            return Err(CliError::new(Kind::Usage, text));
        }
        let mut data = vec![0; ((rows.end - rows.start) * entry.row_size()) as usize];
        reader.read_rows(&entry, rows.clone(), &mut data).map_err(|e| self.file.error(e))?;
        let bytes = match self.format() {
            Format::Raw => data,
            Format::Npy => [entry.npy_header(rows.end - rows.start), data].concat(),
            Format::Text => text(&entry, &data).into_bytes(),
        };
        match &self.output {
            Some(path) => write(path, &bytes),
            None => session.output.bytes(&bytes),
        }
    }

    fn format(&self) -> Format {
        let extension = self.output.as_ref().and_then(|path| path.extension());
        match extension.and_then(|extension| extension.to_str()) {
            _ if self.format.is_some() => self.format.unwrap_or(Format::Text),
            Some("npy") => Format::Npy,
            Some("raw" | "bin") => Format::Raw,
            _ => Format::Text,
        }
    }

    fn find(&self, reader: &GsdReader) -> Result<Entry> {
        let frame = frame_number(reader, self.frame)?;
        let found = match self.inherit.unwrap_or_else(|| reader.is_hoomd()) {
            true => reader.find_inherited(frame, self.name.as_bytes()),
            false => reader.find(frame, self.name.as_bytes()),
        };
        found.map_err(|e| self.file.error(e))?.ok_or_else(|| {
            CliError::new(Kind::NotFound, format!("frame {frame} has no {}", self.name))
                .hint(format!("use `cenote gsd ls {}` to list the chunks", self.file))
        })
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = File::create(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| in_file(path.display(), error.into()))
}

fn row_range(text: &str) -> Result<Range<u64>, String> {
    let parse =
        |part: &str| part.parse::<u64>().map_err(|_| format!("{part:?} is not a row number"));
    let (start, end) = text.split_once(':').ok_or("rows are given as A:B")?;
    let (start, end) = (parse(start)?, parse(end)?);
    if start > end {
        return Err(format!("{start} is above {end}"));
    }
    Ok(start..end)
}

/// A string unchanged; numbers with one row per line.
fn text(entry: &Entry, data: &[u8]) -> String {
    if entry.is_string() {
        return format!("{}\n", String::from_utf8_lossy(data));
    }
    let mut lines = String::new();
    for row in data.chunks(entry.row_size().max(1) as usize) {
        let numbers: Vec<_> =
            entry.chunk_type().numbers(row).map(|number| number.to_string()).collect();
        lines.push_str(&numbers.join(" "));
        lines.push('\n');
    }
    lines
}
