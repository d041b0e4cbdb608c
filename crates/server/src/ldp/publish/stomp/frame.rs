//! Frames of STOMP 1.2: a command, headers, and a body that a zero byte ends.
//!
//! Invariant: of what a broker sends no more than `LARGEST` bytes are held, and what is read is a whole frame or none.

use bytes::{Buf, BytesMut};

/// The most that a frame of a broker may have, in bytes. Those that a client of this kind gets have a few lines.
pub(super) const LARGEST: usize = 64 << 10;

/// A frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) command: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// Bytes that are no frame, and why.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed(pub(super) &'static str);

impl Frame {
    pub(super) fn new(command: &str) -> Self {
        Self { command: command.to_owned(), ..Self::default() }
    }

    #[must_use]
    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    #[must_use]
    pub(super) fn body(self, body: Vec<u8>) -> Self {
        Self { body, ..self }
    }

    /// The value of a header; that of the first, if there are several.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(known, _)| known == name);
        header.map(|(_, value)| value.as_str())
    }

    /// The bytes of the frame; the body must have no zero byte.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{}\n", self.command).into_bytes();
        let is_plain = is_plain(&self.command);
        for (name, value) in &self.headers {
            let line = match is_plain {
                true => format!("{name}:{value}\n"),
                false => format!("{}:{}\n", escaped(name), escaped(value)),
            };
            bytes.extend_from_slice(line.as_bytes());
        }
        bytes.push(b'\n');
        bytes.extend_from_slice(&self.body);
        bytes.push(0);
        bytes
    }

    /// Takes the first frame out of what has arrived, if it is whole, with the heart-beats in front of it.
    pub(super) fn take(arrived: &mut BytesMut) -> Result<Option<Self>, Malformed> {
        let beats = arrived.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        arrived.advance(beats);
        let Some((head, length)) = head(arrived) else { return within(arrived) };
        let mut frame = Self::read_head(head)?;
        let rest = &arrived[length..];
        let body = match frame.get("content-length") {
            None => rest.iter().position(|byte| *byte == 0),
            Some(announced) => Some(announced.parse().map_err(|_| Malformed("a length"))?),
        };
        let Some(body) = body else { return within(arrived) };
        if length.saturating_add(body) > LARGEST {
            return Err(Malformed("it is too large"));
        }
        match rest.get(body) {
            None => return Ok(None),
            Some(0) => frame.body = rest[..body].to_vec(),
            Some(_) => return Err(Malformed("no zero byte after the body")),
        }
        arrived.advance(length + body + 1);
        Ok(Some(frame))
    }

    fn read_head(head: &[u8]) -> Result<Self, Malformed> {
        let head = std::str::from_utf8(head).map_err(|_| Malformed("not UTF-8"))?;
        let mut lines = head.lines();
        let mut frame = Self::new(lines.next().unwrap_or_default());
        if frame.command.is_empty() || !frame.command.bytes().all(|byte| byte.is_ascii_uppercase())
        {
            return Err(Malformed("no command"));
        }
        let is_plain = is_plain(&frame.command);
        for line in lines {
            let (name, value) = line.split_once(':').ok_or(Malformed("a header has no colon"))?;
            let read = |text| if is_plain { Ok(str::to_owned(text)) } else { unescaped(text) };
            frame.headers.push((read(name)?, read(value)?));
        }
        Ok(frame)
    }
}

/// What is in front of the empty line, and how much that is with the line.
fn head(arrived: &[u8]) -> Option<(&[u8], usize)> {
    let ends = arrived.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    for (at, _) in ends {
        match &arrived[at + 1..] {
            [b'\n', ..] => return Some((&arrived[..at], at + 2)),
            [b'\r', b'\n', ..] => return Some((&arrived[..at], at + 3)),
            _ => {}
        }
    }
    None
}

/// More has to come, if there is room for it.
fn within(arrived: &BytesMut) -> Result<Option<Frame>, Malformed> {
    match arrived.len() <= LARGEST {
        true => Ok(None),
        false => Err(Malformed("it is too large")),
    }
}

