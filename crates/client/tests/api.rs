//! Typed calls against the real server in this process: by path and by id alike.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use bytes::Bytes;
use cenote_client::{
    Address, At, Avu, ChangeKind, Client, CrcDigest, Destination, Event, HttpTransport, Kind,
    LocalBytes, LocalPiece, MetaOperation, NewResource, NewStage, NewUpload, Patch, PutOptions,
    ReadOptions, Relocation, Removal, Resource, ResourceKind, Retry, ServiceTransport,
    Sha256Digest, StageFrom, With, XattrMode,
};
use cenote_server::embedded::{Embedded, init_dir};
use cenote_server::{Config, Limits, LocalCaller, router};
use futures_util::{StreamExt, TryStreamExt};

/// A store in a directory, and its administrator's client.
fn client(dir: &tempfile::TempDir) -> (Embedded, Client) {
    let store = init_dir(dir.path().join("store"), "ada", "a secret of the tests").unwrap();
    let admin = LocalCaller::administrator(store.store()).unwrap();
    let limits = Limits { local_file_leases: 10, ..Limits::default() };
    let routes = router(store.store().clone(), &Config { limits, ..Config::default() });
    let client = Client::new(ServiceTransport::new(routes.layer(axum::Extension(admin))));
    (store, client)
}

async fn put(client: &Client, path: &str, bytes: &'static [u8]) -> Resource {
    let options = PutOptions { parents: true, ..PutOptions::default() };
    client.put_bytes(path, Bytes::from_static(bytes), &options).await.unwrap()
}

async fn read(client: &Client, at: &At) -> Vec<u8> {
    let content = client.read(at, &ReadOptions::default()).await.unwrap();
    content.into_stream().try_collect::<Vec<Bytes>>().await.unwrap().concat()
}

#[tokio::test]
async fn contents_are_read_and_written_by_path_and_by_id() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, client) = client(&dir);
    let id = put(&client, "/lab/a", b"hello").await.id;
    for at in [At::from("/lab/a"), At::Id(id)] {
        client.put_bytes(&at, "hello".into(), &PutOptions::default()).await.unwrap();
        let tag = client.patch(&at, &Patch::Append(" there".into()), None).await.unwrap().etag;
        assert_eq!(read(&client, &at).await, b"hello there");
        let tag = tag.as_deref();
        client.patch(&at, &Patch::Write(13, "!".into()), tag).await.unwrap();
        let stale = client.patch(&at, &Patch::Truncate(0), tag).await.unwrap_err();
        assert_eq!(stale.kind(), Kind::Precondition);
        client.patch(&at, &Patch::Truncate(14), None).await.unwrap();
        assert_eq!(read(&client, &at).await, b"hello there\0\0!");
    }
    let new = NewUpload {
        at: At::Id(id),
        size: 5,
        media_type: None,
        mode: None,
        mtime: None,
        if_match: None,
        if_none_match: None,
        parents: false,
        place: None,
    };
    let upload = client.begin_upload(&new).await.unwrap();
    client.put_part(&upload, 0, "parts".into(), CrcDigest::of(b"parts")).await.unwrap();
    client.complete_upload(&upload).await.unwrap();
    assert_eq!(read(&client, &At::from("/lab/a")).await, b"parts");
    client.remove(At::Id(id), &Removal::default()).await.unwrap();
    assert_eq!(client.stat(&At::Id(id)).await.unwrap_err().kind(), Kind::NotFound);
}

