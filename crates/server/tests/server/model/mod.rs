//! Contents at real sizes, through both openings at once, against a model that is a vector of bytes.
//!
//! A random history of changes runs on a store on disk behind a socket: puts, writes in place, appends, truncations,
//! uploads in overlapping parts, stages, parallel writes, copies, moves, versions, replicas, upkeep. After each change
//! the whole content and ranges of it are read over HTTP/1.1 and HTTP/2 and compared, with every digest returned; at
//! the end the store is checked and reopened, and everything is read once more.
//!
//! Sizes are around the boundaries of the store: 64 KiB (kept in the catalog), 512 KiB (read at a time), 8 MiB (read
//! ahead, sent in one part by some clients). `PROPTEST_CASES` is the number of histories.

mod change;
mod connection;
mod contents;
mod look;
mod stage;
mod world;

use proptest::prelude::*;
use proptest::test_runner::{Config as ProptestConfig, TestRunner};

use self::change::{Change, change};
use self::contents::Contents;
use self::world::World;

/// Objects that take part.
const OBJECTS: usize = 3;

/// One change of one object.
#[derive(Debug, Clone)]
struct Step {
    object: usize,
    change: Change,
}

fn history() -> impl Strategy<Value = Vec<Step>> {
    let step = (0..OBJECTS, change()).prop_map(|(object, change)| Step { object, change });
    proptest::collection::vec(step, 1..14)
}

fn rounds() -> u32 {
    std::env::var("PROPTEST_CASES").map_or(4, |rounds| rounds.parse().unwrap())
}

#[test]
fn reads_return_what_was_written_completely_and_in_ranges_through_every_opening() {
    let config = ProptestConfig {
        cases: rounds(),
        max_shrink_iters: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let tested = TestRunner::new(config)
        .run(&history(), |history| run(&history).map_err(TestCaseError::fail));
    if let Err(error) = tested {
        panic!("{error}");
    }
}

/// The smallest history that once returned wrong bytes: a range of more than two chunks that ends before its blob.
#[test]
fn a_write_in_the_middle_of_a_large_content_is_read_at_its_offset() {
    let zeros = Contents { seed: 0, length: 3_000_000 };
    let hello = Contents { seed: 7, length: 5 };
    let steps = [
        Change::Put(change::Way::Native, zeros),
        Change::Write(change::Way::Native, 2_000_000, hello),
        Change::Upkeep,
    ];
    run(&steps.map(|change| Step { object: 0, change })).unwrap();
}

/// Runs a history to its end, or to the first difference.
fn run(history: &[Step]) -> Result<(), String> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(async {
        let mut world = World::start().await;
        for (number, step) in history.iter().enumerate() {
            let done = world.apply(step).await;
            let looked = match done {
                Ok(()) => world.look_at(step.object, number).await,
                Err(error) => Err(error),
            };
            looked.map_err(|error| format!("at step {number}, {step:?}: {error}"))?;
        }
        world.finish().await.map_err(|error| format!("at the end: {error}"))
    })
}
