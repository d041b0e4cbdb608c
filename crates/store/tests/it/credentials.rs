//! What each kind of credential permits: every operation on accounts, tokens, groups, places and the store, and some on
//! resources, with every credential. A refused operation changes no byte of the catalog.

use std::time::Duration;

use cenote_store::{
    AccessChange, Act, AttributeChange, AvuChange, Caller, Conditions, Error, ErrorKind, NewPlace,
    NewSession, NewTicket, NewToken, NewUser, PlaceChange, PutOptions, Registration, ReplicaChange,
    Result, Rights, Role, Scope, Store, StoreStats, TicketUse, TokenScope, UserChange,
};

use crate::world::{ADMIN, World, at, avu, kind, path, run, world_with_places};

/// What an operation needs, as a letter in the rows below.
mod needs {
    /// Resources of an account, or jobs that the server does in its name.
    pub(super) const HOME: char = 'h';
    /// Changing one's own password.
    pub(super) const PASSWORD: char = 'p';
    /// Managing one's own tokens.
    pub(super) const TOKENS: char = 't';
    /// Operations of a groupadmin.
    pub(super) const GROUPS: char = 'g';
    /// Operations of an administrator.
    pub(super) const ADMIN: char = 'a';
    /// Operations reserved to the owner of the directory.
    pub(super) const DIRECTORY: char = 'd';
    /// Changing contents that the account may change.
    pub(super) const WRITE: char = 'w';
    /// Operations of the owner of a resource.
    pub(super) const OWN: char = 'o';
}

/// The truth table: an account, how its user is authenticated, and what that permits.
const TABLE: [(&str, &str, &str); 28] = [
    ("anonymous", "nothing", ""),
    ("anonymous", "ticket", "w"),
    ("user", "password", "hptwo"),
    ("user", "directory", "hptwo"),
    ("user", "login", "hwo"),
    ("user", "token", "hwo"),
    ("user", "token read", ""),
    ("user", "token within", ""),
    ("user", "token tokens", "htwo"),
    ("user", "token read tokens", "t"),
    ("user", "token account", "hpwo"),
    ("user", "token admin", "hwo"),
    ("groupadmin", "password", "hptgwo"),
    ("groupadmin", "login", "hgwo"),
    ("groupadmin", "token", "hwo"),
    ("groupadmin", "token read", ""),
    ("groupadmin", "token admin", "hgwo"),
    (ADMIN, "password", "hptgawo"),
    (ADMIN, "not elevated", "hptgwo"),
    (ADMIN, "directory", "hptgadwo"),
    (ADMIN, "login", "hpgawo"),
    (ADMIN, "token", "hwo"),
    (ADMIN, "token read", ""),
    (ADMIN, "token within", ""),
    (ADMIN, "token tokens", "htwo"),
    (ADMIN, "token read tokens", "t"),
    (ADMIN, "token account", "hpwo"),
    (ADMIN, "token admin", "hpgawo"),
];

/// One operation with one credential.
struct Case<'a> {
    world: &'a World,
    caller: &'a Caller,
    /// A name not used by other operations.
    name: &'a str,
}

impl Case<'_> {
    /// Performs it; a refusal must not have changed anything.
    fn attempt<T>(&self, operation: impl FnOnce(&Store, &Caller) -> Result<T>) -> Result<()> {
        let before = self.world.rows();
        let done = operation(&self.world.store, self.caller).map(drop);
        if done.is_err() {
            assert_eq!(self.world.rows(), before, "{} changed something", self.name);
        }
        done
    }

    fn user(&self) -> &str {
        self.world.user(self.name);
        self.name
    }

    fn group(&self) -> &str {
        self.world.store.add_group(&self.world.admin, self.name).unwrap();
        self.name
    }

    /// A resource that the accounts own, and the ticket opens.
    fn object(&self) -> String {
        let path = format!("/a/{}", self.name);
        self.world.put(&path, b"x");
        path
    }

    /// A ticket that the caller's account made.
    fn ticket(&self) -> String {
        let account = self.world.store.caller_for(self.caller.user()).unwrap();
        let made = self.world.store.add_ticket(&account, &at("/a"), &NewTicket::default());
        made.map_or_else(|_| "none".to_owned(), |(ticket, _)| ticket)
    }
}

type Operation = (&'static str, char, fn(&Case<'_>) -> Result<()>);