#[tokio::test]
async fn contents_are_put_found_and_staged_by_a_name_in_a_collection() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, client) = client(&dir);
    put(&client, "/lab/first", b"x").await;
    let parent = client.stat(&"/lab".into()).await.unwrap().id;
    let child = |name: &str| Address::Child { parent, name: name.to_owned() };
    let name = "a b&c=%/+".replace('/', "ü");
    assert!(client.find_child(parent, &name).await.unwrap().is_none());
    let options = PutOptions { create_only: true, ..PutOptions::default() };
    let made = client.put_bytes(child(&name), "hello".into(), &options).await.unwrap();
    assert_eq!(made.path, format!("/lab/{name}"));
    assert_eq!(client.find_child(parent, &name).await.unwrap().unwrap().id, made.id);
    let again = client.put_bytes(child(&name), "other".into(), &options).await.unwrap_err();
    assert_eq!(again.kind(), Kind::Precondition);
    let new = NewStage {
        at: child("staged"),
        from: StageFrom::Nothing,
        media_type: None,
        mode: Some(0o600),
        if_match: None,
        if_none_match: None,
    };
    let stage = client.begin_stage(&new).await.unwrap();
    let parts = ["one ", "two ", "three"].map(|part| Ok(Bytes::from_static(part.as_bytes())));
    let size = client.write_stage(&stage.id, 2, futures_util::stream::iter(parts)).await.unwrap();
    assert_eq!(size, 15);
    let made = client.publish_stage(&stage.id, None, false).await.unwrap();
    assert_eq!((made.path.as_str(), made.mode), ("/lab/staged", Some(0o600)));
    assert_eq!(read(&client, &At::Id(made.id)).await, b"\0\0one two three");
    let missing = Address::Child { parent: 999_999, name: "x".to_owned() };
    let refused = client.put_bytes(missing, "x".into(), &PutOptions::default()).await.unwrap_err();
    assert_eq!(refused.kind(), Kind::NotFound);
}

#[tokio::test]
async fn a_stage_is_written_read_and_published_over_its_initial_content() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, client) = client(&dir);
    let id = put(&client, "/lab/a", b"hello").await.id;
    let new = |at: At, from| NewStage {
        at: at.into(),
        from,
        media_type: None,
        mode: None,
        if_match: None,
        if_none_match: None,
    };
    let stage = client.begin_stage(&new(At::Id(id), StageFrom::Object)).await.unwrap();
    assert_eq!(stage.size, 5);
    let patch = async |patch| client.patch_stage(&stage.id, &patch).await.unwrap();
    assert_eq!(patch(Patch::Append(" there".into())).await, 11);
    assert_eq!(patch(Patch::Write(0, "J".into())).await, 11);
    assert_eq!(patch(Patch::Truncate(8)).await, 8);
    let ranges = [(0, "H".into()), (1, "E".into()), (6, "TH".into())];
    assert_eq!(client.write_stage_ranges(&stage.id, &ranges).await.unwrap(), 8);
    let staged = async |range| {
        let content = client.read_stage(&stage.id, range).await.unwrap();
        content.into_stream().try_collect::<Vec<Bytes>>().await.unwrap().concat()
    };
    assert_eq!(staged(None).await, b"HEllo TH");
    assert_eq!(staged(Some(2..5)).await, b"llo");
    assert_eq!(staged(Some(0..1)).await, b"H");
    assert_eq!(read(&client, &At::Id(id)).await, b"hello");
    put(&client, "/lab/a", b"others").await;
    let publish = async |digest, force| client.publish_stage(&stage.id, digest, force).await;
    let changed = publish(None, false).await.unwrap_err();
    assert_eq!(changed.kind(), Kind::Precondition);
    assert!(changed.hint().unwrap().contains("force"), "{changed:?}");
    let wrong = publish(Some(Sha256Digest::of(b"x")), true).await.unwrap_err();
    assert_eq!(wrong.kind(), Kind::Mismatch);
    let published = publish(Some(Sha256Digest::of(b"HEllo TH")), true).await.unwrap();
    assert_eq!((published.id, published.size), (id, Some(8)));
    assert_eq!(read(&client, &At::Id(id)).await, b"HEllo TH");
    let stage = client.begin_stage(&new("/lab/new".into(), StageFrom::Nothing)).await.unwrap();
    client.patch_stage(&stage.id, &Patch::Write(2, "x".into())).await.unwrap();
    client.publish_stage(&stage.id, None, false).await.unwrap();
    assert_eq!(read(&client, &"/lab/new".into()).await, b"\0\0x");
    let stage = client.begin_stage(&new("/lab/new".into(), StageFrom::Nothing)).await.unwrap();
    client.abandon_upload(&stage.id).await.unwrap();
    assert_eq!(client.read_stage(&stage.id, None).await.unwrap_err().kind(), Kind::NotFound);
}

