//! Resumable uploads: parts in any order, published together.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cenote_store::{
    AccessChange, At, Caller, Completion, Conditions, ErrorKind, Expected, NewTicket, NewToken,
    Notes, Part, PutOptions, ResourceId, Result, Rights, Scope, Stat, TicketUse, Upload, UploadId,
    UploadOptions,
};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

use crate::world::{
    World, assert_clean, at, cases, crc64nvme, kind, noise, once, path, run, world,
};

pub(crate) fn begin(world: &World, to: &str, options: UploadOptions) -> Result<Upload> {
    world.store.begin_upload(&world.admin, path(to), &options)
}

pub(crate) fn part(world: &World, upload: UploadId, offset: usize, bytes: &[u8]) -> Result<Part> {
    let expected = Expected::default();
    run(world.store.put_part(&world.admin, upload, offset as u64, once(bytes), &expected))
}

pub(crate) fn complete(world: &World, upload: UploadId, sha256: Option<[u8; 32]>) -> Result<Stat> {
    run(world.store.complete_upload(&world.admin, upload, sha256))
}

fn announced(size: u64) -> UploadOptions {
    UploadOptions { size: Some(size), ..UploadOptions::default() }
}

#[test]
fn an_upload_is_invisible_until_it_is_completed() {
    let world = world();
    let bytes = noise(300, 1);
    let upload = begin(&world, "/a", announced(300)).unwrap().id;
    part(&world, upload, 200, &bytes[200..]).unwrap();
    part(&world, upload, 0, &bytes[..200]).unwrap();
    assert_eq!(kind(world.stat("/a")), ErrorKind::NotFound);
    let world = world.reopened();
    let arrived = world.store.upload(&world.admin, upload).unwrap();
    let parts: Vec<_> = arrived.parts.iter().map(|part| (part.offset, part.length)).collect();
    assert_eq!(parts, [(0, 200), (200, 100)]);
    complete(&world, upload, Some(Sha256::digest(&bytes).into())).unwrap();
    assert!(world.read("/a") == bytes);
    assert_eq!(kind(world.store.upload(&world.admin, upload)), ErrorKind::NotFound);
    assert_eq!(kind(complete(&world, upload, None)), ErrorKind::NotFound);
    world.sweep();
    assert!(world.read("/a") == bytes);
}

#[test]
fn gaps_are_reported_and_of_overlapping_parts_the_one_with_the_later_start_counts() {
    let world = world();
    let upload = begin(&world, "/a", announced(30)).unwrap().id;
    let fails = || kind(complete(&world, upload, None));
    assert_eq!(fails(), ErrorKind::Conflict);
    part(&world, upload, 10, &[1; 10]).unwrap();
    assert_eq!(fails(), ErrorKind::Conflict);
    part(&world, upload, 0, &[0; 15]).unwrap();
    assert_eq!(fails(), ErrorKind::Conflict, "the end is missing");
    assert_eq!(kind(part(&world, upload, 20, &[2; 11])), ErrorKind::Mismatch);
    part(&world, upload, 20, &[2; 10]).unwrap();
    complete(&world, upload, None).unwrap();
    assert_eq!(world.read("/a"), [[0; 10], [1; 10], [2; 10]].concat());
}

#[test]
fn a_corrupt_part_and_a_wrong_total_are_refused() {
    let world = world();
    let upload = begin(&world, "/a", UploadOptions::default()).unwrap().id;
    let expected = Expected { sha256: Some([0; 32]), ..Expected::default() };
    let put = run(world.store.put_part(&world.admin, upload, 0, once(&[1; 100]), &expected));
    assert_eq!(kind(put), ErrorKind::Mismatch);
    assert!(world.store.upload(&world.admin, upload).unwrap().parts.is_empty());
    part(&world, upload, 0, &[1; 100]).unwrap();
    part(&world, upload, 100, &[2; 100]).unwrap();
    assert_eq!(kind(complete(&world, upload, Some([0; 32]))), ErrorKind::Mismatch);
    part(&world, upload, 100, &[3; 100]).unwrap();
    let whole = [[1; 100], [3; 100]].concat();
    complete(&world, upload, Some(Sha256::digest(&whole).into())).unwrap();
    assert_eq!(world.read("/a"), whole);
}