fn new_user(name: &str, role: Role) -> NewUser {
    NewUser { name: name.into(), password: None, role }
}

fn new_token(label: &str) -> NewToken {
    NewToken { label: label.into(), rights: Rights::READ_OBJECT, ..NewToken::default() }
}

fn place(name: &str, address: &str) -> NewPlace {
    NewPlace { name: name.into(), address: Some(address.into()), ..NewPlace::default() }
}

fn shown(shown: bool) -> Result<()> {
    if shown { Ok(()) } else { Err(Error::new(ErrorKind::Denied, "it is not shown")) }
}

/// The operations that concern accounts.
const ACCOUNTS: [Operation; 19] = [
    ("home", needs::HOME, |case| {
        case.attempt(|store, caller| store.make_home(caller, caller.name()))
    }),
    ("password", needs::PASSWORD, |case| {
        case.attempt(|store, caller| store.set_password(caller, caller.name(), "new"))
    }),
    ("token", needs::TOKENS, |case| case.attempt(|store, by| store.add_token(by, &new_token("t")))),
    ("list-tokens", needs::TOKENS, |case| case.attempt(|store, caller| store.tokens(caller))),
    ("revoke", needs::TOKENS, |case| {
        let account = case.world.store.caller_for(case.caller.user()).unwrap();
        let id = case.world.store.add_token(&account, &new_token("t")).map_or(1, |made| made.1.id);
        case.attempt(|store, caller| store.revoke_token(caller, None, id))
    }),
    ("user", needs::GROUPS, |case| {
        case.attempt(|store, caller| store.add_user(caller, &new_user(case.name, Role::User)))
    }),
    ("user-with-home", needs::GROUPS, |case| {
        case.attempt(|store, by| store.add_user_with_home(by, &new_user(case.name, Role::User)))
    }),
    ("home-of-another", needs::GROUPS, |case| {
        let user = case.user();
        case.attempt(|store, caller| store.make_home(caller, user))
    }),
    ("group", needs::GROUPS, |case| {
        case.attempt(|store, caller| store.add_group(caller, case.name))
    }),
    ("join", needs::GROUPS, |case| {
        let group = case.group();
        case.attempt(|store, caller| store.change_group(caller, group, &["user".into()], &[]))
    }),
    ("leave", needs::GROUPS, |case| {
        let (group, user) = (case.group(), ["user".to_owned()]);
        case.world.store.change_group(&case.world.admin, group, &user, &[]).unwrap();
        case.attempt(|store, caller| store.change_group(caller, group, &[], &user))
    }),
    ("groupadmin", needs::ADMIN, |case| {
        case.attempt(|store, caller| store.add_user(caller, &new_user(case.name, Role::GroupAdmin)))
    }),
    ("admin", needs::ADMIN, |case| {
        case.attempt(|store, caller| store.add_user(caller, &new_user(case.name, Role::Admin)))
    }),
    ("password-of-another", needs::ADMIN, |case| {
        let user = case.user();
        case.attempt(|store, caller| store.set_password(caller, user, "new"))
    }),
    ("role", needs::ADMIN, |case| {
        let user = case.user();
        case.attempt(|store, caller| store.set_role(caller, user, Role::Admin))
    }),
    ("password-and-role", needs::ADMIN, |case| {
        let user = case.user();
        let change = UserChange { password: Some("new".into()), role: Some(Role::GroupAdmin) };
        case.attempt(|store, caller| store.change_user(caller, user, &change))
    }),
    ("remove-user", needs::ADMIN, |case| {
        let user = case.user();
        case.attempt(|store, caller| store.remove_person(caller, user))
    }),
    ("remove-group", needs::ADMIN, |case| {
        let group = case.group();
        case.attempt(|store, caller| store.remove_person(caller, group))
    }),
    ("revoke-of-another", needs::ADMIN, |case| {
        let user = case.world.store.person_named(case.user()).unwrap().0;
        let user = case.world.store.caller_for(user).unwrap();
        let id = case.world.store.add_token(&user, &new_token("t")).unwrap().1.id;
        case.attempt(|store, caller| store.revoke_token(caller, Some(case.name), id))
    }),
];

