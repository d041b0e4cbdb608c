//! Callers of requests that last: what they may do can end meanwhile.

use std::time::Duration;

use cenote_store::{ErrorKind, NewTicket, NewToken, Rights, Role, TicketUse};
use futures_util::FutureExt;

use crate::world::{at, kind, world};

#[test]
fn a_renewed_caller_has_the_groups_and_the_role_of_now() {
    let world = world();
    let (store, user) = (&world.store, world.user("u"));
    store.add_group(&world.admin, "lab").unwrap();
    store.change_group(&world.admin, "lab", &["u".into()], &[]).unwrap();
    store.set_role(&world.admin, "u", Role::GroupAdmin).unwrap();
    let now = store.renewed(&user).unwrap();
    assert_eq!((now.groups().len(), now.role()), (1, Role::GroupAdmin));
    assert_eq!(store.renewed(&now).unwrap(), now);
    store.change_group(&world.admin, "lab", &[], &["u".into()]).unwrap();
    store.set_role(&world.admin, "u", Role::User).unwrap();
    assert_eq!(store.renewed(&now).unwrap(), user);
    store.remove_person(&world.admin, "u").unwrap();
    assert_eq!(kind(store.renewed(&user)), ErrorKind::Unauthenticated);
}

#[test]
fn a_token_that_ends_takes_its_caller_with_it_and_wakes_who_waits() {
    let world = world();
    let (store, admin) = (&world.store, &world.admin);
    let lifetime = Some(Duration::from_secs(60));
    let new = NewToken { rights: Rights::READ_OBJECT, lifetime, ..NewToken::default() };
    let (secret, token) = store.add_token(admin, &new).unwrap();
    let caller = store.authenticate_token(&secret).unwrap();
    assert_eq!(store.renewed(&caller).unwrap(), caller);
    assert_eq!(store.time_left(&caller), lifetime);
    let rung = store.changed();
    store.revoke_token(admin, None, token.id).unwrap();
    assert!(rung.now_or_never().is_some());
    assert_eq!(kind(store.renewed(&caller)), ErrorKind::Unauthenticated);
    let (secret, _) = store.add_token(admin, &new).unwrap();
    let caller = store.authenticate_token(&secret).unwrap();
    world.clock.advance(Duration::from_secs(60));
    assert_eq!(store.time_left(&caller), Some(Duration::ZERO));
    assert_eq!(kind(store.renewed(&caller)), ErrorKind::Unauthenticated);
    assert_eq!(store.time_left(admin), None);
}

#[test]
fn a_ticket_that_ends_takes_its_caller_with_it_and_wakes_who_waits() {
    let world = world();
    let (store, admin) = (&world.store, &world.admin);
    world.mkdir("/lab");
    let caller = |new: &NewTicket| {
        let (secret, ticket) = store.add_ticket(admin, &at("/lab"), new).unwrap();
        let nobody = store.anonymous().unwrap();
        let grant = store.use_ticket(&nobody, &secret, "", TicketUse::Look).unwrap();
        (nobody.with_ticket(grant), secret, ticket.id)
    };
    let lifetime = Some(Duration::from_secs(60));
    let brief = NewTicket { rights: Rights::READ_OBJECT, lifetime, ..NewTicket::default() };
    let (shown, _, id) = caller(&brief);
    assert_eq!(store.renewed(&shown).unwrap(), shown);
    assert_eq!(store.time_left(&shown), lifetime);
    let rung = store.changed();
    store.remove_ticket(admin, &id).unwrap();
    assert!(rung.now_or_never().is_some());
    assert_eq!(kind(store.renewed(&shown)), ErrorKind::Unauthenticated);
    let (shown, ..) = caller(&brief);
    world.clock.advance(Duration::from_secs(60));
    assert_eq!(kind(store.renewed(&shown)), ErrorKind::Unauthenticated);
    let (shown, secret, _) = caller(&NewTicket { uses: 1, lifetime: None, ..brief });
    let nobody = store.anonymous().unwrap();
    store.use_ticket(&nobody, &secret, "", TicketUse::Read).unwrap();
    assert_eq!(kind(store.renewed(&shown)), ErrorKind::Unauthenticated, "it is used up");
}
