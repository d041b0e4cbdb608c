//! Who could see what was removed permanently. It has no place any more; the feed has its last one.

use std::rc::Rc;

use super::AsOf;
use super::since::Names;
use crate::Result;
use crate::access::{Chain, Operation};
use crate::model::ResourceId;

impl AsOf<'_> {
    /// Whether the caller could see a resource that was removed permanently: by the access list that it had last, in the collection
    /// that it was in at the moment (`above`), and in the one that it was in last, as long as that exists.
    pub(super) fn saw_removed(&self, above: &Chain, id: ResourceId, names: &Names) -> Result<bool> {
        let Some(last) = names.last_of(id) else { return Ok(false) };
        let may_see = |chain: &Chain| {
            chain.rights_below(self.caller, id, &last.access).allow(Operation::Stat)
        };
        Ok(may_see(above) && self.existing(last.parent)?.is_none_or(|chain| may_see(&chain)))
    }

    /// The chain of a collection in the tree or in the trash: read once for all that was removed from it.
    fn existing(&self, collection: ResourceId) -> Result<Option<Rc<Chain>>> {
        if let Some(chain) = self.collections.borrow().get(&collection) {
            return Ok(chain.clone());
        }
        let chain = Chain::read_removed(self.view, collection)?;
        // It ends early where a collection above was removed permanently.
        let chain = chain.filter(|chain| chain.contains(ResourceId::ROOT)).map(Rc::new);
        self.collections.borrow_mut().insert(collection, chain.clone());
        Ok(chain)
    }
}
