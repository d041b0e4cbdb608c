//! The decision.
//!
//! Three kinds of inheritance are data, not code paths:
//!
//! * *copied at creation* (iRODS): the grants of a resource stand in its own list;
//! * *nearest default* (WebAC): the nearest collection above that has defaults says
//!   what holds for a resource that is not closed;
//! * *by project* (DNAnexus): a grant on a subtree holds for all below it.
//!
//! What somebody may do is the most that any of these gives to them, to a group of
//! theirs, or to the public.

use super::{Caller, Chain};
use crate::model::{Access, Level, ResourceId, Role, Scope};

/// What `caller` may do with the resource at the head of `chain`: its access list first, then
/// those of the collections above it, up to the root.
pub fn decide(caller: &Caller, chain: &[(ResourceId, &Access)]) -> Level {
    let ticket = ticket(caller, chain);
    if caller.within().is_some_and(|root| chain.iter().all(|(id, _)| *id != root)) {
        return ticket;
    }
    own_rights(caller, chain).min(caller.ceiling()).max(ticket)
}

/// The least that `caller` may do with anything that lies below the head of `chain`,
/// whatever the lists there say.
pub(crate) fn covering(caller: &Caller, chain: &Chain) -> Level {
    let lists: Vec<_> = chain.lists().collect();
    let ticket = ticket(caller, &lists);
    if caller.within().is_some_and(|root| !chain.contains(root)) {
        return ticket;
    }
    let subtree = lists.iter().map(|(_, access)| most(caller, access, Scope::Subtree)).max();
    let own = match (caller.role, caller.elevated) {
        (Role::Admin, true) => Level::Own,
        (Role::Admin, false) => subtree.unwrap_or_default().max(Level::ReadMetadata),
        _ => subtree.unwrap_or_default(),
    };
    own.min(caller.ceiling()).max(ticket)
}

fn own_rights(caller: &Caller, chain: &[(ResourceId, &Access)]) -> Level {
    match (caller.role, caller.elevated) {
        (Role::Admin, true) => Level::Own,
        (Role::Admin, false) => granted(caller, chain).max(Level::ReadMetadata),
        _ => granted(caller, chain),
    }
}

fn granted(caller: &Caller, chain: &[(ResourceId, &Access)]) -> Level {
    let Some(((_, own), above)) = chain.split_first() else { return Level::Null };
    let subtree = chain.iter().map(|(_, access)| most(caller, access, Scope::Subtree)).max();
    let default = if own.closed { Level::Null } else { nearest_default(caller, above) };
    most(caller, own, Scope::This).max(subtree.unwrap_or_default()).max(default)
}

fn nearest_default(caller: &Caller, above: &[(ResourceId, &Access)]) -> Level {
    above
        .iter()
        .find(|(_, access)| access.grants.iter().any(|grant| grant.scope == Scope::Default))
        .map_or(Level::Null, |(_, access)| most(caller, access, Scope::Default))
}

fn most(caller: &Caller, access: &Access, scope: Scope) -> Level {
    let grants = access.grants.iter();
    let mine = grants.filter(|grant| grant.scope == scope && caller.is(grant.person));
    mine.map(|grant| grant.level).max().unwrap_or_default()
}

fn ticket(caller: &Caller, chain: &[(ResourceId, &Access)]) -> Level {
    match &caller.ticket {
        Some(ticket) if chain.iter().any(|(id, _)| *id == ticket.resource) => ticket.level,
        _ => Level::Null,
    }
}

#[cfg(test)]
mod truth_table {
    use super::*;
    use crate::access::{Credential, TicketGrant, TokenLimits};
    use crate::model::PersonId;

    const ALICE: PersonId = PersonId(100);
    const LAB: PersonId = PersonId(101);
    const BOB: PersonId = PersonId(102);

    fn caller(role: Role) -> Caller {
        Caller {
            user: ALICE,
            name: "alice".into(),
            groups: [LAB].into(),
            role,
            elevated: true,
            credential: Credential::Password,
            ticket: None,
        }
    }

