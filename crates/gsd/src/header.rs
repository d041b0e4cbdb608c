//! The 256 bytes at the start of a file.
//!
//! | offset | type | field |
//! |---|---|---|
//! | 0 | u64 | magic, `0x65DF65DF65DF65DF` |
//! | 8 | u64 | offset of the index block |
//! | 16 | u64 | entries that the index block has room for |
//! | 24 | u64 | offset of the name list block |
//! | 32 | u64 | 64-byte cells that the name list block has room for |
//! | 40 | u32 | schema version, major in the upper half |
//! | 44 | u32 | file version, major in the upper half |
//! | 48 | 64 bytes | application, NUL padded |
//! | 112 | 64 bytes | schema, NUL padded |
//! | 176 | 80 bytes | reserved, zero in a fresh file and kept as found |

use crate::entry::ENTRY_SIZE;
use crate::error::{Error, Result};

/// Bytes of the header.
pub const HEADER_SIZE: usize = 256;
/// Bytes of one name list cell: the unit in which the block is measured.
pub const NAME_CELL: u64 = 64;

const MAGIC: u64 = 0x65DF_65DF_65DF_65DF;
const TEXT: usize = 64;
const APPLICATION: usize = 48;
const SCHEMA: usize = 112;
const RESERVED: usize = 176;

/// A version in GSD's packed form: major in the upper 16 bits, minor in the lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Incremented when old readers can no longer read the file.
    pub major: u16,
    /// Incremented when something is added.
    pub minor: u16,
}

impl Version {
    /// The file version that this library writes.
    pub const CURRENT: Self = Self::new(2, 1);

    /// A version from its two parts.
    #[must_use]
    pub const fn new(major: u16, minor: u16) -> Self {
        Self { major, minor }
    }

    fn unpack(word: u32) -> Self {
        Self { major: (word >> 16) as u16, minor: (word & 0xFFFF) as u16 }
    }

    fn pack(self) -> u32 {
        u32::from(self.major) << 16 | u32::from(self.minor)
    }

    /// Files before 2.0 store names in 64-byte cells and do not sort entries within a frame.
    pub(crate) fn is_v1(self) -> bool {
        self < Self::new(2, 0)
    }

    pub(crate) fn is_known(self) -> bool {
        self == Self::new(0, 3) || (Self::new(1, 0)..Self::new(3, 0)).contains(&self)
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The location of a file's blocks, and which application wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub(crate) index_location: u64,
    pub(crate) index_allocated: u64,
    pub(crate) names_location: u64,
    pub(crate) names_allocated: u64,
    pub(crate) schema_version: Version,
    pub(crate) gsd_version: Version,
    application: [u8; TEXT],
    schema: [u8; TEXT],
    reserved: [u8; HEADER_SIZE - RESERVED],
}

impl Header {
    /// The header of a fresh file. Texts are truncated to 63 bytes.
    pub(crate) fn fresh(application: &[u8], schema: &[u8], schema_version: Version) -> Self {
        Self {
            index_location: HEADER_SIZE as u64,
            index_allocated: 128,
            names_location: 4352,
            names_allocated: 16,
            schema_version,
            gsd_version: Version::CURRENT,
            application: padded(application),
            schema: padded(schema),
            reserved: [0; HEADER_SIZE - RESERVED],
        }
    }

    /// The header of a fresh file with the same application and schema.
    pub(crate) fn emptied(&self) -> Self {
        Self::fresh(self.application(), self.schema(), self.schema_version)
    }

    /// The header of a fresh file with room for this many entries and bytes of names.
    pub(crate) fn with_room(self, entries: u64, name_bytes: u64) -> Self {
        let index_allocated = (entries + 1).next_power_of_two().max(self.index_allocated);
        let cells = (name_bytes / NAME_CELL + 1).next_power_of_two();
        Self {
            index_allocated,
            names_location: HEADER_SIZE as u64 + index_allocated * ENTRY_SIZE as u64,
            names_allocated: cells.max(self.names_allocated),
            ..self
        }
    }

