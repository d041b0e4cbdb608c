//! Media types: explicit ones, otherwise a guess from the name and the first bytes, made when a content is published,
//! by whatever operation.

use std::collections::BTreeMap;
use std::io::Write as _;

use cenote_store::{
    AttributeChange, BatchItem, BatchWhat, Conditions, CopyOptions, Expected, PutOptions, Received,
    Registration, Retention, Stat, UploadOptions, Versioning, Where,
};
use proptest::prelude::*;
use proptest::sample::select;

use crate::uploads::{begin, complete, part};
use crate::world::{World, assert_clean, at, cases, noise, path, run, world, world_with_places};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

/// The recorded media type, with `?` after a guess.
fn shown(stat: &Stat) -> String {
    let content = stat.resource.content.as_ref().unwrap();
    assert!(content.media_type.is_some() || !content.media_type_guessed);
    let text = content.media_type.clone().unwrap_or_default();
    if content.media_type_guessed { text + "?" } else { text }
}

fn kind(world: &World, of: &str) -> String {
    shown(&world.stat(of).unwrap())
}

fn with_type(text: &str) -> PutOptions {
    PutOptions { media_type: Some(text.into()), ..PutOptions::default() }
}

fn set(world: &World, of: &str, text: Option<&str>) -> String {
    let media_type = Some(text.map(str::to_owned));
    let change = AttributeChange { media_type, ..AttributeChange::default() };
    shown(&world.store.set_attributes(&world.admin, &at(of), &change).unwrap())
}

#[test]
fn explicit_types_stay_and_guesses_are_renewed_when_the_content_is_replaced() {
    let world = world();
    assert_eq!(shown(&world.put("/a.csv", b"a,b")), "text/csv?");
    assert_eq!(shown(&world.put("/a.csv", PNG)), "image/png?");
    assert_eq!(shown(&world.put("/a.csv", b"\0\x01")), "");
    assert_eq!(shown(&world.put("/a.csv", b"")), "text/csv?");
    let put = |options| world.try_put(&world.admin, "/a.csv", b"a,b", options).unwrap();
    assert_eq!(shown(&put(with_type("text/x"))), "text/x");
    assert_eq!(shown(&world.put("/a.csv", PNG)), "text/x");
    assert_eq!(shown(&put(with_type("text/y"))), "text/y");
    assert_eq!(set(&world, "/a.csv", Some("text/z")), "text/z");
    assert_eq!(shown(&world.put("/a.csv", PNG)), "text/z");
    // The explicit type is removed.
    assert_eq!(set(&world, "/a.csv", None), "");
    assert_eq!(shown(&world.put("/a.csv", b"a,b")), "text/csv?");
    // A type that equals the guess is still explicit.
    assert_eq!(set(&world, "/a.csv", Some("text/csv")), "text/csv");
    assert_eq!(shown(&world.put("/a.csv", PNG)), "text/csv");
    assert_clean(&world.store);
}

#[test]
fn renames_copies_and_versions_keep_guesses() {
    let world = world();
    let keep = Some(Some(Versioning::EachChange(Retention::default())));
    let change = AttributeChange { versioning: keep, ..AttributeChange::default() };
    world.store.set_attributes(&world.admin, &at("/"), &change).unwrap();
    world.put("/a.csv", b"a,b");
    world.mv("/a.csv", "/a.json").unwrap();
    assert_eq!(kind(&world, "/a.json"), "text/csv?");
    world.cp("/a.json", "/b.md").unwrap();
    assert_eq!(kind(&world, "/b.md"), "text/csv?");
    world.put("/c.md", b"# c");
    let options = CopyOptions { replace: true, ..CopyOptions::default() };
    world.store.copy(&world.admin, &at("/a.json"), &path("/c.md"), options).unwrap();
    assert_eq!(kind(&world, "/c.md"), "text/csv?");
    // The next content is guessed from the current name.
    assert_eq!(shown(&world.put("/a.json", b"{}")), "application/json?");
    assert_eq!(shown(&world.put("/c.md", b"# c")), "text/markdown?");
    let versions = world.store.versions(&world.admin, &at("/a.json")).unwrap();
    let content = versions[0].content.clone().unwrap();
    assert_eq!(
        (content.media_type.as_deref(), content.media_type_guessed),
        (Some("text/csv"), true)
    );
    let at_path = at("/a.json");
    let restored =
        world.store.restore_version(&world.admin, &at_path, versions[0].version).unwrap();
    assert_eq!(shown(&restored), "text/csv?");
    assert_clean(&world.store);
}

#[test]
fn a_guess_belongs_to_the_content_and_an_explicit_type_to_the_description() {
    let world = world();
    let tag = |stat: &Stat| stat.description_tag();
    let first = world.put("/a.csv", b"a,b");
    let second = world.put("/a.csv", PNG);
    assert_ne!(shown(&first), shown(&second));
    assert_eq!(tag(&first), tag(&second));
    let third = world.try_put(&world.admin, "/a.csv", PNG, with_type("image/png")).unwrap();
    assert_ne!(tag(&second), tag(&third));
    let fourth = world.put("/a.csv", b"a,b");
    assert_eq!((tag(&third), shown(&fourth)), (tag(&fourth), "image/png".into()));
}

