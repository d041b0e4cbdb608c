//! An index of many more pages than are cached is read correctly, with little memory and few requests.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{create, write};
use cenote_gsd::{ChunkType, ENTRY_SIZE, Reader, Source};

/// Bytes of the index that a reader of a file may hold.
const KEPT: u64 = 2 << 20;

/// Counts requests and bytes.
struct Metered {
    bytes: Vec<u8>,
    request_cost: u64,
    requests: AtomicU64,
    read: AtomicU64,
}

impl Metered {
    fn new(bytes: Vec<u8>, request_cost: u64) -> Self {
        Self { bytes, request_cost, requests: AtomicU64::new(0), read: AtomicU64::new(0) }
    }

    /// Requests and bytes since the last time.
    fn taken(&self) -> (u64, u64) {
        (self.requests.swap(0, Ordering::Relaxed), self.read.swap(0, Ordering::Relaxed))
    }
}

impl Source for &Metered {
    fn size(&self) -> io::Result<u64> {
        self.bytes.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.read.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.bytes.read_at(offset, buffer)
    }

    fn request_cost(&self) -> u64 {
        self.request_cost
    }
}

/// How many chunks a frame has.
fn chunks(frame: u64) -> u64 {
    [3, 1, 0, 7, 4][frame as usize % 5]
}

/// The number of rows of a chunk, which identifies it.
fn rows(frame: u64, chunk: u64) -> u64 {
    (frame * 31 + chunk) % 5
}

fn file(frames: u64) -> Vec<u8> {
    let mut writer = create("long");
    for frame in 0..frames {
        for chunk in 0..chunks(frame) {
            let data = vec![frame as u8; rows(frame, chunk) as usize];
            let shape = (data.len() as u64, 1);
            write(&mut writer, &chunk.to_string(), ChunkType::U8, shape, &data).expect("write");
        }
        writer.end_frame().expect("end");
    }
    writer.close().expect("close")
}

fn assert_frame<S: Source>(reader: &Reader<S>, frame: u64) {
    let found = reader.frame(frame).expect("frame");
    let seen = found.iter().map(|entry| (entry.frame(), u64::from(entry.name_id()), entry.rows()));
    let expected = (0..chunks(frame)).map(|chunk| (frame, chunk, rows(frame, chunk)));
    assert!(seen.eq(expected), "frame {frame}: {found:?}");
    for chunk in [0, 3] {
        let entry = reader.find_id(frame, chunk).expect("find");
        assert_eq!(entry, found.get(usize::from(chunk)).copied(), "frame {frame}");
    }
}

#[test]
fn memory_does_not_grow_with_the_number_of_frames() {
    let source = Metered::new(file(150_000), 4096);
    let reader = Reader::open(&source).expect("open");
    let index = reader.chunks() * ENTRY_SIZE as u64;
    assert!(index > 6 * KEPT);
    (0..reader.frames()).for_each(|frame| assert_frame(&reader, frame));
    source.taken();
    (0..reader.frames()).for_each(|frame| drop(reader.frame(frame).expect("frame")));
    let (_, read) = source.taken();
    assert!(read >= index - KEPT, "{read} of {index} were read again");
    assert!(read < index + index / 10, "{read} of {index} were read again");
}

#[test]
fn an_index_that_fits_is_read_once() {
    let source = Metered::new(file(10_000), 4096);
    let reader = Reader::open(&source).expect("open");
    (0..reader.frames()).for_each(|frame| assert_frame(&reader, frame));
    source.taken();
    (0..reader.frames()).for_each(|frame| assert_frame(&reader, frame * 7 % 10_000));
    assert_eq!(source.taken(), (0, 0));
}

#[test]
fn an_expensive_source_is_not_read_twice() {
    let source = Metered::new(file(150_000), 64 << 10);
    let reader = Reader::open(&source).expect("open");
    (0..reader.frames()).for_each(|frame| assert_frame(&reader, frame));
    source.taken();
    (0..reader.frames()).for_each(|frame| assert_frame(&reader, frame * 7 % 150_000));
    assert_eq!(source.taken(), (0, 0));
}

