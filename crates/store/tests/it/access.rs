//! Access, as seen by a caller. The truth table of the decision is in `access::decide`.

use std::time::Duration;

use cenote_store::{
    AccessChange, AttributeChange, Caller, Conditions, ErrorKind, ListOptions, NewToken, NewUser,
    PersonId, PutOptions, Received, Rights, Role, Scope,
};

use crate::raw::named;
use crate::world::{World, assert_clean, at, kind, path, world};

fn grant(world: &World, what: &str, who: &str, rights: Rights, scope: Scope) {
    change(world, what, AccessChange::Grant(who.into(), rights.into(), scope));
}

fn change(world: &World, what: &str, change: AccessChange) {
    world.store.change_access(&world.admin, &at(what), &[change]).unwrap();
}

fn may_read(world: &World, caller: &Caller, what: &str) -> bool {
    world.try_read(caller, what).is_ok()
}

#[test]
fn a_hidden_resource_is_reported_as_missing() {
    let world = world();
    world.mkdir("/a");
    world.put("/a/x", b"");
    let user = world.user("u");
    assert_eq!(kind(world.try_read(&user, "/a/x")), ErrorKind::NotFound);
    assert_eq!(
        kind(world.store.list(&user, &at("/a"), &ListOptions::default())),
        ErrorKind::NotFound
    );
    let put = |to: &str, options| kind(world.try_put(&user, to, b"", options));
    assert_eq!(put("/a/x", PutOptions::default()), ErrorKind::NotFound);
    assert_eq!(put("/a/new", PutOptions::default()), ErrorKind::NotFound);
    assert_eq!(kind(world.try_mkdir(&user, "/a/x")), kind(world.try_mkdir(&user, "/a/new")));
    let copy = |to: &str| {
        world.store.copy(
            &user,
            &at("/"),
            &path(to),
            cenote_store::CopyOptions { recursive: true, ..Default::default() },
        )
    };
    assert_eq!(kind(copy("/a/x")), kind(copy("/a/new")));
    let names = world.store.list(&user, &at("/"), &ListOptions::default()).unwrap().entries;
    assert!(names.is_empty());
}

/// The results of creating, replacing, moving, copying and removing resources.
fn answers(world: &World, caller: &Caller, what: &str) -> Vec<(ErrorKind, String)> {
    use cenote_store::{CopyOptions, CreateOptions, Draft, MoveOptions, UploadOptions};
    let (store, to) = (&world.store, path(what));
    let mut answers: Vec<cenote_store::Error> = Vec::new();
    for (parents, replace) in [(false, false), (false, true), (true, false), (true, true)] {
        let create = CreateOptions { parents, exist_ok: replace, ..CreateOptions::default() };
        for draft in [Draft::Collection, Draft::Link("x".into()), Draft::Description] {
            answers.extend(store.create(caller, &to, draft, create).err());
        }
        let conditions = [
            Conditions::default(),
            Conditions { if_absent: true, ..Conditions::default() },
            Conditions { if_match: Some("*".into()), ..Conditions::default() },
        ];
        for conditions in conditions {
            let put =
                PutOptions { parents, conditions: conditions.clone(), ..PutOptions::default() };
            answers.extend(world.try_put(caller, what, b"", put.clone()).err());
            answers.extend(store.may_put(caller, &to, &put).err());
            let upload = UploadOptions { put, ..UploadOptions::default() };
            answers.extend(store.begin_upload(caller, &to, &upload).err());
            let copy = CopyOptions { parents, replace, recursive: true, conditions };
            answers.extend(store.copy(caller, &at("/open"), &to, copy).err());
        }
        let relocate = MoveOptions { parents, replace, ..MoveOptions::default() };
        answers.extend(store.relocate(caller, &at("/mine"), &to, relocate).err());
        answers.extend(store.relocate(caller, &at(what), &path("/drop/x"), relocate).err());
    }
    answers.extend(store.remove(caller, &at(what), &Default::default()).err());
    answers.extend(store.stat(caller, &at(what)).err());
    assert_eq!(answers.len(), 4 * 17 + 2, "nothing of this is allowed");
    answers.into_iter().map(|error| (error.kind(), error.to_string())).collect()
}

