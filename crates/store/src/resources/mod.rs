//! Resources as rows of the catalog: finding them, walking them, and writing their records.
//!
//! Invariant: nothing here knows of descriptions, versions or what contents consist of; those depend on this, and the tree's operations on
//! all of them.

mod children;
mod conditions;
mod depth;
mod grants;
mod locate;
pub(crate) mod members;
mod new;
mod record;
mod references;
mod walk;

pub(crate) use children::{children, first_seen, has_children, part};
pub use conditions::Conditions;
pub(crate) use conditions::check_removal;
pub(crate) use depth::require_depth;
pub(crate) use grants::{entries as grant_entries, update as update_grants};
pub(crate) use locate::{find, keys_ahead, likely, locate, read_ahead, read_together, trace};
pub(crate) use new::{new_resource, owned_resource, require_collection, split};
pub(crate) use record::{
    count, count_change, detach, insert, insert_aside, is_undigested, put_aside, rewrite_record,
    take_back, unlink, update,
};
pub(crate) use references::{
    CURRENT, is_held, refer, release, replica_user, update as update_references,
};
pub(crate) use walk::Walk;
pub use walk::WalkCursor;
