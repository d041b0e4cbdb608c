//! Creating resources.

use crate::access::{Chain, FreeSpot, Spot, destination};
use crate::catalog::Transaction;
use crate::model::{
    Access, At, Graph, Kind, Name, PersonId, Replicas, Resource, ResourceId, Rights, Scope, Stat,
    StorePath, Time,
};
use crate::tree::insert;
use crate::{Caller, Error, ErrorKind, Notes, Result, Store, metadata};

/// How to create.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CreateOptions {
    /// Create the collections on the way, too.
    pub parents: bool,
    /// It is no error if a resource of the same kind is there already; it is left as it is.
    pub exist_ok: bool,
    /// Mode bits.
    pub mode: Option<u32>,
    /// The modification time to show.
    pub mtime: Option<Time>,
}

/// What to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Draft {
    /// A collection.
    Collection,
    /// A symbolic link to this text.
    Link(String),
    /// A resource with a description only.
    Description,
}

impl Draft {
    fn kind(&self) -> Kind {
        match self {
            Self::Collection => Kind::Collection,
            Self::Link(_) => Kind::Link,
            Self::Description => Kind::Description,
        }
    }
}

impl Store {
    /// Creates a resource without content. Needs [`Rights::CREATE`] on its collection.
    pub fn create(
        &self,
        caller: &Caller,
        to: &(impl Clone + Into<At>),
        draft: Draft,
        options: CreateOptions,
    ) -> Result<Stat> {
        let to = to.clone().into();
        self.transact(|tx| {
            let path = destination(tx, caller, &to)?;
            self.create_in(tx, caller, &path, &draft, options)
        })
    }

    /// The same, with a change of an opening's notes in the commit that creates: if that is refused, nothing is created.
    pub fn create_with(
        &self,
        caller: &Caller,
        path: &StorePath,
        draft: Draft,
        options: CreateOptions,
        (opening, also): (&str, impl Fn(&mut Notes<'_>) -> Result<()>),
    ) -> Result<Stat> {
        self.transact(|tx| {
            let stat = self.create_in(tx, caller, path, &draft, options)?;
            also(&mut Notes::in_commit(tx, opening, stat.id))?;
            Ok(stat)
        })
    }

    /// The same with a description, in the one commit: see [`Store::change_graph`] for what becomes of links in it.
    pub fn create_described(
        &self,
        caller: &Caller,
        path: &StorePath,
        draft: &Draft,
        options: CreateOptions,
        description: &Graph,
    ) -> Result<Stat> {
        let options = CreateOptions { exist_ok: false, ..options };
        self.transact(|tx| {
            let stat = self.create_in(tx, caller, path, draft, options)?;
            metadata::describe_new(tx, caller, stat.id, description)?;
            Ok(stat)
        })
    }

    pub(crate) fn create_in(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        path: &StorePath,
        draft: &Draft,
        options: CreateOptions,
    ) -> Result<Stat> {
        check_link(draft)?;
        let free = match Spot::find(tx, caller, path, options.parents)? {
            Spot::Seen(chain) => return existing(chain, draft, options, path),
            Spot::Free(free) => free,
        };
        let (collection, name) = self.make_parents(tx, caller, free)?;
        let mut resource = new_resource(tx, caller, &collection, name, draft.kind());
        (resource.mode, resource.mtime) = (options.mode, options.mtime);
        if let Draft::Link(target) = draft {
            resource.target = Some(target.clone());
        }
        let id = ResourceId(self.new_id()?);
        insert(tx, id, &resource);
        Ok(Stat { id, path: path.clone(), resource })
    }

    /// Makes the collections that are missing on the way; gives the last one, and the name that is free in it.
    pub(crate) fn make_parents(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        free: FreeSpot,
    ) -> Result<(Chain, Name)> {
        let FreeSpot { mut above, missing, name } = free;
        for parent in missing {
            let resource = new_resource(tx, caller, &above, parent, Kind::Collection);
            let id = ResourceId(self.new_id()?);
            insert(tx, id, &resource);
            above = above.child(id, resource);
        }
        Ok((above, name))
    }
}

/// Refuses what has no children.
pub(crate) fn require_collection(chain: &Chain) -> Result<()> {
    match chain.resource().kind {
        Kind::Collection => Ok(()),
        _ => Err(Error::new(ErrorKind::WrongKind, format!("not a collection: {}", chain.path()))),
    }
}

/// The collection and the name of a path that is not `/`.
pub(crate) fn split(path: &StorePath) -> Result<(StorePath, Name)> {
    let (parent, name) =
        path.split_last().ok_or_else(|| Error::exists("/").with_hint("name what to create"))?;
    Ok((parent, name.clone()))
}

/// A record for a new child of `collection`, with the access its creator and the collection give it.
pub(crate) fn new_resource(
    tx: &Transaction,
    caller: &Caller,
    collection: &Chain,
    name: Name,
    kind: Kind,
) -> Resource {
    let owner = caller.owner_in(collection);
    let by = caller.user();
    let resource = owned_resource(tx, owner, collection, name, kind);
    Resource { created_by: by, modified_by: by, ..resource }
}

/// A record for a new child of `collection` that belongs to `owner`.
pub(crate) fn owned_resource(
    tx: &Transaction,
    owner: PersonId,
    collection: &Chain,
    name: Name,
    kind: Kind,
) -> Resource {
    let now = tx.now();
    Resource {
        parent: collection.id(),
        name: name.as_str().to_owned(),
        kind,
        owner,
        created: now,
        created_by: owner,
        modified: now,
        modified_by: owner,
        revision: 1,
        content: None,
        access: first_access(owner, &collection.resource().access),
        mode: None,
        mtime: None,
        versioning: None,
        target: None,
        replicas: Replicas::default(),
        content_changed: None,
        description_changed: None,
        mtime_set: None,
        keep_removed: None,
        compared_version: None,
        counting: None,
        link_integrity: None,
        late_links: None,
    }
}

/// The creator owns it; a collection that passes its grants on does so now.
fn first_access(creator: PersonId, above: &Access) -> Access {
    let mut access = Access { inherit: above.inherit, ..Access::default() };
    if above.inherit {
        access.grants = above.grants.iter().copied().filter(|g| g.scope == Scope::This).collect();
    }
    access.set(creator, Rights::OWN, Scope::This);
    access
}

fn existing(chain: Chain, draft: &Draft, options: CreateOptions, path: &StorePath) -> Result<Stat> {
    match chain.resource().kind == draft.kind() && options.exist_ok {
        true => Ok(Stat { id: chain.id(), path: path.clone(), resource: chain.into_resource() }),
        false => Err(Error::exists(path).with_hint("choose another name, or remove it first")),
    }
}

fn check_link(draft: &Draft) -> Result<()> {
    match draft {
        Draft::Link(target)
            if target.is_empty() || target.len() > 4_096 || target.contains('\0') =>
        {
            Err(Error::invalid("a link points to 1 to 4,096 bytes without NUL"))
        }
        _ => Ok(()),
    }
}