#[test]
fn hidden_and_missing_resources_give_the_same_results() {
    let world = world();
    let user = world.user("u");
    for collection in ["/veiled", "/veiled/deep", "/shown", "/shown/veiled.dir"] {
        world.mkdir(collection);
    }
    for object in ["/open", "/mine", "/veiled/x", "/shown/veiled"] {
        world.put(object, b"");
    }
    world.mkdir("/drop");
    grant(&world, "/shown", "u", Rights::READ_OBJECT, Scope::This);
    grant(&world, "/open", "u", Rights::READ_OBJECT, Scope::This);
    grant(&world, "/mine", "u", Rights::OWN, Scope::This);
    grant(&world, "/drop", "u", Rights::CREATE_OBJECT, Scope::This);
    for hidden in [
        "/veiled",
        "/veiled/x",
        "/veiled/new",
        "/veiled/deep/er/new",
        "/shown/veiled",
        "/shown/veiled/new",
        "/shown/veiled.dir",
        "/shown/veiled.dir/a/new",
    ] {
        let missing = hidden.replace("veiled", "absent");
        let of_hidden = answers(&world, &user, hidden);
        let of_missing = answers(&world, &user, &missing).into_iter();
        let as_hidden = of_missing.map(|(kind, text)| (kind, text.replace("absent", "veiled")));
        assert_eq!(of_hidden, as_hidden.collect::<Vec<_>>(), "{hidden}");
    }
}

#[test]
fn only_callers_who_may_create_learn_that_a_hidden_name_is_taken() {
    let world = world();
    let user = world.user("u");
    world.mkdir("/drop");
    world.mkdir("/drop/veiled");
    world.put("/drop/veiled/x", b"");
    grant(&world, "/drop", "u", Rights::CREATE_OBJECT, Scope::This);
    let put = |to: &str, parents| {
        let options = PutOptions { parents, ..PutOptions::default() };
        world.try_put(&user, to, b"", options).unwrap_err()
    };
    for (to, parents) in
        [("/drop/veiled", false), ("/drop/veiled/x", true), ("/drop/veiled/a/b", true)]
    {
        let refused = put(to, parents);
        assert_eq!(refused.kind(), ErrorKind::Exists, "{to}");
        assert_eq!(refused.to_string(), "the name is taken: /drop/veiled");
    }
    assert_eq!(put("/drop/veiled/x", false).kind(), ErrorKind::NotFound);
}

#[test]
fn published_bytes_do_not_reveal_hidden_resources() {
    use cenote_store::Expected;
    let world = world();
    world.mkdir("/a");
    world.put("/a/x", b"");
    let user = world.user("u");
    let received = Received::inline(b"", &Expected::default()).unwrap();
    let publish = |to: &str, conditions| {
        let options = PutOptions { conditions, ..PutOptions::default() };
        kind(world.store.publish(&user, path(to), &received, &options))
    };
    let absent = Conditions { if_absent: true, ..Conditions::default() };
    assert_eq!(publish("/a/x", absent.clone()), publish("/a/y", absent));
}

#[test]
fn grants_are_copied_at_creation_if_the_collection_is_set_so() {
    let world = world();
    let user = world.user("u");
    world.mkdir("/a");
    grant(&world, "/a", "u", Rights::READ_OBJECT, Scope::This);
    world.put("/a/before", b"");
    change(&world, "/a", AccessChange::Inherit(true));
    world.put("/a/after", b"");
    world.mkdir("/a/sub");
    world.put("/a/sub/deep", b"");
    assert!(!may_read(&world, &user, "/a/before"));
    assert!(may_read(&world, &user, "/a/after") && may_read(&world, &user, "/a/sub/deep"));
    grant(&world, "/a", "u", Rights::NONE, Scope::This);
    assert!(may_read(&world, &user, "/a/after"), "a copy is a copy");
}

#[test]
fn defaults_apply_down_to_the_next_defaults_and_not_in_closed_resources() {
    let world = world();
    let user = world.user("u");
    for (folder, file) in [("/a", "/a/x"), ("/a/own", "/a/own/x"), ("/a/closed", "/a/closed/x")] {
        world.mkdir(folder);
        world.put(file, b"");
    }
    grant(&world, "/a", "u", Rights::READ_OBJECT, Scope::Default);
    grant(&world, "/a/own", ADMIN, Rights::OWN, Scope::Default);
    change(&world, "/a/closed/x", AccessChange::Closed(true));
    assert!(may_read(&world, &user, "/a/x"));
    assert!(!may_read(&world, &user, "/a/own/x"));
    assert!(!may_read(&world, &user, "/a/closed/x"));
}

