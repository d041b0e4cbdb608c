//! GSD trajectories: their structure, and one chunk of one frame, without the rest of the file.

mod chunk;
mod content;
mod index;

pub(super) use chunk::{__path_chunk, chunk};
pub(super) use index::{__path_index, index};

use cenote_store::ErrorKind;

use self::content::StoreReader;
use crate::problem::{Problem, ProblemKind};

/// The number of a frame that may be counted from the end.
fn frame_number(reader: &StoreReader, frame: i64) -> Result<u64, Problem> {
    let frames = reader.frames();
    let number = match frame {
        ..0 => frames.checked_sub(frame.unsigned_abs()),
        _ => Some(frame.unsigned_abs()),
    };
    let number = number.filter(|number| *number < frames);
    number.ok_or_else(|| not_found(format!("there is no frame {frame} of {frames}")))
}

fn not_found(detail: String) -> Problem {
    Problem::new(ProblemKind::Store(ErrorKind::NotFound), detail)
}
