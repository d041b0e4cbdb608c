//! What decides the rights of a user on a resource.
//!
//! Invariant: an explanation comes of the functions by which `decide` decides, so what its parts come to together is what
//! the caller may do.

use super::decide::{by_role, by_ticket, limit, lines};
use super::edit::unknown;
use super::{Effect, GrantView, Operation, decide};
use crate::catalog::Reads;
use crate::model::{At, PersonKind, Rights, Role, Stat, StorePath};
use crate::people::{by_name, caller_by_password};
use crate::resources::{find, locate};
use crate::{Caller, Error, Result, Store};

/// The rights of a user on a resource, and what decides them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The resource.
    pub stat: Stat,
    /// The name of the user.
    pub user: String,
    /// What they may do.
    pub rights: Rights,
    /// What bears on it: the role, then the lines of access lists from the resource up to the root, then the ticket. Lines
    /// of the collections above that are about those alone are left out.
    pub reasons: Vec<Reason>,
    /// What their token leaves of it, if they were authenticated by one; nothing outside of its subtree.
    pub token: Option<Rights>,
}

/// One fact that affects the rights of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What it is.
    pub source: Source,
    /// The rights that it is about.
    pub rights: Rights,
    /// Whether it is effective.
    pub effect: Effect,
}

/// Where rights come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The user's role.
    Role(Role),
    /// A line of an access list.
    Line(GrantView),
    /// The ticket that is shown with the request.
    Ticket,
}

impl Explanation {
    /// What gives a right, even if the token withholds it.
    pub fn by(&self, right: Rights) -> impl Iterator<Item = &Reason> {
        self.reasons
            .iter()
            .filter(move |reason| reason.effect == Effect::Gives && reason.rights.contains(right))
    }
}

impl Store {
    /// Explains what a user, by name, may do with a resource: the caller by the credential that they show, others as if they
    /// had logged in with a password. Needs [`Rights::CONTROL`]; for oneself [`Rights::READ_DESCRIPTION`] is enough.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) for a group.
    pub fn explain_access(&self, caller: &Caller, user: &str, at: &At) -> Result<Explanation> {
        let view = self.view()?;
        if user == caller.name() {
            find(&view, caller, at, Operation::ShowAccess)?;
            return explain(&view, caller, at);
        }
        find(&view, caller, at, Operation::ExplainAccess)?;
        let (id, person) = by_name(&view, user)?.ok_or_else(|| unknown(user))?;
        match person.kind {
            PersonKind::User => explain(&view, &caller_by_password(id, &person), at),
            PersonKind::Group => Err(Error::invalid(format!("a group, not a user: {user}"))
                .with_hint("name one of its members; `cenote acl show` has the lines of groups")),
        }
    }
}

fn explain(reads: &impl Reads, caller: &Caller, at: &At) -> Result<Explanation> {
    let chain = locate(reads, at)?.ok_or_else(|| Error::not_found(at))?;
    let (path, lists) = (chain.path(), chain.lists().collect::<Vec<_>>());
    let gives = |source, rights| Reason { source, rights, effect: Effect::Gives };
    let mut reasons = vec![gives(Source::Role(caller.role()), by_role(caller))];
    for (above, line, effect) in lines(caller, &lists) {
        if above > 0 && effect == Effect::Elsewhere {
            continue;
        }
        let from = StorePath::trusted(path.names()[..path.names().len() - above].to_vec());
        let source = Source::Line(GrantView::new(reads, line, &from)?);
        reasons.push(Reason { source, rights: line.rights, effect });
    }
    reasons.push(gives(Source::Ticket, by_ticket(caller, &lists)));
    reasons.retain(|reason| !reason.rights.is_empty());
    let token = caller.credential().limits().map(|_| limit(caller, &lists));
    let (user, rights) = (caller.name().to_owned(), decide(caller, &lists));
    Ok(Explanation { stat: chain.into(), user, rights, reasons, token })
}
