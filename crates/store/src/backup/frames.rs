//! The frames of a backup, on their way and in its file. `docs/format.md` shows them, too.
//!
//! Invariants: a frame is passed on only after its checksum was compared; nothing that is read makes more room than the longest
//! frame that is written.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use cenote_kv::{Row, Version};
use minicbor::{Decode, Encode};

use crate::copy::Tally;
use crate::model::Time;
use crate::{Error, Result};

/// The first bytes of a file, before its first frame.
pub(super) const MAGIC: &[u8; 16] = b"cenote backup 1\n";
/// Length and checksum of a frame.
const HEAD: usize = 8;
/// The longest frame: one row may be as large as an engine allows.
const LONGEST: usize = 32 << 20;
/// After so many bytes of rows a frame ends.
pub(super) const FULL: usize = 1 << 20;

/// What a backup begins with.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Begin {
    /// The format of the catalog.
    #[n(0)]
    pub(crate) format: u32,
    /// The version of the catalog.
    #[n(1)]
    pub(crate) version: Version,
    /// When it was taken.
    #[n(2)]
    pub(crate) taken: Time,
}

/// What a backup ends with: how many rows there were, and what they were.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct End {
    #[n(0)]
    pub(crate) rows: u64,
    #[n(1)]
    pub(crate) bytes: u64,
    /// As in [`RowTotal::sha256`](crate::RowTotal::sha256).
    #[cbor(n(2), with = "minicbor::bytes")]
    pub(crate) sha256: [u8; 32],
}

impl End {
    pub(super) fn of(tally: &Tally) -> Self {
        let total = tally.total();
        Self { rows: total.rows, bytes: total.bytes, sha256: total.sha256 }
    }
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Frame {
    /// The first one.
    Begin(Begin),
    /// Rows, in the order of their keys.
    Rows(Vec<Row>),
    /// The last one.
    End(End),
    /// Says only that the sender is there.
    Pause,
}

impl Frame {
    /// The bytes of the frame.
    pub(crate) fn encode(&self) -> Bytes {
        let mut body = BytesMut::new();
        match self {
            Self::Begin(begin) => record(&mut body, b'H', begin),
            Self::Rows(rows) => {
                body.put_u8(b'R');
                rows.iter().for_each(|row| put_row(&mut body, row));
            }
            Self::End(end) => record(&mut body, b'E', end),
            Self::Pause => body.put_u8(b'P'),
        }
        let mut frame = BytesMut::with_capacity(HEAD + body.len());
        frame.put_u32_le(body.len() as u32);
        frame.put_u32_le(crc32c::crc32c(&body));
        frame.extend_from_slice(&body);
        frame.freeze()
    }

    fn decode(mut body: Bytes) -> Option<Self> {
        match body.try_get_u8().ok()? {
            b'H' => minicbor::decode(&body).ok().map(Self::Begin),
            b'R' => rows(body).map(Self::Rows),
            b'E' => minicbor::decode(&body).ok().map(Self::End),
            b'P' if body.is_empty() => Some(Self::Pause),
            _ => None,
        }
    }
}

fn record<T: Encode<()>>(body: &mut BytesMut, letter: u8, record: &T) {
    body.put_u8(letter);
    let bytes = minicbor::to_vec(record).expect("writing to a Vec cannot fail");
    body.extend_from_slice(&bytes);
}

fn put_row(body: &mut BytesMut, (key, value): &Row) {
    body.put_u16_le(key.len() as u16);
    body.put_u32_le(value.len() as u32);
    body.extend_from_slice(key);
    body.extend_from_slice(value);
}

fn rows(mut body: Bytes) -> Option<Vec<Row>> {
    let mut rows = Vec::new();
    while !body.is_empty() {
        let key = usize::from(body.try_get_u16_le().ok()?);
        let value = body.try_get_u32_le().ok()? as usize;
        if body.len() < key.checked_add(value)? {
            return None;
        }
        rows.push((body.split_to(key), body.split_to(value)));
    }
    Some(rows)
}

/// Reads frames from bytes that arrive in pieces.
#[derive(Debug, Default)]
pub(crate) struct FrameReader {
    buffer: BytesMut,
    /// Whether the first bytes were seen.
    begun: bool,
}

impl FrameReader {
    /// Adds the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next frame, if all of it has arrived.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) if the bytes are not those of a backup.
    pub(crate) fn next_frame(&mut self) -> Result<Option<Frame>> {
        if !self.begun && !self.take_magic()? {
            return Ok(None);
        }
        let Some((head, rest)) = self.buffer.split_first_chunk::<HEAD>() else { return Ok(None) };
        let (mut length, mut sum) = (&head[..4], &head[4..]);
        let (length, sum) = (length.get_u32_le() as usize, sum.get_u32_le());
        if length > LONGEST {
            return Err(damaged());
        }
        if rest.len() < length {
            return Ok(None);
        }
        let body = self.buffer.split_to(HEAD + length).freeze().split_off(HEAD);
        let is_right = crc32c::crc32c(&body) == sum;
        is_right.then(|| Frame::decode(body)).flatten().map(Some).ok_or_else(damaged)
    }

