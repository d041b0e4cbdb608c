//! Explanations of access, compared with the effects of changing it.

use cenote_store::{
    AccessChange, Caller, Effect, ErrorKind, Explanation, GrantView, NewTicket, NewToken, Reason,
    Rights, Role, Scope, Source, TicketUse, UserChange,
};
use proptest::prelude::*;
use proptest::sample::select;

use crate::world::{World, any_rights, at, cases, kind, world};

const PATHS: [&str; 4] = ["/", "/a", "/a/b", "/a/b/x"];
const PERSONS: [&str; 7] =
    ["u", "lab", "public", "other", "anonymous", "role:user", "role:groupadmin"];

type Planted = Vec<(&'static str, &'static str, Scope, Rights)>;

/// A user in a group, and entries for them and others on the collections above an object.
fn planted(lines: &Planted, closed: bool) -> (World, Caller) {
    let world = world();
    for name in ["u", "other"] {
        world.user(name);
    }
    world.store.add_group(&world.admin, "lab").unwrap();
    world.store.change_group(&world.admin, "lab", &["u".into()], &[]).unwrap();
    for collection in ["/a", "/a/b"] {
        world.mkdir(collection);
    }
    world.put("/a/b/x", b"x");
    lines.iter().for_each(|(to, name, scope, rights)| set(&world, to, name, *scope, *rights));
    world.store.change_access(&world.admin, &at("/a/b"), &[AccessChange::Closed(closed)]).unwrap();
    let user = world.store.caller_for(world.store.person_named("u").unwrap().0).unwrap();
    (world, user)
}

fn set(world: &World, to: &str, name: &str, scope: Scope, rights: Rights) {
    let change = [AccessChange::Grant(name.into(), rights.into(), scope)];
    world.store.change_access(&world.admin, &at(to), &change).unwrap();
}

fn change(world: &World, line: &GrantView, rights: Rights) {
    set(world, &line.from.to_string(), &line.name, line.scope, rights);
}

fn lines(explained: &Explanation) -> impl Iterator<Item = (&Reason, &GrantView)> {
    explained.reasons.iter().filter_map(|reason| match &reason.source {
        Source::Line(line) => Some((reason, line)),
        _ => None,
    })
}

fn any_lines() -> impl Strategy<Value = Planted> {
    let scopes = [Scope::This, Scope::Default, Scope::Subtree];
    let line = (select(&PATHS[..]), select(&PERSONS[..]), select(scopes.to_vec()), any_rights());
    proptest::collection::vec(line, 0..8)
}

