//! Random files, randomly damaged: recovered data equals the original, and all losses are reported.
//!
//! `PROPTEST_CASES` sets the number of cases; `make nightly` runs many.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::common::{SeenChunk, contents, create, write};
use cenote_gsd::{ChunkType, Entry, Reader, Recovery, recover};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// How the chunks of the frames after frame 0 vary.
#[derive(Clone, Debug)]
enum Kind {
    /// All frames have the same chunks.
    Same,
    /// One more chunk at regular intervals.
    Periodic(u64),
    /// Any subset.
    Random(u64),
}

#[derive(Clone, Debug)]
struct History {
    kind: Kind,
    frames: u64,
    names: u64,
    name_length: usize,
    /// Frames between two flushes.
    flush: u64,
}

#[derive(Clone, Debug)]
enum Place {
    Header,
    Index,
    Outgrown,
    Names,
    Anywhere,
}

#[derive(Clone, Debug)]
struct Damage {
    place: Place,
    /// The position in the place, from 0 to 1000.
    at: u64,
    length: usize,
    /// The bytes written there are zeros, or random ones from this seed.
    seed: Option<u64>,
}

fn histories() -> impl Strategy<Value = History> {
    let kind = prop_oneof![
        Just(Kind::Same),
        (2_u64..12).prop_map(Kind::Periodic),
        any::<u64>().prop_map(Kind::Random),
    ];
    (kind, 2_u64..260, 1_u64..7, 1_usize..300, 1_u64..80).prop_map(
        |(kind, frames, names, name_length, flush)| History {
            kind,
            frames,
            names,
            name_length,
            flush,
        },
    )
}

fn damages() -> impl Strategy<Value = Vec<Damage>> {
    let place = prop_oneof![
        1 => Just(Place::Header),
        4 => Just(Place::Index),
        2 => Just(Place::Outgrown),
        1 => Just(Place::Names),
        2 => Just(Place::Anywhere),
    ];
    let length = prop_oneof![32_usize..700, Just(512), Just(4096), 32_usize..9000];
    let seed = proptest::option::of(any::<u64>());
    let damage = (place, 0_u64..1000, length, seed).prop_map(|(place, at, length, seed)| Damage {
        place,
        at,
        length,
        seed,
    });
    proptest::collection::vec(damage, 1..4)
}

/// A pseudo-random number that depends on two others.
fn mixed(a: u64, b: u64) -> u64 {
    let mut x = a.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ b.wrapping_mul(0xD1B5_4A32_D192_ED03);
    x ^= x >> 29;
    x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^ (x >> 32)
}

fn has_chunk(history: &History, frame: u64, name: u64) -> bool {
    // The first name is in all frames, as the step of a simulation is.
    let usual = name < history.names.div_ceil(2);
    frame == 0
        || usual
            && match history.kind {
                Kind::Same => true,
                Kind::Periodic(period) => {
                    name + 1 < history.names.div_ceil(2)
                        || name == 0
                        || frame.is_multiple_of(period)
                }
                Kind::Random(seed) => {
                    name == 0 || !mixed(seed, frame * 31 + name).is_multiple_of(3)
                }
            }
}

/// Elements that identify their chunk, and none of which is 0.
fn data(frame: u64, name: u64, rows: u64) -> Vec<u8> {
    (0..rows * 4).map(|i| (mixed(frame * 64 + name, i) % 255 + 1) as u8).collect()
}

fn build(history: &History) -> Vec<u8> {
    let mut writer = create("recovery");
    for frame in 0..history.frames {
        for name in (0..history.names).filter(|name| has_chunk(history, frame, *name)) {
            // Chunks of different names have different sizes.
            let rows = 2 + 3 * name;
            let text = format!("log/{name}{}", "x".repeat(history.name_length));
            let values = data(frame, name, rows);
            write(&mut writer, &text, ChunkType::U32, (rows, 1), &values).expect("write");
        }
        writer.end_frame().expect("end");
        if frame.is_multiple_of(history.flush) {
            writer.flush().expect("flush");
        }
    }
    writer.close().expect("close")
}

/// The bytes of a place.
fn range_of(place: &Place, whole: &Reader<&[u8]>) -> Range<u64> {
    let (index, room) = whole.header().index_block();
    let (names, cells) = whole.header().name_block();
    match place {
        Place::Header => 0..256,
        Place::Index => index..index + whole.chunks().min(room) * 32,
        Place::Outgrown => 256..4352,
        Place::Names => names..names + cells * 64,
        Place::Anywhere => 0..whole.size(),
    }
}

fn apply(bytes: &mut [u8], whole: &Reader<&[u8]>, damage: &Damage) -> Range<usize> {
    let place = range_of(&damage.place, whole);
    let start = (place.start + (place.end - place.start) * damage.at / 1000) as usize;
    let end = (start + damage.length).min(bytes.len());
    for (i, byte) in (0..).zip(&mut bytes[start..end]) {
        *byte = damage.seed.map_or(0, |seed| mixed(seed, i) as u8);
    }
    start..end
}

/// A list whose end is lost looks like a complete one that ends with a truncated name. Only entries that use
/// further names show that there are more, unless they are lost, too.
fn hides_the_end_of_a_name(whole: &Reader<&[u8]>, damaged: &[u8], alone: bool) -> bool {
    let mut at = whole.header().name_block().0 as usize;
    let kept = |at: usize| damaged.get(at).copied().unwrap_or_default();
    for (id, name) in whole.names().iter().enumerate() {
        let cut = (0..name.len()).find(|i| kept(at + i) == 0);
        if let Some(cut) = cut {
            return cut > 0 && !(alone && id + 1 < whole.names().len());
        }
        at += name.len() + 1;
    }
    false
}

