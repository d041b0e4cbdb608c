//! Who may do what: the one place that decides.
//!
//! [`decide`] is a pure function of the caller and of the access lists from a resource up to the root; `check` reads
//! the lists and refuses. [`permit`] is the same for what no access list says: accounts, tokens, administration. Each has its
//! `truth_table`. A [`Caller`] carries how they were authenticated, so that no opening decides.

mod caller;
mod check;
mod credential;
mod decide;
mod edit;
mod explain;
mod operation;
mod permit;
mod removed;
mod slot;

pub use caller::{Caller, TicketGrant};
pub(crate) use check::{Chain, refuse};
pub(crate) use credential::{Credential, TokenLimits};
pub(crate) use decide::covering;
pub use decide::{Effect, decide};
pub use edit::{AccessChange, GrantView};
pub use explain::{Explanation, Reason, Source};
pub(crate) use operation::Operation;
pub use permit::Act;
pub(crate) use removed::permits_removed;
pub(crate) use slot::{Slot, VacantSlot, destination};
