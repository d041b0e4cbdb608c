//! Tickets: access for whoever presents them, within limits that concurrent uses never exceed.

use std::time::Duration;

use cenote_store::{
    AccessChange, Caller, ErrorKind, NewTicket, PutOptions, Result, Rights, Role, Scope, TicketUse,
};

use crate::world::{World, at, kind, world};

fn ticket(world: &World, what: &str, new: NewTicket) -> String {
    world.store.add_ticket(&world.admin, &at(what), &new).unwrap().0
}

fn reading() -> NewTicket {
    NewTicket { rights: Rights::READ_OBJECT, ..NewTicket::default() }
}

fn show(world: &World, ticket: &str, what: TicketUse) -> Result<Caller> {
    let anonymous = world.store.anonymous()?;
    let grant = world.store.use_ticket(&anonymous, ticket, "192.0.2.1", what)?;
    Ok(anonymous.with_ticket(grant))
}

#[test]
fn a_ticket_gives_access_to_one_resource_and_everything_below() {
    let world = world();
    world.mkdir("/a");
    world.put("/a/x", b"x");
    world.put("/b", b"");
    let ticket = ticket(&world, "/a", NewTicket { rights: Rights::OWN, ..NewTicket::default() });
    let holder = show(&world, &ticket, TicketUse::Write(1)).unwrap();
    assert_eq!(world.try_read(&holder, "/a/x").unwrap(), b"x");
    assert_eq!(kind(world.try_read(&holder, "/b")), ErrorKind::NotFound);
    world.try_put(&holder, "/a/x", b"y", PutOptions::default()).unwrap();
    let remove = world.store.remove(&holder, &at("/a/x"), &Default::default());
    assert_eq!(kind(remove), ErrorKind::Denied, "never more than writing");
}

#[test]
fn the_limits_of_a_ticket_are_enforced() {
    let world = world();
    world.put("/a", b"");
    let uses = ticket(&world, "/a", NewTicket { uses: 2, ..reading() });
    assert!(show(&world, &uses, TicketUse::Look).is_ok(), "to look costs no use");
    assert!(
        show(&world, &uses, TicketUse::Read).is_ok()
            && show(&world, &uses, TicketUse::Read).is_ok()
    );
    assert_eq!(kind(show(&world, &uses, TicketUse::Read)), ErrorKind::Unauthenticated);
    assert_eq!(kind(show(&world, &uses, TicketUse::Look)), ErrorKind::Unauthenticated);
    let writes = ticket(&world, "/a", NewTicket { writes: 1, bytes: 10, ..reading() });
    assert!(show(&world, &writes, TicketUse::Read).is_ok(), "a read is no write");
    assert!(show(&world, &writes, TicketUse::Write(11)).is_err(), "too many bytes");
    assert!(show(&world, &writes, TicketUse::Write(10)).is_ok(), "what was refused does not count");
    assert!(show(&world, &writes, TicketUse::Write(0)).is_err());
    let short = NewTicket { lifetime: Some(Duration::from_secs(10)), ..reading() };
    let short = ticket(&world, "/a", short);
    assert!(show(&world, &short, TicketUse::Read).is_ok());
    world.clock.advance(Duration::from_secs(10));
    assert_eq!(kind(show(&world, &short, TicketUse::Read)), ErrorKind::Unauthenticated);
    assert_eq!(kind(show(&world, "unknown", TicketUse::Read)), ErrorKind::Unauthenticated);
    assert_eq!(kind(show(&world, &"x".repeat(5_000), TicketUse::Read)), ErrorKind::Unauthenticated);
}

#[test]
fn only_for_some_users_and_from_some_addresses() {
    let world = world();
    world.put("/a", b"");
    let user = world.user("u");
    let new = NewTicket { persons: vec!["u".into()], hosts: vec!["192.0.2.1".into()], ..reading() };
    let ticket = ticket(&world, "/a", new);
    assert_eq!(kind(show(&world, &ticket, TicketUse::Read)), ErrorKind::Unauthenticated);
    world.store.use_ticket(&user, &ticket, "192.0.2.1", TicketUse::Read).unwrap();
    let elsewhere = world.store.use_ticket(&user, &ticket, "192.0.2.2", TicketUse::Read);
    assert_eq!(kind(elsewhere), ErrorKind::Unauthenticated);
    let unknown = NewTicket { persons: vec!["nobody".into()], ..reading() };
    assert_eq!(
        kind(world.store.add_ticket(&world.admin, &at("/a"), &unknown)),
        ErrorKind::NotFound
    );
}