#[test]
fn an_empty_upload_creates_an_empty_object() {
    let world = world();
    let upload = begin(&world, "/a", UploadOptions::default()).unwrap().id;
    let stat = complete(&world, upload, Some(Sha256::digest(b"").into())).unwrap();
    assert_eq!(stat.size(), 0);
}

#[test]
fn conditions_are_checked_again_at_completion() {
    let world = world();
    let put = PutOptions {
        conditions: Conditions { if_absent: true, ..Conditions::default() },
        parents: true,
        media_type: Some("x/y".into()),
        ..PutOptions::default()
    };
    let options = UploadOptions { put, ..UploadOptions::default() };
    let upload = begin(&world, "/c/a", options.clone()).unwrap().id;
    part(&world, upload, 0, b"x").unwrap();
    world.mkdir("/c");
    world.put("/c/a", b"somebody was faster");
    assert_eq!(kind(complete(&world, upload, None)), ErrorKind::Precondition);
    assert_eq!(kind(begin(&world, "/c/a", options)), ErrorKind::Precondition);
    world.rm("/c/a").unwrap();
    let stat = complete(&world, upload, None).unwrap();
    assert_eq!(stat.resource.content.unwrap().media_type.as_deref(), Some("x/y"));
}

#[test]
fn an_upload_belongs_to_its_creator() {
    let world = world();
    let upload = begin(&world, "/a", UploadOptions::default()).unwrap().id;
    let other: Caller = world.user("other");
    let expected = Expected::default();
    let put = run(world.store.put_part(&other, upload, 0, once(b"x"), &expected));
    assert_eq!(kind(put), ErrorKind::NotFound);
    assert_eq!(kind(world.store.upload(&other, upload)), ErrorKind::NotFound);
    assert_eq!(kind(world.store.abandon_upload(&other, upload)), ErrorKind::NotFound);
    assert_eq!(kind(begin_as(&world, &other)), ErrorKind::Denied);
}

#[test]
fn an_upload_is_found_only_by_its_complete_id() {
    let world = world();
    let anonymous = world.store.anonymous().unwrap();
    world.mkdir("/drop");
    let grant =
        [AccessChange::Grant("anonymous".into(), Rights::CREATE_OBJECT.into(), Scope::This)];
    world.store.change_access(&world.admin, &at("/drop"), &grant).unwrap();
    let options = UploadOptions::default();
    for caller in [world.user("u"), anonymous] {
        let grant = [AccessChange::Grant("u".into(), Rights::CREATE_OBJECT.into(), Scope::This)];
        world.store.change_access(&world.admin, &at("/drop"), &grant).unwrap();
        let id = world.store.begin_upload(&caller, path("/drop/x"), &options).unwrap().id;
        let other = world.store.begin_upload(&caller, path("/drop/y"), &options).unwrap().id;
        assert_eq!(id.to_string().parse::<UploadId>().unwrap(), id);
        let guesses = [UploadId { secret: None, ..id }, UploadId { secret: other.secret, ..id }];
        for guess in guesses {
            assert_eq!(kind(world.store.upload(&caller, guess)), ErrorKind::NotFound);
            assert_eq!(kind(world.store.abandon_upload(&caller, guess)), ErrorKind::NotFound);
            let expected = Expected::default();
            let put = run(world.store.put_part(&caller, guess, 0, once(b"x"), &expected));
            assert_eq!(kind(put), ErrorKind::NotFound);
            let completed = run(world.store.complete_upload(&caller, guess, None));
            assert_eq!(kind(completed), ErrorKind::NotFound);
        }
        world.store.upload(&caller, id).unwrap();
    }
    for text in ["", "-", "1-", "1-x", "x-0000000000000000", "1-+000000000000000", "-1"] {
        assert_eq!(kind(text.parse::<UploadId>()), ErrorKind::Invalid, "{text}");
    }
}

