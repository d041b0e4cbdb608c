//! An index of the words of a store, beside its catalog: which resources may have the words of a query (`tantivy`).
//!
//! * [`TextIndex`] is brought up to the present by those who search, when they search: who only writes pays nothing for it.
//! * `files` are the files of the index, `stage` is how far it goes, and `update` makes it go further;
//! * [`Lead`] is the index as it was at one moment, from which the store takes candidates.
//!
//! Invariants: everything in it can be made again from the store, so that whatever is wrong with it, it is deleted and made anew. It decides
//! nothing: which candidates match, and which the caller may see, is decided in the store (`cenote_store`'s `text`).

#![forbid(unsafe_code)]

mod error;
mod files;
mod index;
mod lead;
mod stage;
mod turn;
mod update;

pub use self::error::NotReady;
pub use self::index::TextIndex;
pub use self::lead::Lead;