#[test]
fn writes_in_place_keep_the_type_except_for_the_first_bytes_of_an_empty_object() {
    let world = world();
    world.put("/a", b"words");
    world.write_at("/a", Where::Offset(0), PNG).unwrap();
    assert_eq!(kind(&world, "/a"), "text/plain?");
    world.truncate("/a", 0).unwrap();
    world.write_at("/a", Where::Append, PNG).unwrap();
    assert_eq!(kind(&world, "/a"), "image/png?");
    world.put("/b", b"");
    world.write_at("/b", Where::Offset(1), b"words").unwrap();
    assert_eq!(kind(&world, "/b"), "", "it begins with a zero");
    world.try_put(&world.admin, "/c", b"", with_type("text/x")).unwrap();
    world.write_at("/c", Where::Append, PNG).unwrap();
    assert_eq!(kind(&world, "/c"), "text/x");
    assert_clean(&world.store);
}

#[test]
fn copying_a_description_copies_explicit_types_but_no_guesses() {
    let world = world();
    let copy = |from: &str, to: &str| {
        let any = Conditions::default();
        let stat = world.store.copy_description(&world.admin, &at(from), &at(to), &any);
        shown(&stat.unwrap())
    };
    world.try_put(&world.admin, "/said", b"a", with_type("text/x")).unwrap();
    world.put("/a.csv", b"a,b");
    world.put("/a.png", PNG);
    assert_eq!(copy("/a.csv", "/a.png"), "image/png?");
    assert_eq!(copy("/said", "/a.png"), "text/x");
    assert_eq!(copy("/a.csv", "/a.png"), "text/csv?");
    assert_eq!(shown(&world.put("/a.png", PNG)), "image/png?");
}

#[test]
fn every_kind_of_write_gets_the_same_guess() {
    let world = world_with_places();
    let text = "é,b\n".repeat(3_000);
    for (n, bytes) in
        [b"".as_slice(), b"a", PNG, &noise(300, 1), text.as_bytes()].iter().enumerate()
    {
        let name = |way: &str| format!("/{way}{n}.csv");
        let expected = shown(&world.put(&name("put"), bytes));
        assert_eq!(shown(&world.put_in("a", &name("place"), bytes)), expected);
        let received = Received::inline(bytes, &Expected::default()).unwrap();
        let what = BatchWhat::Object(Box::new(received));
        let options = PutOptions { parents: true, ..PutOptions::default() };
        let batch = [BatchItem { path: path(&name("batch/")), what, options }];
        world.store.publish_many(&world.admin, &batch).unwrap().remove(0).unwrap();
        assert_eq!(kind(&world, &name("batch/")), expected);
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let registered = register(&world, &name("file"), file.path().to_str().unwrap(), None);
        assert_eq!(shown(&registered), expected);
        let upload = begin(&world, &name("upload"), UploadOptions::default()).unwrap().id;
        part(&world, upload, 0, bytes).unwrap();
        assert_eq!(shown(&complete(&world, upload, None).unwrap()), expected);
    }
    assert_eq!(shown(&register(&world, "/later.csv", "/no/such/file", Some(7))), "text/csv?");
    assert_clean_but_for_the_file(&world);
}

fn register(world: &World, to: &str, file: &str, size: Option<u64>) -> Stat {
    let file = Registration {
        place: world.place("a"),
        file: file.into(),
        size,
        sha256: None,
        additional: false,
        replace: false,
    };
    run(world.store.register(&world.admin, &path(to), &file)).unwrap()
}

/// A missing guess is reported as damage by the check.
fn assert_clean_but_for_the_file(world: &World) {
    world.rm("/later.csv").unwrap();
    world.sweep();
}

#[test]
fn an_upload_with_an_explicit_type_has_that_type() {
    let world = world();
    let options = UploadOptions { put: with_type("text/x"), ..UploadOptions::default() };
    let upload = begin(&world, "/a.csv", options).unwrap().id;
    part(&world, upload, 0, PNG).unwrap();
    assert_eq!(shown(&complete(&world, upload, None).unwrap()), "text/x");
}

/// First bytes of several kinds, some longer than the sample.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let starts: [&[u8]; 6] = [PNG, b"a,b\n", b"<?xml", "é".as_bytes(), b"%PDF-1.7", b"\0"];
    (select(starts.to_vec()), 1_usize..3_000).prop_map(|(start, times)| {
        start.iter().copied().cycle().take(start.len() * times).collect()
    })
}

proptest! {
    #![proptest_config(cases(48))]

    /// In parts of any sizes, in any order, overlapping: short ones are stored in the catalog here, others in blobs.
    #[test]
    fn an_upload_in_parts_gets_the_same_guess_as_a_put(
        bytes in bytes(),
        cuts in proptest::collection::btree_map(0_usize..12_000, 1_usize..9_000, 0..6),
        order in any::<prop::sample::Index>(),
        name in select(&["a", "a.csv", "a.png"]),
    ) {
        let world = world();
        let expected = shown(&world.put(&format!("/{name}"), &bytes));
        let upload = begin(&world, &format!("/{name}"), UploadOptions::default()).unwrap().id;
        // The first part is overlapped by those that start later, which take effect.
        let mut parts = BTreeMap::from([(0, bytes.clone())]);
        for (from, length) in cuts {
            if (1..bytes.len()).contains(&from) {
                parts.insert(from, bytes[from..bytes.len().min(from + length)].to_vec());
                let (first, end) = (parts.get_mut(&0).unwrap(), bytes.len().min(from + length));
                first[from..end].fill(0);
            }
        }
        let mut parts: Vec<_> = parts.into_iter().collect();
        let count = parts.len();
        parts.rotate_left(order.index(count));
        for (offset, bytes) in &parts {
            part(&world, upload, *offset, bytes).unwrap();
        }
        let stat = complete(&world, upload, None).unwrap();
        prop_assert_eq!(shown(&stat), expected);
        let read = world.read(&format!("/{name}"));
        prop_assert!(read == bytes);
    }
}