#[tokio::test]
async fn listings_and_walks_are_paged_and_include_the_requested_details() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, client) = client(&dir);
    for path in ["/lab/a", "/lab/b", "/lab/c/d"] {
        put(&client, path, b"x").await;
    }
    let lab = At::Id(client.stat(&"/lab".into()).await.unwrap().id);
    let avu = Avu { attribute: "k".into(), value: "v".into(), unit: None };
    client.change_meta(&"/lab/b".into(), &[MetaOperation::Add(avu.clone())]).await.unwrap();
    let with = With { description: true, xattrs: true, level: true };
    let all: Vec<_> = client.list_with(&lab, with).try_collect().await.unwrap();
    assert_eq!(
        all.iter().map(|entry| &*entry.path).collect::<Vec<_>>(),
        ["/lab/a", "/lab/b", "/lab/c"]
    );
    assert_eq!((&all[0].description, &all[1].description), (&Some(vec![]), &Some(vec![avu])));
    assert_eq!(all[1].xattrs.as_ref().unwrap()[0].bytes().unwrap(), "v");
    assert_eq!(all[2].level.as_deref(), Some("own"));
    let (mut walked, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = client.walk_page(&lab, after.as_deref(), 3).await.unwrap();
        let is_last = page.len() < 3;
        walked.extend(page.into_iter().map(|entry| entry.path));
        after = walked.last().cloned();
        if is_last {
            break;
        }
    }
    assert_eq!(walked, ["/lab/a", "/lab/b", "/lab/c", "/lab/c/d"]);
}

#[tokio::test]
async fn extended_attributes_have_any_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, client) = client(&dir);
    let at = At::Id(put(&client, "/a", b"x").await.id);
    for value in [&b"text"[..], b"\x00\xff", b""] {
        let value = Bytes::from_static(value);
        client.set_xattr(&at, "a b/ü", value.clone(), XattrMode::Any).await.unwrap();
        assert_eq!(client.xattr(&at, "a b/ü").await.unwrap(), value);
        let all = client.xattrs(&at).await.unwrap();
        assert_eq!((&*all[0].name, all[0].bytes().unwrap()), ("a b/ü", value));
    }
    let set = async |name, mode| client.set_xattr(&at, name, "v".into(), mode).await;
    assert_eq!(set("a b/ü", XattrMode::Create).await.unwrap_err().kind(), Kind::Precondition);
    assert_eq!(set("new", XattrMode::Replace).await.unwrap_err().kind(), Kind::Precondition);
    set("new", XattrMode::Create).await.unwrap();
    client.remove_xattr(&at, "a b/ü").await.unwrap();
    assert_eq!(client.xattr(&at, "a b/ü").await.unwrap_err().kind(), Kind::NotFound);
}

#[tokio::test]
async fn new_resources_are_named_by_collection_and_name() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, client) = client(&dir);
    put(&client, "/lab/a", b"x").await;
    let parent = client.stat(&At::from("/lab")).await.unwrap().id;
    let child = |name: &str| Destination::Child { parent, name: name.to_owned() };
    let new = |to: Destination| NewResource {
        to,
        kind: ResourceKind::Collection,
        target: None,
        parents: false,
        exist_ok: false,
        mode: None,
        mtime: None,
    };
    assert_eq!(client.create(&new(child("in"))).await.unwrap().path, "/lab/in");
    assert_eq!(client.create(&new("/lab/by path".into())).await.unwrap().path, "/lab/by path");
    let moved = Relocation {
        from: "/lab/a".into(),
        to: child("b"),
        replace: false,
        parents: false,
        versions: false,
    };
    assert_eq!(client.relocate(&moved).await.unwrap().path, "/lab/b");
    let copied = Relocation { from: "/lab/b".into(), to: child("c"), ..moved };
    assert_eq!(client.copy(&copied, false).await.unwrap().path, "/lab/c");
}

