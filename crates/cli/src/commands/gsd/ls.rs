//! `cenote gsd ls`: the chunks of a file, by name or by frame.

use std::collections::BTreeMap;

use cenote_gsd::Entry;
use serde::Serialize;

use super::file::GsdFile;
use super::{GsdReader, frame_number, name_of, shape};
use crate::error::Result;
use crate::session::Session;

/// List the chunks in a file: each name with its type, its shape and the frames that have it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A GSD file
    file: GsdFile,
    /// Only names that begin with this prefix
    #[arg(default_value = "")]
    prefix: String,
    /// List the chunks of one frame; -1 is the last
    #[arg(long, short, value_name = "N", allow_negative_numbers = true)]
    frame: Option<i64>,
}

/// One name, over all frames.
#[derive(Serialize)]
struct NameLine {
    name: String,
    r#type: &'static str,
    /// `null` when it differs between frames.
    shape: Option<[u64; 2]>,
    frames: u64,
    first_frame: u64,
    bytes: u64,
}

/// One chunk of one frame.
#[derive(Serialize)]
struct ChunkLine {
    frame: u64,
    name: String,
    r#type: &'static str,
    shape: [u64; 2],
    bytes: u64,
    offset: u64,
}

impl Args {
    pub(super) fn run(self, session: &Session) -> Result<()> {
        let reader = self.file.open(session)?;
        match self.frame {
            Some(frame) => self.frame(session, &reader, frame_number(&reader, frame)?),
            None => self.names(session, &reader),
        }
    }

    fn frame(&self, session: &Session, reader: &GsdReader, frame: u64) -> Result<()> {
        for entry in reader.frame(frame).map_err(|e| self.file.error(e))? {
            let line = ChunkLine {
                frame,
                name: name_of(reader, &entry),
                r#type: entry.chunk_type().name(),
                shape: dimensions(&entry),
                bytes: entry.byte_size(),
                offset: entry.location(),
            };
            if line.name.starts_with(&self.prefix) {
                session.output.item(&line, |line| {
                    format!("{:<8} {:>14}  {}", line.r#type, shape(&entry), line.name)
                })?;
            }
        }
        Ok(())
    }

    fn names(&self, session: &Session, reader: &GsdReader) -> Result<()> {
        let mut lines = BTreeMap::new();
        for entry in reader.entries() {
            let entry = entry.map_err(|e| self.file.error(e))?;
            let line = lines.entry(entry.name_id()).or_insert_with(|| first(reader, &entry));
            add(line, &entry);
        }
        for line in lines.values().filter(|line| line.name.starts_with(&self.prefix)) {
            session.output.item(line, text)?;
        }
        Ok(())
    }
}

fn first(reader: &GsdReader, entry: &Entry) -> NameLine {
    NameLine {
        name: name_of(reader, entry),
        r#type: entry.chunk_type().name(),
        shape: Some(dimensions(entry)),
        frames: 0,
        first_frame: entry.frame(),
        bytes: 0,
    }
}

fn add(line: &mut NameLine, entry: &Entry) {
    line.frames += 1;
    line.bytes = line.bytes.saturating_add(entry.byte_size());
    line.shape = line.shape.filter(|shape| *shape == dimensions(entry));
}

fn dimensions(entry: &Entry) -> [u64; 2] {
    [entry.rows(), u64::from(entry.columns())]
}

fn text(line: &NameLine) -> String {
    let shape = match line.shape {
        None => "varies".to_owned(),
        Some([rows, 1]) => rows.to_string(),
        Some([rows, columns]) => format!("{rows} x {columns}"),
    };
    let frames = match (line.frames, line.first_frame) {
        (1, first) => format!("frame {first}"),
        (frames, _) => format!("{frames} frames"),
    };
    format!("{:<8} {shape:>14}  {frames:>14}  {}", line.r#type, line.name)
}
