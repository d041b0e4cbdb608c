//! SPARQL 1.1 queries, independent of where the triples are: what of them is accepted, in which order patterns are joined, and
//! how results are written.

mod bounds;
mod complexity;
mod format;
mod order;
mod query;
mod replace;
mod results;
mod text;

pub use self::bounds::Bounds;
pub(crate) use self::complexity::check as check_complexity;
pub use self::format::{Answers, Format};
pub use self::order::{Estimate, Wanted};
pub use self::query::{Query, QueryError};
pub(crate) use self::replace::bounded as bound_replacements;
pub use self::replace::known as evaluator;
pub use self::results::{RowError, Solutions, TooLong};
pub use self::text::{SoughtText, TEXT_QUERY};
