//! When the index and the name list outgrow their blocks, they do so as in the reference.

use cenote_gsd::{ChunkType, Reader, Writer};

use crate::common::{contents, create, write};

/// Frames of one chunk of one byte, flushed one by one.
fn flushed_frames(count: u64) -> Vec<u8> {
    let mut writer = create("growth");
    for frame in 0..count {
        write(&mut writer, "a", ChunkType::U8, (1, 1), &[frame as u8]).expect("write");
        writer.end_frame().expect("end");
        writer.flush().expect("flush");
    }
    writer.close().expect("close")
}

/// The same number of chunks in one frame.
fn one_frame(count: usize) -> Vec<u8> {
    let mut writer = create("growth");
    for i in 0..count {
        write(&mut writer, &format!("{i:05}"), ChunkType::U8, (1, 1), &[0]).expect("write");
    }
    writer.end_frame().expect("end");
    writer.close().expect("close")
}

fn index_block(bytes: &[u8]) -> (u64, u64) {
    Reader::open(bytes).expect("open").header().index_block()
}

#[test]
fn the_index_moves_where_the_reference_moves_it() {
    for (frames, block) in [
        (127, (256, 128)),
        (128, (256, 128)),
        (129, (5505, 256)),
        (256, (5505, 256)),
        (257, (13825, 512)),
        (513, (30465, 1024)),
        (1025, (63745, 2048)),
    ] {
        assert_eq!(index_block(&flushed_frames(frames)), block, "{frames} frames");
    }
}

#[test]
fn an_index_that_grows_in_one_step_gets_more_than_it_needs() {
    for (chunks, allocated) in [(128, 128), (129, 256), (255, 256), (256, 512), (600, 1024)] {
        assert_eq!(index_block(&one_frame(chunks)).1, allocated, "{chunks} chunks");
    }
}

#[test]
fn the_name_list_grows_as_in_the_reference() {
    let cells = |names: usize, length: usize| {
        let mut writer = create("names");
        for i in 0..names {
            let name = format!("{i:0length$}");
            write(&mut writer, &name, ChunkType::U8, (0, 1), &[]).expect("write");
            writer.end_frame().expect("end");
            writer.flush().expect("flush");
        }
        let reader = Reader::open(writer.close().expect("close")).expect("open");
        assert_eq!(reader.names().len(), names);
        reader.header().name_block().1
    };
    // 17 bytes and a NUL: 56 names fill 1,008 of 1,024 bytes.
    assert_eq!((cells(56, 17), cells(57, 17)), (16, 32));
    // 16 bytes and a NUL.
    assert_eq!((cells(60, 16), cells(61, 16)), (16, 32));
    assert_eq!((cells(120, 16), cells(121, 16), cells(241, 16)), (32, 64, 128));
    // One name: an exact fit of the first block does not grow it, one of a later block does.
    assert_eq!((cells(1, 1023), cells(1, 1024), cells(1, 2047)), (16, 32, 64));
}

#[test]
fn a_reader_opened_before_a_move_continues_to_read() {
    let file = tempfile::NamedTempFile::new().expect("temporary file");
    std::fs::write(file.path(), flushed_frames(100)).expect("write");
    let early = Reader::open(std::fs::File::open(file.path()).expect("open")).expect("open");
    let mut writer = Writer::open(file.path()).expect("open");
    for _ in 0..200 {
        write(&mut writer, "a", ChunkType::U8, (1, 1), &[0]).expect("write");
        writer.end_frame().expect("end");
        writer.flush().expect("flush");
    }
    assert_eq!((early.frames(), writer.reader().frames()), (100, 300));
    assert_eq!(contents(&early).expect("read").len(), 100);
}

#[test]
fn there_are_at_most_65535_names() {
    let mut writer = create("names");
    for i in 0..65_535 {
        write(&mut writer, &i.to_string(), ChunkType::U8, (0, 1), &[]).expect("write");
    }
    let error = write(&mut writer, "one more", ChunkType::U8, (0, 1), &[]).expect_err("full");
    assert!(matches!(error, cenote_gsd::Error::NameListFull));
    write(&mut writer, "7", ChunkType::U8, (0, 1), &[]).expect("a name that is there");
    writer.end_frame().expect("end");
    let reader = Reader::open(writer.close().expect("close")).expect("open");
    assert_eq!(reader.names().len(), 65_535);
    assert!(reader.find(0, b"65534").expect("find").is_some());
}
