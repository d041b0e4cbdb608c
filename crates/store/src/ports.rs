//! Time and randomness come in from outside, so that a test can replay a history.

use std::fmt::Debug;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use cenote_blob::{Outside, Place};

use crate::model::Time;

/// Returns the time.
pub trait Clock: Debug + Send + Sync {
    /// Now.
    fn now(&self) -> Time;

    /// The time since some moment, on a clock that nobody sets: for durations.
    fn steady(&self) -> Duration {
        Duration::from_nanos(self.now().nanos().max(0).unsigned_abs())
    }

    /// Lets some time pass. Blocks the thread.
    #[expect(clippy::disallowed_methods, reason = "the one place that waits")]
    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// Returns unpredictable bytes.
pub trait Entropy: Debug + Send + Sync {
    /// Fills `buffer`.
    fn fill(&self, buffer: &mut [u8]);
}

/// Opens places: the code that assembles a store knows the engines, the heart does not.
pub trait PlaceOpener: Debug + Send + Sync {
    /// The place at an address; `name` is for its errors. May block.
    ///
    /// # Errors
    /// If the address is not understood, or nothing can be made there.
    fn open(&self, name: &str, address: &str) -> Result<Place, cenote_blob::Error>;

    /// Whether an administrator of the store, who need not be one of the machine, may add a place at this address. What
    /// was added is opened, whatever this says later.
    fn may_add(&self, address: &str) -> bool;

    /// Whether two addresses are the same place, or one inside the other.
    fn overlap(&self, address: &str, other: &str) -> bool;

    /// Whether an address is inside what the program keeps itself: the directory of the store.
    fn is_inside_store(&self, address: &str) -> bool;

    /// The file at a path, to be read in place as a part of the place `name`; none, if files
    /// there must not be referred to.
    fn outside(&self, name: &str, path: &str) -> Option<Outside>;
}

/// Opens none: a store with nothing but its main place.
#[derive(Debug, Default, Clone, Copy)]
pub struct NoPlaces;

impl PlaceOpener for NoPlaces {
    fn open(&self, name: &str, address: &str) -> Result<Place, cenote_blob::Error> {
        let source = format!("this program cannot open places: {address}").into();
        Err(cenote_blob::Error::Settings { place: name.to_owned(), source })
    }

    fn may_add(&self, _: &str) -> bool {
        true
    }

    fn overlap(&self, _: &str, _: &str) -> bool {
        false
    }

    fn is_inside_store(&self, _: &str) -> bool {
        false
    }

    fn outside(&self, _: &str, _: &str) -> Option<Outside> {
        None
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place where the steady clock comes in")]
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The machine's clock.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place where real time comes in")]
    fn now(&self) -> Time {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Time::from_nanos(since.map_or(0, |since| since.as_nanos() as i64))
    }

    fn steady(&self) -> Duration {
        START.elapsed()
    }
}

/// The operating system's generator.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        getrandom::fill(buffer).expect("the operating system always has randomness after boot");
    }
}