/// The operations that concern the store as a whole.
const STORE: [Operation; 18] = [
    ("describe-person", needs::ADMIN, |case| {
        let user = case.user();
        case.attempt(|store, caller| store.change_person_avus(caller, user, &[]))
    }),
    ("add-place", needs::ADMIN, |case| {
        let address = format!("memory:///{}", case.name);
        case.attempt(|store, caller| store.add_place(caller, &place(case.name, &address)))
    }),
    ("add-place-anywhere", needs::DIRECTORY, |case| {
        let address = format!("memory:///forbidden/{}", case.name);
        case.attempt(|store, caller| store.add_place(caller, &place(case.name, &address)))
    }),
    ("move-place-anywhere", needs::DIRECTORY, |case| {
        let id = case.world.add_place(case.name);
        let address = Some("memory:///forbidden".to_owned());
        let change = PlaceChange { address, ..PlaceChange::default() };
        case.attempt(|store, caller| store.change_place(caller, id, &change))
    }),
    ("change-place", needs::ADMIN, |case| {
        let id = case.world.add_place(case.name);
        let change = PlaceChange { name: Some("other".into()), ..PlaceChange::default() };
        case.attempt(|store, caller| store.change_place(caller, id, &change))
    }),
    ("default-place", needs::ADMIN, |case| {
        let id = case.world.place("main");
        case.attempt(|store, caller| store.set_default_place(caller, id))
    }),
    ("remove-place", needs::ADMIN, |case| {
        let id = case.world.add_place(case.name);
        case.attempt(|store, caller| run(store.remove_place(caller, id)))
    }),
    ("drain-place", needs::ADMIN, |case| {
        let id = case.world.add_place(case.name);
        case.attempt(|store, caller| store.drain_place(caller, id, None))
    }),
    ("describe-place", needs::ADMIN, |case| {
        let id = case.world.place("a");
        case.attempt(|store, caller| store.change_place_avus(caller, id, &[]))
    }),
    ("register", needs::ADMIN, |case| {
        let registration = Registration {
            place: case.world.place("a"),
            file: "/nowhere".into(),
            size: Some(1),
            sha256: None,
            additional: false,
            replace: false,
        };
        let to = path(&format!("/a/{}", case.name));
        case.attempt(|store, caller| run(store.register(caller, &to, &registration)))
    }),
    ("change-replica", needs::ADMIN, |case| {
        let object = case.object();
        let change = ReplicaChange { good: Some(true), ..ReplicaChange::default() };
        case.attempt(|store, caller| store.change_replica(caller, &at(&object), 0, &change))
    }),
    ("note", needs::ADMIN, |case| {
        case.attempt(|store, caller| {
            store.change_notes(caller, Act::Configure, "irods", |notes| notes.put("x", "y".into()))
        })
    }),
    ("tickets-of-another", needs::ADMIN, |case| {
        let owner = case.world.user(case.name);
        let grant = [AccessChange::Grant(case.name.into(), Rights::OWN.into(), Scope::This)];
        case.world.store.change_access(&case.world.admin, &at("/a"), &grant).unwrap();
        let new = NewTicket { persons: vec![case.name.into()], ..NewTicket::default() };
        let made = case.world.store.add_ticket(&owner, &at("/a"), &new).unwrap();
        case.attempt(|store, caller| shown(store.all_tickets(caller)?.contains(&made.1)))
    }),
    ("count", needs::ADMIN, |case| {
        case.attempt(|store, caller| {
            let is_counted = |stats: StoreStats| {
                stats.resources.is_some() && stats.bytes.is_some() && stats.jobs.is_some()
            };
            shown(store.stats(caller).is_ok_and(is_counted))
        })
    }),
    ("scrub-status", needs::ADMIN, |case| case.attempt(|store, caller| store.scrub_status(caller))),
    ("damaged", needs::ADMIN, |case| case.attempt(|store, caller| store.damaged(caller))),
    ("defer", needs::HOME, |case| {
        case.attempt(|store, caller| {
            store.change_notes(caller, Act::Defer, "irods", |notes| notes.put("x", "y".into()))
        })
    }),
    ("job-of-another", needs::ADMIN, |case| {
        let owner = case.world.user(case.name);
        let grant = [AccessChange::Grant(case.name.into(), Rights::OWN.into(), Scope::This)];
        case.world.store.change_access(&case.world.admin, &at("/a"), &grant).unwrap();
        let place = case.world.place("b");
        let job = case.world.store.replicate_tree(&owner, &at("/a"), place).unwrap();
        case.attempt(|store, caller| shown(store.job(caller, job.id).is_ok()))
    }),
];