    /// Reads a header.
    ///
    /// # Errors
    /// [`Error::NotGsd`] if the magic number is missing, [`Error::UnsupportedVersion`] for an unknown file version.
    pub fn decode(bytes: &[u8; HEADER_SIZE]) -> Result<Self> {
        if !Self::has_magic(bytes) {
            return Err(Error::NotGsd("the first eight bytes are not the magic number"));
        }
        let gsd_version = Self::version_of(bytes);
        if !gsd_version.is_known() {
            return Err(Error::UnsupportedVersion(gsd_version.major, gsd_version.minor));
        }
        Ok(Self {
            index_location: word64(bytes, 8),
            index_allocated: word64(bytes, 16),
            names_location: word64(bytes, 24),
            names_allocated: word64(bytes, 32),
            schema_version: Version::unpack(word32(bytes, 40)),
            gsd_version,
            application: array(&bytes[APPLICATION..SCHEMA]),
            schema: array(&bytes[SCHEMA..RESERVED]),
            reserved: array(&bytes[RESERVED..]),
        })
    }

    /// Whether these bytes start with the magic number.
    pub(crate) fn has_magic(bytes: &[u8; HEADER_SIZE]) -> bool {
        word64(bytes, 0) == MAGIC
    }

    /// The file version in these bytes, known or not.
    pub(crate) fn version_of(bytes: &[u8; HEADER_SIZE]) -> Version {
        Version::unpack(word32(bytes, 44))
    }

    /// Makes bytes readable as a header, with a different file version if given.
    pub(crate) fn mend(bytes: &mut [u8; HEADER_SIZE], version: Option<Version>) {
        bytes[..8].copy_from_slice(&MAGIC.to_le_bytes());
        if let Some(version) = version {
            bytes[44..48].copy_from_slice(&version.pack().to_le_bytes());
        }
    }

    /// Whether the reserved bytes are as in a fresh file.
    pub(crate) fn reserved_is_zero(&self) -> bool {
        self.reserved.iter().all(|&byte| byte == 0)
    }

    /// The same with other texts.
    pub(crate) fn renamed(self, application: &[u8], schema: &[u8]) -> Self {
        Self { application: padded(application), schema: padded(schema), ..self }
    }

    /// The bytes of the header.
    #[must_use]
    pub fn encode(&self) -> [u8; HEADER_SIZE] {
        let mut bytes = [0; HEADER_SIZE];
        bytes[0..8].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.index_location.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.index_allocated.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.names_location.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.names_allocated.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.schema_version.pack().to_le_bytes());
        bytes[44..48].copy_from_slice(&self.gsd_version.pack().to_le_bytes());
        bytes[APPLICATION..SCHEMA].copy_from_slice(&self.application);
        bytes[SCHEMA..RESERVED].copy_from_slice(&self.schema);
        bytes[RESERVED..].copy_from_slice(&self.reserved);
        bytes
    }

    /// The program that wrote the file, up to its first NUL. UTF-8 by convention only.
    #[must_use]
    pub fn application(&self) -> &[u8] {
        until_nul(&self.application)
    }

    /// The name of the schema, up to its first NUL. UTF-8 by convention only.
    #[must_use]
    pub fn schema(&self) -> &[u8] {
        until_nul(&self.schema)
    }

    /// The version of the schema.
    #[must_use]
    pub fn schema_version(&self) -> Version {
        self.schema_version
    }

    /// The version of the file layer.
    #[must_use]
    pub fn gsd_version(&self) -> Version {
        self.gsd_version
    }

    /// Offset of the index block, in bytes, and the entries it has room for.
    #[must_use]
    pub fn index_block(&self) -> (u64, u64) {
        (self.index_location, self.index_allocated)
    }

    /// Offset of the name list block, in bytes, and the number of its 64-byte cells.
    #[must_use]
    pub fn name_block(&self) -> (u64, u64) {
        (self.names_location, self.names_allocated)
    }
}

fn padded(text: &[u8]) -> [u8; TEXT] {
    let mut cell = [0; TEXT];
    let kept = until_nul(text).len().min(TEXT - 1);
    cell[..kept].copy_from_slice(&text[..kept]);
    cell
}

/// The part of `bytes` before the first NUL.
pub(crate) fn until_nul(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    &bytes[..end]
}

/// The first `N` bytes of a slice that is known to be at least that long.
pub(crate) fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[..N]);
    out
}

pub(crate) fn word64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(&bytes[at..]))
}

pub(crate) fn word32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(&bytes[at..]))
}