const ADMIN: &str = crate::world::ADMIN;

#[test]
fn a_subtree_grant_applies_to_everything_below_and_follows_a_move() {
    let world = world();
    let user = world.user("u");
    world.mkdir("/project");
    world.mkdir("/private");
    world.put("/private/x", b"x");
    grant(&world, "/project", "u", Rights::MODIFY_OBJECT, Scope::Subtree);
    assert!(!may_read(&world, &user, "/private/x"));
    world.mv("/private", "/project/private").unwrap();
    assert!(may_read(&world, &user, "/project/private/x"));
    world.try_put(&user, "/project/private/x", b"y", PutOptions::default()).unwrap();
    let (_, lines) = world.store.access(&world.admin, &at("/project/private/x")).unwrap();
    let line = lines.iter().find(|line| line.name == "u").unwrap();
    assert_eq!((line.from.to_string(), line.scope), ("/project".into(), Scope::Subtree));
    world.mv("/project/private", "/private").unwrap();
    assert!(!may_read(&world, &user, "/private/x"));
}

#[test]
fn grants_to_groups_and_the_public() {
    let world = world();
    world.put("/a", b"");
    let anonymous = world.store.anonymous().unwrap();
    world.user("u");
    world.store.add_group(&world.admin, "lab").unwrap();
    grant(&world, "/a", "lab", Rights::READ_OBJECT, Scope::This);
    let user = || world.store.caller_for(world.store.person_named("u").unwrap().0).unwrap();
    assert!(!may_read(&world, &user(), "/a"));
    world.store.change_group(&world.admin, "lab", &["u".into()], &[]).unwrap();
    assert!(may_read(&world, &user(), "/a"));
    world.store.change_group(&world.admin, "lab", &[], &["u".into()]).unwrap();
    assert!(!may_read(&world, &user(), "/a"));
    assert!(!may_read(&world, &anonymous, "/a"));
    grant(&world, "/a", "public", Rights::READ_OBJECT, Scope::This);
    assert!(!may_read(&world, &anonymous, "/a") && may_read(&world, &user(), "/a"));
    grant(&world, "/a", "public", Rights::NONE, Scope::This);
    grant(&world, "/a", "anonymous", Rights::READ_OBJECT, Scope::This);
    assert!(may_read(&world, &anonymous, "/a") && !may_read(&world, &user(), "/a"));
    assert_eq!(anonymous.user(), PersonId::ANONYMOUS);
}

#[test]
fn a_grant_to_everyone_is_one_to_the_public_and_to_anonymous_callers() {
    let world = world();
    world.put("/a", b"");
    let (user, anonymous) = (world.user("u"), world.store.anonymous().unwrap());
    grant(&world, "/a", "everyone", Rights::READ_OBJECT, Scope::This);
    assert!(may_read(&world, &anonymous, "/a") && may_read(&world, &user, "/a"));
    grant(&world, "/a", "public", Rights::NONE, Scope::This);
    assert!(may_read(&world, &anonymous, "/a") && !may_read(&world, &user, "/a"));
    grant(&world, "/a", "everyone", Rights::NONE, Scope::This);
    assert!(!may_read(&world, &anonymous, "/a"));
    let new = NewUser { name: "everyone".into(), password: None, role: Role::User };
    assert_eq!(kind(world.store.add_user(&world.admin, &new)), ErrorKind::Invalid);
    assert_eq!(kind(world.store.add_group(&world.admin, "everyone")), ErrorKind::Invalid);
}

#[test]
fn an_account_of_an_older_store_that_is_called_everyone_is_the_one_meant() {
    let world = world();
    world.put("/a", b"");
    let (user, other) = (world.user("u"), world.user("o"));
    let id = world.value(&named(b'u', &[], b"u"));
    world.raw_put(named(b'u', &[], b"everyone"), id);
    grant(&world, "/a", "everyone", Rights::READ_OBJECT, Scope::This);
    let anonymous = world.store.anonymous().unwrap();
    assert!(may_read(&world, &user, "/a") && !may_read(&world, &other, "/a"));
    assert!(!may_read(&world, &anonymous, "/a"));
}

