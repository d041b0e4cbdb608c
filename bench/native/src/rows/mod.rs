//! The rows of the table, one file each.

mod big;
mod memory;
mod million;
mod small;
mod tree;

use crate::{Bench, Outcome};

/// Measures one row, or a few that belong together.
pub(crate) type Row = fn(&mut Bench) -> Outcome;

/// Every row, by its name on the command line.
pub(crate) const ALL: [(&str, Row); 5] = [
    ("big", big::measure),
    ("small", small::measure),
    ("memory", memory::measure),
    ("million", million::measure),
    ("tree", tree::measure),
];
