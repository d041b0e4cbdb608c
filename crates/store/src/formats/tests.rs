//! Programs of two formats over one catalog: what each may read and write, and when the format changes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::*;
use crate::Health;
use crate::servers::testing::{ManualClock, of_formats};

const FORMER: Formats = Formats { served: FORMAT, newest: FORMAT };
/// A program after this one, which serves the format of this one.
const NEXT: Formats = Formats { served: FORMAT, newest: FORMAT + 1 };

fn admin(store: &Store) -> Caller {
    store.caller_for(store.person_named("root").unwrap().0).unwrap()
}

fn adopt(store: &Store) -> Result<(u32, u32)> {
    store.adopt_format(&admin(store)).map(|Upgraded { from, to }| (from, to))
}

fn format(tx: &Transaction) -> u32 {
    tx.get::<Format>(&keys::setting("format")).unwrap().unwrap().0
}

/// Adds to a row in the form of the format: its name ends with that. A program that finds a form which it does not know has read
/// what it must not.
fn change(store: &Store, by: usize) -> Result<u32> {
    let knows = store.parts().formats.newest;
    store.transact(|tx| {
        let found = tx.rows(&keys::notes("test", ""), usize::MAX)?;
        for (key, _) in found {
            assert!(key.ends_with(b"9") || knows > FORMAT, "a later form was read");
        }
        let form = format(tx);
        tx.put_raw(keys::note("test", &format!("{by}-{form}")), bytes::Bytes::from("x"));
        Ok(form)
    })
}

fn kind<T>(of: Result<T>) -> ErrorKind {
    of.err().unwrap().kind()
}

fn pass(clock: &ManualClock, secs: u64, servers: &[&Store]) {
    for _ in 0..secs / 2 {
        clock.advance(Duration::from_secs(2));
        servers.iter().for_each(|server| server.beat().unwrap());
    }
}

#[test]
fn the_format_changes_once_all_servers_know_the_next_one_and_not_before() {
    let ([old, new, newer], clock) = of_formats([FORMER, NEXT, NEXT]);
    assert_eq!(change(&old, 0).unwrap(), FORMAT);
    assert_eq!([change(&new, 1).unwrap(), change(&newer, 2).unwrap()], [FORMAT; 2]);
    let refused = new.adopt_format(&admin(&new)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.to_string().contains("1 of 3 servers"), "{refused}");
    assert_eq!(adopt(&old).unwrap(), (FORMAT, FORMAT), "it has what it knows");
    // Killed: it is missed after a while.
    pass(&clock, 24, &[&new, &newer]);
    assert_eq!(adopt(&newer).unwrap(), (FORMAT, FORMAT + 1));
    assert_eq!(adopt(&new).unwrap(), (FORMAT + 1, FORMAT + 1));
    assert_eq!([change(&new, 1).unwrap(), change(&newer, 2).unwrap()], [FORMAT + 1; 2]);
}

#[test]
fn a_server_that_was_away_reads_and_changes_nothing_of_a_later_format() {
    let ([old, new], clock) = of_formats([FORMER, NEXT]);
    let caller = admin(&old);
    pass(&clock, 24, &[&new]);
    adopt(&new).unwrap();
    assert_eq!(kind(change(&old, 0)), ErrorKind::Unavailable);
    assert_eq!(kind(old.beat()), ErrorKind::Unavailable);
    assert_eq!(kind(old.back_up(&caller)), ErrorKind::Unavailable);
    assert_eq!(kind(old.anonymous()), ErrorKind::Unavailable);
    old.at_one_moment(|store| assert_eq!(kind(store.anonymous()), ErrorKind::Unavailable));
    assert_eq!(kind(Store::open_existing(old.parts().clone())), ErrorKind::Unavailable);
    assert_eq!(old.health(), Health::Ready, "nothing failed");
}

