//! `cenote gsd repack`: a copy without what nothing refers to.

use std::fs::File;
use std::path::{Path, PathBuf};

use cenote_gsd::Recovery;
use serde::Serialize;

use super::file::{GsdFile, in_file, output};
use crate::error::{CliError, Kind, Result};
use crate::session::Session;
use crate::text::count;

/// Copy a file in the current version of the format, without unused blocks and unreachable data
///
/// A file with a damaged index is refused, because a frame that lost a chunk would seem to inherit that
/// of frame 0.
///
/// With --recover, save every frame of a damaged file whose chunks are all known, even if the header,
/// the names or parts of the index are lost. Frames after a lost one are renumbered, but no frame
/// takes the place of frame 0. Everything that is lost is listed, and the exit code is then 11.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A GSD file
    file: GsdFile,
    /// The local file to write the copy to
    #[arg(value_parser = output)]
    output: PathBuf,
    /// Recover as much as possible of a damaged file
    #[arg(long)]
    recover: bool,
    /// Replace an existing output file
    #[arg(long, short)]
    force: bool,
}

#[derive(Serialize)]
struct Done {
    frames: u64,
    lost_frames: Vec<u64>,
    rebuilt_frames: Vec<u64>,
    lost_names: Vec<u16>,
    damaged_header: bool,
    cut: bool,
    unclaimed_bytes: u64,
    bytes_before: u64,
    bytes_after: u64,
}

impl Args {
    pub(super) fn run(self, session: &Session) -> Result<()> {
        let partial = self.partial();
        let written = self.write(session, &partial);
        let finished = written.and_then(|recovery| {
            self.publish(&partial)?;
            Ok(recovery)
        });
        if finished.is_err() {
            // Nothing refers to it; failing to remove it is less important than the error that is
            // returned.
            let _ = std::fs::remove_file(&partial);
        }
        self.report(session, finished?)
    }

    /// The copy is written beside its place, and moved there when it is whole.
    fn partial(&self) -> PathBuf {
        let mut name = self.output.as_os_str().to_owned();
        name.push(".partial");
        name.into()
    }

    fn write(&self, session: &Session, partial: &Path) -> Result<Recovery> {
        self.check_output()?;
        let bar = session.progress.count(0, "frames");
        let progress = |done, frames| {
            bar.set_length(frames);
            bar.set_position(done);
        };
        if self.recover {
            let damaged = self.file.source(session)?;
            let recovered = cenote_gsd::recover(&damaged, self.create(partial)?, progress);
            return Ok(recovered.map_err(|e| in_file(&self.file, e))?.1);
        }
        let reader = self.file.open(session)?;
        let packed = reader.repack(self.create(partial)?, progress);
        packed.map_err(|e| self.file.error(e))?;
        Ok(Recovery { frames: reader.frames(), ..Recovery::default() })
    }

    fn check_output(&self) -> Result<()> {
        let shown = self.output.display();
        if self.output.is_dir() {
            return Err(CliError::new(Kind::Exists, format!("{shown} is a directory"))
                .hint("include the name of the copy in the path"));
        }
        if !self.force && self.output.exists() {
            let message = format!("{shown} already exists");
            return Err(CliError::new(Kind::Exists, message).hint("use --force to replace it"));
        }
        Ok(())
    }

    fn create(&self, partial: &Path) -> Result<File> {
        let mut options = File::options();
        let file = options.read(true).write(true).create(true).truncate(true).open(partial);
        file.map_err(|e| in_file(self.output.display(), e.into()))
    }

    fn publish(&self, partial: &Path) -> Result<()> {
        std::fs::rename(partial, &self.output)
            .map_err(|error| in_file(self.output.display(), error.into()))
    }

    /// Reports what was copied, and fails if that was not all.
    fn report(&self, session: &Session, recovery: Recovery) -> Result<()> {
        let complete = recovery.is_complete();
        let done = Done {
            frames: recovery.frames,
            lost_frames: recovery.lost,
            rebuilt_frames: recovery.rebuilt,
            lost_names: recovery.lost_names,
            damaged_header: recovery.header,
            cut: recovery.cut,
            unclaimed_bytes: recovery.unclaimed,
            bytes_before: self.file.source(session)?.size()?,
            bytes_after: std::fs::metadata(&self.output)?.len(),
        };
        session.output.done(&done, text)?;
        if complete {
            return Ok(());
        }
        let losses = losses(&done).join(", ");
        Err(CliError::new(
            Kind::Partial,
            format!("not all of {} could be saved: {losses}", self.file),
        ))
    }
}

fn text(done: &Done) -> String {
    let frames = count(done.frames, "frame");
    let mut lines =
        vec![format!("{frames}, {} bytes instead of {}", done.bytes_after, done.bytes_before)];
    if !done.rebuilt_frames.is_empty() {
        let rebuilt = ranges(&done.rebuilt_frames);
        lines.push(format!("rebuilt from the layout of the data: {rebuilt}"));
    }
    if !done.lost_frames.is_empty() {
        lines.push(format!("lost: {}", ranges(&done.lost_frames)));
    }
    if done.lost_frames.first() == Some(&0) {
        lines.push(
            "frame 0 is incomplete: frames that inherit its lost chunks have default values".into(),
        );
    }
    if !done.lost_names.is_empty() {
        lines.push("chunks whose name is lost are called lost/NUMBER".into());
    }
    lines.join("\n")
}

/// What could not be saved, each in a few words.
fn losses(done: &Done) -> Vec<String> {
    let mut losses = Vec::new();
    if !done.lost_frames.is_empty() {
        losses.push(count(done.lost_frames.len() as u64, "frame"));
    }
    if !done.lost_names.is_empty() {
        losses.push(count(done.lost_names.len() as u64, "name"));
    }
    if done.damaged_header {
        losses.push("the header".into());
    }
    if done.cut {
        losses.push("the end of the index".into());
    }
    if done.unclaimed_bytes > 0 {
        losses.push(format!("{} after the last frame", count(done.unclaimed_bytes, "byte")));
    }
    losses
}

/// Numbers in order, as `1, 3-7`.
fn ranges(numbers: &[u64]) -> String {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let run = |(first, last): &(u64, u64)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}
