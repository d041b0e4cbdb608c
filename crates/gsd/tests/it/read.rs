//! Reading parts of chunks, and several chunks at once, from any source.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{create, fixture, write};
use cenote_gsd::{ChunkType, Error, Reader, Source};

/// Counts requests, each of which is expensive.
struct CountingSource {
    bytes: Vec<u8>,
    requests: AtomicU64,
}

impl Source for CountingSource {
    fn size(&self) -> io::Result<u64> {
        self.bytes.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.bytes.read_at(offset, buffer)
    }

    fn read_vectored_at(&self, offset: u64, buffers: &mut [io::IoSliceMut<'_>]) -> io::Result<()> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let mut at = offset;
        for buffer in buffers {
            self.bytes.read_at(at, buffer)?;
            at += buffer.len() as u64;
        }
        Ok(())
    }
}

fn rows_file() -> Vec<u8> {
    let mut writer = create("rows");
    let data: Vec<u8> = (0..60).collect();
    for name in ["a", "b", "c"] {
        write(&mut writer, name, ChunkType::U16, (10, 3), &data).expect("write");
    }
    writer.end_frame().expect("end");
    writer.close().expect("close")
}

#[test]
fn rows_are_read_alone() {
    let reader = Reader::open(rows_file()).expect("open");
    let entry = reader.find(0, b"b").expect("find").expect("there");
    let mut rows = [0; 12];
    reader.read_rows(&entry, 3..5, &mut rows).expect("read");
    assert_eq!(rows[..], (18..30).collect::<Vec<u8>>()[..]);
    let mut none = [0; 0];
    reader.read_rows(&entry, 10..10, &mut none).expect("no rows");
}

#[test]
fn rows_outside_the_chunk_are_refused() {
    let reader = Reader::open(rows_file()).expect("open");
    let entry = reader.find(0, b"b").expect("find").expect("there");
    let mut buffer = [0; 12];
    for rows in [9..11, 10..12, 3..6, 3..4] {
        let refused = reader.read_rows(&entry, rows.clone(), &mut buffer);
        assert!(matches!(refused, Err(Error::InvalidArgument(_))), "{rows:?}");
    }
}

#[test]
fn adjacent_chunks_are_read_by_one_request() {
    let source = CountingSource { bytes: rows_file(), requests: AtomicU64::new(0) };
    let reader = Reader::open(source).expect("open");
    let entries = reader.frame(0).expect("frame");
    let mut buffers = vec![vec![0; 60]; 3];
    let mut parts: Vec<_> =
        entries.into_iter().rev().zip(buffers.iter_mut().map(Vec::as_mut_slice)).collect();
    let before = reader.source().requests.load(Ordering::Relaxed);
    reader.read_many(&mut parts).expect("read");
    assert_eq!(reader.source().requests.load(Ordering::Relaxed) - before, 1);
    assert!(buffers.iter().all(|buffer| buffer[..] == (0..60).collect::<Vec<u8>>()[..]));
}

#[test]
fn opening_and_finding_read_few_bytes() {
    let source = CountingSource { bytes: fixture("g5_frames150.gsd"), requests: AtomicU64::new(0) };
    let reader = Reader::open(source).expect("open");
    reader.find(77, b"data").expect("find").expect("there");
    assert!(reader.source().requests.load(Ordering::Relaxed) <= 6);
}

#[test]
fn memory_and_files_read_alike() {
    let path = crate::common::fixture_dir().join("files/g5_alltypes.gsd");
    let from_file = Reader::open(std::fs::File::open(path).expect("open")).expect("open");
    let from_memory = Reader::open(fixture("g5_alltypes.gsd")).expect("open");
    assert_eq!(
        crate::common::contents(&from_file).expect("read"),
        crate::common::contents(&from_memory).expect("read")
    );
}
