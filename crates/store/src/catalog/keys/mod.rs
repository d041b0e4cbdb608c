//! Every key of the catalog. Nothing else knows the layout.
//!
//! A key is one letter for the table, then its parts: ids as big-endian `u64`, so
//! that scans follow their order; names and tokens as their bytes, always last.
//! `docs/format.md` shows the same table with the values.
//!
//! | key | value | what |
//! |---|---|---|
//! | `N` id | `Resource` | a resource |
//! | `C` parent name | `Child` | the child of that name |
//! | `h` collection | counter | changes of its membership |
//! | `H` collection | `Time` | when its membership last changed |
//! | `K` content | `Content` | the extents of a content |
//! | `k` content seq | `Extent` | a patch over them, in the order of writing |
//! | `R` content id version | empty | who refers to a content: a resource (version 0), a version of it, or a stale replica |
//! | `B` blob | `BlobRecord` | a blob: its size, digests and copies |
//! | `e` blob group | `SumsRecord` | checksums of 256 blocks of a blob |
//! | `D` blob place | `DamageRecord` | a copy that was found damaged and is not repaired |
//! | `b` blob content | empty | which contents refer to a blob |
//! | `G` id | `Graph` | the description of a resource or a person |
//! | `Q` id subject predicate object statement | `Graph` | a statement of a large description: 64-bit hashes |
//! | `I` predicate object id | empty | who states this: a hash of the predicate, and the object's key in the order of values |
//! | `i` object id | empty | who states anything with this IRI as the object |
//! | `q` subject id | empty | who states anything about this IRI, which is not their own |
//! | `l` path 0 id | empty | whose description names this path as text, where it is not bound to a resource |
//! | `S` person parent id | empty | a grant to somebody other than the owner |
//! | `X` id | `TrashRecord` | a removed resource that is kept for a while |
//! | `x` until id | empty | when it expires |
//! | `r` parent name 0 id | empty | the same by where it was |
//! | `E` collection time id | empty | the same by the collection whose limit of bytes it counts for, and when it was removed |
//! | `V` id version | `VersionRecord` | a version of a resource |
//! | `v` id version part | `DifferenceRecord` | the description of a version, or its difference to the next one |
//! | `F` position | `ChangeRecord` | the change feed, in commit order |
//! | `U` person | `Person` | a user or group |
//! | `u` name | `PersonId` | the user or group of that name |
//! | `M` group user | empty | who is in a group |
//! | `t` sha256(token) | `TokenRecord` | an access token |
//! | `y` user token-id | sha256(token) | the tokens of a user |
//! | `T` digest | `TicketRecord` | a ticket |
//! | `w` resource digest | empty | the tickets on a resource |
//! | `P` upload | `UploadRecord` | an upload in progress |
//! | `p` upload offset | `PartRecord` | a part that has arrived |
//! | `L` place | `PlaceInfo` | a place for contents |
//! | `J` id | `JobRecord` | work that a restart resumes |
//! | `g` time content | empty | a content that may have lost its last reference |
//! | `d` id | empty | an object whose content has no SHA-256 yet |
//! | `c` id what | counter | children and bytes of a collection; of the store, with id 0; copies of blobs in a place; parts of an upload; what counts for a quota, or is about to be moved; bytes in the trash that count for the limit of a collection |
//! | `z` id | `QuotaRecord` | the quota of a collection, a user or a group |
//! | `O` opening 0 name | bytes | a note of an opening, in its own words |
//! | `A` opening 0 name | `NoteRecord` | a note of an opening about a resource |
//! | `a` resource opening 0 name | `NoteRecord` | the same by the resource |
//! | `W` `s` server | `ServerRecord` | a server that has the catalog open, where several may |
//! | `W` `u` | `HolderRecord` | the server that does the background work |
//! | `W` `c` blob place | `HolderRecord` | the server that makes or deletes a copy of a blob |
//! | `W` `f` job | `FinishedRecord` | a job that moved bytes and is over, for a day |
//! | `W` `k` name | `KeyRecord` | a key that all servers over a catalog have: `cursors` |
//! | `s` what | | settings of the store: its format, the next free id, the default place, where the change feed begins |

mod contents;
mod people;
mod servers;
mod store;
mod tree;

use bytes::Bytes;
use cenote_kv::KeyRange;

pub(crate) use contents::*;
pub(crate) use people::*;
pub(crate) use servers::*;
pub(crate) use store::*;
pub(crate) use tree::*;

/// A key under construction.
struct Key(Vec<u8>);

impl Key {
    fn new(table: u8) -> Self {
        let mut bytes = Vec::with_capacity(32);
        bytes.push(table);
        Self(bytes)
    }

    fn id(self, id: u64) -> Self {
        self.bytes(&id.to_be_bytes())
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn done(self) -> Bytes {
        self.0.into()
    }

    fn prefix(self) -> KeyRange {
        KeyRange::prefix(self.0)
    }
}

/// The id of the resource, person, content … right after the letter of a key.
pub(crate) fn first_id(key: &[u8]) -> Option<u64> {
    id_at(key, 1)
}

/// The id in the last 8 bytes of a key.
pub(crate) fn last_id(key: &[u8]) -> Option<u64> {
    id_at(key, key.len().checked_sub(8)?)
}

/// The id at byte `at` of a key.
pub(crate) fn id_at(key: &[u8], at: usize) -> Option<u64> {
    let bytes = key.get(at..at.checked_add(8)?)?;
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}
