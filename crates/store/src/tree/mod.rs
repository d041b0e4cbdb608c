//! The tree: looking up, listing, creating, moving, copying, removing.

mod attributes;
mod batch;
mod copy;
mod create;
mod inventory;
mod list;
mod names;
mod relocate;
mod remove;
mod shared;
mod stat;
mod usage;
mod walk;

pub use attributes::AttributeChange;
pub use batch::{BatchItem, BatchWhat};
pub use copy::CopyOptions;
pub(crate) use copy::rebase;
pub use create::{CreateOptions, Draft};
pub use inventory::Inventory;
pub(crate) use list::part_of;
pub use list::{DetailedPage, Details, ListOptions, Page};
pub(crate) use names::first_names;
pub use names::{NamedEntry, NamesPage};
pub use relocate::{MoveOptions, Relocated};
pub use remove::RemoveOptions;
pub(crate) use remove::erase;
pub use shared::{SharedCursor, SharedOptions, SharedPage};
pub use usage::{StoreStats, Usage};
pub use walk::WalkPage;
