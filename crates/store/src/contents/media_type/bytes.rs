//! The media type of a content according to its first bytes.

/// The first bytes of a content, as they arrive.
#[derive(Debug, Default)]
pub(crate) struct FirstBytes(Vec<u8>);

impl FirstBytes {
    /// More are not looked at: as many as the signatures of documents in archives need.
    pub(crate) const MOST: usize = 8 << 10;

    /// Appends a run of bytes.
    pub(crate) fn append(&mut self, run: &[u8]) {
        let room = Self::MOST - self.0.len();
        self.0.extend_from_slice(&run[..run.len().min(room)]);
    }

    /// Applies a run of bytes on top of the extents, which reach at least to `offset`.
    pub(crate) fn lay(&mut self, offset: u64, run: &[u8]) {
        let Some(room) = Self::room_from(offset) else { return };
        let (offset, run) = (offset as usize, &run[..run.len().min(room)]);
        let end = offset + run.len();
        self.0.resize(self.0.len().max(end), 0);
        self.0[offset..end].copy_from_slice(run);
    }

    /// How many bytes from `offset` on are looked at, if any.
    pub(crate) fn room_from(offset: u64) -> Option<usize> {
        let offset = usize::try_from(offset).ok()?;
        Self::MOST.checked_sub(offset).filter(|room| *room > 0)
    }

    pub(crate) fn sniff(&self) -> Sniffed {
        Sniffed::of(&self.0)
    }
}

/// What the first bytes of a content are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sniffed {
    /// There are none.
    Empty,
    /// Neither text nor anything that is known.
    Binary,
    /// Text.
    Text { charset: Charset },
    /// Text that begins like this type, which its name may make more precise.
    Markup { kind: &'static str, charset: Charset },
    /// The signature of this type.
    Signature { kind: &'static str, text: bool },
}

/// In what a text is written, as far as its first bytes show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Charset {
    /// Any of those that ASCII is a part of.
    Ascii,
    Utf8,
    /// With a byte order mark.
    Utf16,
    /// Of one byte a letter, perhaps.
    Unknown,
}

/// Signatures that `infer` does not know: those of formats of this project and of scientific data.
const OWN: [(&[u8], &str); 9] = [
    (b"EKDB", "application/vnd.elektra.quickdump"),
    (&[0xdf, 0x65, 0xdf, 0x65, 0xdf, 0x65, 0xdf, 0x65], "application/x-gsd"),
    (b"\x89HDF\r\n\x1a\n", "application/x-hdf5"),
    (b"CDF\x01", "application/x-netcdf"),
    (b"CDF\x02", "application/x-netcdf"),
    (b"CDF\x05", "application/x-netcdf"),
    (b"\x93NUMPY", "application/x-npy"),
    (b"PAR1", "application/vnd.apache.parquet"),
    (b"ARROW1\0\0", "application/vnd.apache.arrow.file"),
];

/// Signatures of formats that are text. Others are chance where there is nothing but text: `BM` begins a bitmap, and "BMI".
const TEXTS: [(&[u8], &str); 5] = [
    (b"-----BEGIN CERTIFICATE-----", "application/x-x509-ca-cert"),
    (b"kdbOpen ", "application/vnd.elektra.dump"),
    (b"%PDF-", "application/pdf"),
    (b"%!PS", "application/postscript"),
    (b"{\\rtf", "application/rtf"),
];

impl Sniffed {
    /// What a content is that begins with `bytes`; those behind [`FirstBytes::MOST`] do not matter.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let bytes = &bytes[..bytes.len().min(FirstBytes::MOST)];
        match (bytes.is_empty(), Charset::of(bytes)) {
            (true, _) => Self::Empty,
            (false, Some(charset)) => Self::text(bytes, charset),
            (false, None) => signature(&OWN, bytes)
                .or_else(|| infer::get(bytes).map(|kind| kind.mime_type()))
                .map_or(Self::Binary, |kind| Self::Signature { kind: archived(kind), text: false }),
        }
    }

    fn text(bytes: &[u8], charset: Charset) -> Self {
        if let Some(kind) = signature(&TEXTS, bytes) {
            return Self::Signature { kind, text: true };
        }
        if charset != Charset::Unknown && !may_be_markup(bytes) {
            return Self::Text { charset };
        }
        match infer::get(bytes).map(|kind| kind.mime_type()) {
            Some(kind) if kind.starts_with("text/") => Self::Markup { kind, charset },
            Some(kind) if charset == Charset::Unknown => Self::Signature { kind, text: false },
            _ => Self::Text { charset },
        }
    }

    /// The `charset` that a type of text gets, where the bytes show it.
    pub(super) fn charset(self) -> Option<&'static str> {
        let (Self::Text { charset } | Self::Markup { charset, .. }) = self else { return None };
        match charset {
            Charset::Utf8 => Some("utf-8"),
            Charset::Utf16 => Some("utf-16"),
            Charset::Ascii | Charset::Unknown => None,
        }
    }
}

/// Whether looking for markup, which takes about a microsecond, is worth it.
fn may_be_markup(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    matches!(start, [b'<' | 0xef | 0xfe | 0xff, ..] | [b'#', b'!', ..])
}

fn signature(known: &[(&[u8], &'static str)], bytes: &[u8]) -> Option<&'static str> {
    known.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, kind)| *kind)
}

/// The signature of older documents of Office says no more than that it is one of them, or an installer.
fn archived(kind: &'static str) -> &'static str {
    if kind == "application/msword" { "application/x-ole-storage" } else { kind }
}

impl Charset {
    /// None, if this is no text: it has a byte that no text has (as in the MIME Sniffing Standard).
    fn of(bytes: &[u8]) -> Option<Self> {
        if is_utf16(bytes) {
            return Some(Self::Utf16);
        }
        // In runs without branches, which the compiler can vectorize.
        let is_found = |run: &[u8]| run.iter().fold(false, |found, byte| found | is_binary(*byte));
        if bytes.chunks(256).any(is_found) {
            return None;
        }
        match std::str::from_utf8(bytes) {
            _ if bytes.is_ascii() => Some(Self::Ascii),
            Ok(_) => Some(Self::Utf8),
            // The last letter is cut off.
            Err(error) if error.error_len().is_none() && bytes.len() == FirstBytes::MOST => {
                Some(Self::Utf8)
            }
            Err(_) => Some(Self::Unknown),
        }
    }
}

fn is_binary(byte: u8) -> bool {
    let within = |first: u8, last: u8| byte.wrapping_sub(first) <= last - first;
    within(0x00, 0x08) | (byte == 0x0b) | within(0x0e, 0x1a) | within(0x1c, 0x1f)
}

/// Whether this is text behind the byte order mark of UTF-16.
fn is_utf16(bytes: &[u8]) -> bool {
    let unit = match bytes {
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        _ => return false,
    };
    let (pairs, rest) = bytes.as_chunks();
    let units = pairs.iter().map(|pair| unit(*pair));
    let is_letter = |unit: u16| !u8::try_from(unit).is_ok_and(is_binary);
    rest.is_empty() && units.into_iter().all(is_letter)
}
