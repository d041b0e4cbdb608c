//! Time and randomness come in from outside, so that a test can replay a history.

use std::fmt::Debug;

use crate::model::Time;

/// Tells the time.
pub trait Clock: Debug + Send + Sync {
    /// Now.
    fn now(&self) -> Time;
}

/// Gives unpredictable bytes.
pub trait Entropy: Debug + Send + Sync {
    /// Fills `buffer`.
    fn fill(&self, buffer: &mut [u8]);
}

/// The machine's clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place where real time comes in")]
    fn now(&self) -> Time {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Time::from_nanos(since.map_or(0, |since| since.as_nanos() as i64))
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
