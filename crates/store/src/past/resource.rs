//! What was at a path, and what it was like.

use std::collections::BTreeSet;

use super::now::Now;
use super::since::{Names, Revisions, revisions};
use super::{AsOf, Moment};
use crate::access::{Chain, Operation, refuse};
use crate::catalog::{Child, Reads, VersionAttributes, VersionRecord, View, keys};
use crate::metadata::Links;
use crate::model::{
    At, ContentHead, Graph, Kind, Name, PersonId, Resource, ResourceId, Rights, Stat, StorePath,
    Time,
};
use crate::{Caller, Error, ErrorKind, Opened, Result, Store, versions};

/// The state of a resource at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// Its id.
    pub id: ResourceId,
    /// The path that it had.
    pub path: StorePath,
    /// What it is.
    pub kind: Kind,
    /// The content that it had.
    pub content: Option<ContentHead>,
    /// The version with this state; none if it is the current one.
    pub version: Option<u64>,
    /// Where it is now; none if it is in the trash.
    pub now: Option<StorePath>,
    /// Further attributes that a client may set; not known of versions kept by earlier programs.
    pub attributes: Option<PastAttributes>,
}

/// Former attributes of a resource, other than content and description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastAttributes {
    /// Who it belonged to.
    pub owner: PersonId,
    /// Mode bits, if a client had set them.
    pub mode: Option<u32>,
    /// The modification time that a client had set; not of a collection.
    pub mtime: Option<Time>,
    /// Where it pointed, for a link.
    pub target: Option<String>,
    /// When the content had changed last.
    pub written: Time,
    /// When the description had changed last.
    pub described: Time,
}

/// A resource at a path of the past, and where it is now.
#[derive(Clone)]
pub(super) struct Found {
    /// The collections that it was in, as they are now.
    pub(super) chain: Chain,
    pub(super) path: StorePath,
    pub(super) now: Now,
    /// Whether it is in the same collections now.
    pub(super) in_place: bool,
}

impl Store {
    /// What was at a path at a moment. Needs `Rights::READ_DESCRIPTION`, where it is now and where it was.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if nothing was there that the caller may see; [`ErrorKind::Expired`] if the moment is before the changes that are
    /// kept, or if the state that it had is not kept; [`ErrorKind::Invalid`] for a moment in the future.
    pub fn stat_as_of(&self, caller: &Caller, path: &StorePath, moment: Moment) -> Result<Past> {
        let view = self.view_at(&path.into())?;
        self.as_of(&view, caller, moment)?.past(path, Operation::Stat)
    }

    /// The same with its description, whose links are shown as they are now. Needs `Rights::READ_DESCRIPTION`.
    ///
    /// # Errors
    /// Those of [`Store::stat_as_of`].
    pub fn graph_as_of(
        &self,
        caller: &Caller,
        path: &StorePath,
        moment: Moment,
    ) -> Result<(Past, Graph)> {
        let view = self.view_at(&path.into())?;
        let past = self.as_of(&view, caller, moment)?.past(path, Operation::ReadDescription)?;
        let graph = versions::description_of(&view, past.id, past.version)?;
        Ok((past, Links::new(&view, caller).graph(graph)?))
    }

    /// Opens the content that an object had. Needs `Rights::READ_CONTENT`, where it is now and where it was.
    ///
    /// # Errors
    /// Those of [`Store::stat_as_of`]; [`ErrorKind::WrongKind`] for what has no content.
    pub fn open_as_of(
        &self,
        caller: &Caller,
        path: &StorePath,
        moment: Moment,
    ) -> Result<(Past, Opened)> {
        loop {
            let view = self.view_at(&path.into())?;
            let past = self.as_of(&view, caller, moment)?.past(path, Operation::Read)?;
            // If the content was swept between lookup and pin, the next lookup finds another one.
            if let Some(opened) = self.open_past(&view, &past)? {
                return Ok((past, opened));
            }
        }
    }

    /// Opens the content that a resource had; nothing if it was swept since the look at it.
    pub(super) fn open_past(&self, view: &View, past: &Past) -> Result<Option<Opened>> {
        let Some(head) = past.content.clone() else {
            let (kind, path) = (past.kind.as_str(), &past.path);
            let message = format!("a {kind} has no content: {path}");
            return Err(Error::new(ErrorKind::WrongKind, message));
        };
        let Some(resource) = view.get(&keys::resource(past.id))? else { return Ok(None) };
        let stat = Stat { id: past.id, path: past.path.clone(), resource };
        self.open_head(view, stat, head)
    }
}