/// Operations on what the account owns, or the ticket opens.
const RESOURCES: [Operation; 8] = [
    ("put", needs::WRITE, |case| {
        let object = case.object();
        case.attempt(|_, by| case.world.try_put(by, &object, b"y", PutOptions::default()))
    }),
    ("describe", needs::WRITE, |case| {
        let object = at(&case.object());
        let change = [AvuChange::Add(avu("k", "v"))];
        case.attempt(|store, by| store.change_avus(by, &object, &change, &Conditions::default()))
    }),
    ("mode", needs::WRITE, |case| {
        let object = at(&case.object());
        let change = AttributeChange { mode: Some(0o600), ..AttributeChange::default() };
        case.attempt(|store, caller| store.set_attributes(caller, &object, &change))
    }),
    ("replicate-tree", needs::WRITE, |case| {
        let place = case.world.place("b");
        case.attempt(|store, caller| store.replicate_tree(caller, &at("/a"), place))
    }),
    ("grant", needs::OWN, |case| {
        let change = [AccessChange::Inherit(true)];
        case.attempt(|store, caller| store.change_access(caller, &at("/a"), &change))
    }),
    ("ticket", needs::OWN, |case| {
        case.attempt(|store, caller| store.add_ticket(caller, &at("/a"), &NewTicket::default()))
    }),
    ("remove-ticket", needs::OWN, |case| {
        let ticket = case.ticket();
        case.attempt(|store, caller| match ticket.as_str() {
            "none" => shown(false),
            ticket => store.remove_ticket(caller, ticket),
        })
    }),
    ("show-ticket", needs::OWN, |case| {
        case.ticket();
        case.attempt(|store, caller| shown(!store.all_tickets(caller)?.is_empty()))
    }),
];

/// A caller with this account, authenticated in this way.
fn caller(world: &World, account: &str, credential: &str) -> Caller {
    let store = &world.store;
    let by_password = || store.caller_for(store.person_named(account).unwrap().0).unwrap();
    let by_token = |new: NewToken| {
        let made = store.add_token(&by_password(), &new).unwrap();
        store.authenticate_token(&made.0).unwrap()
    };
    let whole = NewToken { rights: Rights::OWN, ..new_token("the credential") };
    let scoped = |scope| NewToken { scopes: vec![scope], ..whole.clone() };
    match credential {
        "nothing" => store.anonymous().unwrap(),
        "ticket" => {
            let new = NewTicket { rights: Rights::MODIFY_OBJECT, ..NewTicket::default() };
            let ticket = store.add_ticket(&world.admin, &at("/a"), &new).unwrap().0;
            let anonymous = store.anonymous().unwrap();
            let grant = store.use_ticket(&anonymous, &ticket, "192.0.2.1", TicketUse::Look);
            anonymous.with_ticket(grant.unwrap())
        }
        "password" => by_password(),
        "not elevated" => by_password().elevated(false),
        "directory" => store.directory_caller(Some(account)).unwrap(),
        "login" => {
            let secret = store.open_session(&by_password(), &session(3_600, 7_200)).unwrap();
            store.authenticate_token(&secret).unwrap()
        }
        "token" => by_token(whole),
        "token read" => by_token(new_token("the credential")),
        "token within" => by_token(NewToken { within: Some(at("/lab")), ..whole }),
        "token tokens" => by_token(scoped(TokenScope::Tokens)),
        "token read tokens" => {
            by_token(NewToken { rights: Rights::READ_OBJECT, ..scoped(TokenScope::Tokens) })
        }
        "token account" => by_token(scoped(TokenScope::Account)),
        "token admin" => by_token(scoped(TokenScope::Admin)),
        _ => panic!("{credential}"),
    }
}

fn session(idle: u64, longest: u64) -> NewSession {
    let (idle, longest) = (Duration::from_secs(idle), Duration::from_secs(longest));
    NewSession { label: "login".into(), idle, longest }
}

/// A store with the accounts of the table, which own its resources.
fn accounts() -> World {
    let world = world_with_places();
    for (name, role) in [("user", Role::User), ("groupadmin", Role::GroupAdmin)] {
        world.store.add_user(&world.admin, &new_user(name, role)).unwrap();
        let grant = [AccessChange::Grant(name.into(), Rights::OWN.into(), Scope::Subtree)];
        world.store.change_access(&world.admin, &at("/"), &grant).unwrap();
    }
    world.mkdir("/a");
    world.mkdir("/lab");
    world
}