fn found(damaged: &[u8], entry: &Entry) -> Vec<u8> {
    let start = entry.location() as usize;
    damaged[start..start + entry.byte_size() as usize].to_vec()
}

/// The chunks of a frame of the original file, with the bytes that the damaged one has in their places.
fn expected(whole: &Reader<&[u8]>, damaged: &[u8], frame: u64, lost: &[u16]) -> Vec<SeenChunk> {
    let entries = whole.frame(frame).expect("frame");
    let mut chunks: Vec<_> = entries
        .iter()
        .map(|entry| SeenChunk {
            frame: 0,
            name: match lost.contains(&entry.name_id()) {
                true => format!("lost/{}", entry.name_id()).into_bytes(),
                false => whole.names().get(entry.name_id()).expect("named").to_vec(),
            },
            kind: entry.chunk_type(),
            shape: (entry.rows(), entry.columns()),
            data: found(damaged, entry),
        })
        .collect();
    chunks.sort_by(|a, b| a.name.cmp(&b.name));
    chunks
}

/// Compares the recovered file with the original, and with the report.
fn judge(whole: &[u8], damaged: &[u8], saved: &[u8], recovery: &Recovery) {
    let (whole, saved) = (Reader::open(whole).expect("whole"), Reader::open(saved).expect("saved"));
    let report = saved.check().expect("check");
    assert!(report.is_sound(), "{report:?}");
    let lost: BTreeSet<u64> = recovery.lost.iter().copied().collect();
    let kept = (0..).filter(|frame| *frame == 0 || !lost.contains(frame));
    for (number, original) in (0..recovery.frames).zip(kept) {
        let mut chunks: Vec<_> = contents_of(&saved, number);
        chunks.sort_by(|a, b| a.name.cmp(&b.name));
        let wanted = expected(&whole, damaged, original, &recovery.lost_names);
        // With one frame, bytes after it may be more of it: that is reported as unclaimed.
        if lost.contains(&original) || recovery.frames == 1 && recovery.unclaimed > 0 {
            assert!(chunks.iter().all(|chunk| wanted.contains(chunk)), "what is left of frame 0");
        } else {
            assert_eq!(chunks, wanted, "frame {original}, {recovery:?}");
        }
    }
    let all_there = recovery.frames == whole.frames() && lost.is_empty();
    // Without any entry or data, a file is the same as an empty one.
    let nothing_left = recovery.frames == 0 && damaged[5376..].iter().all(|&byte| byte == 0);
    let is_reported = all_there || nothing_left || !recovery.is_complete();
    assert!(is_reported, "a loss that is not reported: {recovery:?}");
}

fn contents_of(saved: &Reader<&[u8]>, frame: u64) -> Vec<SeenChunk> {
    let entries = saved.frame(frame).expect("frame");
    let seen = entries.iter().map(|entry| SeenChunk {
        frame: 0,
        name: saved.names().get(entry.name_id()).expect("named").to_vec(),
        kind: entry.chunk_type(),
        shape: (entry.rows(), entry.columns()),
        data: saved.read_vec(entry).expect("read"),
    });
    seen.collect()
}

/// This many fixed cases by default; `PROPTEST_CASES` requests any number of random ones.
fn cases(few: u32) -> ProptestConfig {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => config,
        None => ProptestConfig { cases: few, rng_seed: RngSeed::Fixed(11), ..config },
    }
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn recovered_data_is_original_and_losses_are_reported(
        history in histories(),
        damages in damages(),
        cut in proptest::option::weighted(0.2, 0.3_f64..1.0),
    ) {
        let bytes = build(&history);
        let whole = Reader::open(&bytes[..]).expect("open");
        let mut damaged = bytes.clone();
        for damage in &damages {
            apply(&mut damaged, &whole, damage);
        }
        prop_assume!(!hides_the_end_of_a_name(&whole, &damaged, damages.len() == 1 && cut.is_none()));
        // Missing data at the end of the file are not data.
        let last = whole.entries().last().expect("an entry").expect("sound");
        let tail = found(&damaged, &last);
        prop_assume!(tail.iter().any(|&byte| byte != 0));
        if let Some(cut) = cut {
            damaged.truncate((damaged.len() as f64 * cut) as usize);
        }
        let Ok((saved, recovery)) = recover(&damaged, Vec::new(), |_, _| ()) else { return Ok(()) };
        damaged.resize(bytes.len(), 0);
        judge(&bytes, &damaged, &saved, &recovery);
    }

    #[test]
    fn a_hole_in_a_regular_index_loses_nothing(
        period in 1_u64..12,
        frames in 700_u64..1500,
        start in 200_u64..1000,
        entries in 1_u64..129,
        seed in proptest::option::of(any::<u64>()),
    ) {
        let kind = if period == 1 { Kind::Same } else { Kind::Periodic(period) };
        let history = History { kind, frames, names: 6, name_length: 3, flush: u64::MAX };
        let bytes = build(&history);
        let whole = Reader::open(&bytes[..]).expect("open");
        let mut damaged = bytes.clone();
        let at = (whole.header().index_block().0 + start * 32) as usize;
        for (i, byte) in (0..).zip(&mut damaged[at..at + 32 * entries as usize]) {
            *byte = seed.map_or(0, |seed| mixed(seed, i) as u8);
        }
        let (saved, recovery) = recover(&damaged, Vec::new(), |_, _| ()).expect("recover");
        prop_assert!(recovery.is_complete(), "{recovery:?}");
        prop_assert!(!recovery.rebuilt.is_empty());
        let saved = Reader::open(saved).expect("open");
        prop_assert_eq!(contents(&saved).expect("read"), contents(&whole).expect("read"));
    }
}
