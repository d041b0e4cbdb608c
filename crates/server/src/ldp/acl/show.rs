//! From lines of an access list to authorizations: one for each user or group, and what they may do here or below.

use std::collections::BTreeMap;

use cenote_rdf::{NamedNode, Triple};
use cenote_store::{GrantView, PersonId, PersonKind, Rights, Scope, Store, Vocabulary};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::terms::{ACL, AUTHENTICATED, EVERYONE};
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

/// All authorizations of these lines.
pub(super) fn triples(store: &Store, call: &Call, lines: &[GrantView]) -> Vec<Triple> {
    let mut held: BTreeMap<(Who, &'static str), Rights> = BTreeMap::new();
    for line in lines {
        for about in targets(line.scope) {
            let who = who(store, call, line);
            let rights = held.entry((who, about)).or_insert(Rights::NONE);
            *rights = rights.union(line.rights);
        }
    }
    everyone_together(&mut held);
    held.iter().flat_map(|((who, about), rights)| node(call, who, about, *rights)).collect()
}

/// What a line of this scope is about.
fn targets(scope: Scope) -> Vec<&'static str> {
    match scope {
        Scope::This => vec!["accessTo"],
        Scope::Default => vec!["default"],
        Scope::Subtree => vec!["accessTo", "default"],
    }
}

fn who(store: &Store, call: &Call, line: &GrantView) -> Who {
    let class =
        |iri: &str| Who { predicate: "agentClass", iri: iri.to_owned(), name: line.name.clone() };
    match line.person {
        PersonId::PUBLIC => class(AUTHENTICATED),
        PersonId::ANONYMOUS => class(EVERYONE),
        _ => {
            let person = store.person_named(&line.name);
            let kind = person.map_or(PersonKind::User, |(_, person)| person.kind);
            let predicate = if kind == PersonKind::Group { "agentGroup" } else { "agent" };
            Who { predicate, iri: agents::iri(call, &line.name, kind), name: line.name.clone() }
        }
    }
}

/// What callers without a login may do is said of everyone only as far as those with one may, too; and of these is said what they may do
/// besides.
fn everyone_together(held: &mut BTreeMap<(Who, &'static str), Rights>) {
    for about in ["accessTo", "default"] {
        let of = |held: &BTreeMap<(Who, &'static str), Rights>, iri: &str| {
            let mut classes = held.iter().filter(|((who, target), _)| {
                who.predicate == "agentClass" && who.iri == iri && *target == about
            });
            classes.next().map(|(key, rights)| (key.clone(), *rights))
        };
        let Some((everyone, anonymous)) = of(held, EVERYONE) else { continue };
        let logged_in = of(held, AUTHENTICATED);
        let both = logged_in.as_ref().map_or(Rights::NONE, |(_, rights)| *rights);
        held.insert(everyone, both.intersection(anonymous));
        if let Some((key, rights)) = logged_in
            && anonymous.contains(rights)
        {
            held.remove(&key);
        }
    }
}

/// An authorization; none for rights that no mode has.
fn node(call: &Call, who: &Who, about: &str, rights: Rights) -> Vec<Triple> {
    let modes: Vec<_> = Vocabulary::WEBAC.shown(rights).collect();
    if modes.is_empty() {
        return Vec::new();
    }
    let iri = |iri: String| NamedNode::new_unchecked(iri);
    let acl = |name: &str| iri(format!("{ACL}{name}"));
    let name = utf8_percent_encode(&who.name, NON_ALPHANUMERIC);
    let node = iri(format!("{}#{name}-{about}", address(call)));
    let say =
        |predicate: NamedNode, object: NamedNode| Triple::new(node.clone(), predicate, object);
    let mut triples = vec![
        say(iri(RDF_TYPE.to_owned()), acl("Authorization")),
        say(acl(who.predicate), iri(who.iri.clone())),
        say(acl(about), iri(call.address())),
    ];
    triples.extend(modes.into_iter().map(|mode| say(acl("mode"), acl(mode))));
    triples
}
