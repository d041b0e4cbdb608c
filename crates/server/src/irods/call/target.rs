//! Which place or replica a call refers to: by the name of a resource, or by a replica number.

use cenote_store::{At, Caller, ErrorKind, PlaceId, ReplicaView, Result, Store, StorePath};

use super::code::{Code, Refusal};
use super::form::Form;
use super::request::Call;
use crate::irods::zone::hierarchy::Hierarchy;
use crate::irods::zone::resources::unknown;

/// The place that a call specifies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// None.
    Any,
    Resource(String),
    Replica(u32),
}

impl Target {
    /// From `resource` and `replica-number`; status 400 if the latter is not a number.
    pub(crate) fn of(form: &Form) -> std::result::Result<Self, Refusal> {
        let number = form.number("replica-number").map_err(|_| Refusal::BAD)?;
        match (number, form.text("resource")) {
            (Some(number), _) => {
                Ok(Self::Replica(u32::try_from(number).map_err(|_| Refusal::BAD)?))
            }
            (None, Some(name)) => Ok(Self::Resource(name.to_owned())),
            (None, None) => Ok(Self::Any),
        }
    }

    /// The place in which bytes written to this target are stored.
    pub(crate) fn place(
        &self,
        store: &Store,
        caller: &Caller,
        path: &StorePath,
        own: &str,
    ) -> Result<std::result::Result<Option<PlaceId>, Refusal>> {
        if *self == Self::Any {
            return Ok(Ok(None));
        }
        let known = Hierarchy::read(store, own.to_owned())?;
        Ok(match self {
            Self::Any => Ok(None),
            Self::Resource(name) => match known.named(name) {
                None => Err(unknown()),
                Some(place) if known.parent(place).is_some() => {
                    Err(Refusal::code(Code::DirectChildAccess))
                }
                Some(place) => Ok(Some(place.id)),
            },
            Self::Replica(number) => {
                let replicas = replicas(store, caller, &At::from(path))?;
                let replica = replicas.iter().find(|replica| replica.number == *number);
                replica.map(|replica| Some(known.root(replica.place))).ok_or_else(no_replica)
            }
        })
    }

    /// The replica specified; `None` if none is, or if it does not exist.
    pub(crate) fn replica<'a>(
        &self,
        known: &Hierarchy,
        replicas: &'a [ReplicaView],
    ) -> Option<&'a ReplicaView> {
        match self {
            Self::Any => None,
            Self::Replica(number) => replicas.iter().find(|replica| replica.number == *number),
            Self::Resource(name) => {
                let place = known.named(name)?.id;
                replicas.iter().find(|replica| known.is_in(replica.place, place))
            }
        }
    }
}

/// The replicas of an object; empty if it does not exist.
pub(crate) fn replicas(store: &Store, caller: &Caller, at: &At) -> Result<Vec<ReplicaView>> {
    match store.replicas(caller, at) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        found => found,
    }
}

pub(crate) fn no_replica() -> Refusal {
    Refusal::code(Code::ReplicaDoesNotExist)
}

impl Call {
    /// The place for this call's write to an object; `None` for the default place of new contents.
    pub(crate) async fn place(
        &self,
        path: &StorePath,
    ) -> std::result::Result<Option<PlaceId>, Refusal> {
        let target = Target::of(&self.form)?;
        let (caller, path) = (self.caller.clone(), path.clone());
        let own = self.settings().resource.clone();
        self.blocking(move |store| target.place(store, &caller, &path, &own)).await?
    }
}
