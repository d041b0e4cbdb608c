//! The contents' seam: immutable bytes in one or more named places.