    /// Whether the bytes end between two frames.
    pub(super) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    fn take_magic(&mut self) -> Result<bool> {
        if self.buffer.len() < MAGIC.len() {
            return match MAGIC.starts_with(&self.buffer) {
                true => Ok(false),
                false => Err(damaged()),
            };
        }
        self.begun = self.buffer.split_to(MAGIC.len()) == MAGIC[..];
        if self.begun { Ok(true) } else { Err(damaged()) }
    }
}

pub(super) fn damaged() -> Error {
    Error::damaged("this is not a backup, or it is damaged")
        .with_hint("look for damage with `cenote backup verify`")
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn frame() -> impl Strategy<Value = Frame> {
        let bytes = |most| vec(any::<u8>(), 0..most).prop_map(Bytes::from);
        let begin = (any::<u32>(), any::<u64>(), any::<i64>()).prop_map(|(format, version, at)| {
            let taken = Time::from_nanos(at);
            Frame::Begin(Begin { format, version, taken })
        });
        let end = (any::<u64>(), any::<u64>(), any::<[u8; 32]>());
        prop_oneof![
            begin,
            vec((bytes(40), bytes(300)), 0..20).prop_map(Frame::Rows),
            end.prop_map(|(rows, bytes, sha256)| Frame::End(End { rows, bytes, sha256 })),
            Just(Frame::Pause),
        ]
    }

    fn read(reader: &mut FrameReader) -> Result<Vec<Frame>> {
        std::iter::from_fn(|| reader.next_frame().transpose()).collect()
    }

    fn written(frames: &[Frame]) -> Vec<u8> {
        let encoded = frames.iter().map(Frame::encode);
        std::iter::once(Bytes::from_static(MAGIC)).chain(encoded).flatten().collect()
    }

    proptest! {
        #[test]
        fn frames_read_back_however_they_are_cut(frames in vec(frame(), 0..6), piece in 1..200usize) {
            let (mut reader, mut found) = (FrameReader::default(), Vec::new());
            for piece in written(&frames).chunks(piece) {
                reader.push(piece);
                found.extend(read(&mut reader).unwrap());
            }
            prop_assert!(reader.is_empty());
            prop_assert_eq!(found, frames);
        }

        #[test]
        fn a_changed_byte_never_passes_unnoticed(
            frames in vec(frame(), 1..4), at in any::<prop::sample::Index>(), change in 1..=255u8
        ) {
            let mut bytes = written(&frames);
            let at = at.index(bytes.len());
            bytes[at] ^= change;
            let mut reader = FrameReader::default();
            reader.push(&bytes);
            let found = read(&mut reader);
            prop_assert!(found.is_err() || !reader.is_empty() || found.unwrap() != frames);
        }

        #[test]
        fn no_bytes_do_harm(bytes in vec(any::<u8>(), 0..400), begun in any::<bool>()) {
            let mut reader = FrameReader::default();
            if begun {
                reader.push(MAGIC);
            }
            reader.push(&bytes);
            let _ = read(&mut reader);
        }
    }
}
