//! Whole documents: converting, importing, exporting, comparing, merging and editing them.

pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod editor;
pub(crate) mod export;
pub(crate) mod file;
pub(crate) mod import;
pub(crate) mod merge;
pub(crate) mod path;
pub(crate) mod storage;
