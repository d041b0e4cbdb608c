//! The decision.
//!
//! Three kinds of inheritance are data, not code paths:
//!
//! * *copied at creation* (iRODS): the grants of a resource stand in its own list;
//! * *nearest default* (WebAC): the nearest collection above that has defaults says
//!   what holds for a resource that is not closed;
//! * *by project* (DNAnexus): a grant on a subtree holds for all below it.
//!
//! The rights of a user are everything that any of these grants to them, to a group of
//! theirs, or to everyone who is logged in.
//!
//! A line can be restricted to some of the resources in its scope ([`Only`]): to one below, or to those of a class.

use super::{Caller, Chain};
use crate::model::{Access, Grant, Only, ResourceId, Rights, Role, Scope};

/// The effect of an entry of an access list on the resource at the head of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It is effective.
    Gives,
    /// It applies to another resource: only to its collection, or only to what is below.
    Elsewhere,
    /// It is a default, and the resource is closed.
    Closed,
    /// It is a default, and a nearer collection has others.
    Farther,
    /// It is only about resources of a class that this one does not have.
    OtherClass,
}

/// What `caller` may do with the resource at the head of `chain`: its access list first, then
/// those of the collections above it, up to the root.
pub fn decide(caller: &Caller, chain: &[(ResourceId, &Access)]) -> Rights {
    let given = given(caller, chain, |_, effect| effect == Effect::Gives);
    given.intersection(limit(caller, chain)).union(by_ticket(caller, chain))
}

/// The minimum of the rights that `caller` has on anything below the head of `chain`, whatever the lists there
/// contain.
pub(crate) fn covering(caller: &Caller, chain: &Chain) -> Rights {
    let chain: Vec<_> = chain.lists().collect();
    let given =
        given(caller, &chain, |line, _| line.scope == Scope::Subtree && line.only.is_none());
    given.intersection(limit(caller, &chain)).union(by_ticket(caller, &chain))
}

/// The rights of the role, and the entries that count.
fn given(
    caller: &Caller,
    chain: &[(ResourceId, &Access)],
    counts: impl Fn(&Grant, Effect) -> bool,
) -> Rights {
    match by_role(caller) {
        Rights::ALL => Rights::ALL,
        role => {
            let lines = lines(caller, chain).filter(|(_, line, effect)| counts(line, *effect));
            lines.map(|(_, line, _)| line.rights).collect::<Rights>().union(role)
        }
    }
}

/// The entries for `caller`, one of their groups, or everyone: how far above the head of `chain` each is, and its
/// effect there.
pub(super) fn lines<'a>(
    caller: &'a Caller,
    chain: &'a [(ResourceId, &'a Access)],
) -> impl Iterator<Item = (usize, &'a Grant, Effect)> {
    let closed = chain.first().is_some_and(|(_, own)| own.closed);
    let nearest = (1..chain.len()).find(|above| has_defaults(chain[*above].1));
    let effect = move |line: &Grant, above| match effect(line.scope, above, closed, nearest) {
        Effect::Gives => chain.first().map_or(Effect::Elsewhere, |head| restricted(line, *head)),
        without => without,
    };
    chain.iter().enumerate().flat_map(move |(above, (_, access))| {
        let mine = access.grants.iter().filter(|grant| caller.is(grant.person));
        mine.map(move |grant| (above, grant, effect(grant, above)))
    })
}

fn has_defaults(access: &Access) -> bool {
    access.grants.iter().any(|grant| grant.scope == Scope::Default)
}

fn effect(scope: Scope, above: usize, closed: bool, nearest: Option<usize>) -> Effect {
    match (scope, above) {
        (Scope::Subtree, _) | (Scope::This, 0) => Effect::Gives,
        (Scope::This, _) | (Scope::Default, 0) => Effect::Elsewhere,
        (Scope::Default, _) if closed => Effect::Closed,
        (Scope::Default, _) if nearest == Some(above) => Effect::Gives,
        (Scope::Default, _) => Effect::Farther,
    }
}

/// The effect of a line in whose scope a resource is, by what else the line says of it.
fn restricted(line: &Grant, (id, own): (ResourceId, &Access)) -> Effect {
    match &line.only {
        Some(Only::Class(class)) if !own.classes.contains(class) => Effect::OtherClass,
        Some(Only::Resource(only)) if *only != id => Effect::Elsewhere,
        _ => Effect::Gives,
    }
}

/// The rights that the role gives on every resource.
pub(super) fn by_role(caller: &Caller) -> Rights {
    match (caller.role, caller.elevated) {
        (Role::Admin, true) => Rights::OWN,
        (Role::Admin, false) => Rights::READ_DESCRIPTION,
        _ => Rights::NONE,
    }
}

/// The most that the credential leaves of what lines and role give.
pub(super) fn limit(caller: &Caller, chain: &[(ResourceId, &Access)]) -> Rights {
    match caller.within().is_none_or(|root| chain.iter().any(|(id, _)| *id == root)) {
        true => caller.ceiling(),
        false => Rights::NONE,
    }
}

