//! The store as of a moment in the past: what was at a path, what was in a collection or below it, and what a
//! resource was like.
//!
//! Invariant: an answer is exact, or there is none. Names come from the current tree and from the change feed, which has every change after the
//! moment or the moment is refused; a state that was replaced since comes from the version of that very revision, or is
//! reported as not kept. ADR 11 gives the evidence for each kind of answer.
//!
//! Access: a caller sees what they may see now where the resource is now, and could see where it was; what is in the trash,
//! by the rules of the trash.

mod collection;
mod entry;
mod moment;
mod now;
mod reader;
mod removed;
mod resource;
mod restore;
mod since;
mod walk;
mod wanted;

pub use collection::{PastEntry, PastPage};
pub use moment::Moment;
pub use reader::PastReader;
pub use resource::{Past, PastAttributes};
pub use restore::{RestorePast, RestoredPast};
pub use walk::PastWalk;
pub use wanted::PastSearch;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use self::moment::Cut;
use crate::access::Chain;
use crate::catalog::View;
use crate::model::ResourceId;
use crate::{Caller, Result, Store};

/// A moment, as one caller sees it on one snapshot.
struct AsOf<'a> {
    view: &'a View,
    caller: &'a Caller,
    cut: Cut,
    /// The collections from which something was removed permanently, as far as they exist.
    collections: RefCell<HashMap<ResourceId, Option<Rc<Chain>>>>,
}

impl<'a> AsOf<'a> {
    fn new(view: &'a View, caller: &'a Caller, cut: Cut) -> Self {
        Self { view, caller, cut, collections: RefCell::default() }
    }
}

impl Store {
    fn as_of<'a>(&self, view: &'a View, caller: &'a Caller, moment: Moment) -> Result<AsOf<'a>> {
        let cut = Cut::at(view, moment, self.now())?;
        Ok(AsOf::new(view, caller, cut))
    }
}
