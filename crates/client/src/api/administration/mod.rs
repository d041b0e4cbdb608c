//! People and their access, places, quotas, and the store as a whole.

mod access;
mod admin;
mod backup;
mod people;
mod places;
mod quotas;

pub use people::{NewTicket, NewToken, NewUser, UserChange};
pub use places::{Done, Items, Job, NewPlace, PlaceChange, Registration, Trim, Trimmed};
pub use quotas::{NewQuota, Quota, QuotaLimits, QuotaTarget, QuotaTotal};
