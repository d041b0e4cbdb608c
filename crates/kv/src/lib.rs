//! The catalog's seam: an ordered key-value store with snapshots and conditional atomic commits.