#[test]
fn threads_find_their_frames_while_others_evict_pages() {
    let reader = Reader::open(file(150_000)).expect("open");
    std::thread::scope(|scope| {
        for stride in [1, 7, 29_989, 149_999] {
            let reader = &reader;
            scope.spawn(move || {
                (0..30_000).for_each(|i| assert_frame(reader, i * stride % 150_000));
            });
        }
    });
}

#[test]
fn iterating_over_all_entries_takes_few_requests_and_caches_nothing() {
    let source = Metered::new(file(10_000), 4096);
    let reader = Reader::open(&source).expect("open");
    source.taken();
    let entries = reader.entries().map(|entry| entry.expect("entry"));
    let frames = (0..10_000).flat_map(|frame| vec![frame; chunks(frame) as usize]);
    assert!(entries.map(|entry| entry.frame()).eq(frames));
    let index = reader.chunks() * ENTRY_SIZE as u64;
    assert_eq!(source.taken(), (index.div_ceil(64 << 10), index));
    reader.frame(17).expect("frame");
    assert_ne!(source.taken().1, 0);
}

#[test]
fn a_truncated_file_ends_the_iteration_with_an_error() {
    let path = tempfile::NamedTempFile::new().expect("a file");
    let bytes = file(10_000);
    std::fs::write(path.path(), &bytes).expect("write");
    let reader = Reader::open(path.reopen().expect("open")).expect("open");
    let index = u64::from_le_bytes(bytes[8..16].try_into().expect("8 bytes"));
    path.as_file().set_len(index + (100 << 10)).expect("cut");
    let seen: Vec<_> = reader.entries().collect();
    assert_eq!(seen.iter().filter(|entry| entry.is_ok()).count(), 2048);
    assert!(seen.last().is_some_and(Result::is_err));
    assert_eq!(seen.len(), 2049);
}

/// A version 1 file with an index of this many entries, all of the one chunk of frame 0; the last has no rows.
fn one_frame(entries: usize) -> Vec<u8> {
    const VERSION_1: u32 = 1 << 16;
    let mut bytes = file(2);
    let index = u64::from_le_bytes(bytes[8..16].try_into().expect("8 bytes")) as usize;
    let entry = (index..).step_by(ENTRY_SIZE).map(|at| bytes[at..at + ENTRY_SIZE].to_vec());
    let entry = entry.take(3).find(|entry| entry[28..30] == [1, 0]).expect("a chunk with rows");
    let location = bytes.len() as u64;
    bytes[8..16].copy_from_slice(&location.to_le_bytes());
    bytes[16..24].copy_from_slice(&(entries as u64).to_le_bytes());
    bytes[44..48].copy_from_slice(&VERSION_1.to_le_bytes());
    // Version 1 keeps each name in a cell of 64 bytes.
    let names = u64::from_le_bytes(bytes[24..32].try_into().expect("8 bytes")) as usize;
    bytes[names..names + 128].fill(0);
    (bytes[names], bytes[names + 64]) = (b'0', b'1');
    bytes.extend(entry.repeat(entries));
    let last = bytes.len() - ENTRY_SIZE;
    bytes[last + 8..last + 16].fill(0);
    bytes
}

#[test]
fn a_frame_that_fills_the_index_is_looked_up_with_little_memory_and_few_bytes() {
    let most = 1 << 16;
    let reader = Reader::open(one_frame(most)).expect("open");
    let found = reader.find(0, b"1").expect("find").expect("there");
    assert_eq!(found.rows(), 0, "it is the last");
    assert_eq!(reader.find(0, b"0").expect("find"), None);
    assert_eq!(reader.frame(0).expect("frame").len(), most);

    let source = Metered::new(one_frame(10 * most), 4096);
    let reader = Reader::open(&source).expect("open");
    source.taken();
    let error = reader.find(0, b"1").expect_err("more chunks than names").to_string();
    assert!(error.contains("more chunks than there are names"), "{error}");
    reader.frame(0).expect_err("more chunks than names");
    let (_, read) = source.taken();
    assert!(read < 3 * (most * ENTRY_SIZE) as u64, "{read} bytes were read");
}