    fn list(grants: &[(PersonId, Level, Scope)]) -> Access {
        let mut access = Access::default();
        grants.iter().for_each(|(person, level, scope)| access.set(*person, *level, *scope));
        access
    }

    /// Decides for a resource with this list, below a collection and the root with theirs.
    fn level(caller: &Caller, own: &Access, collection: &Access, root: &Access) -> Level {
        let ids = [ResourceId(30), ResourceId(20), ResourceId::ROOT];
        decide(caller, &[(ids[0], own), (ids[1], collection), (ids[2], root)])
    }

    #[test]
    fn grants_reach_as_far_as_their_scope() {
        use Level::{Null, Own, ReadObject};
        use Scope::{Default, Subtree, This};
        let none = list(&[]);
        let user = caller(Role::User);
        for (scope, on_own, on_collection, on_root) in [
            (This, ReadObject, Null, Null),
            (Default, Null, ReadObject, ReadObject),
            (Subtree, ReadObject, ReadObject, ReadObject),
        ] {
            for person in [ALICE, LAB, PersonId::PUBLIC] {
                let grant = list(&[(person, ReadObject, scope)]);
                assert_eq!(level(&user, &grant, &none, &none), on_own, "{scope:?} own");
                assert_eq!(level(&user, &none, &grant, &none), on_collection, "{scope:?} above");
                assert_eq!(level(&user, &none, &none, &grant), on_root, "{scope:?} root");
            }
            let others = list(&[(BOB, Own, scope)]);
            assert_eq!(level(&user, &others, &others, &others), Null, "{scope:?} of another");
        }
    }

    #[test]
    fn the_nearest_default_hides_those_above() {
        let none = list(&[]);
        let near = list(&[(BOB, Level::Own, Scope::Default)]);
        let far = list(&[(ALICE, Level::Own, Scope::Default)]);
        assert_eq!(level(&caller(Role::User), &none, &near, &far), Level::Null);
        assert_eq!(level(&caller(Role::User), &none, &none, &far), Level::Own);
    }

    #[test]
    fn a_closed_list_refuses_defaults_but_not_projects() {
        let mut own = list(&[]);
        own.closed = true;
        let default = list(&[(ALICE, Level::Own, Scope::Default)]);
        let project = list(&[(ALICE, Level::ReadObject, Scope::Subtree)]);
        assert_eq!(level(&caller(Role::User), &own, &default, &default), Level::Null);
        assert_eq!(level(&caller(Role::User), &own, &default, &project), Level::ReadObject);
    }

    #[test]
    fn administrators_own_all_or_see_all() {
        let none = list(&[]);
        let admin = caller(Role::Admin);
        assert_eq!(level(&admin, &none, &none, &none), Level::Own);
        let admin = admin.elevated(false);
        assert_eq!(level(&admin, &none, &none, &none), Level::ReadMetadata);
        assert_eq!(level(&caller(Role::GroupAdmin), &none, &none, &none), Level::Null);
    }

    #[test]
    fn a_token_limits_what_its_user_may_do() {
        let none = list(&[]);
        let by_token = |within: Option<u64>| {
            let (level, within) = (Level::ReadObject, within.map(ResourceId));
            let limits = TokenLimits { id: None, level, within, expires: None, scopes: Vec::new() };
            Caller { credential: Credential::Token(limits), ..caller(Role::Admin) }
        };
        for (within, expected) in
            [(None, Level::ReadObject), (Some(20), Level::ReadObject), (Some(21), Level::Null)]
        {
            assert_eq!(level(&by_token(within), &none, &none, &none), expected, "{within:?}");
        }
    }

    #[test]
    fn a_ticket_opens_its_resource_and_what_is_below() {
        let none = list(&[]);
        let ticket = |id| TicketGrant {
            digest: [0; 32],
            resource: ResourceId(id),
            level: Level::ReadObject,
            issuer: BOB,
        };
        let user = caller(Role::User);
        for (id, expected) in [(30, Level::ReadObject), (20, Level::ReadObject), (21, Level::Null)]
        {
            let holder = user.clone().with_ticket(ticket(id));
            assert_eq!(level(&holder, &none, &none, &none), expected);
        }
    }
}
