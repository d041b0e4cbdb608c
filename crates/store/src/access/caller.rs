//! The caller of an operation, as an opening has authenticated them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Chain, Credential, TokenLimits};
use crate::model::{PersonId, ResourceId, Rights, Role, Time};
use crate::people::TicketDigest;

/// The caller of an operation: an account, and how it was authenticated. Made by `Store::authenticate…`, never out of
/// thin air.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub(crate) user: PersonId,
    pub(crate) name: Arc<str>,
    pub(crate) groups: Arc<[PersonId]>,
    pub(crate) role: Role,
    pub(crate) elevated: bool,
    pub(crate) credential: Credential,
    pub(crate) ticket: Option<TicketGrant>,
}

/// What a ticket opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TicketGrant {
    pub(crate) digest: TicketDigest,
    pub(crate) resource: ResourceId,
    pub(crate) rights: Rights,
    /// The user who created it.
    pub(crate) issuer: PersonId,
    /// When it ends.
    pub(crate) expires: Option<Time>,
}

impl Caller {
    /// The user.
    pub fn user(&self) -> PersonId {
        self.user
    }

    /// The user's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The user's role.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The groups that the user is in.
    pub fn groups(&self) -> &[PersonId] {
        &self.groups
    }

    /// Whether this is the user without a password.
    pub fn is_anonymous(&self) -> bool {
        self.user == PersonId::ANONYMOUS
    }

    /// Whether an administrator has access to what belongs to others, within the limits of the credential.
    pub(crate) fn is_elevated(&self) -> bool {
        self.role == Role::Admin && self.elevated
    }

    /// How the caller was authenticated.
    pub(crate) fn credential(&self) -> &Credential {
        &self.credential
    }

    /// Whether no token limits what the caller may do with resources.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.credential.limits().is_none_or(TokenLimits::is_whole)
    }

    /// The most that the caller may do with any resource.
    pub(crate) fn ceiling(&self) -> Rights {
        self.credential.limits().map_or(Rights::OWN, |limits| limits.rights)
    }

    /// The only subtree that is open to the caller, if not all.
    pub(crate) fn within(&self) -> Option<ResourceId> {
        self.credential.limits().and_then(|limits| limits.within)
    }

    /// When the token or the ticket ends, if it does.
    pub(crate) fn expires(&self) -> Option<Time> {
        let token = self.credential.limits().and_then(|limits| limits.expires);
        let ticket = self.ticket.as_ref().and_then(|ticket| ticket.expires);
        token.into_iter().chain(ticket).min()
    }

    /// The same caller, with or without an administrator's rights over others'
    /// resources. An administrator without them still sees everything.
    #[must_use]
    pub fn elevated(mut self, elevated: bool) -> Self {
        self.elevated = elevated;
        self
    }

    /// The same caller, who also shows a ticket.
    #[must_use]
    pub fn with_ticket(mut self, ticket: TicketGrant) -> Self {
        self.ticket = Some(ticket);
        self
    }

    /// The owner of a resource that the caller creates in a collection. What somebody without a login creates with a ticket
    /// belongs to the creator of the ticket: it would be everybody's otherwise.
    pub(crate) fn owner_in(&self, collection: &Chain) -> PersonId {
        match &self.ticket {
            Some(ticket) if self.is_anonymous() && collection.contains(ticket.resource) => {
                ticket.issuer
            }
            _ => self.user,
        }
    }

    /// The ticket that the caller shows.
    pub(crate) fn shown_ticket(&self) -> Option<&TicketDigest> {
        self.ticket.as_ref().map(|ticket| &ticket.digest)
    }

    /// Those to whom a grant is one to this caller, in the order of their ids.
    pub(crate) fn persons(&self) -> Vec<PersonId> {
        let own = [PersonId::PUBLIC, self.role.principal(), self.user];
        let own = own.into_iter().chain(self.groups.iter().copied());
        let persons: BTreeSet<_> = own.filter(|person| self.is(*person)).collect();
        persons.into_iter().collect()
    }

    /// Whether a grant to `person` is one to this caller. Everyone who is logged in is [`PersonId::PUBLIC`]; everyone who
    /// is not is [`PersonId::ANONYMOUS`]; everyone who is logged in and has a role is its [`Role::principal`].
    pub(crate) fn is(&self, person: PersonId) -> bool {
        let is_everyone = person == PersonId::PUBLIC || person == self.role.principal();
        let is_logged_in = is_everyone && !self.is_anonymous();
        person == self.user || is_logged_in || self.groups.contains(&person)
    }
}
