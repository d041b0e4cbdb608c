//! `cenote gsd info`: what kind of file it is, and how much is in it.

use serde::Serialize;

use super::GsdReader;
use super::file::GsdFile;
use crate::error::Result;
use crate::session::Session;

/// Show the application, the versions, and the numbers of frames, chunks and names of a file
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A GSD file
    file: GsdFile,
}

#[derive(Serialize)]
struct Info {
    file: String,
    bytes: u64,
    application: String,
    schema: String,
    schema_version: String,
    gsd_version: String,
    frames: u64,
    chunks: u64,
    names: usize,
    /// Of the first and last frame that have it.
    particles: Option<u64>,
    first_step: Option<u64>,
    last_step: Option<u64>,
}

impl Args {
    pub(super) fn run(self, session: &Session) -> Result<()> {
        let reader = self.file.open(session)?;
        let header = reader.header();
        let last = reader.frames().saturating_sub(1);
        let number =
            |frame, name: &str| number(&reader, frame, name).map_err(|e| self.file.error(e));
        let info = Info {
            file: self.file.to_string(),
            bytes: reader.size(),
            application: String::from_utf8_lossy(header.application()).into_owned(),
            schema: String::from_utf8_lossy(header.schema()).into_owned(),
            schema_version: header.schema_version().to_string(),
            gsd_version: header.gsd_version().to_string(),
            frames: reader.frames(),
            chunks: reader.chunks(),
            names: reader.names().len(),
            particles: number(0, "particles/N")?,
            first_step: number(0, "configuration/step")?,
            last_step: number(last, "configuration/step")?,
        };
        session.output.item(&info, text)
    }
}

/// The value of a chunk that is one unsigned number.
fn number(reader: &GsdReader, frame: u64, name: &str) -> cenote_gsd::Result<Option<u64>> {
    let Some(entry) = reader.find(frame, name.as_bytes())? else { return Ok(None) };
    if !(1..=8).contains(&entry.byte_size()) {
        return Ok(None);
    }
    let mut bytes = [0; 8];
    reader.read(&entry, &mut bytes[..entry.byte_size() as usize])?;
    Ok(Some(u64::from_le_bytes(bytes)))
}

fn text(info: &Info) -> String {
    let mut lines = vec![
        format!("file:        {} ({} bytes)", info.file, info.bytes),
        format!("application: {}", info.application),
        format!("schema:      {} {}", info.schema, info.schema_version),
        format!("version:     {}", info.gsd_version),
        format!("frames:      {}", info.frames),
        format!("chunks:      {} of {} names", info.chunks, info.names),
    ];
    if let Some(particles) = info.particles {
        lines.push(format!("particles:   {particles} in frame 0"));
    }
    match (info.first_step, info.last_step) {
        (Some(first), Some(last)) => lines.push(format!("steps:       {first} to {last}")),
        (None, Some(last)) => lines.push(format!("last step:   {last}")),
        _ => {}
    }
    lines.join("\n")
}
