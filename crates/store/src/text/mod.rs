//! Full-text search: which resources have these words in their names, or in the literals of their descriptions.
//!
//! * `words` says what a word is, and `query` which words are sought; `passages` are the texts of a resource.
//! * `source` is what an index outside of the store is made from, and `mark` how far it goes; `lead` is what such an index knows.
//!
//! Invariant: an index only leads to candidates. Whether a resource has the words, and whether the caller may know of it, is decided
//! on the snapshot of the answer; what changed after the index was made is a candidate, too. So an answer with an index is
//! the same as that of a full scan, however old the index is.

mod lead;
mod mark;
mod passages;
mod query;
mod source;
mod words;

pub(crate) use self::lead::TextCandidates;
pub use self::lead::TextLead;
pub use self::mark::Mark;
pub use self::passages::is_text;
pub(crate) use self::passages::passages;
pub use self::query::{TextQuery, TextWord};
pub use self::source::{TextChanges, TextSource, Worded};
