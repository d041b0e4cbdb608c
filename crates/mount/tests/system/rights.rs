//! Rights that end, or begin, while a store is mounted.

use std::time::Duration;

use cenote_client::{At, Credential, Destination, NewTicket, NewToken, Relocation, UserChange};
use cenote_mount::{Fault, Options, Stale};
use tokio::time::timeout;

use crate::support::{Mount, ROOT, World, options};

/// The longest that a test waits for what no position reports, on a machine under load. The server shows that a stream is alive after 15
/// seconds, and ends it after 300.
const PATIENCE: Duration = Duration::from_secs(12);

async fn until_refused(mount: &Mount, path: &str) {
    let refused = async { while mount.read(path).await.is_ok() {} };
    timeout(PATIENCE, refused).await.expect("what was read before is no longer shown");
}

async fn errno(mount: &Mount, path: &str) -> i32 {
    mount.read(path).await.unwrap_err().errno
}

impl World {
    pub(crate) async fn move_to(&self, from: &str, to: &str) {
        let relocation = Relocation {
            from: At::Path(from.to_owned()),
            to: Destination::Path(to.to_owned()),
            replace: false,
            parents: false,
            versions: false,
        };
        self.client.relocate(&relocation).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_group_may_see_is_shown_to_its_members_only_while_they_are() {
    let world = World::new();
    world.put("/lab/a", "one").await;
    world.client.add_group("lab").await.unwrap();
    world.grant("lab", "/lab", "read").await;
    let mut mount = world.mount_of_login("ben", options()).await;
    assert_eq!(errno(&mount, "/lab/a").await, libc::ENOENT);
    assert!(mount.system.lacks(ROOT, "lab"), "the kernel keeps that it is missing");
    let ben = ["ben".to_owned()];
    world.client.change_group("lab", &ben, &[]).await.unwrap();
    world.settle(&mount).await;
    assert_eq!(mount.read("/lab/a").await.unwrap(), b"one");
    assert!(mount.dropped().contains(&Stale::Entry(ROOT, "lab".into())));
    let file = mount.find("/lab/a").await.unwrap();
    let open = mount.system.open_file(file, false).await.unwrap().handle;
    world.client.change_group("lab", &[], &ben).await.unwrap();
    world.settle(&mount).await;
    assert_eq!(errno(&mount, "/lab/a").await, libc::ENOENT);
    assert!(!mount.names("/").await.unwrap().contains(&"lab".to_owned()));
    assert!(mount.system.read(open, 0, 10).await.is_err(), "also where it was open");
    assert!(mount.dropped().contains(&Stale::Content(file)));
    // The stream was opened again: later changes are reported, too.
    world.client.change_group("lab", &ben, &[]).await.unwrap();
    world.settle(&mount).await;
    assert_eq!(mount.read("/lab/a").await.unwrap(), b"one");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_role_may_see_is_shown_only_to_those_who_have_it() {
    let world = World::new();
    world.put("/lab/a", "one").await;
    world.grant("role:groupadmin", "/lab", "read").await;
    let mount = world.mount_of_login("ben", options()).await;
    let change = async |role: &str| {
        let change = UserChange { name: "ben".into(), password: None, role: Some(role.into()) };
        world.client.change_user(&change).await.unwrap();
        world.settle(&mount).await;
    };
    assert_eq!(errno(&mount, "/lab/a").await, libc::ENOENT);
    change("groupadmin").await;
    assert_eq!(mount.read("/lab/a").await.unwrap(), b"one");
    change("user").await;
    assert_eq!(errno(&mount, "/lab/a").await, libc::ENOENT);
    change("admin").await;
    assert_eq!(mount.read("/lab/a").await.unwrap(), b"one");
    change("user").await;
    assert_eq!(errno(&mount, "/lab/a").await, libc::ENOENT);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_shown_after_a_token_was_revoked_or_a_password_changed() {
    let world = World::new();
    world.put("/lab/a", "one").await;
    let new = NewToken { label: "robot".into(), ..Default::default() };
    let made = world.client.add_token(&new).await.unwrap();
    let text = |name: &str| made[name].to_string().trim_matches('"').to_owned();
    let token = world.client_of(Credential::Token(text("token")));
    let mount = world.mount_as(token, options()).await;
    assert_eq!(mount.read("/lab/a").await.unwrap(), b"one");
    world.client.remove_token(&text("id")).await.unwrap();
    until_refused(&mount, "/lab/a").await;
    let mount = world.mount_of_login("ben", options()).await;
    world.grant("ben", "/lab", "read").await;
    world.settle(&mount).await;
    assert_eq!(mount.read("/lab/a").await.unwrap(), b"one");
    let password = Some("another".to_owned());
    let change = UserChange { name: "ben".into(), password, role: None };
    world.client.change_user(&change).await.unwrap();
    until_refused(&mount, "/lab/a").await;
}

/// A store where Ben reads what is in `/open`, and sees what is in `/closed`.
async fn two_places() -> World {
    let world = World::new();
    for path in ["/open/run/deep/a", "/closed/other"] {
        world.put(path, "one").await;
    }
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moved_collection_is_shown_with_the_rights_of_where_it_is() {
    let world = two_places().await;
    let mount = world.mount_of_login("ben", options()).await;
    world.grant("ben", "/open", "read").await;
    world.grant("ben", "/closed", "read_description+list").await;
    world.settle(&mount).await;
    assert_eq!(mount.read("/open/run/deep/a").await.unwrap(), b"one");
    let file = mount.find("/open/run/deep/a").await.unwrap();
    let open = mount.system.open_file(file, false).await.unwrap().handle;
    world.move_to("/open/run", "/closed/run").await;
    world.settle(&mount).await;
    assert_eq!(mount.names("/closed/run/deep").await.unwrap(), ["a"]);
    assert_eq!(errno(&mount, "/closed/run/deep/a").await, libc::EACCES);
    assert!(mount.system.read(open, 0, 10).await.is_err(), "also where it was open");
    world.move_to("/closed/run", "/open/again").await;
    world.settle(&mount).await;
    assert_eq!(mount.read("/open/again/deep/a").await.unwrap(), b"one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mount_that_is_moved_with_a_collection_above_it_has_the_rights_of_where_it_is() {
    let world = two_places().await;
    let nobody = world.mount_of_login("ben", options()).await;
    drop(nobody);
    world.grant("ben", "/open", "read").await;
    world.grant("ben", "/closed", "read_description+list").await;
    let login = |root: &str| {
        let (user, password) = ("ben".to_owned(), "a secret of theirs".to_owned());
        let client = world.client_of(Credential::Password { user, password });
        world.mount_as(client, Options { root: root.into(), ..options() })
    };
    let (above, top) = (login("/open/run/deep").await, login("/open/run").await);
    assert_eq!(above.read("/a").await.unwrap(), b"one");
    assert_eq!(top.read("/deep/a").await.unwrap(), b"one");
    world.move_to("/open/run", "/closed/run").await;
    for (mount, path) in [(&above, "/a"), (&top, "/deep/a")] {
        world.settle(mount).await;
        assert_eq!(errno(mount, path).await, libc::EACCES, "{path}");
    }
}

/// The kernel keeps that a name is missing, whether it was looked up or all names were listed.
#[tokio::test(flavor = "multi_thread")]
async fn a_grant_shows_what_was_missing_before() {
    let world = World::new();
    for path in ["/open/x", "/open/in/secret", "/lab/a"] {
        world.put(path, "one").await;
    }
    let mut mount = world.mount_of_reader("ben", "/open").await;
    assert!(!mount.names("/").await.unwrap().contains(&"lab".to_owned()));
    assert_eq!(errno(&mount, "/lab/a").await, libc::ENOENT);
    assert!(mount.system.lacks(ROOT, "lab"));
    mount.dropped();
    world.grant("ben", "/lab", "read").await;
    world.settle(&mount).await;
    assert!(mount.dropped().contains(&Stale::Entry(ROOT, "lab".into())));
    assert_eq!(mount.read("/lab/a").await.unwrap(), b"one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_could_not_be_published_is_not_created() {
    let world = World::new();
    world.put("/lab/in/a", "one").await;
    let mount = world.mount_of_login("ben", options()).await;
    world.grant("ben", "/lab", "read").await;
    world.settle(&mount).await;
    let (lab, below) = (mount.find("/lab").await.unwrap(), mount.find("/lab/in").await.unwrap());
    for dir in [lab, below] {
        let refused = mount.system.create(dir, "new", 0o644, false).await.unwrap_err();
        assert_eq!(refused.errno, libc::EACCES);
    }
    assert_eq!(mount.names("/lab").await.unwrap(), ["in"]);
    world.grant("ben", "/lab", "read+create").await;
    world.settle(&mount).await;
    let (_, open) = mount.system.create(below, "new", 0o644, false).await.unwrap();
    mount.system.flush(open.handle).await.unwrap();
    mount.system.release(open.handle).await;
    assert_eq!(world.get("/lab/in/new").await, b"");
    world.grant("ben", "/lab", "read").await;
    world.settle(&mount).await;
    let refused = mount.system.create(below, "another", 0o644, false).await.unwrap_err();
    assert_eq!(
        refused.errno,
        libc::EACCES,
        "a permission is not remembered for longer than it lasts"
    );
}

/// A ticket for `/lab`, and a mount of it without a login.
async fn with_ticket(world: &World, level: &str) -> (Mount, String) {
    let new = NewTicket {
        path: "/lab".into(),
        level: level.into(),
        uses: None,
        expires_in: None,
        bytes: None,
        writes: None,
        persons: Vec::new(),
        hosts: Vec::new(),
    };
    let made = world.client.add_ticket(&new).await.unwrap();
    let ticket = made["ticket"].as_str().unwrap().to_owned();
    let client = world.stranger().with_ticket(&ticket).unwrap();
    (world.mount_as(client, Options { root: "/lab".into(), ..options() }).await, ticket)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_opens_its_collection_until_it_is_removed() {
    let world = World::new();
    world.put("/lab/in/a", "one").await;
    world.put("/private", "secret").await;
    let (reader, ticket) = with_ticket(&world, "read").await;
    assert_eq!(reader.names("/").await.unwrap(), ["in"]);
    assert_eq!(reader.read("/in/a").await.unwrap(), b"one");
    let refused = reader.system.create(ROOT, "new", 0o644, false).await.unwrap_err();
    assert_eq!(refused.errno, libc::EACCES);
    let (writer, _) = with_ticket(&world, "write").await;
    writer.write_new("new", "two").await.unwrap();
    assert_eq!(world.get("/lab/new").await, b"two");
    world.settle(&reader).await;
    assert_eq!(reader.read("/new").await.unwrap(), b"two");
    world.client.remove_ticket(&ticket).await.unwrap();
    until_refused(&reader, "/in/a").await;
    assert_eq!(writer.read("/new").await.unwrap(), b"two", "another ticket");
}

/// Such as behind a proxy that does not let the feed through: everything is requested each time.
#[tokio::test(flavor = "multi_thread")]
async fn a_mount_without_the_change_feed_shows_the_present_state() {
    let world = World::new();
    world.put("/lab/a", "one").await;
    world.gate.set(|weather| weather.forbidden = Some("/v1/changes".into()));
    let mount = world.mount().await;
    assert!(!mount.system.is_followed());
    assert_eq!(mount.names("/lab").await.unwrap(), ["a"]);
    assert_eq!(mount.read("/lab/a").await.unwrap(), b"one");
    assert_eq!(errno(&mount, "/lab/b").await, libc::ENOENT);
    let lab = mount.find("/lab").await.unwrap();
    assert!(!mount.system.lacks(lab, "b"), "the kernel keeps nothing");
    assert!(!mount.system.lookup(lab, "a").await.unwrap().keep);
    world.put("/lab/a", "another").await;
    world.put("/lab/b", "new").await;
    assert_eq!(mount.read("/lab/a").await.unwrap(), b"another");
    assert_eq!(mount.read("/lab/b").await.unwrap(), b"new");
    assert_eq!(mount.names("/lab").await.unwrap(), ["a", "b"]);
    world.client.remove("/lab/b", &Default::default()).await.unwrap();
    assert_eq!(errno(&mount, "/lab/b").await, libc::ENOENT);
    mount.write_new("mine", "three").await.unwrap();
    assert_eq!(world.get("/mine").await, b"three");
    assert_eq!(mount.read("/mine").await.unwrap(), b"three");
    world.put("/mine", "four").await;
    assert_eq!(mount.read("/mine").await.unwrap(), b"four");
    world.client.remove("/mine", &Default::default()).await.unwrap();
    assert_eq!(mount.names("/").await.unwrap(), ["lab"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_may_not_be_written_to_is_refused_when_it_is_opened() {
    let world = World::new();
    world.put("/lab/a", "one").await;
    let mount = world.mount_of_login("ben", options()).await;
    world.grant("ben", "/lab", "read").await;
    world.settle(&mount).await;
    let open = async |write| {
        let ino = mount.find("/lab/a").await?;
        let opened = mount.system.open_file(ino, write).await?.handle;
        mount.system.release(opened).await;
        Ok::<(), Fault>(())
    };
    assert!(open(false).await.is_ok());
    let create = async || mount.system.create(mount.find("/lab").await?, "a", 0o644, false).await;
    assert_eq!(open(true).await.unwrap_err().errno, libc::EACCES);
    assert_eq!(create().await.unwrap_err().errno, libc::EACCES);
    for (level, allowed) in
        [("write", true), ("read", false), ("read+append", false), ("own", true)]
    {
        world.grant("ben", "/lab", level).await;
        world.settle(&mount).await;
        // Its attributes, with the level, are requested again.
        assert_eq!(open(true).await.map_err(|fault| fault.errno).is_ok(), allowed, "{level}");
    }
    // Where it is allowed, that costs nothing.
    let own = world.mount().await;
    let ino = own.find("/lab/a").await.unwrap();
    world.gate.sent();
    let opened = own.system.open_file(ino, true).await.unwrap().handle;
    own.system.flush(opened).await.unwrap();
    own.system.release(opened).await;
    assert_eq!(world.gate.sent(), Vec::<String>::new());
}
