//! What others shared with a caller out of collections that the caller does not see, or cannot list.
//!
//! Invariant: a page costs what it looks at. Of a collection that the caller sees and can list no entry is looked at but the
//! first: what lies in it is found by listing it.

use bytes::Bytes;

use crate::access::{Chain, Operation};
use crate::catalog::{Reads, View, keys};
use crate::model::{PersonId, Resource, ResourceId, Stat};
use crate::{Caller, Error, Result, Store};

/// Which page of what is shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedOptions {
    /// Begin after this position.
    pub after: Option<SharedCursor>,
    /// At most this many resources; at least 1 and at most [`SharedOptions::MAX`] are returned.
    pub limit: usize,
    /// How many entries of the index a page looks at.
    pub effort: usize,
}

impl SharedOptions {
    /// The longest page.
    pub const MAX: usize = 1_000;
    /// The usual effort.
    pub const EFFORT: usize = 10_000;
}

impl Default for SharedOptions {
    fn default() -> Self {
        Self { after: None, limit: Self::MAX, effort: Self::EFFORT }
    }
}

/// Where the next page begins. It contains ids that its caller may not see: an opening seals it before it returns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedCursor(Bytes);

impl SharedCursor {
    /// The cursor as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.to_vec()
    }

    /// The cursor in these bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if they are not those of a cursor.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        match keys::grant_parts(bytes) {
            Some(_) if keys::all_grants().contains(bytes) => Ok(Self(bytes.to_vec().into())),
            _ => Err(Error::invalid("the cursor does not belong to this listing")),
        }
    }

    fn person(&self) -> Option<PersonId> {
        keys::grant_parts(&self.0).map(|(person, _)| person)
    }
}

/// A page of what is shared with a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPage {
    /// The resources, in no order that means anything.
    pub items: Vec<Stat>,
    /// Where the next page begins; none at the end. A page can be empty before the last.
    pub next: Option<SharedCursor>,
}

impl Store {
    /// Resources whose access list names the caller, one of their groups, or everybody, and that no listing leads the caller
    /// to, because they do not see the collection that contains them, or cannot list it. Each is returned once, and of a tree only its top.
    pub fn shared(&self, caller: &Caller, options: &SharedOptions) -> Result<SharedPage> {
        let search = Search {
            view: &self.view()?,
            caller,
            persons: caller.persons(),
            effort: options.effort.max(1),
            limit: options.limit.clamp(1, SharedOptions::MAX),
            items: Vec::new(),
        };
        search.page(options.after.as_ref())
    }
}

struct Search<'a> {
    view: &'a View,
    caller: &'a Caller,
    /// Those whose grants are the caller's, in order.
    persons: Vec<PersonId>,
    /// How many more entries may be examined.
    effort: usize,
    /// At most this many items.
    limit: usize,
    items: Vec<Stat>,
}

impl Search<'_> {
    fn page(mut self, after: Option<&SharedCursor>) -> Result<SharedPage> {
        let begin = after.and_then(SharedCursor::person);
        for person in self.persons.clone().into_iter().filter(|person| Some(*person) >= begin) {
            let after = after.filter(|_| Some(person) == begin);
            let next = self.grants_to(person, after)?;
            if next.is_some() {
                return Ok(SharedPage { items: self.items, next });
            }
        }
        Ok(SharedPage { items: self.items, next: None })
    }

    /// Examines the entries of one person; returns where to continue, if the page is full.
    fn grants_to(
        &mut self,
        person: PersonId,
        after: Option<&SharedCursor>,
    ) -> Result<Option<SharedCursor>> {
        let mut range = keys::grants_to(person);
        if let Some(SharedCursor(after)) = after {
            range = range.after(after);
        }
        while let Some((key, _)) = self.view.rows(&range, 1)?.pop() {
            let Some((_, parent)) = keys::grant_parts(&key) else { break };
            match self.hidden(parent)? {
                Some(above) => {
                    self.look(person, &above, &key)?;
                    range = range.after(&key);
                }
                None => range.start = keys::grants_in(person, ResourceId(parent.0 + 1)).start,
            }
            self.effort -= 1;
            if self.effort == 0 || self.items.len() == self.limit {
                return Ok(Some(SharedCursor(key)));
            }
        }
        Ok(None)
    }

    /// A collection in the tree that the caller does not see, or cannot list.
    fn hidden(&self, collection: ResourceId) -> Result<Option<Chain>> {
        let chain = Chain::read(self.view, collection)?;
        Ok(chain.filter(|chain| !chain.rights(self.caller).allow(Operation::Enter)))
    }

    fn look(&mut self, person: PersonId, above: &Chain, key: &Bytes) -> Result<()> {
        let id = ResourceId(keys::last_id(key).unwrap_or_default());
        for earlier in self.persons.iter().take_while(|earlier| **earlier < person) {
            if self.view.has(&keys::grant(*earlier, above.id(), id))? {
                return Ok(());
            }
        }
        let Some(resource) = self.view.get::<Resource>(&keys::resource(id))? else { return Ok(()) };
        let chain = above.child(id, resource);
        if chain.rights(self.caller).allow(Operation::Stat) {
            self.items.push(chain.into());
        }
        Ok(())
    }
}
