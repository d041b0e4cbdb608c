//! The GSD file format for simulation trajectories: read, write, check, repair.
//!
//! A file is a sequence of **frames**; a frame is a set of named **chunks**; a chunk is a matrix of N rows and M
//! columns of one of eleven [element types](ChunkType). The byte layout is described in [`Header`], [`Entry`] and
//! [`Names`], and as a whole in `docs/gsd-format.md`; it is the one that the reference implementation, version 5.0.1,
//! reads and writes.
//!
//! ```
//! use cenote_gsd::{Chunk, ChunkType, Reader, Version, Writer};
//!
//! # fn main() -> cenote_gsd::Result<()> {
//! let mut writer = Writer::create_in(Vec::new(), "example", "none", Version::new(1, 0))?;
//! let data = [1.0_f32, 2.0, 3.0].map(f32::to_le_bytes).concat();
//! writer.write_chunk(&Chunk {
//!     name: b"value",
//!     kind: ChunkType::F32,
//!     rows: 3,
//!     columns: 1,
//!     data: &data,
//! })?;
//! writer.end_frame()?;
//! let bytes = writer.close()?;
//!
//! let reader = Reader::open(bytes)?;
//! let chunk = reader.find(0, b"value")?.expect("it was just written");
//! assert_eq!(reader.read_vec(&chunk)?, data);
//! # Ok(())
//! # }
//! ```

#![deny(unsafe_code)]

mod check;
mod chunk_type;
mod entry;
mod error;
mod header;
mod hoomd;
mod index;
mod names;
mod npy;
mod number;
mod read_ahead;
mod reader;
mod recover;
mod repack;
mod source;
mod storage;
mod writer;

pub use check::{Problem, Report};
pub use chunk_type::ChunkType;
pub use entry::{ENTRY_SIZE, Entry};
pub use error::{Error, Result};
pub use header::{HEADER_SIZE, Header, NAME_CELL, Version};
pub use hoomd::Inheritance;
pub use names::Names;
pub use number::Number;
pub use read_ahead::ReadAhead;
pub use reader::Reader;
pub use recover::{Recovery, recover};
pub use source::Source;
pub use storage::Storage;
pub use writer::{Chunk, Writer};
