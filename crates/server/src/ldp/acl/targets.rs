//! What an authorization is about.
//!
//! | statements | about |
//! |---|---|
//! | `acl:accessTo` the resource | the resource itself |
//! | `acl:default` the resource | what is below it |
//! | the same with `acl:accessToClass` | of these, the resources with the class; the resource itself if neither is stated |
//! | `acl:default` the resource, `acl:accessTo` others below | the others, not what is below them |
//!
//! Invariant: what would mean nothing, or something else elsewhere, is refused; so a list gives what it says.

use cenote_rdf::Term;
use cenote_store::{At, Only, ResourceId, Scope, Store, StorePath, is_class};

use super::authorizations::{Authorization, Target, constraint};
use crate::ldp::representation::vocabulary::{FCREPO, FEDORA, LDP};
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;

/// The targets of an authorization.
///
/// # Errors
/// 409 for a class that the server manages or that is none, and for resources that are not below the one with the list.
pub(super) fn of(
    authorization: &Authorization<'_>,
    store: &Store,
    call: &Call,
) -> Result<Vec<Target>, Fault> {
    let stated = Stated::read(authorization, store, call)?;
    match (stated.below.is_empty(), stated.classes.is_empty()) {
        (false, false) => {
            Err(constraint(call, "acl:accessTo of a resource below goes with no class".to_owned()))
        }
        (false, true) if !stated.is_default => Err(constraint(
            call,
            "acl:accessTo of a resource below needs acl:default of this one".to_owned(),
        )),
        (false, true) => Ok(stated.some_below()),
        (true, true) => Ok(stated.scopes().map(|scope| (scope, None)).collect()),
        (true, false) => Ok(stated.of_classes()),
    }
}

/// What the statements of one authorization name.
struct Stated {
    /// The resource itself, by `acl:accessTo`.
    is_own: bool,
    /// The resource itself, by `acl:default`.
    is_default: bool,
    /// Resources below, by `acl:accessTo`.
    below: Vec<ResourceId>,
    classes: Vec<String>,
}

impl Stated {
    fn read(authorization: &Authorization<'_>, store: &Store, call: &Call) -> Result<Self, Fault> {
        let (mut is_own, mut is_default, mut below) = (false, false, Vec::new());
        for target in authorization.values("accessTo") {
            match path(call, target)? {
                path if path == *call.path() => is_own = true,
                path => below.push(visible_below(store, call, &path)?),
            }
        }
        for target in ["default", "defaultForNew"].iter().flat_map(|it| authorization.values(it)) {
            match path(call, target)? {
                path if path == *call.path() => is_default = true,
                _ => return Err(other(call, target)),
            }
        }
        let classes = authorization.values("accessToClass").map(|it| class(call, it));
        Ok(Self { is_own, is_default, below, classes: classes.collect::<Result<_, _>>()? })
    }

    fn scopes(&self) -> impl Iterator<Item = Scope> {
        let is_own = self.is_own || !self.is_default && !self.classes.is_empty();
        let own = is_own.then_some(Scope::This);
        own.into_iter().chain(self.is_default.then_some(Scope::Default))
    }

    fn of_classes(&self) -> Vec<Target> {
        let of = |scope| self.classes.iter().map(move |it| (scope, Some(Only::Class(it.clone()))));
        self.scopes().flat_map(of).collect()
    }

    fn some_below(&self) -> Vec<Target> {
        let own = self.is_own.then_some((Scope::This, None));
        let below = self.below.iter().map(|id| (Scope::Default, Some(Only::Resource(*id))));
        own.into_iter().chain(below).collect()
    }
}

/// The path of a resource of this server.
fn path(call: &Call, target: &Term) -> Result<StorePath, Fault> {
    let named = match target {
        Term::NamedNode(iri) => call.web.named(iri.as_str()),
        _ => None,
    };
    match named {
        Some((path, fragment)) if fragment.is_empty() => Ok(path),
        _ => Err(other(call, target)),
    }
}

/// A resource below the one with the list. For what the caller does not see the answer is that for what does not exist.
fn visible_below(store: &Store, call: &Call, path: &StorePath) -> Result<ResourceId, Fault> {
    let is_below = path.starts_with(call.path());
    let found = store.stat(&call.caller, &At::from(path)).ok().filter(|_| is_below);
    found.map(|stat| stat.id).ok_or_else(|| {
        let web = call.web.address(path);
        constraint(call, format!("there is no such resource below {}: {web}", call.address()))
    })
}

fn other(call: &Call, target: &Term) -> Fault {
    constraint(call, format!("this list is about {}, not {target}", call.address()))
}

/// A class that descriptions can state.
fn class(call: &Call, class: &Term) -> Result<String, Fault> {
    let is_managed = |iri: &str| [LDP, FCREPO, FEDORA].iter().any(|space| iri.starts_with(space));
    let is_stated = |iri: &str| is_class(iri) && !is_managed(iri) && call.web.named(iri).is_none();
    match class {
        Term::NamedNode(iri) if is_stated(iri.as_str()) => Ok(iri.as_str().to_owned()),
        _ => Err(constraint(call, format!("no class that a client states: {class}"))),
    }
}
