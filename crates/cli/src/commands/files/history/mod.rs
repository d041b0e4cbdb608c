//! What was: versions, the past, the trash, and change sets.

pub(crate) mod changeset;
pub(crate) mod past;
pub(crate) mod restore;
pub(crate) mod trash;
pub(crate) mod versions;
