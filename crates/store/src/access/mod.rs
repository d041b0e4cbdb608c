//! Who may do what: the one place that decides.
//!
//! [`decide`] is a pure function of the access lists from a resource up to the root and of
//! who asks; `truth_table` holds it. `check` reads the lists and refuses.

mod caller;
mod check;
mod decide;
mod edit;

pub use caller::{Caller, TicketGrant};
pub(crate) use check::Chain;
pub(crate) use decide::covering;
pub use decide::decide;
pub use edit::{AccessChange, GrantView};
