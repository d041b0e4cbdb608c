//! Users, groups, passwords and tokens.

use std::time::Duration;

use cenote_store::{AccessChange, ErrorKind, NewToken, NewUser, Rights, Role, Scope, Store};

use crate::world::{ADMIN, PASSWORD, at, kind, world};

fn new(name: &str, password: Option<&str>, role: Role) -> NewUser {
    NewUser { name: name.into(), password: password.map(Into::into), role }
}

fn token(label: &str) -> NewToken {
    NewToken { label: label.into(), rights: Rights::OWN, ..NewToken::default() }
}

#[test]
fn only_the_right_password_logs_in() {
    let world = world();
    let login = |name: &str, password: &str| world.store.authenticate_password(name, password);
    assert_eq!(login(ADMIN, PASSWORD).unwrap(), world.admin);
    assert_eq!(login(ADMIN, PASSWORD).unwrap(), world.admin);
    world.store.add_user(&world.admin, &new("nobody", None, Role::User)).unwrap();
    for (name, password) in [
        (ADMIN, "wrong"),
        (ADMIN, ""),
        ("unknown", PASSWORD),
        ("nobody", ""),
        ("anonymous", ""),
        ("public", PASSWORD),
    ] {
        assert_eq!(kind(login(name, password)), ErrorKind::Unauthenticated, "{name}");
    }
    let long = "x".repeat(100_000);
    assert_eq!(kind(login(ADMIN, &long)), ErrorKind::Unauthenticated);
}

#[test]
fn a_changed_password_invalidates_the_old_one_immediately() {
    let world = world();
    world.store.authenticate_password(ADMIN, PASSWORD).unwrap();
    world.store.set_password(&world.admin, ADMIN, "other").unwrap();
    assert_eq!(
        kind(world.store.authenticate_password(ADMIN, PASSWORD)),
        ErrorKind::Unauthenticated
    );
    world.store.authenticate_password(ADMIN, "other").unwrap();
    for bad in [String::new(), "x".repeat(1_025)] {
        assert_eq!(kind(world.store.set_password(&world.admin, ADMIN, &bad)), ErrorKind::Invalid);
    }
}

#[test]
fn no_secret_is_shown_by_debug() {
    let world = world();
    let user = new("u", Some("open sesame"), Role::User);
    assert!(!format!("{user:?}").contains("sesame"));
    world.store.add_user(&world.admin, &user).unwrap();
    let (_, person) = world.store.person_named("u").unwrap();
    assert!(!format!("{person:?}").contains("argon2"));
    let (secret, _) = world.store.add_token(&world.admin, &token("t")).unwrap();
    let kept: Vec<u8> =
        world.rows().into_iter().flat_map(|(key, value)| [key, value].concat()).collect();
    let holds = |needle: &[u8]| kept.windows(needle.len()).any(|window| window == needle);
    assert!(!holds(secret.as_bytes()) && !holds(b"open sesame"));
}

#[test]
fn users_and_groups_share_one_namespace() {
    let world = world();
    world.store.add_group(&world.admin, "lab").unwrap();
    let add = |name: &str| world.store.add_user(&world.admin, &new(name, None, Role::User));
    assert_eq!(kind(add("lab")), ErrorKind::Exists);
    assert_eq!(kind(add("public")), ErrorKind::Exists);
    for bad in ["", "a/b", "a:b", "a#b", "."] {
        assert_eq!(kind(add(bad)), ErrorKind::Invalid);
    }
    let first = add("u").unwrap();
    world.store.remove_person(&world.admin, "u").unwrap();
    assert_ne!(add("u").unwrap(), first, "an id does not return");
}

#[test]
fn roles_decide_who_may_create_which_users() {
    let world = world();
    let as_role = |name: &str, role| {
        let id = world.store.add_user(&world.admin, &new(name, None, role)).unwrap();
        world.store.caller_for(id).unwrap()
    };
    let (user, group_admin) = (as_role("u", Role::User), as_role("g", Role::GroupAdmin));
    let add = |caller, name: &str, role| world.store.add_user(caller, &new(name, None, role));
    assert_eq!(kind(add(&user, "x", Role::User)), ErrorKind::Denied);
    add(&group_admin, "x", Role::User).unwrap();
    assert_eq!(kind(add(&group_admin, "y", Role::Admin)), ErrorKind::Denied);
    world.store.add_group(&group_admin, "lab").unwrap();
    assert_eq!(kind(world.store.add_group(&user, "other")), ErrorKind::Denied);
    assert_eq!(kind(world.store.set_role(&group_admin, "g", Role::Admin)), ErrorKind::Denied);
    assert_eq!(kind(world.store.set_password(&user, "g", "x")), ErrorKind::Denied);
    world.store.set_password(&user, "u", "mine").unwrap();
    assert_eq!(kind(world.store.remove_person(&group_admin, "x")), ErrorKind::Denied);
}

