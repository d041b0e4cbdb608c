//! Random operations compared with a model: a list of frames, and the effect of flushes.

use std::collections::BTreeMap;

use crate::common::write;
use cenote_gsd::{ChunkType, Reader, Version, Writer};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Write(u8, Vec<u8>),
    EndFrame,
    Flush,
    Reopen,
    Truncate,
    Limit(u16),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        6 => (any::<u8>(), proptest::collection::vec(any::<u8>(), 0..40))
            .prop_map(|(name, data)| Op::Write(name, data)),
        4 => Just(Op::EndFrame),
        1 => Just(Op::Flush),
        1 => Just(Op::Reopen),
        1 => (1_u16..200).prop_map(Op::Limit),
    ];
    let rare = prop_oneof![60 => op, 1 => Just(Op::Truncate)];
    proptest::collection::vec(rare, 0..400)
}

type Frame = BTreeMap<String, Vec<u8>>;

#[derive(Debug, Default)]
struct Model {
    flushed: Vec<Frame>,
    ended: Vec<Frame>,
    current: Frame,
}

impl Model {
    fn flush(&mut self) {
        self.flushed.append(&mut self.ended);
    }

    /// Frames without chunks at the end are not recorded in the file.
    fn reopen(&mut self) {
        self.flush();
        self.current.clear();
        while self.flushed.last().is_some_and(BTreeMap::is_empty) {
            self.flushed.pop();
        }
    }
}

/// Names up to 100 bytes, so that the name list grows.
fn name(number: u8) -> String {
    format!("{number}").repeat(1 + usize::from(number) / 8)
}

fn step(mut writer: Writer<Vec<u8>>, model: &mut Model, op: &Op) -> Writer<Vec<u8>> {
    match op {
        Op::Write(number, data) => {
            let name = name(*number);
            // Which of several chunks with one name is found has its own test.
            if model.current.contains_key(&name) {
                return writer;
            }
            write(&mut writer, &name, ChunkType::U8, (data.len() as u64, 1), data).expect("write");
            model.current.insert(name, data.clone());
        }
        Op::EndFrame => {
            writer.end_frame().expect("end");
            let frame = std::mem::take(&mut model.current);
            model.ended.push(frame);
        }
        Op::Flush => {
            writer.flush().expect("flush");
            model.flush();
        }
        Op::Reopen => {
            writer = Writer::open_in(writer.close().expect("close")).expect("open");
            model.reopen();
        }
        Op::Truncate => {
            writer.truncate().expect("truncate");
            *model = Model::default();
        }
        Op::Limit(bytes) => writer.set_buffer_limit(u64::from(*bytes)).expect("limit"),
    }
    writer
}

fn assert_agree<S: cenote_gsd::Source>(reader: &Reader<S>, frames: &[Frame]) {
    assert_eq!(reader.frames(), frames.len() as u64);
    for (number, frame) in (0..).zip(frames) {
        let seen: Frame = reader
            .frame(number)
            .expect("frame")
            .iter()
            .map(|entry| {
                let name = reader.names().get(entry.name_id()).expect("name").to_vec();
                (String::from_utf8(name).expect("UTF-8"), reader.read_vec(entry).expect("read"))
            })
            .collect();
        assert_eq!(&seen, frame, "frame {number}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_reader_sees_what_was_flushed(ops in ops()) {
        let mut model = Model::default();
        let mut writer =
            Writer::create_in(Vec::new(), "model", "none", Version::new(1, 0)).expect("create");
        for op in &ops {
            writer = step(writer, &mut model, op);
            assert_eq!(writer.reader().frames(), model.flushed.len() as u64);
        }
        assert_agree(writer.reader(), &model.flushed);
        model.reopen();
        let reader = Reader::open(writer.close().expect("close")).expect("open");
        assert_agree(&reader, &model.flushed);
        let report = reader.check().expect("check");
        prop_assert!(report.is_sound(), "{report:?}");
        let packed = Reader::open(reader.repack(Vec::new(), |_, _| {}).expect("repack")).expect("open");
        assert_agree(&packed, &model.flushed);
    }
}