#[test]
fn each_credential_permits_exactly_the_operations_in_its_row() {
    for (account, credential, permitted) in TABLE {
        let world = accounts();
        let operations = ACCOUNTS.iter().chain(&STORE).chain(&RESOURCES);
        for (name, needed, operation) in operations {
            // An operation may have ended the credential: a changed password ends logins.
            let caller = caller(&world, account, credential);
            let unused = format!("of {name}");
            let done = operation(&Case { world: &world, caller: &caller, name: &unused });
            let row = format!("{name} by {account}, {credential}");
            match permitted.contains(*needed) {
                true => assert!(done.is_ok(), "{row}: {done:?}"),
                false => {
                    let hidden = [needs::WRITE, needs::OWN].contains(needed);
                    let refusal = kind(done);
                    assert!(
                        refusal == ErrorKind::Denied || (hidden && refusal == ErrorKind::NotFound),
                        "{row}: {refusal:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_token_cannot_create_one_that_exceeds_or_outlives_it() {
    let world = accounts();
    let store = &world.store;
    let hour = Duration::from_secs(3_600);
    let maker = NewToken {
        label: "maker".into(),
        rights: Rights::MODIFY_OBJECT,
        within: Some(at("/lab")),
        lifetime: Some(hour),
        scopes: vec![TokenScope::Tokens],
    };
    let (secret, made) = store.add_token(&world.admin, &maker).unwrap();
    let caller = store.authenticate_token(&secret).unwrap();
    let refused = [
        NewToken { rights: Rights::DELETE_OBJECT, ..maker.clone() },
        NewToken { within: None, ..maker.clone() },
        NewToken { lifetime: None, ..maker.clone() },
        NewToken { lifetime: Some(hour + Duration::from_nanos(1)), ..maker.clone() },
        NewToken { within: Some(at("/a")), ..maker.clone() },
        NewToken { within: Some(at("/")), ..maker.clone() },
    ];
    for new in refused {
        let refusal = kind(store.add_token(&caller, &new));
        assert!(
            [ErrorKind::Denied, ErrorKind::NotFound].contains(&refusal),
            "{new:?}: {refusal:?}"
        );
    }
    for scope in [TokenScope::Account, TokenScope::Admin] {
        let partial = NewToken { scopes: vec![scope], ..maker.clone() };
        assert_eq!(kind(store.add_token(&world.admin, &partial)), ErrorKind::Invalid);
        let whole = NewToken { rights: Rights::OWN, within: None, ..partial };
        assert_eq!(kind(store.add_token(&caller, &whole)), ErrorKind::Denied);
    }
    let (child, _) = store.add_token(&caller, &maker).unwrap();
    let child = store.authenticate_token(&child).unwrap();
    let (grandchild, _) = store.add_token(&child, &maker).unwrap();
    store.authenticate_token(&grandchild).unwrap();
    store.revoke_token(&world.admin, None, made.id).unwrap();
    assert_eq!(kind(store.authenticate_token(&grandchild)), ErrorKind::Unauthenticated);
    assert!(store.tokens(&world.admin).unwrap().is_empty(), "all that it made went with it");
}

#[test]
fn a_login_lasts_while_it_is_used_up_to_its_maximum() {
    let world = accounts();
    let (store, minute) = (&world.store, Duration::from_secs(60));
    let used = store.open_session(&world.admin, &session(600, 3_000)).unwrap();
    let unused = store.open_session(&world.admin, &session(600, 3_000)).unwrap();
    let fixed = store.open_session(&world.admin, &session(600, 600)).unwrap();
    for passed in 1..50 {
        world.clock.advance(minute);
        store.authenticate_token(&used).unwrap();
        assert_eq!(store.authenticate_token(&fixed).is_ok(), passed < 10, "after {passed} minutes");
    }
    assert_eq!(kind(store.authenticate_token(&unused)), ErrorKind::Unauthenticated);
    world.clock.advance(minute);
    assert_eq!(kind(store.authenticate_token(&used)), ErrorKind::Unauthenticated);
}

#[test]
fn a_changed_password_ends_logins_but_not_tokens() {
    let world = accounts();
    let store = &world.store;
    let user = store.caller_for(store.person_named("user").unwrap().0).unwrap();
    let login = store.open_session(&user, &session(600, 600)).unwrap();
    let other = store.open_session(&world.admin, &session(600, 600)).unwrap();
    let (token, _) = store.add_token(&user, &new_token("t")).unwrap();
    store.set_role(&world.admin, "user", Role::GroupAdmin).unwrap();
    store.authenticate_token(&login).unwrap();
    store.set_password(&world.admin, "user", "new").unwrap();
    assert_eq!(kind(store.authenticate_token(&login)), ErrorKind::Unauthenticated);
    store.authenticate_token(&token).unwrap();
    store.authenticate_token(&other).unwrap();
}

#[test]
fn anonymous_has_neither_password_nor_role() {
    let world = accounts();
    let (store, admin) = (&world.store, &world.admin);
    for name in ["anonymous", "public"] {
        assert_eq!(kind(store.set_password(admin, name, "x")), ErrorKind::Invalid);
        assert_eq!(kind(store.set_role(admin, name, Role::Admin)), ErrorKind::Invalid);
        assert_eq!(kind(store.authenticate_password(name, "x")), ErrorKind::Unauthenticated);
    }
}

#[test]
fn a_store_keeps_an_administrator_who_can_log_in() {
    let world = accounts();
    let (store, admin) = (&world.store, &world.admin);
    let demote = |name: &str| store.set_role(admin, name, Role::User);
    assert_eq!(kind(demote(ADMIN)), ErrorKind::Invalid, "the last one");
    store.set_role(admin, "user", Role::Admin).unwrap();
    assert_eq!(kind(demote(ADMIN)), ErrorKind::Invalid, "the other one cannot log in");
    store.set_password(admin, "user", "secret").unwrap();
    let other = store.authenticate_password("user", "secret").unwrap();
    demote(ADMIN).unwrap();
    assert_eq!(kind(store.set_role(&other, "user", Role::User)), ErrorKind::Invalid);
    assert_eq!(kind(store.remove_person(admin, "user")), ErrorKind::Invalid);
    store.set_role(&other, ADMIN, Role::Admin).unwrap();
    store.remove_person(admin, "user").unwrap();
}

#[test]
fn the_owner_of_the_directory_can_restore_an_administrator() {
    let world = accounts();
    let store = &world.store;
    let (id, mut row) = {
        let (id, _) = store.person_named(ADMIN).unwrap();
        let key = [&b"U"[..], &id.0.to_be_bytes()].concat();
        (key.clone(), world.value(&key).to_vec())
    };
    // An earlier version allowed removing the last administrator: the role, 2, becomes 0.
    let name = row.windows(ADMIN.len()).position(|part| part == ADMIN.as_bytes()).unwrap();
    let role = name + ADMIN.len() + 1;
    assert_eq!(row[role], 2);
    row[role] = 0;
    let checksum = crc32c::crc32c(&row[5..]).to_le_bytes();
    row[1..5].copy_from_slice(&checksum);
    world.raw_put(id, row.into());
    let owner = store.directory_caller(None).unwrap();
    assert!(owner.may(Act::People));
    store.set_role(&owner, ADMIN, Role::Admin).unwrap();
    assert!(store.authenticate_password(ADMIN, crate::world::PASSWORD).unwrap().may(Act::People));
}

#[test]
fn jobs_started_with_a_token_continue_within_its_limits() {
    let world = accounts();
    let store = &world.store;
    for folder in ["/lab/mine", "/a/other"] {
        world.put(folder, &[7; 100_000]);
    }
    let limited = NewToken {
        rights: Rights::MODIFY_OBJECT,
        within: Some(at("/lab")),
        ..new_token("the credential")
    };
    let (secret, _) = store.add_token(&world.admin, &limited).unwrap();
    let caller = store.authenticate_token(&secret).unwrap();
    let place = world.place("a");
    store.replicate_tree(&caller, &at("/lab"), place).unwrap();
    world.mv("/a/other", "/lab/other").unwrap();
    let outside = store.replicate_tree(&caller, &at("/a"), place);
    assert_eq!(kind(outside), ErrorKind::NotFound);
    world.mv("/lab", "/moved").unwrap();
    run(store.run_moves()).unwrap();
    assert_eq!(world.replicas("/moved/mine"), "0 main, 1 a");
}
