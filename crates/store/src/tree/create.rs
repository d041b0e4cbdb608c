//! Creating resources.

use crate::access::{Chain, Slot, VacantSlot, destination};
use crate::catalog::Transaction;
use crate::model::{At, Dangling, Graph, Kind, Name, ResourceId, Stat, StorePath, Time};
use crate::resources::{insert, new_resource};
use crate::{Caller, Error, Notes, Result, Store, metadata};

/// How to create.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CreateOptions {
    /// Create missing parent collections as well.
    pub parents: bool,
    /// It is not an error if a resource of the same kind already exists; it is not changed.
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
        self.transact_at(&to, |tx| {
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
        self.transact_at(&path.into(), |tx| {
            let stat = self.create_in(tx, caller, path, &draft, options)?;
            also(&mut Notes::in_commit(tx, opening, stat.id))?;
            Ok(stat)
        })
    }

    /// The same with a description, in the same commit, which is returned as the caller sees it: see [`Store::change_graph`] for what
    /// becomes of links in it.
    pub fn create_described(
        &self,
        caller: &Caller,
        path: &StorePath,
        draft: &Draft,
        options: CreateOptions,
        described: (&Graph, Dangling),
    ) -> Result<(Stat, Graph)> {
        let options = CreateOptions { exist_ok: false, ..options };
        self.transact_at(&path.into(), |tx| {
            let stat = self.create_in(tx, caller, path, draft, options)?;
            let shown = metadata::describe_new(tx, caller, stat.id, described)?;
            Ok((stat, shown))
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
        let free = match Slot::find(tx, caller, path, options.parents)? {
            Slot::Occupied(chain) => return existing(chain, draft, options, path),
            Slot::Vacant(free) => free,
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

    /// Creates missing parent collections; returns the last one, and the free name in it.
    pub(crate) fn make_parents(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        free: VacantSlot,
    ) -> Result<(Chain, Name)> {
        let VacantSlot { mut above, missing, name } = free;
        for parent in missing {
            let resource = new_resource(tx, caller, &above, parent, Kind::Collection);
            let id = ResourceId(self.new_id()?);
            insert(tx, id, &resource);
            above = above.child(id, resource);
        }
        Ok((above, name))
    }
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