/// These two are as in STOMP 1.0, which has no escapes.
fn is_plain(command: &str) -> bool {
    matches!(command, "CONNECT" | "CONNECTED")
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\\\"),
            '\r' => escaped.push_str("\\r"),
            '\n' => escaped.push_str("\\n"),
            ':' => escaped.push_str("\\c"),
            '\0' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

fn unescaped(text: &str) -> Result<String, Malformed> {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        plain.push(match c {
            '\\' => match chars.next() {
                Some('\\') => '\\',
                Some('r') => '\r',
                Some('n') => '\n',
                Some('c') => ':',
                _ => return Err(Malformed("an unknown escape")),
            },
            c => c,
        });
    }
    Ok(plain)
}

/// Reads frames as they arrive in pieces, until there are no more or something is none.
#[cfg(any(test, feature = "fuzzing"))]
pub(in crate::ldp) fn read_frames(pieces: &[&[u8]]) -> usize {
    let (mut arrived, mut frames) = (BytesMut::new(), 0);
    for piece in pieces {
        arrived.extend_from_slice(piece);
        loop {
            match Frame::take(&mut arrived) {
                Ok(Some(_)) => frames += 1,
                Ok(None) => break,
                Err(_) => return frames,
            }
        }
        assert!(arrived.len() <= LARGEST + piece.len());
    }
    frames
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn taken(bytes: &[u8]) -> Result<Option<Frame>, Malformed> {
        Frame::take(&mut BytesMut::from(bytes))
    }

    #[test]
    fn frames_are_read_as_the_specification_writes_them() {
        let connected =
            taken(b"CONNECTED\r\nversion:1.2\r\nheart-beat:0,5\r\n\r\n\0\n").unwrap().unwrap();
        assert_eq!((&*connected.command, connected.get("version")), ("CONNECTED", Some("1.2")));
        let error = b"\n\nERROR\nmessage:a\\cb\nmessage:later\ncontent-length:3\n\na\0b\0";
        let error = taken(error).unwrap().unwrap();
        assert_eq!((error.get("message"), &*error.body), (Some("a:b"), &b"a\0b"[..]));
        assert_eq!(taken(b"RECEIPT\nreceipt-id:1\n\n"), Ok(None));
        assert_eq!(taken(b"\n\n"), Ok(None));
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        for bytes in [
            &b"receipt\n\n\0"[..],
            b"\0\n\n",
            b"HTTP/1.1 400 Bad Request\n\n\0",
            b"RECEIPT\nno colon\n\n\0",
            b"RECEIPT\na:\\t\n\n\0",
            b"RECEIPT\ncontent-length:-1\n\n\0",
            b"RECEIPT\ncontent-length:1\n\nab\0",
            b"RECEIPT\ncontent-length:18446744073709551615\n\n",
            b"RECEIPT\na:\xff\n\n\0",
        ] {
            assert!(taken(bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
        }
        assert!(taken(&[b'A'; LARGEST + 1]).is_err());
        assert!(taken(&[b"ERROR\n\n", &[b'x'; LARGEST][..]].concat()).is_err());
    }

    proptest! {
        #[test]
        fn a_frame_comes_back(
            command in "[A-Z]{1,9}",
            headers in proptest::collection::vec(("[^\0]{0,6}", "[^\0]{0,9}"), 0..5),
            body in proptest::collection::vec(1_u8.., 0..40),
            cut: usize,
        ) {
            prop_assume!(!is_plain(&command));
            prop_assume!(headers.iter().all(|(name, _)| name != "content-length"));
            let mut frame = Frame::new(&command).body(body);
            for (name, value) in &headers {
                frame = frame.header(name, value);
            }
            let bytes = frame.bytes();
            let cut = cut % bytes.len();
            let mut arrived = BytesMut::from(&bytes[..cut]);
            prop_assert_eq!(Frame::take(&mut arrived), Ok(None));
            arrived.extend_from_slice(&bytes[cut..]);
            prop_assert_eq!(Frame::take(&mut arrived), Ok(Some(frame)));
            prop_assert!(arrived.is_empty());
        }

        #[test]
        fn any_bytes_are_read_or_refused(
            any: Vec<u8>,
            likely in "(RECEIPT|ERROR|CONNECTED|[a-z]{0,3}|:|\\\\[rnct]|content-length:|[0-9]{1,3}|\n|\r\n|\0){0,20}",
            cut: usize,
        ) {
            for bytes in [any.as_slice(), likely.as_bytes()] {
                let (first, second) = bytes.split_at(cut % (bytes.len() + 1));
                prop_assert_eq!(read_frames(&[first, second]), read_frames(&[bytes]));
            }
        }
    }
}