#[test]
fn a_change_that_began_in_the_former_format_is_made_again_in_the_next() {
    let ([one, other], _) = of_formats([NEXT; 2]);
    let mut formats = Vec::new();
    let made = one.transact(|tx| {
        formats.push(format(tx));
        if formats.len() == 1 {
            adopt(&other)?;
        }
        tx.put_raw(keys::note("test", "a"), bytes::Bytes::from("x"));
        Ok(())
    });
    made.unwrap();
    assert_eq!(formats, [FORMAT, FORMAT + 1]);
}

#[test]
fn a_server_that_joins_while_the_format_changes_is_included() {
    let ([new, other], _) = of_formats([NEXT; 2]);
    let old = Store::open_existing(Parts { formats: FORMER, ..new.parts().clone() }).unwrap();
    let mut rounds = 0;
    let changed = new.transact(|tx| {
        rounds += 1;
        require_known_by_all(tx, FORMAT + 1)?;
        if rounds == 1 {
            old.beat()?;
        }
        tx.put(keys::setting("format"), &Format(FORMAT + 1));
        Ok(())
    });
    assert_eq!((kind(changed), rounds), (ErrorKind::Conflict, 2));
    assert_eq!(change(&old, 0).unwrap(), FORMAT);
    drop(other);
}

#[tokio::test]
async fn a_change_set_of_the_former_format_is_not_committed_in_the_next() {
    let ([one, other], _) = of_formats([NEXT; 2]);
    let caller = admin(&one);
    let id = one.begin_change_set(&caller, None).unwrap().id;
    change(&one.within(&caller, id).await.unwrap(), 0).unwrap();
    adopt(&other).unwrap();
    let refused = one.commit_change_set(&caller, id).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.to_string().contains("format"), "{refused}");
}

#[test]
fn an_embedded_store_has_the_newest_format_once_it_is_opened() {
    let engine = cenote_kv::MemoryEngine::new();
    let parts = Parts::new(engine, cenote_blob::Place::memory("main"));
    drop(Store::create_new(parts.clone(), "root", "secret phrase").unwrap());
    let store = Store::open_existing(Parts { formats: NEXT, ..parts.clone() }).unwrap();
    assert_eq!(change(&store, 0).unwrap(), FORMAT + 1);
    assert_eq!(kind(Store::open_existing(parts)), ErrorKind::Unavailable);
}

/// Changes something all the time, and returns the format of the last change.
fn work(server: &Store, by: usize, over: &AtomicBool) -> u32 {
    let mut last = FORMAT;
    while !over.load(Ordering::SeqCst) {
        let form = change(server, by).unwrap();
        assert!(form >= last, "the former form was written after the next one");
        last = form;
    }
    last
}

#[test]
fn servers_are_replaced_one_after_the_other_under_load_and_then_upgraded() {
    let (old, _) = of_formats([FORMER; 3]);
    let next = |old: &Store| Parts { formats: NEXT, ..old.parts().clone() };
    let new = old.each_ref().map(|old| Store::open_existing(next(old)).unwrap());
    let over: [AtomicBool; 6] = Default::default();
    std::thread::scope(|scope| {
        let start = |at: usize, server| {
            let over = &over[at];
            scope.spawn(move || work(server, at, over))
        };
        let end = |at: usize| over[at].store(true, Ordering::SeqCst);
        let workers = [0, 1, 2].map(|at| start(at, &old[at]));
        let mut workers = Vec::from(workers);
        for at in 0..3 {
            assert_eq!(kind(adopt(&new[0])), ErrorKind::Conflict);
            end(at);
            assert_eq!(workers.remove(0).join().unwrap(), FORMAT);
            old[at].leave().unwrap();
            new[at].beat().unwrap();
            workers.push(start(3 + at, &new[at]));
        }
        assert_eq!(adopt(&new[1]).unwrap(), (FORMAT, FORMAT + 1));
        new.iter().for_each(|new| assert_eq!(change(new, 9).unwrap(), FORMAT + 1));
        (3..6).for_each(end);
    });
}