#[test]
fn a_token_continues_only_uploads_that_it_could_start() {
    let world = world();
    world.mkdir("/a");
    world.mkdir("/b");
    let upload = begin(&world, "/a/x", UploadOptions::default()).unwrap().id;
    for (rights, within, expected) in [
        (Rights::READ_OBJECT, None, false),
        (Rights::OWN, Some("/b"), false),
        (Rights::MODIFY_OBJECT, Some("/a"), true),
    ] {
        let new = NewToken { rights, within: within.map(at), ..NewToken::default() };
        let (secret, _) = world.store.add_token(&world.admin, &new).unwrap();
        let token = world.store.authenticate_token(&secret).unwrap();
        assert_eq!(world.store.upload(&token, upload).is_ok(), expected, "{rights:?} {within:?}");
        let put = run(world.store.put_part(&token, upload, 0, once(b"x"), &Expected::default()));
        assert_eq!(put.is_ok(), expected, "{rights:?} {within:?}");
    }
}

#[test]
fn an_upload_started_with_a_ticket_requires_it_until_completion() {
    let world = world();
    world.mkdir("/a");
    let ticket = |uses, bytes| {
        let new = NewTicket { rights: Rights::MODIFY_OBJECT, uses, bytes, ..NewTicket::default() };
        world.store.add_ticket(&world.admin, &at("/a"), &new).unwrap().0
    };
    let user = world.user("u");
    let show = |ticket: &str, what| {
        let grant = world.store.use_ticket(&user, ticket, "192.0.2.1", what)?;
        Ok::<_, cenote_store::Error>(user.clone().with_ticket(grant))
    };
    let (first, second) = (ticket(1, 10), ticket(0, 0));
    let holder = show(&first, TicketUse::Write(0)).unwrap();
    let options = UploadOptions::default();
    let id = world.store.begin_upload(&holder, path("/a/x"), &options).unwrap().id;
    let part = |caller: &Caller, bytes: &'static [u8]| {
        run(world.store.put_part(caller, id, 0, once(bytes), &Expected::default()))
    };
    assert_eq!(kind(part(&user, b"x")), ErrorKind::NotFound, "without the ticket");
    let other = show(&second, TicketUse::Write(0)).unwrap();
    assert_eq!(kind(part(&other, b"x")), ErrorKind::NotFound, "with another ticket");
    assert_eq!(kind(show(&first, TicketUse::Look)), ErrorKind::Unauthenticated, "it is used up");
    part(&show(&first, TicketUse::More(10)).unwrap(), b"0123456789").unwrap();
    assert_eq!(kind(show(&first, TicketUse::More(1))), ErrorKind::Unauthenticated, "bytes count");
    let holder = show(&first, TicketUse::More(0)).unwrap();
    run(world.store.complete_upload(&holder, id, None)).unwrap();
    assert_eq!(world.read("/a/x"), b"0123456789");
}

fn begin_as(world: &World, caller: &Caller) -> Result<Upload> {
    world.store.begin_upload(caller, path("/b"), &UploadOptions::default())
}

#[test]
fn abandoned_uploads_are_swept() {
    let world = world();
    for keep in [false, true] {
        let upload = begin(&world, "/a", UploadOptions::default()).unwrap().id;
        (0..3).for_each(|n| drop(part(&world, upload, n * 100, &noise(100, n as u64)).unwrap()));
        if keep {
            world.clock.advance(Duration::from_secs(8 * 24 * 3600));
            assert_eq!(world.store.sweep_uploads().unwrap(), 1);
        } else {
            assert_eq!(world.store.sweep_uploads().unwrap(), 0);
            world.store.abandon_upload(&world.admin, upload).unwrap();
        }
        assert_eq!(kind(part(&world, upload, 0, b"x")), ErrorKind::NotFound);
        world.sweep();
        for table in *b"PpKBbRg" {
            assert!(world.table(table).is_empty(), "{}", table as char);
        }
    }
}

#[test]
fn many_small_parts_do_not_accumulate_in_the_catalog() {
    let world = world();
    let upload = begin(&world, "/a", UploadOptions::default()).unwrap().id;
    for n in 0..100 {
        part(&world, upload, n * 50, &[n as u8; 50]).unwrap();
    }
    complete(&world, upload, None).unwrap();
    let largest = world.rows().into_iter().filter(|(key, _)| key[0] == b'K');
    assert!(largest.map(|(_, value)| value.len()).max().unwrap() < 4_500);
    assert!(world.read("/a").chunks(50).enumerate().all(|(n, part)| part == [n as u8; 50]));
}

