//! From lines of an access list to authorizations: one for each user or group, and what they may do here or below, or with some of what is
//! there.
//!
//! A line about a resource that the caller does not see, or that is not below any more, is left out.

use std::collections::BTreeMap;

use cenote_rdf::{NamedNode, Triple};
use cenote_store::{
    At, GrantView, Only, PersonId, PersonKind, ResourceId, Rights, Scope, Store, Vocabulary,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::terms::{ACL, ANONYMOUS, AUTHENTICATED, EVERYONE, PUBLIC};
use super::{address, agents};
use crate::ldp::representation::vocabulary::RDF_TYPE;
use crate::ldp::request::call::Call;

/// The agent of an entry, in the form of an authorization.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Who {
    /// The last part of the predicate.
    predicate: &'static str,
    iri: String,
    /// A name for the node.
    name: String,
}

impl Who {
    fn of_class(iri: &str, name: &str) -> Self {
        Self { predicate: "agentClass", iri: iri.to_owned(), name: name.to_owned() }
    }
}

/// What an authorization is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct About {
    /// The last part of the predicate, whose object is the resource with the list.
    predicate: &'static str,
    only: Option<Named>,
}

/// Which of these resources, in the form of an authorization.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    predicate: &'static str,
    iri: String,
}

type Granted = BTreeMap<(Who, About), Rights>;

/// All authorizations of these lines.
pub(super) fn triples(store: &Store, call: &Call, lines: &[GrantView]) -> Vec<Triple> {
    let mut held = Granted::new();
    for line in lines {
        for about in targets(store, call, line) {
            let who = who(store, call, line);
            let rights = held.entry((who, about)).or_insert(Rights::NONE);
            *rights = rights.union(line.rights);
        }
    }
    everyone_together(&mut held);
    held.iter().flat_map(|((who, about), rights)| node(call, who, about, *rights)).collect()
}

/// What a line is about.
fn targets(store: &Store, call: &Call, line: &GrantView) -> Vec<About> {
    let only = match &line.only {
        None => None,
        Some(Only::Class(class)) => Some(Named { predicate: "accessToClass", iri: class.clone() }),
        Some(Only::Resource(id)) => match address_below(store, call, *id) {
            Some(iri) => Some(Named { predicate: "accessTo", iri }),
            None => return Vec::new(),
        },
    };
    let is_one = matches!(line.only, Some(Only::Resource(_)));
    let predicates = match line.scope {
        Scope::This => vec!["accessTo"],
        Scope::Subtree if !is_one => vec!["accessTo", "default"],
        Scope::Default | Scope::Subtree => vec!["default"],
    };
    let about = |predicate| About { predicate, only: only.clone() };
    predicates.into_iter().map(about).collect()
}

/// The address of a resource below the one with the list, if the caller sees it.
fn address_below(store: &Store, call: &Call, id: ResourceId) -> Option<String> {
    let stat = store.stat(&call.caller, &At::Id(id)).ok()?;
    let is_below = stat.path != *call.path() && stat.path.starts_with(call.path());
    is_below.then(|| call.web.address(&stat.path))
}

fn who(store: &Store, call: &Call, line: &GrantView) -> Who {
    match line.person {
        PersonId::PUBLIC => Who::of_class(AUTHENTICATED, PUBLIC),
        PersonId::ANONYMOUS => Who::of_class(EVERYONE, ANONYMOUS),
        _ => {
            let person = store.person_named(&line.name);
            let kind = person.map_or(PersonKind::User, |(_, person)| person.kind);
            let predicate = if kind == PersonKind::Group { "agentGroup" } else { "agent" };
            Who { predicate, iri: agents::iri(call, &line.name, kind), name: line.name.clone() }
        }
    }
}

/// Rights that both callers with and without a login have are shown as rights of everyone (`foaf:Agent`); what only callers with a login
/// have is shown as theirs.
fn everyone_together(held: &mut Granted) {
    let everyone: Vec<_> = held
        .keys()
        .filter(|(who, _)| *who == Who::of_class(EVERYONE, ANONYMOUS))
        .cloned()
        .collect();
    for key in everyone {
        let anonymous = held.get(&key).copied().unwrap_or(Rights::NONE);
        let logged_in = (Who::of_class(AUTHENTICATED, PUBLIC), key.1.clone());
        let both = held.get(&logged_in).copied().unwrap_or(Rights::NONE);
        held.insert(key, both.intersection(anonymous));
        if anonymous.contains(both) {
            held.remove(&logged_in);
        }
    }
}

/// An authorization; none for rights that no mode has.
fn node(call: &Call, who: &Who, about: &About, rights: Rights) -> Vec<Triple> {
    let modes: Vec<_> = Vocabulary::WEBAC.shown(rights).collect();
    if modes.is_empty() {
        return Vec::new();
    }
    let iri = |iri: String| NamedNode::new_unchecked(iri);
    let acl = |name: &str| iri(format!("{ACL}{name}"));
    let node = iri(format!("{}#{}", address(call), fragment(who, about)));
    let triple =
        |predicate: NamedNode, object: NamedNode| Triple::new(node.clone(), predicate, object);
    let mut triples = vec![
        triple(iri(RDF_TYPE.to_owned()), acl("Authorization")),
        triple(acl(who.predicate), iri(who.iri.clone())),
        triple(acl(about.predicate), iri(call.address())),
    ];
    triples.extend(about.only.iter().map(|it| triple(acl(it.predicate), iri(it.iri.clone()))));
    triples.extend(modes.into_iter().map(|mode| triple(acl("mode"), acl(mode))));
    triples
}

/// A name for the node of an authorization.
fn fragment(who: &Who, about: &About) -> String {
    let name = utf8_percent_encode(&who.name, NON_ALPHANUMERIC);
    let only = about.only.as_ref().map(|it| utf8_percent_encode(&it.iri, NON_ALPHANUMERIC));
    let only = only.map(|only| format!("-{only}")).unwrap_or_default();
    format!("{name}-{}{only}", about.predicate)
}