proptest! {
    #![proptest_config(cases(48))]

    /// Removing an entry that is reported to have no effect changes nothing; a right removed from all entries reported
    /// to give it is lost.
    #[test]
    fn exactly_the_explained_grants_give_a_right(
        planted_lines in any_lines(),
        closed in any::<bool>(),
        of in select(&PATHS[..]),
        right in select(Rights::ALL.each().collect::<Vec<_>>()),
    ) {
        let (world, user) = planted(&planted_lines, closed);
        let explain = || world.store.explain_access(&world.admin, "u", &at(of)).unwrap();
        let before = explain();
        prop_assert_eq!(world.store.rights(&user, &at(of)).unwrap_or(before.rights), before.rights);
        for (_, line) in lines(&before).filter(|(reason, _)| reason.effect != Effect::Gives) {
            change(&world, line, Rights::NONE);
            prop_assert_eq!(explain().rights, before.rights, "{:?}", line);
        }
        prop_assert_eq!(before.by(right).count() > 0, before.rights.contains(right));
        let other = if right == Rights::LIST { Rights::CREATE } else { Rights::LIST };
        for (_, line) in lines(&before).filter(|(reason, _)| reason.effect == Effect::Gives) {
            if line.rights.contains(right) {
                change(&world, line, other);
            }
        }
        prop_assert!(!explain().rights.contains(right));
    }

    /// The parts of an explanation add up to the rights of the caller, with any credential.
    #[test]
    fn the_explained_parts_add_up_to_the_rights_of_the_caller(
        planted_lines in any_lines(),
        closed in any::<bool>(),
        of in select(&PATHS[..]),
        token in proptest::option::of((any_rights(), proptest::option::of(Just("/a/b")))),
        ticket in proptest::option::of((select(&PATHS[..]), any_rights())),
        admin in any::<bool>(),
    ) {
        let (world, user) = planted(&planted_lines, closed);
        if admin {
            let change = UserChange { role: Some(Role::Admin), password: None };
            world.store.change_user(&world.admin, "u", &change).unwrap();
        }
        let mut caller = world.store.caller_for(user.user()).unwrap();
        if let Some((rights, within)) = token {
            set(&world, "/a/b", "u", Scope::This, Rights::OWN);
            let within = within.map(at);
            let new = NewToken { rights, within, ..NewToken::default() };
            let (secret, _) = world.store.add_token(&caller, &new).unwrap();
            caller = world.store.authenticate_token(&secret).unwrap();
        }
        if let Some((on, rights)) = ticket {
            let new = NewTicket { rights, ..NewTicket::default() };
            let (secret, _) = world.store.add_ticket(&world.admin, &at(on), &new).unwrap();
            let grant = world.store.use_ticket(&caller, &secret, "host", TicketUse::Look).unwrap();
            caller = caller.with_ticket(grant);
        }
        let explained = world.store.explain_access(&caller, "u", &at(of));
        match world.store.rights(&caller, &at(of)) {
            Ok(rights) => {
                let explained = explained.unwrap();
                prop_assert_eq!(explained.rights, rights);
                let given: Rights = explained.reasons.iter()
                    .filter(|reason| reason.effect == Effect::Gives && reason.source != Source::Ticket)
                    .map(|reason| reason.rights).collect();
                let ticket: Rights = explained.reasons.iter()
                    .filter(|reason| reason.source == Source::Ticket)
                    .map(|reason| reason.rights).collect();
                let kept = given.intersection(explained.token.unwrap_or(Rights::ALL));
                prop_assert_eq!(kept.union(ticket), rights);
            }
            Err(_) if explained.is_ok() => prop_assert!(explained.unwrap().rights.contains(Rights::CONTROL)),
            Err(refused) => prop_assert_eq!(kind(explained), refused.kind()),
        }
    }
}

/// The rights of others are explained to callers who may change them.
#[test]
fn the_access_of_others_is_explained_to_those_who_control_the_resource() {
    let (world, user) = planted(&vec![], false);
    let explain = |of: &str| world.store.explain_access(&user, of, &at("/a/b/x"));
    for (rights, own, of_others) in [
        (Rights::NONE, Some(ErrorKind::NotFound), Some(ErrorKind::NotFound)),
        (Rights::LIST, Some(ErrorKind::Denied), Some(ErrorKind::Denied)),
        (Rights::DELETE_OBJECT, None, Some(ErrorKind::Denied)),
        (Rights::CONTROL, None, None),
        (Rights::OWN, None, None),
    ] {
        set(&world, "/a/b/x", "u", Scope::This, rights);
        assert_eq!(explain("u").err().map(|error| error.kind()), own, "{rights}");
        assert_eq!(explain("other").err().map(|error| error.kind()), of_others, "{rights}");
        let unknown = of_others.unwrap_or(ErrorKind::NotFound);
        assert_eq!(kind(explain("nobody")), unknown, "{rights}");
        assert_eq!(kind(explain("lab")), of_others.unwrap_or(ErrorKind::Invalid), "{rights}");
    }
    let anonymous = world.store.anonymous().unwrap();
    let refused = world.store.explain_access(&anonymous, "u", &at("/a"));
    assert_eq!(kind(refused), ErrorKind::NotFound);
}