#[test]
fn concurrent_puts_at_one_offset_are_one_part() {
    let world = world();
    let upload = begin(&world, "/a", UploadOptions::default()).unwrap().id;
    std::thread::scope(|scope| {
        for n in 0..6u8 {
            let world = &world;
            scope.spawn(move || part(world, upload, 0, &[n; 100]).unwrap());
        }
    });
    complete(&world, upload, None).unwrap();
    let bytes = world.read("/a");
    assert!(bytes.len() == 100 && bytes.iter().all(|byte| *byte == bytes[0]));
}

fn crc64nvme_of(stat: &Stat) -> Option<u64> {
    stat.resource.content.as_ref().and_then(|content| content.digests.crc64nvme)
}

fn sha256_of(stat: &Stat) -> Option<[u8; 32]> {
    stat.resource.content.as_ref().and_then(|content| content.digests.sha256)
}

#[test]
fn parts_in_order_give_the_digest_of_the_whole_immediately() {
    let mut world = world();
    let bytes = noise(200_300, 1);
    let upload = begin(&world, "/a", UploadOptions::default()).unwrap().id;
    for (from, to) in [(0, 50), (50, 100_000), (100_000, 100_001), (100_001, 200_300)] {
        world = world.reopened();
        part(&world, upload, from, &bytes[from..to]).unwrap();
    }
    let stat = complete(&world, upload, None).unwrap();
    assert_eq!(sha256_of(&stat), Some(Sha256::digest(&bytes).into()));
    assert_eq!(crc64nvme_of(&stat), Some(crc64nvme(&bytes)));
}

#[test]
fn a_part_out_of_order_is_checked_by_its_announced_digest_and_has_a_sha256_only_then() {
    let world = world();
    let bytes = noise(200_000, 1);
    let upload = begin(&world, "/a", UploadOptions::default()).unwrap().id;
    let put = |expected: &Expected| {
        run(world.store.put_part(&world.admin, upload, 100_000, once(&bytes[100_000..]), expected))
    };
    let crc = Some(crc64nvme(&bytes[100_000..]));
    let by_crc = Expected { crc64nvme: crc, ..Expected::default() };
    let digests = put(&by_crc).unwrap().digests;
    assert_eq!((digests.sha256, digests.crc64nvme), (None, crc));
    let sha256 = Some(Sha256::digest(&bytes[100_000..]).into());
    let digests = put(&Expected { sha256, ..by_crc }).unwrap().digests;
    assert_eq!((digests.sha256, digests.crc64nvme), (sha256, crc));
    for wrong in [
        Expected { sha256: Some([0; 32]), ..Expected::default() },
        Expected { crc64nvme: Some(0), ..Expected::default() },
    ] {
        assert_eq!(kind(put(&wrong)), ErrorKind::Mismatch);
    }
    part(&world, upload, 0, &bytes[..100_000]).unwrap();
    complete(&world, upload, Some(Sha256::digest(&bytes).into())).unwrap();
    assert!(world.read("/a") == bytes);
    assert_clean(&world.store);
}

#[test]
fn parts_in_any_order_give_the_crc_of_the_whole_immediately() {
    let world = world();
    let bytes = noise(200_300, 1);
    let upload = begin(&world, "/a", UploadOptions::default()).unwrap().id;
    for (from, to) in [(100_001, 200_300), (0, 50), (100_000, 100_001), (50, 100_000)] {
        part(&world, upload, from, &bytes[from..to]).unwrap();
    }
    let stat = complete(&world, upload, None).unwrap();
    assert_eq!((sha256_of(&stat), crc64nvme_of(&stat)), (None, Some(crc64nvme(&bytes))));
    run(world.store.compute_digest(stat.id)).unwrap();
    let now = world.stat("/a").unwrap();
    assert_eq!(sha256_of(&now), Some(Sha256::digest(&bytes).into()));
    assert_eq!(crc64nvme_of(&now), crc64nvme_of(&stat));
}

