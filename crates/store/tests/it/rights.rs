//! Sets of rights, as seen by a caller: every operation on a resource with random sets. The rights required by each
//! operation are also in the table of `access::operation`; here they are tested through the operations.

use cenote_store::{
    AccessChange, AttributeChange, AvuChange, Caller, Conditions, CopyOptions, CreateOptions,
    Draft, ErrorKind, Expected, ListOptions, MoveOptions, NewTicket, NewVersion, Prune, PutOptions,
    ReplicaChange, Result, Retention, Rights, Scope, Store, Time, Versioning, Where,
};
use proptest::prelude::*;

use crate::world::{
    World, any_rights, at, avu, cases, each_right, once, path, run, world_with_places,
};

/// One operation on the object or the collection of its name, on both of which the user has the rights being tested.
struct Case<'a> {
    world: &'a World,
    user: &'a Caller,
    name: &'a str,
}

impl Case<'_> {
    fn store(&self) -> &Store {
        &self.world.store
    }

    fn object(&self) -> String {
        format!("/o/{}", self.name)
    }

    fn collection(&self) -> String {
        format!("/c/{}", self.name)
    }

    fn describe(&self, change: AvuChange) -> Result<()> {
        let object = at(&self.object());
        let changes = [change];
        self.store().change_avus(self.user, &object, &changes, &Conditions::default()).map(drop)
    }

    fn write(&self, position: Where) -> Result<()> {
        let (how, bytes) = ((Conditions::default(), Expected::default()), once(b"x"));
        let how = (&how.0, &how.1);
        run(self.store().write_at(self.user, &at(&self.object()), position, bytes, how)).map(drop)
    }

    fn copy(&self, from: &str, to: &str) -> Result<()> {
        let options = CopyOptions { replace: true, recursive: true, ..CopyOptions::default() };
        self.store().copy(self.user, &at(from), &path(to), options).map(drop)
    }
}

