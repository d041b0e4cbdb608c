//! The cache returns what a plain vector of pages returns, and stays within its limit.

use std::cell::Cell;
use std::io;

use proptest::prelude::*;

use super::{Pages, WAYS};

/// The content of page `number`.
fn content(number: u64) -> Vec<u8> {
    number.to_le_bytes().repeat(1 + number as usize % 3)
}

/// A page looked up through the cache, and whether it was read for that.
fn look_up(pages: &Pages, number: u64) -> (Vec<u8>, bool) {
    let was_read = Cell::new(false);
    let read = |page: &mut Vec<u8>| {
        was_read.set(true);
        *page = content(number);
        Ok(())
    };
    let seen = pages.with(number, <[u8]>::to_vec, read).expect("reading does not fail");
    (seen, was_read.get())
}

fn held(pages: &Pages) -> usize {
    pages.sets.iter().map(|set| set.lock().expect("no panic").len()).sum()
}

proptest! {
    #[test]
    fn a_page_is_what_was_read_whatever_was_evicted(
        limit in 0_u64..64,
        numbers in proptest::collection::vec(0_u64..300, 1..500),
    ) {
        let pages = Pages::new(300, limit);
        for number in numbers {
            prop_assert_eq!(look_up(&pages, number).0, content(number));
            prop_assert!(held(&pages) <= (limit as usize).max(WAYS));
        }
    }

    #[test]
    fn pages_that_fit_are_read_once(
        count in 1_u64..200,
        numbers in proptest::collection::vec(0_u64..200, 1..500),
    ) {
        let pages = Pages::new(count, 256);
        let mut unread = vec![true; count as usize];
        for number in numbers.into_iter().map(|number| number % count) {
            let was_read = look_up(&pages, number).1;
            prop_assert_eq!(was_read, std::mem::take(&mut unread[number as usize]));
        }
    }
}

#[test]
fn a_long_list_of_pages_costs_no_memory() {
    let pages = Pages::new(u64::MAX / 2, 1024);
    assert_eq!(pages.sets.len() * WAYS, 1024);
    for number in 0..10_000 {
        look_up(&pages, number * 977);
    }
    assert!(held(&pages) <= 1024);
}

#[test]
fn the_least_recently_used_page_is_evicted() {
    let pages = Pages::new(100, WAYS as u64);
    for number in [1, 2, 3, 4, 1, 5] {
        look_up(&pages, number);
    }
    let was_read = |number| look_up(&pages, number).1;
    assert!(!was_read(1));
    assert!(was_read(2), "3, 4, 1 and 5 were used after it");
}

#[test]
fn a_bisection_keeps_the_pages_that_it_needs_again() {
    for sought in [0, 1, 4095, 8192, 10_000, 16_383] {
        let pages = Pages::new(1 << 14, 1024);
        assert!(bisect(&pages, sought) >= 13, "the first time reads");
        assert_eq!(bisect(&pages, sought), 0, "page {sought}");
    }
}

/// The number of pages read to search 2^14 of them.
fn bisect(pages: &Pages, sought: u64) -> usize {
    let (mut low, mut high, mut read) = (0, 1 << 14, 0);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        read += usize::from(look_up(pages, middle).1);
        if middle <= sought { low = middle } else { high = middle }
    }
    read
}

#[test]
fn a_page_that_could_not_be_read_is_read_again() {
    let pages = Pages::new(10, 10);
    let fail = |_: &mut Vec<u8>| Err(io::ErrorKind::TimedOut.into());
    let failed = pages.with(3, <[u8]>::to_vec, fail).map_err(|e| e.kind());
    assert_eq!(failed, Err(io::ErrorKind::TimedOut));
    assert_eq!(look_up(&pages, 3), (content(3), true));
}

#[test]
fn a_page_can_be_looked_up_while_another_is_read() {
    let pages = Pages::new(2, 4);
    let read = |page: &mut Vec<u8>| {
        // The same page and one of the same set, which other threads may request meanwhile.
        assert_eq!(look_up(&pages, 0), (content(0), true));
        assert_eq!(look_up(&pages, 1), (content(1), true));
        *page = content(0);
        Ok(())
    };
    assert_eq!(pages.with(0, <[u8]>::to_vec, read).expect("read"), content(0));
    assert_eq!(held(&pages), 2);
}
