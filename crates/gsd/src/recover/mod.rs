//! Recovers the intact frames of a damaged file.
//!
//! Invariants: a chunk is copied only if its index entry is valid, in order and does not share its bytes with
//! another; a frame only if there is no sign that one of its chunks is missing; and no frame takes the place of frame
//! 0, from which the others inherit. Everything else is reported as lost.
//!
//! A lost entry can be recovered in two ways. Outgrown blocks remain in the file, with the same entries at the same
//! positions ([`copies`]). And the chunks of a frame are contiguous, so that between two intact frames there may be
//! only one sequence of frames of the kinds that occur in the file that fits, to the byte and to the entry
//! ([`rebuild`]).

mod areas;
mod block;
mod copies;
mod header;
mod names;
mod rebuild;
mod scan;
mod sound;
mod template;
mod write;

use self::areas::Areas;
use self::block::Block;
use self::header::FoundHeader;
use crate::entry::{ENTRY_SIZE, Limits, RawEntry};
use crate::error::{Error, Result};
use crate::header::HEADER_SIZE;
use crate::source::Source;
use crate::storage::Storage;

/// The result of [`recover`]: recovered and lost frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Frames written to the new file.
    pub frames: u64,
    /// The numbers, in the damaged file, of the lost frames, in order. If frame 0 is among them, what remains of it
    /// is still the first frame of the new file, possibly without chunks.
    pub lost: Vec<u64>,
    /// The numbers, in the damaged file, of the recovered frames with chunks whose index entries were lost and have
    /// been inferred from other frames and the layout of the data.
    pub rebuilt: Vec<u64>,
    /// Ids of lost chunk names. Their chunks are named `lost/ID` in the new file.
    pub lost_names: Vec<u16>,
    /// Whether the header was damaged: application and schema may be wrong.
    pub header: bool,
    /// Whether the end of the index is lost: frames may have been lost with it without any trace.
    pub cut: bool,
    /// Bytes after the last frame that are not accounted for: frames without a trace in the index, or that a writer
    /// had not flushed.
    pub unclaimed: u64,
    /// Index entries that were invalid, or contradicted others.
    pub bad_entries: u64,
}

impl Recovery {
    /// Whether nothing is known to be lost.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let Self { lost, lost_names, header, cut, unclaimed, .. } = self;
        lost.is_empty() && lost_names.is_empty() && !header && !cut && *unclaimed == 0
    }
}

/// A damaged file, and what is known about it before any of its structures are trusted.
struct Damaged<'a> {
    source: &'a dyn Source,
    size: u64,
    header: FoundHeader,
}

impl Damaged<'_> {
    /// Whether entries are known to be sorted by name within a frame.
    fn is_sorted(&self) -> bool {
        self.header.version_known && !self.header.header.gsd_version().is_v1()
    }

    /// The sort key of an index entry.
    fn key(&self, raw: &RawEntry) -> (u64, u16) {
        (raw.frame, if self.is_sorted() { raw.id } else { 0 })
    }

    /// Whether an entry is plausible, whatever the names are and wherever the file was truncated.
    fn is_possible(&self, raw: &RawEntry) -> bool {
        // An index block has more slots than there are frames.
        let room = self.size / ENTRY_SIZE as u64;
        let claimed = self.header.header.index_block().1;
        let frames = if claimed <= self.size { room.max(claimed) } else { room };
        let limits = Limits { file: i64::MAX as u64, frames, names: u64::from(u16::MAX) };
        raw.location >= HEADER_SIZE as u64 && raw.columns > 0 && raw.check(&limits).is_ok()
    }

    /// Whether the data of an entry are within the file.
    fn is_inside(&self, raw: &RawEntry) -> bool {
        raw.end().is_some_and(|end| end <= self.size)
    }
}

/// Copies every frame whose chunks can all be recovered from a damaged file to a new one.
///
/// Frames keep their order and move up to replace lost ones, except that what remains of frame 0 stays frame 0.
/// `progress` is called after each frame with the number of frames done and in total.
///
/// # Errors
/// [`Error::NotGsd`] if there is neither a header nor an index, [`Error::Io`].
pub fn recover<F: Storage>(
    source: &dyn Source,
    storage: F,
    progress: impl FnMut(u64, u64),
) -> Result<(F, Recovery)> {
    let size = source.size()?;
    let header = header::find(source, size)?;
    let file = Damaged { source, size, header };
    let index = find_index(&file)?;
    if file.header.damaged && index.blocks[0].entries().next().is_none() {
        return Err(Error::NotGsd("neither a header nor an index"));
    }
    let names = names::find(&file, &index)?;
    let found = sound::settle(&file, index, &names)?;
    write::write(&file, &names, found, storage, progress)
}

/// The possible index blocks: first the current one, then outgrown ones.
struct FoundIndex {
    blocks: Vec<Block>,
    bad: u64,
}

fn find_index(file: &Damaged<'_>) -> Result<FoundIndex> {
    let mut blocks = block::where_they_should_be(file)?;
    blocks.retain(|block| block.entries().next().is_some());
    let known = Areas::of(&blocks, file.size);
    blocks.extend(scan::blocks(file, &known)?);
    blocks.retain(|block| block.entries().next().is_some());
    let claimed = blocks.iter().position(|block| block.claimed);
    let longest = || (0..blocks.len()).max_by_key(|&i| blocks[i].entries().count());
    match claimed.or_else(longest) {
        Some(first) => blocks[..=first].rotate_right(1),
        None => blocks.push(Block::default()),
    }
    let bad = blocks[0].bad;
    copies::fill(file, &mut blocks);
    Ok(FoundIndex { blocks, bad })
}