#[test]
fn replaced_and_overlapped_parts_do_not_affect_the_digest_of_the_whole() {
    let world = world();
    for (offset, bytes) in [(0, [9; 100]), (50, [9; 100])] {
        let upload = begin(&world, "/a", UploadOptions::default()).unwrap().id;
        part(&world, upload, 0, &[1; 100]).unwrap();
        part(&world, upload, 100, &[2; 100]).unwrap();
        part(&world, upload, offset, &bytes).unwrap();
        let stat = complete(&world, upload, None).unwrap();
        assert_eq!(sha256_of(&stat), None, "at {offset}");
        let whole = world.read("/a");
        assert!(crc64nvme_of(&stat).is_none_or(|crc| crc == crc64nvme(&whole)), "at {offset}");
    }
}

#[test]
fn received_bytes_of_an_interrupted_part_are_kept_on_request() {
    let world = world();
    let bytes = noise(100_000, 1);
    let upload = begin(&world, "/a", announced(100_000)).unwrap().id;
    let broken = |keep_short, from: usize, to: usize, sha256| {
        let length = Some(100_000 - from as u64);
        let expected = Expected { length, keep_short, sha256, ..Expected::default() };
        let came = Ok(bytes[from..to].to_vec().into());
        let came = futures_util::stream::iter([came, Err("cut off")]);
        run(world.store.put_part(&world.admin, upload, from as u64, came, &expected))
    };
    let arrived = || world.store.upload(&world.admin, upload).unwrap().parts;
    assert_eq!(kind(broken(false, 0, 70_000, None)), ErrorKind::Mismatch);
    assert_eq!(kind(broken(true, 0, 70_000, Some([0; 32]))), ErrorKind::Mismatch);
    assert_eq!(kind(broken(true, 0, 0, None)), ErrorKind::Mismatch, "nothing came");
    assert!(arrived().is_empty());
    assert_eq!(broken(true, 0, 70_000, None).unwrap().length, 70_000);
    assert_eq!(kind(broken(true, 0, 60_000, None)), ErrorKind::Conflict, "a longer one is there");
    assert_eq!(broken(true, 70_000, 70_001, None).unwrap().length, 1);
    assert_eq!(kind(complete(&world, upload, None)), ErrorKind::Conflict);
    part(&world, upload, 70_001, &bytes[70_001..]).unwrap();
    let stat = complete(&world, upload, None).unwrap();
    assert_eq!(sha256_of(&stat), Some(Sha256::digest(&bytes).into()));
    assert!(world.read("/a") == bytes);
    assert_clean(&world.store);
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn parts_in_any_order_repeated_and_corrected_give_the_whole(
        sizes in proptest::collection::vec(1usize..150, 1..8),
        order in proptest::collection::vec(any::<(usize, bool)>(), 0..20),
        announced in any::<bool>(),
    ) {
        let world = world();
        let upload = begin(&world, "/a", UploadOptions::default()).unwrap().id;
        let starts: Vec<usize> = sizes.iter().scan(0, |at, size| { *at += size; Some(*at - size) }).collect();
        let whole = noise(sizes.iter().sum(), 1);
        let good = |n: usize| &whole[starts[n]..starts[n] + sizes[n]];
        for (n, right) in order {
            let n = n % sizes.len();
            let bytes = if right { good(n).to_vec() } else { vec![9; 1 + n * 20] };
            part(&world, upload, starts[n], &bytes).unwrap();
        }
        let last: Vec<usize> = if announced { (0..sizes.len()).rev().collect() } else { (0..sizes.len()).collect() };
        for n in last {
            part(&world, upload, starts[n], good(n)).unwrap();
        }
        let sha256: [u8; 32] = Sha256::digest(&whole).into();
        let stat = complete(&world, upload, announced.then_some(sha256)).unwrap();
        prop_assert!(sha256_of(&stat).map_or(!announced, |known| known == sha256));
        prop_assert!(crc64nvme_of(&stat).is_none_or(|known| known == crc64nvme(&whole)));
        world.sweep();
        prop_assert_eq!(world.read("/a"), whole);
        prop_assert!(world.table(b'p').is_empty() && world.table(b'P').is_empty());
    }
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn numbered_parts_are_concatenated_whatever_their_order_of_arrival(
        sizes in proptest::collection::vec(prop_oneof![0usize..150, 70_000usize..70_100], 1..6),
        order in proptest::collection::vec(any::<(usize, bool)>(), 0..12),
        checked in any::<bool>(),
    ) {
        let world = world();
        let upload = begin(&world, "/a", UploadOptions::default()).unwrap().id;
        let starts: Vec<usize> = sizes.iter().scan(0, |at, size| { *at += size; Some(*at - size) }).collect();
        let whole = noise(sizes.iter().sum(), 1);
        // Far apart; the numbers need not start at 0 or be consecutive.
        let number = |n: usize| (2 * n + 1) << 20;
        for (n, right) in order {
            let n = n % sizes.len();
            let bytes = if right { &whole[starts[n]..starts[n] + sizes[n]] } else { b"wrong" };
            part(&world, upload, number(n), bytes).unwrap();
        }
        for n in (0..sizes.len()).rev() {
            part(&world, upload, number(n), &whole[starts[n]..starts[n] + sizes[n]]).unwrap();
        }
        let sha256: [u8; 32] = Sha256::digest(&whole).into();
        let how = Completion { sha256: checked.then_some(sha256), in_order: true, ..Completion::default() };
        let sent = Arc::new(Mutex::new(Vec::new()));
        let seen = sent.clone();
        let also = move |_: &mut Notes<'_>, parts: &[Part]| { *seen.lock().unwrap() = parts.to_vec(); Ok(()) };
        let done = run(world.store.complete_upload_with(&world.admin, upload, how, "o", also)).unwrap();
        prop_assert!(sha256_of(&done).map_or(!checked, |known| known == sha256));
        prop_assert!(crc64nvme_of(&done).is_none_or(|known| known == crc64nvme(&whole)));
        let expected: Vec<_> = sizes.iter().enumerate().map(|(n, size)| (number(n) as u64, *size as u64)).collect();
        let stored: Vec<_> = sent.lock().unwrap().iter().map(|part| (part.offset, part.length)).collect();
        prop_assert_eq!(stored, expected, "the parts as they were sent");
        world.sweep();
        prop_assert_eq!(world.read("/a"), whole);
        assert_clean(&world.store);
    }
}

