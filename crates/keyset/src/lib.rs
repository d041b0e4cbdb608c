//! Elektra keys and key sets, and their storage formats dump and quickdump.
//!
//! A [`KeySet`] holds [`Key`]s in the order of their [`KeyName`]s. Read from a
//! file, it keeps the file's bytes and builds keys only where they are changed:
//! loading allocates nothing per key.
//!
//! ```
//! use cenote_keyset::{Format, KeyName, ReadOptions, read, to_bytes};
//!
//! let parent = KeyName::new("user:/sw/app")?;
//! let file = b"kdbOpen 2\n$key string 4 2\nport\n80\n$end\n".to_vec();
//! let keys = read(file.clone(), &parent, Format::Dump, ReadOptions::default())?;
//! let port = keys.get(&parent.join("port")?).expect("it is in the file");
//! assert_eq!(port.value().as_bytes(), b"80");
//! assert_eq!(to_bytes(&keys, &parent, Format::Dump)?, file);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod block;
mod diff;
pub mod file;
pub mod format;
mod key;
mod keyset;
mod merge;
mod meta;
mod name;
mod name_index;
mod namespace;
pub mod text;
mod value;

pub use diff::{Change, diff};
pub use format::{
    Fault, Format, Names, ReadError, ReadOptions, WriteError, WriteOptions, read, stream, to_bytes,
    write,
};
pub use key::{Key, KeyRef, MetaIter};
pub use keyset::{Iter, KeySet, RenameError};
pub use merge::{Conflict, Merged, Side, Strategy, merge};
pub use meta::{MetaError, MetaKey, MetaRef};
pub use name::{KeyName, NameError, NameRef};
pub use namespace::Namespace;
pub use text::edit;
pub use value::{NulInString, ValueRef};
