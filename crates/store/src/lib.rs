//! The heart of cenote: one tree of resources with content, description, access
//! and history. Every invariant lives here; an opening only translates.
//!
//! * [`Store`] is the entry: each call names its [`Caller`], and access is decided inside.
//! * `model` has the words as plain data, `catalog` the keys, records and transactions.
//! * `access` has the one decision function; `tree`, `contents`, `metadata`, `people`
//!   and `jobs` have the operations, one family a folder.
//!
//! Calls on the catalog block (microseconds to read, one disk sync to change);
//! calls that move contents are asynchronous.

#![forbid(unsafe_code)]

mod access;
mod backup;
mod catalog;
mod changesets;
mod check;
mod contents;
mod copy;
mod describe;
mod error;
mod faults;
mod feed;
mod foreseen;
mod formats;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod health;
mod ids;
mod jobs;
mod lines;
mod maintain;
mod metadata;
mod model;
mod moment;
mod moves;
mod notes;
mod open;
mod past;
mod people;
mod places;
mod ports;
mod quotas;
mod reading;
mod resources;
mod servers;
mod store;
mod text;
mod trash;
mod tree;
mod undecided;
mod upgrade;
mod versions;
mod waiting;

pub use access::{
    AccessChange, Act, Caller, Effect, Explanation, GrantView, Reason, Source, TicketGrant, decide,
};
pub use backup::{
    Backup, BackupBlob, BackupDir, BackupFault, CatalogInfo, Intake, RestoredPlaces, Verified,
};
pub use changesets::{
    ChangeSet, ChangeSetCounts, ChangeSetId, ChangeSetLimits, ChangeSetState, Within,
};
pub use check::{CheckOptions, Finding, FindingKind};
pub use contents::{
    Attempt, Completion, ContentStream, DamageCounts, DamagedCopy, Describing, Expected, Lease,
    LeaseId, Limits, LocalBytes, LocalPiece, Opened, Part, Positions, PutOptions, Ranges,
    ReadOptions, ReceiveOptions, Received, ReceivedBlob, Registration, ReplicaChange, ReplicaView,
    Scrub, StageFrom, Staged, Swept, Trim, Upload, UploadId, UploadOptions, Where,
};
pub use copy::{Copied, CopiedBlobs, CopyChoices, CopyProgress, Damaged, Landing, RowTotal, Watch};
pub use error::{Error, ErrorKind, Result};
pub use feed::{Change, ChangePage, Position};
pub use foreseen::Foreseen;
pub use formats::{Formats, Upgraded};
pub use health::Health;
pub use maintain::Pace;
pub use metadata::{
    AvuChange, Comparison, Condition, Dataset, Fact, Linking, LinksPage, LinksQuery, Node, Pattern,
    Quad, Query, SearchCursor, SearchPage, VisibleResource, Xattr, attribute_of, avus_of,
    description_tag, iri_of, is_class, like, links_tag, path_of, predicate_of,
};
pub use model::*;
pub use moves::JobStatus;
pub use notes::{NoteAbout, Notes};
pub use past::{
    Moment, Past, PastAttributes, PastEntry, PastPage, PastReader, PastSearch, PastWalk,
    RestorePast, RestoredPast,
};
pub use people::{
    EVERYONE, LoggedIn, Login, LoginLimits, NewSession, NewTicket, NewToken, NewUser, Ticket,
    TicketUse, Token, UserChange,
};
pub use places::{NewPlace, PlaceChange, PlaceStatus};
pub use ports::{Clock, Entropy, NoPlaces, PlaceOpener, SystemEntropy};
pub use quotas::{Exceeded, Quota, QuotaSetting, QuotaTarget};
pub use reading::Reading;
pub use resources::{Conditions, WalkCursor};
pub use store::{Parts, Store};
pub use text::{Mark, TextChanges, TextLead, TextQuery, TextSource, TextWord, Worded, is_text};
pub use trash::{
    Removed, RestoreOptions, Tombstone, TrashCursor, TrashItem, TrashOptions, TrashPage, TrashTotal,
};
pub use tree::{
    AttributeChange, BatchItem, BatchWhat, CopyOptions, CreateOptions, DetailedPage, Details,
    Draft, Inventory, ListOptions, MoveOptions, NamedEntry, NamesPage, Page, Relocated,
    RemoveOptions, SharedCursor, SharedOptions, SharedPage, StoreStats, Usage, WalkPage,
};
pub use versions::{NewVersion, Prune, Version, VersionDifference};
pub use waiting::{Waiting, Work};

pub use cenote_blob::{Algorithm, BlobId};

use bytes::Bytes;
use futures_core::Stream;
