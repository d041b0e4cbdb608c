//! Who asks, as an opening has found out.

use std::sync::Arc;

use crate::model::{Level, PersonId, ResourceId, Role};

/// Who asks. Made by `Store::authenticate…`, never out of thin air.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub(crate) user: PersonId,
    pub(crate) name: Arc<str>,
    pub(crate) groups: Arc<[PersonId]>,
    pub(crate) role: Role,
    pub(crate) elevated: bool,
    pub(crate) ceiling: Level,
    pub(crate) within: Option<ResourceId>,
    pub(crate) ticket: Option<TicketGrant>,
}

/// What a ticket opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TicketGrant {
    pub(crate) ticket: String,
    pub(crate) resource: ResourceId,
    pub(crate) level: Level,
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

    /// Whether an administrator's rights are in force.
    pub fn is_admin(&self) -> bool {
        self.role == Role::Admin && self.elevated && self.is_unlimited()
    }

    /// Whether no token limits what the caller may do.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.ceiling == Level::Own && self.within.is_none()
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

    /// Whether a grant to `person` is one to this caller.
    pub(crate) fn is(&self, person: PersonId) -> bool {
        person == self.user || person == PersonId::PUBLIC || self.groups.contains(&person)
    }
}