#[test]
fn concurrent_uses_never_exceed_the_limit() {
    let world = world();
    world.put("/a", b"");
    let ticket = ticket(&world, "/a", NewTicket { uses: 10, ..reading() });
    let used: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    (0..10).filter(|_| show(&world, &ticket, TicketUse::Read).is_ok()).count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(used, 10);
    let listed = world.store.tickets(&world.admin, &at("/a")).unwrap();
    assert_eq!(listed[0].uses, (10, 10));
}

#[test]
fn tickets_are_listed_and_removed_also_with_their_resource() {
    let world = world();
    world.mkdir("/a");
    world.put("/a/x", b"");
    let user = world.user("u");
    assert_eq!(kind(world.store.add_ticket(&user, &at("/a"), &reading())), ErrorKind::NotFound);
    let first = ticket(&world, "/a", reading());
    ticket(&world, "/a/x", reading());
    assert_eq!(world.store.all_tickets(&world.admin).unwrap().len(), 2);
    assert!(world.store.all_tickets(&user).unwrap().is_empty());
    assert_eq!(kind(world.store.remove_ticket(&user, &first)), ErrorKind::NotFound);
    world.store.remove_ticket(&world.admin, &first).unwrap();
    assert_eq!(kind(world.store.remove_ticket(&world.admin, &first)), ErrorKind::Unauthenticated);
    assert_eq!(kind(show(&world, &first, TicketUse::Read)), ErrorKind::Unauthenticated);
    world.rm_all("/a").unwrap();
    world.sweep();
    assert!(world.table(b'T').is_empty() && world.table(b'w').is_empty());
}

#[test]
fn bytes_after_the_first_use_count_too() {
    let world = world();
    world.put("/a", b"");
    let new = NewTicket { writes: 2, bytes: 10, ..reading() };
    let holder = show(&world, &ticket(&world, "/a", new), TicketUse::Look).unwrap();
    let count = |what| world.store.count_use(&holder, what);
    count(TicketUse::Write(4)).unwrap();
    count(TicketUse::More(4)).unwrap();
    assert_eq!(kind(count(TicketUse::Write(3))), ErrorKind::Unauthenticated, "11 bytes");
    count(TicketUse::Write(2)).unwrap();
    assert_eq!(kind(count(TicketUse::Write(0))), ErrorKind::Unauthenticated, "a third write");
    let listed = world.store.tickets(&world.admin, &at("/a")).unwrap();
    assert_eq!((listed[0].writes, listed[0].bytes), ((2, 2), (10, 10)));
    let user = world.user("u");
    world.store.count_use(&user, TicketUse::Write(100)).unwrap();
}

#[test]
fn a_ticket_ends_when_its_creator_is_removed_or_loses_control() {
    let world = world();
    let user = world.user("u");
    let own = |rights: Rights| {
        let grant = [AccessChange::Grant("u".into(), rights.into(), Scope::This)];
        world.store.change_access(&world.admin, &at("/a"), &grant).unwrap();
    };
    world.put("/a", b"x");
    own(Rights::OWN);
    let ticket = world.store.add_ticket(&user, &at("/a"), &reading()).unwrap().0;
    show(&world, &ticket, TicketUse::Read).unwrap();
    own(Rights::MODIFY_OBJECT);
    assert_eq!(kind(show(&world, &ticket, TicketUse::Read)), ErrorKind::Unauthenticated);
    own(Rights::OWN);
    show(&world, &ticket, TicketUse::Read).unwrap();
    world.store.remove_person(&world.admin, "u").unwrap();
    assert_eq!(kind(show(&world, &ticket, TicketUse::Look)), ErrorKind::Unauthenticated);
    assert!(world.store.tickets(&world.admin, &at("/a")).unwrap().is_empty());
    crate::world::assert_clean(&world.store);
}