#[test]
fn a_removed_user_leaves_no_valid_credentials() {
    let world = world();
    let user = world.user("u");
    world.put("/a", b"");
    let grant = [AccessChange::Grant("u".into(), Rights::OWN.into(), Scope::This)];
    world.store.change_access(&world.admin, &at("/a"), &grant).unwrap();
    world.store.add_group(&world.admin, "lab").unwrap();
    world.store.change_group(&world.admin, "lab", &["u".into()], &[]).unwrap();
    let (secret, _) = world.store.add_token(&user, &token("t")).unwrap();
    world.store.remove_person(&world.admin, "u").unwrap();
    assert_eq!(kind(world.store.authenticate_token(&secret)), ErrorKind::Unauthenticated);
    assert_eq!(kind(world.store.caller_for(user.user())), ErrorKind::Unauthenticated);
    assert!(world.store.members("lab").unwrap().is_empty());
    for table in *b"mMty" {
        assert!(world.table(table).is_empty(), "{}", table as char);
    }
    let again = world.user("u");
    assert_eq!(kind(world.try_read(&again, "/a")), ErrorKind::NotFound);
    for name in ["public", "anonymous", ADMIN] {
        assert_eq!(kind(world.store.remove_person(&world.admin, name)), ErrorKind::Invalid);
    }
}

#[test]
fn a_removed_group_has_no_members() {
    let world = world();
    let user = world.user("u");
    world.store.add_group(&world.admin, "lab").unwrap();
    world.store.change_group(&world.admin, "lab", &["u".into()], &[]).unwrap();
    assert_eq!(world.store.members("lab").unwrap(), ["u"]);
    let join =
        |group: &str, who: &str| world.store.change_group(&world.admin, group, &[who.into()], &[]);
    assert_eq!(kind(join("u", "u")), ErrorKind::Invalid);
    assert_eq!(kind(join("lab", "lab")), ErrorKind::Invalid);
    assert_eq!(kind(join("lab", "nobody")), ErrorKind::NotFound);
    world.store.remove_person(&world.admin, "lab").unwrap();
    assert!(world.table(b'M').is_empty());
    assert_eq!(world.store.person_name(user.user()).unwrap(), "u");
}

#[test]
fn tokens_are_listed_and_revoked() {
    let world = world();
    let user = world.user("u");
    let (secret, made) = world.store.add_token(&user, &token("mine")).unwrap();
    assert_eq!(world.store.tokens(&user).unwrap(), std::slice::from_ref(&made));
    assert_eq!(world.store.authenticate_token(&secret).unwrap().user(), user.user());
    for wrong in ["", "cn_", "cn_00", &secret[..40], &secret.to_uppercase()] {
        assert_eq!(kind(world.store.authenticate_token(wrong)), ErrorKind::Unauthenticated);
    }
    assert_eq!(kind(world.store.revoke_token(&user, None, made.id + 1)), ErrorKind::NotFound);
    assert_eq!(kind(world.store.revoke_token(&user, Some(ADMIN), made.id)), ErrorKind::Denied);
    world.store.revoke_token(&world.admin, Some("u"), made.id).unwrap();
    assert_eq!(kind(world.store.authenticate_token(&secret)), ErrorKind::Unauthenticated);
}

#[test]
fn a_store_is_created_once() {
    let world = world();
    let again = Store::create_new(world.parts.clone(), "other", "password");
    assert_eq!(kind(again), ErrorKind::Exists);
    let (empty, _) =
        crate::world::parts(cenote_kv::MemoryEngine::new(), cenote_blob::Place::memory("main"));
    assert_eq!(kind(Store::open_existing(empty)), ErrorKind::NotFound);
}

#[test]
fn a_remembered_password_is_forgotten_after_a_while() {
    let world = world();
    world.store.authenticate_password(ADMIN, PASSWORD).unwrap();
    world.clock.advance(Duration::from_secs(3_600));
    world.store.authenticate_password(ADMIN, PASSWORD).unwrap();
}
