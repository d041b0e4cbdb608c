//! Errors of reading and writing, with their location.

use crate::name::NameError;

/// An unreadable file: what is wrong, and at which byte.
#[derive(Debug, thiserror::Error)]
#[error("at byte {offset}: {fault}")]
pub struct ReadError {
    /// Where the faulty item starts, in bytes from the start of the file.
    pub offset: u64,
    /// What is wrong with it.
    #[source]
    pub fault: Fault,
}

/// What is wrong with a stored key set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file ends within a key.
    #[error("the file ends in the middle of a key: it was cut, copy it again")]
    UnexpectedEnd,
    /// The first bytes match no version of this format.
    #[error("this is not a {0} file")]
    WrongMagic(&'static str),
    /// The file has an unknown version.
    #[error("{format} version {version} is unknown")]
    UnknownVersion {
        /// The format's name.
        format: &'static str,
        /// The version in the file.
        version: String,
    },
    /// A key is neither `s` nor `b` (quickdump), `string` nor `binary` (dump).
    #[error("`{0}` is no type of key")]
    UnknownType(String),
    /// Something other than metadata or the end of the key follows.
    #[error("byte {0:#04x} is neither a metakey nor the end of a key")]
    UnknownMetaType(u8),
    /// A line of a dump that is not a command.
    #[error("`{0}` is no command of the dump format")]
    UnknownCommand(String),
    /// A length that is not a number, or too large for any file.
    #[error("a length is missing or is larger than the file")]
    BadLength,
    /// A length in a dump does not end at a line end.
    #[error("a line should end where byte {0:#04x} is: a length before it is wrong")]
    ExpectedNewline(u8),
    /// A name that even the real reader does not skip.
    #[error("a key's name is invalid: {0}")]
    Name(NameError),
    /// Metadata is copied from a key that was not read before.
    #[error("metadata is copied from `{0}`, which is not among the keys before it")]
    UnknownSource(String),
    /// The source key does not have the metadata to be copied.
    #[error("the metakey `{meta}` is copied from `{key}`, which has none")]
    UnknownSourceMeta {
        /// The source key, as stored.
        key: String,
        /// The metakey, as stored.
        meta: String,
    },
    /// Exceeds the capacity of a 32-bit index.
    #[error("the file holds a value over 4 GiB or over 4 billion metakeys")]
    TooLarge,
    /// The destination cannot represent the names in this form.
    #[error("names of this form cannot be copied one by one: load the file instead")]
    NameForm,
    /// A text format that is malformed.
    #[error("{format}: {message}")]
    Text {
        /// The format.
        format: &'static str,
        /// What is wrong.
        message: String,
    },
    /// Something that the real reader accepts, rejected by `strict`.
    #[error("refused by strict reading: {0}")]
    Strict(Looseness),
    /// The bytes could not be read or written.
    #[error(transparent)]
    Io(std::io::Error),
}

/// What the real readers accept although no writer produces it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Looseness {
    /// The same name twice.
    #[error("the key `{0}` occurs twice")]
    Duplicate(String),
    /// A key after one that it should precede.
    #[error("the key `{0}` is out of order")]
    Unordered(String),
    /// An invalid name.
    #[error("a name is invalid: {0}")]
    InvalidName(NameError),
    /// A name that is not in canonical form.
    #[error("the name `{0}` is not in canonical form")]
    NotCanonical(String),
    /// A name that leaves the parent by `..`.
    #[error("the key `{0}` is not below the parent")]
    OutsideParent(String),
    /// Metakeys that are out of order or repeated.
    #[error("the metakey `{0}` is out of order or occurs twice")]
    UnorderedMeta(String),
    /// A NUL in a name or a string.
    #[error("text holds a NUL")]
    Nul,
    /// Bytes that are not UTF-8 in a name or a string.
    #[error("text is not UTF-8")]
    NotUtf8,
    /// A type that contradicts the metakey `binary`.
    #[error("the type of a key and its metakey `binary` disagree")]
    TypeMismatch,
    /// A number that could be written in fewer bytes.
    #[error("a length is not in its shortest form")]
    LongLength,
    /// A dump without its last line, with bytes after it, or that ends within a value.
    #[error("the dump does not end with the line `$end`")]
    End,
    /// A metakey or copy outside of a key.
    #[error("metadata belongs to no key or comes from none")]
    StrayMeta,
}

impl From<Looseness> for Box<Fault> {
    fn from(looseness: Looseness) -> Self {
        Self::new(Fault::Strict(looseness))
    }
}

impl From<std::io::Error> for Box<Fault> {
    fn from(error: std::io::Error) -> Self {
        Self::new(Fault::Io(error))
    }
}

/// Why a key set cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A key that is not below the parent has no relative name.
    #[error("`{0}` is not below the parent key: choose a parent above all keys")]
    OutsideParent(String),
    /// The format cannot represent this.
    #[error("{format} cannot hold `{name}`: {reason}")]
    NotExpressible {
        /// The format.
        format: &'static str,
        /// The key.
        name: String,
        /// What cannot be represented.
        reason: &'static str,
    },
    /// The document cannot be edited to contain this.
    #[error("the document cannot be edited for `{name}`: {reason}")]
    NotEditable {
        /// The key.
        name: String,
        /// The reason.
        reason: &'static str,
    },
    /// The bytes could not be written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The writer rejected an item.
    #[error(transparent)]
    Fault(Fault),
}

impl From<Box<Fault>> for WriteError {
    fn from(fault: Box<Fault>) -> Self {
        match *fault {
            Fault::Io(error) => Self::Io(error),
            other => Self::Fault(other),
        }
    }
}