#[test]
fn a_reader_can_create_a_ticket_for_reading_that_lasts_while_they_may_read() {
    let world = world();
    let user = world.user("u");
    let hour = std::time::Duration::from_secs(3_600);
    let allow = |rights: Rights| {
        let grant = [AccessChange::Grant("u".into(), rights.into(), Scope::This)];
        world.store.change_access(&world.admin, &at("/a"), &grant).unwrap();
    };
    let make = |caller: &Caller| world.store.add_reading_ticket(caller, &at("/a"), hour);
    world.put("/a", b"x");
    assert_eq!(kind(make(&user)), ErrorKind::NotFound);
    allow(Rights::READ_DESCRIPTION);
    assert_eq!(kind(make(&user)), ErrorKind::Denied);
    allow(Rights::READ_OBJECT);
    let ticket = make(&user).unwrap().0;
    let holder = show(&world, &ticket, TicketUse::Read).unwrap();
    assert_eq!(world.try_read(&holder, "/a").unwrap(), b"x");
    assert_eq!(kind(world.try_put(&holder, "/a", b"y", PutOptions::default())), ErrorKind::Denied);
    allow(Rights::OWN);
    let holder = show(&world, &ticket, TicketUse::Read).unwrap();
    assert_eq!(kind(world.try_put(&holder, "/a", b"y", PutOptions::default())), ErrorKind::Denied);
    allow(Rights::READ_DESCRIPTION);
    assert_eq!(kind(show(&world, &ticket, TicketUse::Read)), ErrorKind::Unauthenticated);
    assert_eq!(
        world.store.tickets(&world.admin, &at("/a")).unwrap().len(),
        1,
        "its owner sees and revokes it"
    );
    let everybody =
        [AccessChange::Grant("anonymous".into(), Rights::READ_OBJECT.into(), Scope::This)];
    world.store.change_access(&world.admin, &at("/a"), &everybody).unwrap();
    let nobody = make(&world.store.anonymous().unwrap());
    assert_eq!(kind(nobody), ErrorKind::Denied);
}

#[test]
fn resources_created_anonymously_with_a_ticket_are_not_public() {
    let world = world();
    world.mkdir("/drop");
    let new = NewTicket { rights: Rights::MODIFY_OBJECT, ..NewTicket::default() };
    let ticket = ticket(&world, "/drop", new);
    let holder = show(&world, &ticket, TicketUse::Write(1)).unwrap();
    let options = PutOptions { parents: true, ..PutOptions::default() };
    world.try_put(&holder, "/drop/d/x", b"x", options).unwrap();
    let anonymous = world.store.anonymous().unwrap();
    for made in ["/drop/d", "/drop/d/x"] {
        let stat = world.stat(made).unwrap().resource;
        assert_eq!((stat.owner, stat.created_by), (world.admin.user(), anonymous.user()));
        assert_eq!(kind(world.store.stat(&anonymous, &at(made))), ErrorKind::NotFound, "{made}");
    }
    assert_eq!(world.try_read(&holder, "/drop/d/x").unwrap(), b"x");
}

#[test]
fn a_ticket_is_stored_hashed_and_its_id_gives_no_access() {
    let world = world();
    world.put("/a", b"x");
    let new = NewTicket { rights: Rights::MODIFY_OBJECT, uses: 9, ..NewTicket::default() };
    let (secret, made) = world.store.add_ticket(&world.admin, &at("/a"), &new).unwrap();
    let holder = show(&world, &secret, TicketUse::Write(0)).unwrap();
    let options = cenote_store::UploadOptions::default();
    world.store.begin_upload(&holder, crate::world::path("/a"), &options).unwrap();
    world.store.count_use(&holder, TicketUse::Read).unwrap();
    for (key, value) in world.rows() {
        for bytes in [&key, &value] {
            let has = bytes.windows(secret.len()).any(|some| some == secret.as_bytes());
            assert!(!has, "{key:?} {value:?}");
        }
    }
    let listed = world.store.tickets(&world.admin, &at("/a")).unwrap();
    assert_eq!((listed[0].id.as_str(), listed[0].uses), (made.id.as_str(), (2, 9)));
    let debug = format!("{listed:?} {holder:?}");
    assert!(!debug.contains(&secret), "{debug}");
    assert_eq!(kind(show(&world, &made.id, TicketUse::Look)), ErrorKind::Unauthenticated);
    for unknown in [
        "",
        "0",
        &made.id[1..],
        &"0".repeat(16),
        &"g".repeat(16),
        &made.id.replace(['a', '1'], "b"),
    ] {
        if unknown != made.id {
            let removed = world.store.remove_ticket(&world.admin, unknown);
            assert_eq!(kind(removed), ErrorKind::Unauthenticated, "{unknown}");
        }
    }
    world.store.remove_ticket(&world.admin, &made.id).unwrap();
    assert_eq!(kind(show(&world, &secret, TicketUse::Look)), ErrorKind::Unauthenticated);
    assert!(world.table(b'T').is_empty() && world.table(b'w').is_empty());
}

