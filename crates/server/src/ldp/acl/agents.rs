//! Users and groups, as access lists name them.

use std::collections::BTreeSet;

use cenote_rdf::Term;
use cenote_store::{At, PersonKind, Store};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::authorizations::constraint;
use super::terms::{GROUPS, HAS_MEMBER};
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;

/// The user that an agent is. None if the store has no such user.
pub(super) fn user(store: &Store, call: &Call, agent: &Term) -> Option<String> {
    match agent {
        Term::Literal(literal) => named(store, literal.value().to_owned()),
        Term::NamedNode(iri) => by_iri(store, call, iri.as_str()),
        Term::BlankNode(_) => None,
    }
}

fn by_iri(store: &Store, call: &Call, iri: &str) -> Option<String> {
    named(store, after(iri, &call.app.ldp().agents)?)
}

fn named(store: &Store, name: String) -> Option<String> {
    is(store, &name, PersonKind::User).then_some(name)
}

/// The members of a group: of the store, or of a list of members in it.
///
/// # Errors
/// 409 for a list that is elsewhere or cannot be read by the caller.
pub(super) fn group(store: &Store, call: &Call, group: &Term) -> Result<BTreeSet<String>, Fault> {
    let Term::NamedNode(iri) = group else { return Ok(BTreeSet::new()) };
    if let Some(name) = after(iri.as_str(), GROUPS) {
        let is_group = is(store, &name, PersonKind::Group);
        return Ok(is_group.then_some(name).into_iter().collect());
    }
    let refused =
        || constraint(call, format!("a list of members must be a resource of this store: {group}"));
    let (path, fragment) = call.web.named(iri.as_str()).ok_or_else(refused)?;
    let (_, graph) = store.graph(&call.caller, &At::from(&path)).map_err(|_| refused())?;
    let subject = Some(fragment).filter(|fragment| !fragment.is_empty());
    let members = graph.iter().filter(|it| it.subject == subject && it.predicate == HAS_MEMBER);
    let users = members.filter_map(|it| match &it.object {
        cenote_store::Term::Iri(iri) => by_iri(store, call, iri),
        literal => named(store, literal.text().to_owned()),
    });
    Ok(users.collect())
}

/// The IRI of a user or a group.
pub(super) fn iri(call: &Call, name: &str, kind: PersonKind) -> String {
    let base = match kind {
        PersonKind::User => call.app.ldp().agents.as_str(),
        PersonKind::Group => GROUPS,
    };
    format!("{base}{}", utf8_percent_encode(name, NON_ALPHANUMERIC))
}

fn after(iri: &str, base: &str) -> Option<String> {
    let name = percent_decode_str(iri.strip_prefix(base)?).decode_utf8().ok()?;
    Some(name.into_owned())
}

fn is(store: &Store, name: &str, kind: PersonKind) -> bool {
    store.person_named(name).is_ok_and(|(_, person)| person.kind == kind)
}