#[tokio::test]
async fn changes_are_followed_over_lost_connections() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, client) = client(&dir);
    put(&client, "/lab/a", b"x").await;
    let lab = At::from("/lab");
    let mut events = Box::pin(client.follow(Some(lab.clone()), Some("now".into())));
    let Event::Position(begun) = events.next().await.unwrap().unwrap() else { panic!("a change") };
    put(&client, "/elsewhere", b"x").await;
    let moved = Relocation {
        from: "/lab/a".into(),
        to: "/lab/b".into(),
        replace: false,
        parents: false,
        versions: false,
    };
    client.relocate(&moved).await.unwrap();
    let change = loop {
        match events.next().await.unwrap().unwrap() {
            Event::Change(change) => break change,
            Event::Access(position) => panic!("nothing was revoked: {position}"),
            Event::Position(position) => assert!(position > begun),
        }
    };
    assert_eq!((change.kind, &*change.name), (ChangeKind::Moved, "b"));
    assert_eq!(change.from.as_ref().unwrap().name, "a");
    drop(events);
    // The same changes as a page; and a stream that starts after it reports the later ones.
    let page = client.changes(Some(&lab), Some(&begun), 0).await.unwrap();
    assert_eq!(page.items, std::slice::from_ref(&change));
    put(&client, "/lab/c", b"x").await;
    let mut events = Box::pin(client.follow(Some(lab), Some(change.position)));
    let Event::Change(next) = events.next().await.unwrap().unwrap() else { panic!("no change") };
    assert_eq!((next.kind, &*next.name), (ChangeKind::Created, "c"));
    let mut gone = Box::pin(client.follow(Some("/none".into()), None));
    assert_eq!(gone.next().await.unwrap().unwrap_err().kind(), Kind::NotFound);
}

#[tokio::test]
async fn the_files_of_a_content_are_read_without_the_server_while_they_are_leased() {
    let dir = tempfile::tempdir().unwrap();
    let (store, client) = client(&dir);
    let bytes: Vec<u8> = (0..300_000_u32).map(|n| (n >> 3) as u8).collect();
    let at = At::Id(put(&client, "/a", &[]).await.id);
    client.put_bytes(&at, bytes.clone().into(), &PutOptions::default()).await.unwrap();
    let lease = client.lease(&at, 60).await.unwrap();
    let [LocalPiece { offset: 0, length: 300_000, bytes: LocalBytes::File { file, start: 0 } }] =
        &lease.pieces[..]
    else {
        panic!("one file: {lease:?}")
    };
    client.put_bytes(&at, "another".into(), &PutOptions::default()).await.unwrap();
    store.store().maintain_once(&Default::default()).await.unwrap();
    assert!(std::fs::read(file).unwrap() == bytes);
    assert!(client.renew_lease(&lease.lease, 600).await.unwrap() > lease.until);
    client.end_lease(&lease.lease).await.unwrap();
    store.store().maintain_once(&Default::default()).await.unwrap();
    assert!(!file.exists(), "nobody needs it any more");
    let over = client.renew_lease(&lease.lease, 60).await.unwrap_err();
    assert_eq!(over.kind(), Kind::NotFound);
    let small = client.lease(&at, 60).await.unwrap().pieces;
    assert_eq!(small, [LocalPiece { offset: 0, length: 7, bytes: LocalBytes::Server }]);
}

#[tokio::test]
async fn a_request_without_a_connection_was_not_sent() {
    let once = |address: std::net::SocketAddr| {
        let transport = HttpTransport::new(&format!("http://{address}"), None).unwrap();
        Client::new(transport).with_retry(Retry { attempts: 1, ..Retry::default() })
    };
    // Nobody listens there, nor can anybody else.
    let closed = tokio::net::TcpSocket::new_v4().unwrap();
    closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let refused = once(closed.local_addr().unwrap()).whoami().await.unwrap_err();
    assert!(refused.kind() == Kind::Unreachable && refused.is_unsent(), "{refused}");
    let open = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = once(open.local_addr().unwrap());
    let accept = async {
        let (connection, _) = open.accept().await.unwrap();
        connection.readable().await.unwrap();
    };
    let (lost, ()) = tokio::join!(client.whoami(), accept);
    let lost = lost.unwrap_err();
    assert!(lost.kind() == Kind::Unreachable && !lost.is_unsent(), "{lost}");
}
