//! The tree: looking up, listing, creating, moving, copying, removing.

mod attributes;
mod copy;
mod create;
mod depth;
mod feed;
mod grants;
mod list;
mod locate;
pub(crate) mod members;
mod names;
mod record;
mod relocate;
mod remove;
mod shared;
mod stat;
mod usage;
mod walk;

pub use attributes::AttributeChange;
pub use copy::CopyOptions;
pub use create::{CreateOptions, Draft};
pub(crate) use create::{new_resource, owned_resource, require_collection, split};
pub(crate) use depth::require_depth;
pub use feed::{Change, ChangePage, Position};
pub(crate) use feed::{
    after as feed_after, floor as feed_floor, is_position, newest as newest_change,
};
pub(crate) use grants::entries as grant_entries;
pub use list::{DetailedPage, Details, ListOptions, Page};
pub(crate) use locate::{find, locate, read_ahead, trace};
pub use names::{NamedEntry, NamesPage};
pub(crate) use record::{
    count_change, detach, insert, insert_aside, is_undigested, put_aside, rewrite_record,
    take_back, update,
};
pub use relocate::MoveOptions;
pub use remove::RemoveOptions;
pub(crate) use remove::{erase, has_children};
pub use shared::{SharedCursor, SharedOptions, SharedPage};
pub use usage::{StoreStats, Usage};
pub(crate) use walk::Walk;
pub use walk::{WalkCursor, WalkPage};