#[test]
fn a_write_by_id_reaches_the_object_wherever_it_was_moved() {
    let world = world();
    let id = world.put("/a", b"before").id;
    let to = At::Id(id);
    let upload = world.store.begin_upload(&world.admin, id, &UploadOptions::default()).unwrap();
    assert_eq!(upload.path, path("/a"));
    part(&world, upload.id, 0, b"in parts").unwrap();
    world.mv("/a", "/b").unwrap();
    world.put("/a", b"another");
    let stat = complete(&world, upload.id, None).unwrap();
    assert_eq!((stat.id, stat.path), (id, path("/b")));
    assert_eq!((world.read("/a"), world.read("/b")), (b"another".to_vec(), b"in parts".to_vec()));
    run(world.store.put(&world.admin, to.clone(), once(b"at once"), PutOptions::default()))
        .unwrap();
    assert_eq!(world.read("/b"), b"at once");
    world.rm("/b").unwrap();
    let late = run(world.store.put(&world.admin, to, once(b""), PutOptions::default()));
    assert_eq!(kind(late), ErrorKind::NotFound);
}

#[test]
fn an_id_reveals_no_more_than_a_path_to_a_writer() {
    let world = world();
    let (user, hidden) = (world.user("u"), world.put("/a", b"").id);
    let collection = world.mkdir("/c").id;
    let put = |caller, id| kind(world.store.may_put(caller, id, &PutOptions::default()));
    let missing = ResourceId(hidden.0 + 1_000);
    assert_eq!(put(&user, hidden), ErrorKind::NotFound);
    assert_eq!(put(&world.admin, missing), ErrorKind::NotFound);
    assert_eq!(put(&world.admin, collection), ErrorKind::WrongKind);
    let begun = world.store.begin_upload(&user, hidden, &UploadOptions::default());
    assert_eq!(kind(begun), ErrorKind::NotFound);
}
