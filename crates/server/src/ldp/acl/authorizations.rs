//! From authorizations to lines of an access list.
//!
//! A node counts if its type is `acl:Authorization`; all of them add up. `targets` reads what a node is about.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::StatusCode;
use cenote_rdf::{Term, Triple};
use cenote_store::{Only, Rights, Scope, Store, Vocabulary};

use super::terms::{ACL, ANONYMOUS, AUTHENTICATED, EVERYONE, PUBLIC};
use super::{MOST, agents, targets};
use crate::ldp::representation::vocabulary::RDF_TYPE;
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;

/// What an authorization is about: a scope, and which of the resources in it, if not all.
pub(super) type Target = (Scope, Option<Only>);
/// The rights of each user or group on each target.
pub(super) type Lines = BTreeMap<(String, Target), Rights>;

/// A refusal of what the store has no line for.
pub(super) fn constraint(call: &Call, detail: String) -> Fault {
    Fault::new(StatusCode::CONFLICT, detail).constrained(&call.web.constraints())
}

/// The entries for all authorizations in a graph.
///
/// # Errors
/// 413 for more lines than a list of the store has.
pub(super) fn lines(store: &Store, call: &Call, triples: &[Triple]) -> Result<Lines, Fault> {
    let mut nodes: BTreeMap<String, Authorization<'_>> = BTreeMap::new();
    for triple in triples {
        nodes.entry(triple.subject.to_string()).or_default().about.push(triple);
    }
    let mut lines = Lines::new();
    for authorization in nodes.values().filter(|node| node.is_one()) {
        authorization.add(store, call, &mut lines)?;
    }
    Ok(lines)
}

/// The statements about one node.
#[derive(Default)]
pub(super) struct Authorization<'a> {
    about: Vec<&'a Triple>,
}

impl Authorization<'_> {
    fn is_one(&self) -> bool {
        let class = |it: &Term| matches!(it, Term::NamedNode(iri) if iri.as_str().strip_prefix(ACL) == Some("Authorization"));
        self.about.iter().any(|it| it.predicate.as_str() == RDF_TYPE && class(&it.object))
    }

    /// The objects of statements with this term of Web Access Control.
    pub(super) fn values(&self, name: &str) -> impl Iterator<Item = &Term> {
        let is = move |it: &&&Triple| it.predicate.as_str().strip_prefix(ACL) == Some(name);
        self.about.iter().filter(is).map(|it| &it.object)
    }

    fn add(&self, store: &Store, call: &Call, lines: &mut Lines) -> Result<(), Fault> {
        let (rights, agents) = (self.rights(call)?, self.agents(store, call)?);
        let targets = targets::of(self, store, call)?;
        if rights.is_empty() {
            return Ok(());
        }
        for agent in agents {
            for target in &targets {
                let held = lines.entry((agent.clone(), target.clone())).or_insert(Rights::NONE);
                *held = held.union(rights);
                // Each agent with each target: a short list can come to very many.
                if lines.len() > MOST {
                    return Err(too_long());
                }
            }
        }
        Ok(())
    }

    fn rights(&self, call: &Call) -> Result<Rights, Fault> {
        let mode = |mode: &Term| {
            let Term::NamedNode(iri) = mode else { return None };
            Vocabulary::WEBAC.rights(iri.as_str().strip_prefix(ACL)?)
        };
        let known = |term: &Term| {
            mode(term).ok_or_else(|| constraint(call, format!("no such mode of access: {term}")))
        };
        self.values("mode").map(known).collect()
    }

    fn agents(&self, store: &Store, call: &Call) -> Result<BTreeSet<String>, Fault> {
        let mut names: BTreeSet<String> =
            self.values("agent").filter_map(|agent| agents::user(store, call, agent)).collect();
        for group in self.values("agentGroup") {
            names.extend(agents::group(store, call, group)?);
        }
        for class in self.values("agentClass") {
            names.extend(everyone(call, class)?.iter().map(|name| (*name).to_owned()));
        }
        Ok(names)
    }
}

/// A refusal of a list that is longer than the store keeps.
pub(super) fn too_long() -> Fault {
    Fault::new(StatusCode::PAYLOAD_TOO_LARGE, format!("an access list has at most {MOST} lines"))
}

/// Everyone of a class of agents.
fn everyone(call: &Call, class: &Term) -> Result<&'static [&'static str], Fault> {
    match class {
        Term::NamedNode(class) if class.as_str() == EVERYONE => Ok(&[PUBLIC, ANONYMOUS]),
        Term::NamedNode(class) if class.as_str() == AUTHENTICATED => Ok(&[PUBLIC]),
        other => Err(constraint(call, format!("no such class of agents: {other}"))),
    }
}