/// A way to gain ownership of `/b/a`, which a ticket is created for, and a way to lose it.
type Loss = (&'static str, fn(&World), fn(&World));

fn access(world: &World, path: &str, change: AccessChange) {
    world.store.change_access(&world.admin, &at(path), &[change]).unwrap();
}

fn grant(world: &World, path: &str, name: &str, rights: Rights, scope: Scope) {
    access(world, path, AccessChange::Grant(name.into(), rights.into(), scope));
}

fn group(world: &World, add: &[&str], remove: &[&str]) {
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    world.store.change_group(&world.admin, "lab", &names(add), &names(remove)).unwrap();
}

fn lab(world: &World) {
    world.store.add_group(&world.admin, "lab").unwrap();
    group(world, &["u"], &[]);
    grant(world, "/b", "lab", Rights::OWN, Scope::Subtree);
}

const LOSSES: [Loss; 8] = [
    (
        "the grant is taken away",
        |w| grant(w, "/b/a", "u", Rights::OWN, Scope::This),
        |w| grant(w, "/b/a", "u", Rights::NONE, Scope::This),
    ),
    (
        "the grant is lowered",
        |w| grant(w, "/b/a", "u", Rights::OWN, Scope::This),
        |w| grant(w, "/b/a", "u", Rights::DELETE_OBJECT, Scope::This),
    ),
    (
        "the default above is taken away",
        |w| grant(w, "/b", "u", Rights::OWN, Scope::Default),
        |w| grant(w, "/b", "u", Rights::NONE, Scope::Default),
    ),
    (
        "the list is closed to defaults",
        |w| grant(w, "/b", "u", Rights::OWN, Scope::Default),
        |w| access(w, "/b/a", AccessChange::Closed(true)),
    ),
    (
        "a nearer default hides the one above",
        |w| grant(w, "/", "u", Rights::OWN, Scope::Default),
        |w| grant(w, "/b", "u", Rights::READ_OBJECT, Scope::Default),
    ),
    (
        "it moves out of the subtree",
        |w| grant(w, "/b", "u", Rights::OWN, Scope::Subtree),
        |w| drop(w.mv("/b/a", "/moved").unwrap()),
    ),
    ("the maker leaves the group", lab, |w| group(w, &[], &["u"])),
    ("the group is removed", lab, |w| w.store.remove_person(&w.admin, "lab").unwrap()),
];

#[test]
fn a_ticket_ends_however_its_creator_loses_access() {
    for (way, gain, lose) in LOSSES {
        let world = world();
        world.mkdir("/b");
        world.put("/b/a", b"x");
        let user = world.user("u").user();
        gain(&world);
        let maker = world.store.caller_for(user).unwrap();
        let made = world.store.add_ticket(&maker, &at("/b/a"), &reading());
        let ticket = made.unwrap_or_else(|error| panic!("{way}: {error}")).0;
        show(&world, &ticket, TicketUse::Read).unwrap();
        lose(&world);
        for what in [TicketUse::Look, TicketUse::Read, TicketUse::Write(1)] {
            assert_eq!(kind(show(&world, &ticket, what)), ErrorKind::Unauthenticated, "{way}");
        }
    }
}

#[test]
fn a_ticket_of_an_administrator_ends_when_they_lose_the_role() {
    let world = world();
    world.put("/a", b"x");
    let user = world.user("u").user();
    world.store.set_role(&world.admin, "u", Role::Admin).unwrap();
    let maker = world.store.caller_for(user).unwrap();
    let ticket = world.store.add_ticket(&maker, &at("/a"), &reading()).unwrap().0;
    show(&world, &ticket, TicketUse::Read).unwrap();
    world.store.set_role(&world.admin, "u", Role::User).unwrap();
    assert_eq!(kind(show(&world, &ticket, TicketUse::Read)), ErrorKind::Unauthenticated);
}