impl AsOf<'_> {
    /// What was at a path, if the caller may do this with it.
    fn past(&self, path: &StorePath, operation: Operation) -> Result<Past> {
        let found = self.find(path, operation)?;
        let id = found.chain.id();
        let revisions = revisions(self.view, self.cut, |other| other == id)?;
        self.state(&found, &revisions)?.ok_or_else(|| not_kept(path))
    }

    /// What was at a path, whatever it was like.
    pub(super) fn find(&self, path: &StorePath, operation: Operation) -> Result<Found> {
        let on_path: BTreeSet<&str> = path.names().iter().map(|name| name.as_str()).collect();
        let names = Names::read(self.view, self.cut, |_, name| on_path.contains(name))?;
        self.find_by(&names, path, operation)
    }

    /// The same by names that were read before.
    pub(super) fn find_by(
        &self,
        names: &Names,
        path: &StorePath,
        operation: Operation,
    ) -> Result<Found> {
        let missing = || Error::not_found(At::from(path));
        let mut chain = Chain::read(self.view, ResourceId::ROOT)?.ok_or_else(missing)?;
        let mut in_place = true;
        for name in path.names() {
            let id = self.id_of(chain.id(), name, names)?;
            let above = chain.id();
            chain = self.enter(&chain, id.ok_or_else(missing)?, names, path)?;
            in_place &= chain.resource().parent == above;
        }
        let now = Now::of(self.view, chain.id())?;
        let found = Found { chain, path: path.clone(), now, in_place };
        refuse(self.caller, found.rights(self.caller), operation, &At::from(path))?;
        Ok(found)
    }

    /// What a collection held under a name.
    pub(super) fn id_of(
        &self,
        collection: ResourceId,
        name: &Name,
        names: &Names,
    ) -> Result<Option<ResourceId>> {
        if let Some(before) = names.of(collection, name.as_str()) {
            return Ok(before);
        }
        let child = self.view.get::<Child>(&keys::child(collection, name.as_str()))?;
        Ok(child.map(|child| child.id))
    }

    /// Continues with the members of a collection; what was removed for good is not kept, and not named to those who could not see it.
    fn enter(
        &self,
        above: &Chain,
        id: ResourceId,
        names: &Names,
        path: &StorePath,
    ) -> Result<Chain> {
        if let Some(resource) = self.view.get::<Resource>(&keys::resource(id))?
            && !Now::of(self.view, id)?.is_gone()
        {
            return Ok(above.child(id, resource));
        }
        match self.saw_removed(above, id, names)? {
            true => Err(not_kept(path)),
            false => Err(Error::not_found(At::from(path))),
        }
    }

    /// What a resource was like: as the version has it that was replaced first, or as it is. Nothing if that is not kept.
    pub(super) fn state(&self, found: &Found, revisions: &Revisions) -> Result<Option<Past>> {
        let (id, resource) = (found.chain.id(), found.chain.resource());
        let past = |content, version, attributes: Option<PastAttributes>| Past {
            id,
            path: found.path.clone(),
            kind: resource.kind,
            content,
            version,
            now: found.now.path(),
            attributes: attributes.map(|attributes| attributes.without_membership(resource.kind)),
        };
        let Some(revision) = revisions.get(&id) else {
            let attributes = Some(VersionAttributes::of(resource).into());
            return Ok(Some(past(resource.content.clone(), None, attributes)));
        };
        let record = self.view.get::<VersionRecord>(&keys::version(id, *revision))?;
        Ok(record.map(|record| {
            past(record.content, Some(*revision), record.attributes.map(PastAttributes::from))
        }))
    }
}

impl Found {
    /// What the caller may do with it where it is now, and could do where it was.
    pub(super) fn rights(&self, caller: &Caller) -> Rights {
        self.chain.rights(caller).intersection(self.now.rights(caller))
    }
}

impl From<VersionAttributes> for PastAttributes {
    fn from(was: VersionAttributes) -> Self {
        let VersionAttributes { owner, mode, mtime, target, written, described } = was;
        Self { owner, mode, mtime, target, written, described }
    }
}

impl PastAttributes {
    /// The time of a collection depends on its membership, of which no earlier times are kept.
    fn without_membership(mut self, kind: Kind) -> Self {
        self.mtime = self.mtime.filter(|_| kind != Kind::Collection);
        self
    }
}

pub(super) fn not_kept(path: &StorePath) -> Error {
    Error::new(ErrorKind::Expired, format!("its state at that time was not kept: {path}"))
        .with_hint("versions of each change are kept where a collection says so (`cenote versions policy`)")
}
