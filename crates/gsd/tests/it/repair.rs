//! Checking, repacking and recovering.

use crate::common::{contents, create, fixture, fixture_names, write};
use cenote_gsd::{ChunkType, Reader, Writer, recover};

/// Several index blocks, a moved name list, and data of an unfinished frame.
fn grown_file() -> Vec<u8> {
    let mut writer = create("grown");
    for frame in 0..300_u64 {
        write(&mut writer, "step", ChunkType::U64, (1, 1), &frame.to_le_bytes()).expect("write");
        let name = format!("{:0100}", frame % 20);
        write(&mut writer, &name, ChunkType::U8, (3, 1), &[frame as u8; 3]).expect("write");
        writer.end_frame().expect("end");
        writer.flush().expect("flush");
    }
    write(&mut writer, "lost", ChunkType::U8, (500, 1), &[1; 500]).expect("write");
    writer.close().expect("close")
}

#[test]
fn fixtures_are_valid() {
    for name in fixture_names() {
        let reader = Reader::open(fixture(&name)).expect(&name);
        let report = reader.check().expect(&name);
        assert!(report.is_sound(), "{name}: {report:?}");
        assert_eq!(report.used + report.unreachable, reader.size(), "{name}");
    }
}

#[test]
fn check_reports_what_opening_does_not_notice() {
    let mut bytes = fixture("g5_frames150.gsd");
    let entry = Reader::open(&bytes[..]).expect("open").header().index_block().0 as usize + 10 * 32;
    bytes[entry + 16..entry + 24].fill(0);
    bytes[entry + 32 + 30] = 99;
    let report = Reader::open(bytes).expect("opens").check().expect("check");
    let whats: Vec<_> = report.problems.iter().map(|problem| problem.what.as_str()).collect();
    assert_eq!(
        whats,
        [
            "index entry 10: hole before the end of the index",
            "index entry 11: unknown element type 99"
        ]
    );
    assert_eq!(report.problems[0].at, entry as u64);
}

#[test]
fn check_finds_overlaps() {
    let mut bytes = fixture("g5_string.gsd");
    let second = 256 + 32 + 16;
    bytes[second] -= 2;
    let report = Reader::open(bytes).expect("opens").check().expect("check");
    assert_eq!(report.problems[0].what, "bytes 5379..5380 have two owners");
}

#[test]
fn repack_keeps_the_contents_and_drops_the_rest() {
    let before = Reader::open(grown_file()).expect("open");
    let mut frames_done = Vec::new();
    let packed = before.repack(Vec::new(), |done, all| frames_done.push((done, all)));
    let after = Reader::open(packed.expect("repack")).expect("open");
    assert_eq!(contents(&before).expect("read"), contents(&after).expect("read"));
    assert!(after.size() < before.size());
    assert_eq!(frames_done.last(), Some(&(300, 300)));
    assert_eq!(after.check().expect("check").unreachable, 0);
}

#[test]
fn large_chunks_are_copied_whole() {
    let mut writer = create("large");
    let data: Vec<u8> = (0..5_000_000_u32).map(|i| (i * 31 % 253) as u8).collect();
    for size in [10, 1 << 20, (1 << 20) + 1, 5_000_000, 3] {
        let shape = (size as u64, 1);
        write(&mut writer, "a", ChunkType::U8, shape, &data[..size]).expect("write");
        write(&mut writer, "b", ChunkType::U8, (1, 1), &[7]).expect("write");
        writer.end_frame().expect("end");
    }
    let before = Reader::open(writer.close().expect("close")).expect("open");
    let packed = before.repack(Vec::new(), |_, _| {}).expect("repack");
    let after = Reader::open(packed).expect("open");
    assert_eq!(contents(&before).expect("read"), contents(&after).expect("read"));
    assert_eq!(after.check().expect("check").unreachable, 0);
}

#[test]
fn an_undamaged_file_is_recovered_whole() {
    for name in fixture_names() {
        let before = Reader::open(fixture(&name)).expect(&name);
        let (bytes, recovery) = recover(&fixture(&name), Vec::new(), |_, _| ()).expect(&name);
        let after = Reader::open(bytes).expect(&name);
        assert!(recovery.lost.is_empty(), "{name}: {recovery:?}");
        assert_eq!(after.frames(), before.frames(), "{name}");
        let contents = [&after, &before].map(|reader| contents(reader).expect(&name));
        assert_eq!(contents[0].len(), contents[1].len(), "{name}");
        // Old files do not sort the chunks of a frame.
        assert!(contents[1].iter().all(|chunk| contents[0].contains(chunk)), "{name}");
    }
}

