//! The tree: looking up, listing, creating, moving, copying, removing.

mod attributes;
mod copy;
mod create;
mod feed;
mod list;
mod names;
mod relocate;
mod remove;
mod shared;
mod stat;
mod usage;
mod walk;

pub use attributes::AttributeChange;
pub use copy::CopyOptions;
pub(crate) use copy::rebase;
pub use create::{CreateOptions, Draft};
pub use feed::{Change, ChangePage, Position};
pub(crate) use feed::{
    after as feed_after, floor as feed_floor, is_position, newest as newest_change,
};
pub use list::{DetailedPage, Details, ListOptions, Page};
pub use names::{NamedEntry, NamesPage};
pub use relocate::{MoveOptions, Relocated};
pub use remove::RemoveOptions;
pub(crate) use remove::erase;
pub use shared::{SharedCursor, SharedOptions, SharedPage};
pub use usage::{StoreStats, Usage};
pub use walk::WalkPage;
