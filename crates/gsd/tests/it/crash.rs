//! A writer that is stopped at any write leaves every flushed frame readable.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{contents, write};
use cenote_gsd::{ChunkType, Error, Reader, Source, Storage, Version, Writer};

/// Memory whose writes fail after a number of them, the last one midway.
#[derive(Debug, Default)]
struct FailingStorage {
    bytes: Vec<u8>,
    left: Arc<AtomicU64>,
}

impl FailingStorage {
    fn spend(&self) -> io::Result<()> {
        let spent =
            self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        spent.map(drop).map_err(|_| io::ErrorKind::StorageFull.into())
    }
}

impl Source for FailingStorage {
    fn size(&self) -> io::Result<u64> {
        self.bytes.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.bytes.read_at(offset, buffer)
    }
}

impl Storage for FailingStorage {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let allowed = self.spend();
        // A header is one sector and is written whole or not at all.
        let torn = if offset == 0 { 0 } else { bytes.len() / 2 };
        let kept = if allowed.is_ok() { bytes.len() } else { torn };
        self.bytes.write_at(offset, &bytes[..kept])?;
        allowed
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        self.spend()?;
        self.bytes.set_size(size)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.spend()
    }
}

/// Writes frames with a flush after each, growing names and index; returns the frames flushed.
fn write_until_failure(writer: &mut Writer<FailingStorage>) -> u64 {
    for frame in 0..140_u64 {
        let step = frame.to_le_bytes();
        let name = format!("log/{:060}", frame % 40);
        let done = write(writer, "step", ChunkType::U64, (1, 1), &step)
            .and_then(|()| write(writer, &name, ChunkType::U64, (1, 1), &step))
            .and_then(|()| writer.end_frame())
            .and_then(|()| writer.flush());
        if done.is_err() {
            return frame;
        }
    }
    140
}

fn assert_first_frames(bytes: &[u8], flushed: u64, failure: u64) {
    let reader = Reader::open(bytes).unwrap_or_else(|e| panic!("failure {failure}: {e}"));
    assert!(reader.frames() >= flushed, "failure {failure}: {} of {flushed}", reader.frames());
    for frame in 0..flushed {
        let step = reader.find(frame, b"step").expect("find").expect("flushed");
        assert_eq!(reader.read_vec(&step).expect("read"), frame.to_le_bytes());
    }
    contents(&reader).unwrap_or_else(|e| panic!("failure {failure}: {e}"));
}

#[test]
fn every_flushed_frame_survives_a_failure_at_any_write() {
    for failure in 0.. {
        let left = Arc::new(AtomicU64::new(u64::MAX));
        let storage = FailingStorage { bytes: Vec::new(), left: Arc::clone(&left) };
        let mut writer =
            Writer::create_in(storage, "crash", "none", Version::new(1, 0)).expect("create");
        left.store(failure, Ordering::SeqCst);
        let flushed = write_until_failure(&mut writer);
        assert_first_frames(&writer.reader().source().bytes, flushed, failure);
        if flushed == 140 {
            return;
        }
        left.store(u64::MAX, Ordering::SeqCst);
        assert!(matches!(writer.flush(), Err(Error::Latched)), "failure {failure}");
    }
}

#[test]
fn an_append_continues_after_an_interrupted_writer() {
    let left = Arc::new(AtomicU64::new(u64::MAX));
    let storage = FailingStorage { bytes: Vec::new(), left: Arc::clone(&left) };
    let mut writer =
        Writer::create_in(storage, "crash", "none", Version::new(1, 0)).expect("create");
    left.store(50, Ordering::SeqCst);
    let flushed = write_until_failure(&mut writer);
    let left_behind = writer.reader().source().bytes.clone();
    let mut again = Writer::open_in(left_behind).expect("open");
    write(&mut again, "step", ChunkType::U64, (1, 1), &9_u64.to_le_bytes()).expect("write");
    again.end_frame().expect("end");
    let reader = Reader::open(again.close().expect("close")).expect("open");
    assert!(reader.frames() > flushed);
    assert!(reader.check().expect("check").is_sound());
}
