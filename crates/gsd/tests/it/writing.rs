//! What a writer refuses, when it writes, and the files it creates.

use cenote_gsd::{Chunk, ChunkType, Error, Reader, Source, Version, Writer};

use crate::common::{create, fixture, write};

fn refusal(chunk: &Chunk<'_>) -> String {
    let mut writer = create("refusal");
    let error = writer.write_chunk(chunk).expect_err("refused");
    assert!(matches!(error, Error::InvalidArgument(_)));
    writer.end_frame().expect("end");
    let reader = Reader::open(writer.close().expect("close")).expect("open");
    assert_eq!(reader.chunks(), 0);
    error.to_string()
}

#[test]
fn impossible_chunks_are_refused() {
    let good = Chunk { name: b"a", kind: ChunkType::U16, rows: 2, columns: 1, data: &[0; 4] };
    for (chunk, why) in [
        (Chunk { columns: 0, ..good }, "at least one column"),
        (Chunk { rows: 3, ..good }, "size of the shape"),
        (Chunk { rows: u64::MAX, columns: u32::MAX, ..good }, "size of the shape"),
        (Chunk { data: &[0; 5], ..good }, "size of the shape"),
        (Chunk { name: b"", ..good }, "needs a name"),
        (Chunk { name: b"a\0b", ..good }, "cannot contain NUL"),
    ] {
        let error = refusal(&chunk);
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn data_is_buffered_until_it_does_not_fit() {
    let mut writer = create("buffer");
    writer.set_buffer_limit(100).expect("limit");
    let on_disk = |writer: &Writer<Vec<u8>>| writer.reader().source().len() - 5376;
    for (size, expected) in [(60, 0), (40, 0), (1, 100), (98, 100), (100, 299), (300, 599)] {
        let shape = (size as u64, 1);
        write(&mut writer, "a", ChunkType::U8, shape, &vec![1; size]).expect("write");
        writer.end_frame().expect("end");
        assert_eq!(on_disk(&writer), expected, "after a chunk of {size}");
    }
    assert_eq!(writer.reader().frames(), 0);
    assert!(writer.set_buffer_limit(0).is_err());
}

#[test]
fn a_limit_below_the_buffered_size_does_not_misplace_data() {
    let mut writer = create("limit");
    write(&mut writer, "a", ChunkType::U8, (50, 1), &[1; 50]).expect("write");
    writer.set_buffer_limit(10).expect("limit");
    write(&mut writer, "b", ChunkType::U8, (20, 1), &[2; 20]).expect("write");
    writer.end_frame().expect("end");
    let reader = Reader::open(writer.close().expect("close")).expect("open");
    for (name, data) in [(b"a", vec![1; 50]), (b"b", vec![2; 20])] {
        let entry = reader.find(0, name).expect("find").expect("there");
        assert_eq!(reader.read_vec(&entry).expect("read"), data);
    }
    assert!(reader.check().expect("check").is_sound());
}

#[test]
fn files_are_created_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.gsd");
    let version = Version::new(1, 0);
    Writer::create_new(&path, "a", "b", version).expect("new").close().expect("close");
    let again = Writer::create_new(&path, "a", "b", version).expect_err("there already");
    assert!(
        matches!(again, Error::Io(ref e) if e.kind() == std::io::ErrorKind::AlreadyExists),
        "{again}"
    );
    Writer::create(&path, "c", "d", version).expect("emptied").close().expect("close");
    assert_eq!(Writer::open(&path).expect("open").reader().header().application(), b"c");
    let missing = Writer::open(&dir.path().join("none.gsd")).expect_err("not there");
    assert!(matches!(missing, Error::Io(_)));
}

#[test]
fn a_file_and_memory_contain_the_same_bytes() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.gsd");
    let mut file = Writer::create(&path, "golden-same", "golden", Version::new(3, 7)).expect("new");
    let mut memory = create("same");
    for i in 0..300_u32 {
        let data = i.to_le_bytes().repeat(i as usize);
        let shape = (u64::from(i), 1);
        write(&mut file, "a", ChunkType::U32, shape, &data).expect("write");
        write(&mut memory, "a", ChunkType::U32, shape, &data).expect("write");
        file.end_frame().expect("end");
        memory.end_frame().expect("end");
    }
    file.close().expect("close");
    assert!(std::fs::read(&path).expect("read") == memory.close().expect("close"));
}

#[test]
fn names_are_listed_once_they_are_flushed() {
    let mut writer = create("names");
    let listed = |writer: &Writer<Vec<u8>>, prefix: &str| {
        writer.reader().names().matching(prefix.as_bytes()).count()
    };
    for name in ["log/a", "log/b", "particles/N"] {
        write(&mut writer, name, ChunkType::U8, (0, 1), &[]).expect("write");
    }
    assert_eq!(listed(&writer, ""), 0);
    writer.flush().expect("flush");
    assert_eq!((listed(&writer, ""), listed(&writer, "log/"), listed(&writer, "x")), (3, 2, 0));
    assert!(writer.reader().names().get(2).is_some_and(|name| name == b"particles/N"));
}

#[test]
fn threads_share_a_reader() {
    let bytes = fixture("g5_frames150.gsd");
    let reader = Reader::open(bytes).expect("open");
    std::thread::scope(|scope| {
        for start in 0..4 {
            let reader = &reader;
            scope.spawn(move || {
                for frame in (start..150).step_by(3) {
                    let entry = reader.find(frame, b"data").expect("find").expect("there");
                    let value = reader.read_vec(&entry).expect("read");
                    assert_eq!(value, (frame % 120).to_le_bytes());
                }
            });
        }
    });
    assert_eq!(reader.source().size().expect("memory"), reader.size());
}