fn index_of(bytes: &[u8]) -> usize {
    Reader::open(bytes).expect("open").header().index_block().0 as usize
}

#[test]
fn an_entry_implied_by_the_layout_is_rebuilt() {
    let whole = fixture("g5_frames150.gsd");
    let mut bytes = whole.clone();
    let (index, _) = Reader::open(&bytes[..]).expect("open").header().index_block();
    bytes[index as usize + 20 * 32 + 30] = 0;
    let mut calls = Vec::new();
    let progress = |done, frames| calls.push((done, frames));
    let (saved, recovery) = recover(&bytes, Vec::new(), progress).expect("recover");
    assert_eq!(calls, (1..=150).map(|done| (done, 150)).collect::<Vec<_>>());
    assert_eq!((recovery.bad_entries, &recovery.rebuilt[..2]), (1, &[18, 19][..]));
    assert!(recovery.is_complete(), "{recovery:?}");
    let whole = Reader::open(whole).expect("open");
    let saved = Reader::open(saved).expect("open");
    assert_eq!(contents(&saved).expect("read"), contents(&whole).expect("read"));
}

#[test]
fn only_ambiguous_frames_are_lost() {
    let mut writer = create("irregular");
    for frame in 0..60_u32 {
        // The chunks of one frame could also be those of two others.
        for name in
            (0..3).filter(|name| frame == 0 || (frame.wrapping_mul(0x9E37_79B9) >> 16) % 3 == *name)
        {
            let value = (frame * 10 + name).to_le_bytes();
            write(&mut writer, &name.to_string(), ChunkType::U32, (1, 1), &value).expect("write");
        }
        writer.end_frame().expect("end");
    }
    let whole = writer.close().expect("close");
    let reader = Reader::open(&whole[..]).expect("open");
    let place = reader.entries().position(|e| e.expect("sound").frame() == 30).expect("frame 30");
    let mut bytes = whole.clone();
    bytes[index_of(&whole) + place * 32 + 30] = 0;
    let (saved, recovery) = recover(&bytes, Vec::new(), |_, _| ()).expect("recover");
    // It is also unknown whether the damage extends into the following entry.
    assert_eq!(recovery.lost, [30, 31]);
    let saved = Reader::open(saved).expect("open");
    assert_eq!(saved.frames() + recovery.lost.len() as u64, reader.frames());
    assert!(saved.check().expect("check").is_sound());
}

#[test]
fn the_remains_of_frame_0_stay_frame_0() {
    let whole = fixture("g5_frames150.gsd");
    for damage in [0..1, 0..40] {
        let mut bytes = whole.clone();
        let index = index_of(&whole);
        bytes[index + 32 * damage.start..index + 32 * damage.end].fill(0);
        let (saved, recovery) = recover(&bytes, Vec::new(), |_, _| ()).expect("recover");
        assert_eq!(recovery.lost[0], 0);
        let (saved, whole) =
            (Reader::open(saved).expect("open"), Reader::open(&whole[..]).expect("open"));
        let first = recovery.lost.last().expect("some") + 1;
        let (found, there) = (saved.find(1, b"data"), whole.find(first, b"data"));
        let (found, there) =
            (found.expect("find").expect("there"), there.expect("find").expect("there"));
        assert_eq!(saved.read_vec(&found).expect("read"), whole.read_vec(&there).expect("read"));
        assert_eq!(saved.frames() + recovery.lost.len() as u64, whole.frames() + 1);
    }
}

#[test]
fn a_plain_copy_of_a_damaged_index_is_refused() {
    for (slot, byte) in [(10, 16), (20, 30), (60, 0)] {
        let mut bytes = fixture("g5_frames150.gsd");
        let at = index_of(&bytes) + slot * 32 + byte;
        bytes[at..at + 2].fill(0);
        let Ok(reader) = Reader::open(&bytes[..]) else { continue };
        let mut written = 0;
        let refused = reader.repack(Vec::new(), |done, _| written = done).expect_err("damaged");
        assert!(matches!(refused, cenote_gsd::Error::Corrupt { .. }), "{refused}");
        assert_eq!(written, 0);
    }
}