type Operation = (&'static str, &'static str, fn(&Case<'_>) -> Result<()>);

/// Every operation, and the rights that it requires; `|` separates alternatives.
const OPERATIONS: [Operation; 34] = [
    ("stat", "read_description", |case| {
        case.store().stat(case.user, &at(&case.object())).map(drop)
    }),
    ("show-description", "read_description", |case| {
        case.store().graph(case.user, &at(&case.object())).map(drop)
    }),
    ("show-access", "read_description|control", |case| {
        case.store().access(case.user, &at(&case.object())).map(drop)
    }),
    ("show-replicas", "read_description", |case| {
        case.store().replicas(case.user, &at(&case.object())).map(drop)
    }),
    ("read", "read_content", |case| case.world.try_read(case.user, &case.object()).map(drop)),
    ("versions", "read_content", |case| {
        case.store().versions(case.user, &at(&case.object())).map(drop)
    }),
    ("copy", "read_description+read_content", |case| case.copy(&case.object(), "/mine/copy")),
    ("copy-tree", "read_description+list", |case| case.copy(&case.collection(), "/mine/tree")),
    ("copy-over", "write_content+change_description", |case| {
        case.copy("/mine/there", &case.object())
    }),
    ("list", "list", |case| {
        case.store().list(case.user, &at(&case.collection()), &ListOptions::default()).map(drop)
    }),
    ("walk", "list", |case| {
        case.store().walk(case.user, &at(&case.collection()), None, 9).map(drop)
    }),
    ("names", "list", |case| {
        case.store().names(case.user, &at(&case.collection()), true, None, 9).map(drop)
    }),
    ("usage", "list", |case| case.store().usage(case.user, &at(&case.collection())).map(drop)),
    ("usage-of-object", "read_description", |case| {
        case.store().usage(case.user, &at(&case.object())).map(drop)
    }),
    ("add", "read_description+add_description", |case| {
        case.describe(AvuChange::Add(avu("a", "b")))
    }),
    ("set", "read_description+change_description", |case| {
        case.describe(AvuChange::Set(avu("k", "w")))
    }),
    ("clear", "read_description+remove_description", |case| {
        case.describe(AvuChange::Clear("k".into()))
    }),
    ("mode", "change_description", |case| {
        let change = AttributeChange { mode: Some(0o600), ..AttributeChange::default() };
        case.store().set_attributes(case.user, &at(&case.object()), &change).map(drop)
    }),
    ("note-replica", "change_description", |case| {
        let change = ReplicaChange {
            notes: [("k".to_owned(), Some("v".to_owned()))].into(),
            ..ReplicaChange::default()
        };
        case.store().change_replica(case.user, &at(&case.object()), 0, &change).map(drop)
    }),
    ("mkdir", "create", |case| {
        let to = path(&format!("{}/new", case.collection()));
        let made = case.store().create(case.user, &to, Draft::Collection, CreateOptions::default());
        made.map(drop)
    }),
    ("put-new", "create", |case| {
        let to = format!("{}/new", case.collection());
        case.world.try_put(case.user, &to, b"x", PutOptions::default()).map(drop)
    }),
    ("move-into", "create", |case| {
        let to = path(&format!("{}/new", case.collection()));
        case.store().relocate(case.user, &at("/mine/there"), &to, MoveOptions::default()).map(drop)
    }),
    ("append", "append", |case| case.write(Where::Append)),
    ("write-after", "append", |case| case.write(Where::Offset(9))),
    ("write-at", "write_content", |case| case.write(Where::Offset(0))),
    ("truncate", "write_content", |case| {
        let object = at(&case.object());
        case.store().truncate(case.user, &object, 0, &Conditions::default()).map(drop)
    }),
    ("put-over", "write_content", |case| {
        case.world.try_put(case.user, &case.object(), b"y", PutOptions::default()).map(drop)
    }),
    ("keep-version", "write_content", |case| {
        case.store().keep_version(case.user, &at(&case.object()), &NewVersion::default()).map(drop)
    }),
    ("replicate", "write_content", |case| {
        let place = case.world.place("b");
        run(case.store().replicate(case.user, &at(&case.object()), place)).map(drop)
    }),
    ("move", "remove", |case| {
        let to = path("/mine/moved");
        case.store().relocate(case.user, &at(&case.object()), &to, MoveOptions::default()).map(drop)
    }),
    ("prune", "remove", |case| {
        let prune = Prune::All(Retention::last(0));
        case.store().prune_versions(case.user, &at(&case.object()), &prune).map(drop)
    }),
    ("remove", "remove", |case| {
        case.store().remove(case.user, &at(&case.object()), &Default::default()).map(drop)
    }),
    ("grant", "control", |case| {
        let change = [AccessChange::Inherit(true)];
        case.store().change_access(case.user, &at(&case.object()), &change).map(drop)
    }),
    ("ticket", "control", |case| {
        case.store().add_ticket(case.user, &at(&case.object()), &NewTicket::default()).map(drop)
    }),
];

/// A store with an object and a collection for each operation, on which the user has these rights.
fn granted(rights: Rights) -> (World, Caller) {
    let world = world_with_places();
    let user = world.user("u");
    for to in ["/o", "/c", "/mine"] {
        world.mkdir(to);
    }
    for (name, _, _) in OPERATIONS {
        let object = format!("/o/{name}");
        world.put(&object, b"bytes");
        world.describe(&object, "k", "v");
        world.mkdir(&format!("/c/{name}"));
        grant(&world, &object, rights);
        grant(&world, &format!("/c/{name}"), rights);
    }
    let versioning = Some(Some(Versioning::OnRequest(Retention::default())));
    let change = AttributeChange { versioning, ..AttributeChange::default() };
    world.store.set_attributes(&world.admin, &at("/o"), &change).unwrap();
    grant(&world, "/mine", Rights::OWN);
    world.try_put(&user, "/mine/there", b"there", PutOptions::default()).unwrap();
    (world, user)
}

fn grant(world: &World, what: &str, rights: Rights) {
    world.grant(what, "u", rights, Scope::This);
}

/// Performs every operation with these rights. A refused one changes nothing, and reports the resource as missing only
/// to callers without any right.
fn try_all(rights: Rights) {
    let (world, user) = granted(rights);
    for (name, needs, operation) in OPERATIONS {
        let allowed = needs.split('|').any(|needs| rights.contains(needs.parse().unwrap()));
        let before = world.rows();
        let done = operation(&Case { world: &world, user: &user, name });
        assert_eq!(done.is_ok(), allowed, "{name} with {rights}: {done:?}");
        if let Err(refused) = done {
            let expected = if rights.is_empty() { ErrorKind::NotFound } else { ErrorKind::Denied };
            assert_eq!(refused.kind(), expected, "{name} with {rights}");
            assert_eq!(world.rows(), before, "{name} with {rights} changed something");
        }
    }
}

#[test]
fn each_level_permits_its_operations() {
    cenote_store::Vocabulary::IRODS.names().for_each(|(_, rights)| try_all(rights));
}

#[test]
fn each_right_alone_and_all_others_together_permit_exactly_their_operations() {
    for one in each_right() {
        try_all(one);
        try_all(each_right().filter(|other| !other.contains(one)).collect());
    }
}

proptest! {
    #![proptest_config(cases(8))]
    #[test]
    fn every_set_of_rights_permits_exactly_its_operations(rights in any_rights()) {
        try_all(rights);
    }
}

/// The owner of a resource is recorded in it; their rights are determined by the access list.
#[test]
fn changing_the_owner_and_versions_below_requires_control() {
    let world = world_with_places();
    let user = world.user("u");
    world.mkdir("/c");
    let owner = AttributeChange { owner: Some("u".into()), ..AttributeChange::default() };
    let versioning =
        AttributeChange { versioning: Some(Some(Versioning::Off)), ..AttributeChange::default() };
    let both = AttributeChange { mtime: Some(Time::from_secs(1)), ..owner.clone() };
    for (rights, allowed) in [
        ("delete_object", [false, false, false]),
        ("control", [true, true, false]),
        ("control+change_description", [true, true, true]),
    ] {
        grant(&world, "/c", rights.parse().unwrap());
        for (change, allowed) in [&owner, &versioning, &both].into_iter().zip(allowed) {
            let done = world.store.set_attributes(&user, &at("/c"), change);
            assert_eq!(done.is_ok(), allowed, "{rights} {change:?}");
        }
    }
}