/// The additional rights of the presented ticket.
pub(super) fn by_ticket(caller: &Caller, chain: &[(ResourceId, &Access)]) -> Rights {
    match &caller.ticket {
        Some(ticket) if chain.iter().any(|(id, _)| *id == ticket.resource) => ticket.rights,
        _ => Rights::NONE,
    }
}

#[cfg(test)]
mod truth_table {
    use super::*;
    use crate::access::{Credential, TicketGrant, TokenLimits};
    use crate::model::{Kind, Name, PersonId, Resource, Time};

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

    fn list(grants: &[(PersonId, Rights, Scope)]) -> Access {
        let mut access = Access::default();
        grants.iter().for_each(|(person, rights, scope)| access.set(*person, *rights, *scope));
        access
    }

    /// Decides for a resource with this list, below a collection and the root with theirs.
    fn rights(caller: &Caller, own: &Access, collection: &Access, root: &Access) -> Rights {
        let ids = [ResourceId(30), ResourceId(20), ResourceId::ROOT];
        decide(caller, &[(ids[0], own), (ids[1], collection), (ids[2], root)])
    }

    #[test]
    fn grants_apply_within_their_scope() {
        const READ: Rights = Rights::READ_OBJECT;
        use Scope::{Default, Subtree, This};
        let none = list(&[]);
        let user = caller(Role::User);
        for (scope, on_own, on_collection, on_root) in [
            (This, READ, Rights::NONE, Rights::NONE),
            (Default, Rights::NONE, READ, READ),
            (Subtree, READ, READ, READ),
        ] {
            for person in [ALICE, LAB, PersonId::PUBLIC] {
                let grant = list(&[(person, READ, scope)]);
                assert_eq!(rights(&user, &grant, &none, &none), on_own, "{scope:?} own");
                assert_eq!(rights(&user, &none, &grant, &none), on_collection, "{scope:?} above");
                assert_eq!(rights(&user, &none, &none, &grant), on_root, "{scope:?} root");
            }
            let others = list(&[(BOB, Rights::OWN, scope)]);
            assert_eq!(
                rights(&user, &others, &others, &others),
                Rights::NONE,
                "{scope:?} of another"
            );
        }
    }

    #[test]
    fn rights_from_several_entries_are_combined() {
        use Scope::{Default, Subtree, This};
        let lines = list(&[
            (ALICE, Rights::CREATE, This),
            (LAB, Rights::READ_DESCRIPTION, This),
            (PersonId::PUBLIC, Rights::LIST, This),
            (BOB, Rights::CONTROL, This),
            (LAB, Rights::APPEND, Subtree),
        ]);
        let above =
            list(&[(ALICE, Rights::REMOVE, Default), (LAB, Rights::ADD_DESCRIPTION, Subtree)]);
        let expected =
            "create+read_description+list+append+remove+add_description".parse().unwrap();
        let user = caller(Role::User);
        assert_eq!(rights(&user, &lines, &above, &list(&[])), expected);
        let limits = TokenLimits {
            id: None,
            rights: Rights::READ_OBJECT.union(Rights::APPEND),
            within: None,
            expires: None,
            scopes: Vec::new(),
        };
        let limited = Caller { credential: Credential::Token(limits), ..user };
        let left = "read_description+list+append".parse().unwrap();
        assert_eq!(rights(&limited, &lines, &above, &list(&[])), left, "within those of the token");
    }