#[test]
fn a_token_has_a_level_a_subtree_and_an_expiry() {
    let world = world();
    world.mkdir("/a");
    world.put("/a/x", b"");
    world.put("/b", b"");
    let new = NewToken {
        label: "backup".into(),
        rights: Rights::READ_OBJECT,
        within: Some(at("/a")),
        lifetime: Some(Duration::from_secs(60)),
        ..NewToken::default()
    };
    let (secret, token) = world.store.add_token(&world.admin, &new).unwrap();
    let caller = world.store.authenticate_token(&secret).unwrap();
    assert!(may_read(&world, &caller, "/a/x") && !may_read(&world, &caller, "/b"));
    let put = world.try_put(&caller, "/a/x", b"", PutOptions::default());
    assert_eq!(kind(put), ErrorKind::Denied);
    assert_eq!(kind(world.store.add_token(&caller, &new)), ErrorKind::Denied);
    assert_eq!(kind(world.store.add_group(&caller, "g")), ErrorKind::Denied);
    world.mv("/a", "/c").unwrap();
    assert!(may_read(&world, &caller, "/c/x"), "the place is a resource, not a path");
    world.clock.advance(Duration::from_secs(60));
    assert_eq!(kind(world.store.authenticate_token(&secret)), ErrorKind::Unauthenticated);
    assert_eq!(world.store.tokens(&world.admin).unwrap(), [token]);
}

#[test]
fn a_change_of_grants_changes_the_state() {
    let world = world();
    let before = world.put("/a", b"").state_tag();
    world.user("u");
    grant(&world, "/a", "u", Rights::READ_OBJECT, Scope::This);
    let after = world.stat("/a").unwrap().state_tag();
    assert_ne!(before, after);
    grant(&world, "/a", "u", Rights::READ_OBJECT, Scope::This);
    assert_eq!(world.stat("/a").unwrap().state_tag(), after, "the same again is no change");
    let unknown = [AccessChange::Grant("nobody".into(), Rights::OWN.into(), Scope::This)];
    let changed = world.store.change_access(&world.admin, &at("/a"), &unknown);
    assert_eq!(kind(changed), ErrorKind::NotFound);
}

#[test]
fn a_grant_to_a_role_applies_to_authenticated_users_while_they_have_it() {
    let world = world();
    for name in ["plain", "helper"] {
        world.user(name);
    }
    world.put("/x", b"x");
    let may = |name: &str| {
        let id = world.store.person_named(name).unwrap().0;
        may_read(&world, &world.store.caller_for(id).unwrap(), "/x")
    };
    grant(&world, "/x", "public", Rights::NONE, Scope::This);
    grant(&world, "/x", "role:groupadmin", Rights::READ_OBJECT, Scope::This);
    assert!(!may("plain") && !may("helper"));
    world.store.set_role(&world.admin, "helper", Role::GroupAdmin).unwrap();
    assert!(!may("plain") && may("helper"));
    let (_, lines) = world.store.access(&world.admin, &at("/x")).unwrap();
    assert!(lines.iter().any(|line| line.name == "role:groupadmin"), "{lines:?}");
    world.store.set_role(&world.admin, "helper", Role::User).unwrap();
    assert!(!may("helper"));
    grant(&world, "/x", "role:user", Rights::READ_OBJECT, Scope::This);
    assert!(may("plain") && may("helper"));
    assert!(!may_read(&world, &world.store.anonymous().unwrap(), "/x"), "is not logged in");
    assert_clean(&world.store);
}

#[test]
fn a_role_cannot_own_resources_or_be_a_group_member() {
    let world = world();
    world.put("/x", b"x");
    let (store, admin) = (&world.store, &world.admin);
    let change = |name: &str| {
        let grant = [AccessChange::Grant(name.into(), Rights::OWN.into(), Scope::This)];
        store.change_access(admin, &at("/x"), &grant)
    };
    assert_eq!(kind(change("role:operator")), ErrorKind::Invalid);
    let owner = Some("role:admin".to_owned());
    let owned = AttributeChange { owner, ..AttributeChange::default() };
    assert_eq!(kind(store.set_attributes(admin, &at("/x"), &owned)), ErrorKind::NotFound);
    store.add_group(admin, "lab").unwrap();
    let added = store.change_group(admin, "lab", &["role:user".into()], &[]);
    assert_eq!(kind(added), ErrorKind::NotFound);
    let named = NewUser { name: "role:user".into(), password: None, role: Role::User };
    assert_eq!(kind(store.add_user(admin, &named)), ErrorKind::Invalid);
}
