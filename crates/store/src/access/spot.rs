//! What a path names to somebody who is about to make or replace something there.
//!
//! Invariant: a resource that the caller may not see is answered for as if it were missing, here and in
//! [`find`](crate::tree::find). The one thing that tells it is that its name is taken, and that is told only to
//! those who may create in its collection.

use super::Chain;
use crate::catalog::Reads;
use crate::model::{At, Level, Name, StorePath};
use crate::tree::{locate, require_collection, split};
use crate::{Caller, Error, Result};

/// What a path names.
pub(crate) enum Spot {
    /// A resource that the caller may see.
    Seen(Chain),
    /// Nothing: something can be made there.
    Free(FreeSpot),
}

/// Where the caller may make something.
pub(crate) struct FreeSpot {
    /// The collection in which they may create.
    pub(crate) above: Chain,
    /// The names of the collections that are missing below it.
    pub(crate) missing: Vec<Name>,
    /// The name of what is to be made.
    pub(crate) name: Name,
}

impl Spot {
    /// Looks at a path. With `parents`, collections on the way may be missing.
    ///
    /// # Errors
    /// If nothing is seen there, those of [`Chain::require`] for creating in the collection above; and
    /// [`ErrorKind::Exists`](crate::ErrorKind::Exists) if a name on the way is taken by something hidden.
    pub(crate) fn find(
        reads: &impl Reads,
        caller: &Caller,
        path: &StorePath,
        parents: bool,
    ) -> Result<Self> {
        if let Some(chain) = seen(reads, caller, path)? {
            return Ok(Self::Seen(chain));
        }
        StorePath::check_depth(path.names().len())?;
        let (mut above, name) = split(path)?;
        let mut missing = Vec::new();
        let chain = loop {
            match (seen(reads, caller, &above)?, above.split_last()) {
                (Some(chain), _) => break chain,
                (None, Some((further, name))) if parents => {
                    missing.insert(0, name.clone());
                    above = further;
                }
                (None, _) => return Err(Error::not_found(&above)),
            }
        };
        chain.require(caller, Level::CreateObject, &At::from(&above))?;
        require_collection(&chain)?;
        let first = above.child(missing.first().unwrap_or(&name).clone());
        match locate(reads, &At::from(&first))? {
            Some(_) => Err(Error::exists(first).with_hint("choose another name")),
            None => Ok(Self::Free(FreeSpot { above: chain, missing, name })),
        }
    }
}

fn seen(reads: &impl Reads, caller: &Caller, path: &StorePath) -> Result<Option<Chain>> {
    let chain = locate(reads, &path.into())?;
    Ok(chain.filter(|chain| chain.level(caller) > Level::Null))
}