    /// What a restricted line gives by its scope: on a resource with the class, or of the id, and on another; where the line is
    /// in the resource's own list, and in that of its collection.
    #[test]
    fn a_restricted_line_applies_to_what_it_names_within_its_scope() {
        use Scope::{Default, Subtree, This};
        let class = || Only::Class("urn:c".to_owned());
        let (it, other) = (|| Only::Resource(ResourceId(30)), || Only::Resource(ResourceId(31)));
        let user = caller(Role::User);
        for (scope, only, named_own, named_below, other_own, other_below) in [
            (This, class(), true, false, false, false),
            (Default, class(), false, true, false, false),
            (Subtree, class(), true, true, false, false),
            (Default, it(), false, true, false, true),
            (Subtree, it(), true, true, true, true),
            (Default, other(), false, false, false, false),
            (Subtree, other(), false, false, false, false),
        ] {
            let line = Grant { person: LAB, rights: Rights::READ_OBJECT, scope, only: Some(only) };
            let granting = |has_line: bool, class: Option<&'static str>| {
                let mut access = list(&[]);
                access.grants.extend(has_line.then(|| line.clone()));
                access.classes = class.into_iter().collect();
                access
            };
            let none = list(&[]);
            for (class, own, below) in
                [("urn:c", named_own, named_below), ("urn:d", other_own, other_below)]
            {
                let found = [
                    rights(&user, &granting(true, Some(class)), &none, &none),
                    rights(&user, &granting(false, Some(class)), &granting(true, None), &none),
                ];
                assert_eq!(found.map(|it| !it.is_empty()), [own, below], "{line:?} {class}");
            }
            let above = granting(true, Some("urn:c"));
            let found = rights(&user, &granting(false, None), &above, &none);
            assert_eq!(
                !found.is_empty(),
                other_below,
                "the class of the collection does not count"
            );
        }
    }

    #[test]
    fn a_restricted_default_is_a_default() {
        let only = Some(Only::Class("urn:c".to_owned()));
        let mut near = list(&[]);
        near.put(Grant { person: ALICE, rights: Rights::READ_OBJECT, scope: Scope::Default, only });
        let far = list(&[(ALICE, Rights::OWN, Scope::Default)]);
        let mut own = list(&[]);
        assert_eq!(rights(&caller(Role::User), &own, &near, &far), Rights::NONE);
        own.classes = ["urn:c"].into_iter().collect();
        assert_eq!(rights(&caller(Role::User), &own, &near, &far), Rights::READ_OBJECT);
        own.closed = true;
        assert_eq!(rights(&caller(Role::User), &own, &near, &far), Rights::NONE);
    }

    #[test]
    fn a_restricted_line_covers_no_tree() {
        let resource = |access| {
            let name = Name::trusted("r");
            let new =
                Resource::new(ResourceId::ROOT, &name, Kind::Collection, BOB, Time::default());
            Chain::alone(ResourceId(30), Resource { access, ..new })
        };
        let class = || Some(Only::Class("urn:c".to_owned()));
        for (only, expected) in [(None, Rights::OWN), (class(), Rights::NONE)] {
            let mut access = list(&[]);
            access.put(Grant { person: ALICE, rights: Rights::OWN, scope: Scope::Subtree, only });
            access.classes = ["urn:c"].into_iter().collect();
            let chain = resource(access);
            assert_eq!(covering(&caller(Role::User), &chain), expected);
            assert_eq!(chain.rights(&caller(Role::User)), Rights::OWN);
        }
    }

    #[test]
    fn the_nearest_default_hides_those_above() {
        let none = list(&[]);
        let near = list(&[(BOB, Rights::OWN, Scope::Default)]);
        let far = list(&[(ALICE, Rights::OWN, Scope::Default)]);
        assert_eq!(rights(&caller(Role::User), &none, &near, &far), Rights::NONE);
        assert_eq!(rights(&caller(Role::User), &none, &none, &far), Rights::OWN);
    }

    #[test]
    fn a_closed_list_refuses_defaults_but_not_projects() {
        let mut own = list(&[]);
        own.closed = true;
        let default = list(&[(ALICE, Rights::OWN, Scope::Default)]);
        let project = list(&[(ALICE, Rights::READ_OBJECT, Scope::Subtree)]);
        assert_eq!(rights(&caller(Role::User), &own, &default, &default), Rights::NONE);
        assert_eq!(rights(&caller(Role::User), &own, &default, &project), Rights::READ_OBJECT);
    }

    #[test]
    fn administrators_have_all_rights_or_read_everything() {
        let none = list(&[]);
        let admin = caller(Role::Admin);
        assert_eq!(rights(&admin, &none, &none, &none), Rights::OWN);
        let admin = admin.elevated(false);
        assert_eq!(rights(&admin, &none, &none, &none), Rights::READ_METADATA);
        assert_eq!(rights(&caller(Role::GroupAdmin), &none, &none, &none), Rights::NONE);
    }

    #[test]
    fn a_token_limits_the_rights_of_its_user() {
        let none = list(&[]);
        let by_token = |within: Option<u64>| {
            let (rights, within) = (Rights::READ_OBJECT, within.map(ResourceId));
            let limits =
                TokenLimits { id: None, rights, within, expires: None, scopes: Vec::new() };
            Caller { credential: Credential::Token(limits), ..caller(Role::Admin) }
        };
        for (within, expected) in
            [(None, Rights::READ_OBJECT), (Some(20), Rights::READ_OBJECT), (Some(21), Rights::NONE)]
        {
            assert_eq!(rights(&by_token(within), &none, &none, &none), expected, "{within:?}");
        }
    }

    #[test]
    fn a_ticket_gives_access_to_its_resource_and_everything_below() {
        let none = list(&[]);
        let ticket = |id| TicketGrant {
            digest: [0; 32],
            resource: ResourceId(id),
            rights: Rights::READ_OBJECT,
            issuer: BOB,
            expires: None,
        };
        let user = caller(Role::User);
        for (id, expected) in
            [(30, Rights::READ_OBJECT), (20, Rights::READ_OBJECT), (21, Rights::NONE)]
        {
            let holder = user.clone().with_ticket(ticket(id));
            assert_eq!(rights(&holder, &none, &none, &none), expected);
        }
    }
}
