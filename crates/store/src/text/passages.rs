//! The texts of a resource: its name, and the literals of its description, whatever they are about.
//!
//! Not the names of the collections above it: a rename would change the texts of all below, and a search below a path finds them.

use crate::model::{Graph, Statement, Term};

/// The datatype of bytes that are no text.
const BYTES: &str = "http://www.w3.org/2001/XMLSchema#base64Binary";

/// The name and the literals of a resource.
pub(crate) fn passages<'a>(name: &'a str, description: &'a Graph) -> impl Iterator<Item = &'a str> {
    std::iter::once(name).chain(description.iter().filter_map(literal))
}

/// Whether literals of a datatype are searched: all but those that are bytes.
pub fn is_text(datatype: Option<&str>) -> bool {
    datatype != Some(BYTES)
}

fn literal(statement: &Statement) -> Option<&str> {
    match &statement.object {
        Term::Literal { value, datatype, .. } if is_text(datatype.as_deref()) => Some(value),
        _ => None,
    }
}
