//! The cache returns the same as its source, with fewer requests.

use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::{Barrier, Mutex, PoisonError};

use cenote_gsd::{ChunkType, ReadAhead, Reader, Source};
use proptest::prelude::*;

use crate::common::{contents, create, fixture, fixture_names, write};

/// Records the requested ranges.
struct Recording {
    bytes: Vec<u8>,
    requests: Mutex<Vec<(u64, usize)>>,
}

impl Recording {
    fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, requests: Mutex::default() }
    }
}

impl Source for &Recording {
    fn size(&self) -> io::Result<u64> {
        self.bytes.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.requests.lock().expect("one thread").push((offset, buffer.len()));
        self.bytes.read_at(offset, buffer)
    }
}

fn requests(source: &Recording) -> Vec<(u64, usize)> {
    source.requests.lock().expect("one thread").clone()
}

/// Some megabytes of small frames.
fn long_file() -> Vec<u8> {
    let mut writer = create("long");
    for frame in 0..3000_u64 {
        let data = frame.to_le_bytes().repeat(200);
        write(&mut writer, "a", ChunkType::U64, (200, 1), &data).expect("write");
        writer.end_frame().expect("end");
    }
    writer.close().expect("close")
}

#[test]
fn a_small_file_is_one_request() {
    for name in fixture_names() {
        let source = Recording::new(fixture(&name));
        let reader = Reader::open(ReadAhead::new(&source)).expect(&name);
        contents(&reader).expect(&name);
        assert_eq!(requests(&source).len(), 1, "{name}");
    }
}

#[test]
fn sequential_reads_fetch_increasingly_large_runs() {
    let source = Recording::new(long_file());
    let reader = Reader::open(ReadAhead::new(&source)).expect("open");
    for frame in 0..reader.frames() {
        let entry = reader.find(frame, b"a").expect("find").expect("there");
        let data = reader.read_vec(&entry).expect("read");
        assert_eq!(data, frame.to_le_bytes().repeat(200));
    }
    let requests = requests(&source);
    assert!(requests.len() < 20, "{requests:?}");
    assert!(requests.iter().any(|(_, size)| *size >= 1 << 20), "{requests:?}");
}

#[test]
fn random_access_fetches_small_runs() {
    let source = Recording::new(long_file());
    let reader = Reader::open(ReadAhead::new(&source)).expect("open");
    for frame in [2900, 5, 1500, 700, 2200] {
        let entry = reader.find(frame, b"a").expect("find").expect("there");
        reader.read_vec(&entry).expect("read");
    }
    let total: usize = requests(&source).iter().map(|(_, size)| size).sum();
    assert!(total < source.bytes.len() / 2, "{total} of {}", source.bytes.len());
}

#[test]
fn the_end_of_the_source_is_an_error() {
    let source = Recording::new(vec![7; 1000]);
    let cache = ReadAhead::new(&source);
    let mut buffer = [0; 10];
    cache.read_at(990, &mut buffer).expect("the last ten");
    for offset in [991, 1000, 5000, u64::MAX] {
        let error = cache.read_at(offset, &mut buffer).expect_err("beyond the end");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{offset}");
    }
}

proptest! {
    #[test]
    fn any_read_returns_the_bytes_of_the_source(
        reads in proptest::collection::vec((0_usize..300_000, 0_usize..100_000), 1..40),
    ) {
        let bytes: Vec<u8> = (0..300_000_u32).map(|i| (i * 7 % 251) as u8).collect();
        let source = Recording::new(bytes.clone());
        let cache = ReadAhead::new(&source);
        for (start, length) in reads {
            let mut buffer = vec![0; length];
            let expected = bytes.get(start..start + length);
            let done = cache.read_at(start as u64, &mut buffer);
            prop_assert_eq!(done.is_ok(), expected.is_some());
            if let Some(expected) = expected {
                prop_assert_eq!(&buffer, expected);
            }
        }
    }
}

/// Completes requests at offset 0 only when released.
struct Blocking {
    inner: Recording,
    begun: Barrier,
    released: Barrier,
}

impl Source for &Blocking {
    fn size(&self) -> io::Result<u64> {
        (&self.inner).size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        (&self.inner).read_at(offset, buffer)?;
        if offset == 0 {
            self.begun.wait();
            self.released.wait();
        }
        Ok(())
    }
}

#[test]
fn other_threads_continue_during_a_request_and_none_is_sent_twice() {
    let bytes: Vec<u8> = (0..400_000_u32).map(|i| (i * 7 % 251) as u8).collect();
    let inner = Recording::new(bytes.clone());
    let source = Blocking { inner, begun: Barrier::new(2), released: Barrier::new(2) };
    let cache = ReadAhead::new(&source);
    let read = |offset: usize| {
        let mut buffer = [0; 100];
        cache.read_at(offset as u64, &mut buffer).expect("read");
        assert_eq!(buffer, bytes[offset..offset + 100]);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| read(0));
        source.begun.wait();
        scope.spawn(|| read(10));
        read(200_000);
        source.released.wait();
    });
    let requests: Vec<_> = requests(&source.inner).iter().map(|(offset, _)| *offset).collect();
    assert_eq!(requests, [0, 200_000]);
}

/// Fails the first time, and panics the second.
struct Failing(Mutex<u32>);

impl Source for Failing {
    fn size(&self) -> io::Result<u64> {
        Ok(1 << 20)
    }

    fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *times += 1;
        match *times {
            1 => Err(io::ErrorKind::TimedOut.into()),
            2 => panic!("a source that is broken"),
            _ => Ok(()),
        }
    }
}

#[test]
fn no_thread_waits_for_a_failed_request() {
    let cache = ReadAhead::new(Failing(Mutex::new(0)));
    let read = || cache.read_at(0, &mut [0; 10]);
    assert_eq!(read().expect_err("the first fails").kind(), io::ErrorKind::TimedOut);
    std::panic::catch_unwind(AssertUnwindSafe(read)).expect_err("the second panics");
    read().expect("the third is answered");
}