#[test]
fn a_lost_header_is_rebuilt_from_the_blocks() {
    for name in [
        "g5_frames150.gsd",
        "g5_frames150_flush.gsd",
        "g1_frames150.gsd",
        "g5_hoomd_full.gsd",
        "g1_names120.gsd",
    ] {
        let whole = fixture(name);
        for lost in [8, 48, 256] {
            let mut bytes = whole.clone();
            bytes[..lost].fill(0);
            let (saved, recovery) = recover(&bytes, Vec::new(), |_, _| ()).expect(name);
            assert!(recovery.header && !recovery.is_complete(), "{name}");
            assert!(
                recovery.lost.is_empty() && recovery.lost_names.is_empty(),
                "{name} {lost}: {recovery:?}"
            );
            let (saved, whole) =
                (Reader::open(saved).expect(name), Reader::open(&whole[..]).expect(name));
            assert_eq!(saved.frames(), whole.frames(), "{name}");
            assert_eq!(saved.chunks(), whole.chunks(), "{name}");
            if name.contains("hoomd") {
                assert_eq!(saved.header().schema(), b"hoomd");
            }
        }
    }
}

#[test]
fn chunks_with_lost_names_are_kept() {
    let mut bytes = fixture("g5_hoomd_full.gsd");
    let whole = Reader::open(&bytes[..]).expect("open");
    let ((at, cells), all) = (whole.header().name_block(), contents(&whole).expect("read"));
    drop(whole);
    bytes[at as usize..(at + cells * 64) as usize].fill(0);
    let (saved, recovery) = recover(&bytes, Vec::new(), |_, _| ()).expect("recover");
    assert!(!recovery.is_complete());
    assert_eq!((recovery.frames, recovery.lost_names.len()), (5, 42));
    let saved = contents(&Reader::open(saved).expect("open")).expect("read");
    assert_eq!(saved.len(), all.len());
    let data = |chunks: &[crate::common::SeenChunk], frame: u64| {
        let mut data: Vec<_> =
            chunks.iter().filter(|c| c.frame == frame).map(|c| c.data.clone()).collect();
        data.sort();
        data
    };
    assert!((0..5).all(|frame| data(&saved, frame) == data(&all, frame)));
}

#[test]
fn a_lost_header_field_does_not_lose_the_frames() {
    let whole = grown_file();
    let mut bytes = whole.clone();
    bytes[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(Reader::open(&bytes[..]).is_err());
    let (saved, recovery) = recover(&bytes, Vec::new(), |_, _| ()).expect("recover");
    assert_eq!((recovery.frames, recovery.lost.len()), (300, 0));
    let expected = contents(&Reader::open(whole).expect("open")).expect("read");
    assert_eq!(contents(&Reader::open(saved).expect("open")).expect("read"), expected);
}

#[test]
fn bytes_after_a_full_index_are_not_read_as_entries() {
    let mut writer = create("full");
    for frame in 0..128_u64 {
        let data = 127_u64.to_le_bytes().repeat(8);
        write(&mut writer, "a", ChunkType::U64, (8, 1), &data).expect("write");
        writer.end_frame().expect("end");
        if frame == 0 {
            // The name list block lies between the index and these numbers.
            writer.flush().expect("flush");
        }
    }
    let bytes = writer.close().expect("close");
    let (_, recovery) = recover(&bytes, Vec::new(), |_, _| ()).expect("recover");
    assert_eq!((recovery.frames, recovery.lost.len(), recovery.bad_entries), (128, 0, 0));
}

#[test]
fn a_truncated_file_yields_its_remaining_frames() {
    let whole = grown_file();
    let cut = &whole[..whole.len() * 2 / 3];
    let (saved, recovery) = recover(&cut, Vec::new(), |_, _| ()).expect("recover");
    assert!(recovery.frames > 100, "{recovery:?}");
    let steps = Reader::open(saved).expect("open");
    let step = steps.find(5, b"step").expect("find").expect("there");
    assert_eq!(steps.read_vec(&step).expect("read"), 5_u64.to_le_bytes());
}

#[test]
fn an_upgrade_requires_flushed_chunks() {
    let mut writer = Writer::open_in(fixture("g1_one.gsd")).expect("open");
    write(&mut writer, "a", ChunkType::U8, (1, 1), &[1]).expect("write");
    let error = writer.upgrade().expect_err("a chunk waits");
    assert_eq!(error.to_string(), "invalid argument: flush before upgrading");
}
