//! Why there is no index at a moment.

/// Why the index does not lead yet, or cannot.
#[derive(Debug, thiserror::Error)]
pub enum NotReady {
    /// It is being made: this much of it is, in percent. Counts would tell how much there is that the caller does not see.
    #[error("the index of texts is being made: {0} % are done")]
    Making(u8),
    /// Its files cannot be read or written.
    #[error("the index of texts cannot be used: {0}")]
    Files(#[from] Fault),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] cenote_store::Error),
}

/// What is wrong with the files of an index.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// They cannot be read or written, or are not what was written.
    #[error(transparent)]
    Index(#[from] tantivy::TantivyError),
    /// Their directory cannot be used.
    #[error("{0}: {1}")]
    Directory(std::path::PathBuf, #[source] std::io::Error),
    /// A file is damaged.
    #[error("{0} is damaged")]
    Damaged(std::path::PathBuf),
    /// Another program made it, or an earlier one.
    #[error("it is of another program")]
    Foreign,
}
