//! `cenote gsd repack`: a copy without what nothing refers to.

use std::fs::File;
use std::path::{Path, PathBuf};

use cenote_gsd::Recovery;
use serde::Serialize;

use super::file::{GsdFile, in_file, output};
use crate::error::{CliError, Kind, Result};
use crate::session::Session;
use crate::text::count;

/// Copy a file without outgrown blocks and lost data, in the current version of the format
///
/// With --recover, copy the frames of a damaged file of which every chunk is there. Frames after
/// a lost one move up.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A GSD file
    file: GsdFile,
    /// Where to write the copy, on this machine
    #[arg(value_parser = output)]
    output: PathBuf,
    /// Save what can be saved of a damaged file
    #[arg(long)]
    recover: bool,
    /// Replace what is at the output
    #[arg(long, short)]
    force: bool,
}

#[derive(Serialize)]
struct Done {
    frames: u64,
    lost_frames: Vec<u64>,
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
            // Nothing refers to it; that it may be left behind is the lesser problem.
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
                .hint("write the name of the copy, too"));
        }
        if !self.force && self.output.exists() {
            let told = format!("{shown} is there already");
            return Err(CliError::new(Kind::Exists, told).hint("--force replaces it"));
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

    /// Says what was copied, and fails if that was not all.
    fn report(&self, session: &Session, recovery: Recovery) -> Result<()> {
        let done = Done {
            frames: recovery.frames,
            lost_frames: recovery.lost,
            bytes_before: self.file.source(session)?.size()?,
            bytes_after: std::fs::metadata(&self.output)?.len(),
        };
        session.output.done(&done, text)?;
        if done.lost_frames.is_empty() {
            return Ok(());
        }
        let told = match done.lost_frames.as_slice() {
            [frame] => format!("frame {frame} could not be saved"),
            lost => format!("{} frames could not be saved", lost.len()),
        };
        Err(CliError::new(Kind::Partial, told))
    }
}

fn text(done: &Done) -> String {
    let frames = count(done.frames, "frame");
    let saved = format!("{frames}, {} bytes instead of {}", done.bytes_after, done.bytes_before);
    match done.lost_frames.as_slice() {
        [] => saved,
        lost => {
            let lost: Vec<_> = lost.iter().take(10).map(u64::to_string).collect();
            format!("{saved}; lost: {}", lost.join(", "))
        }
    }
}
