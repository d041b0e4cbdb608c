//! The heart of cenote: tree, contents, metadata, access, versions, uploads, users.
