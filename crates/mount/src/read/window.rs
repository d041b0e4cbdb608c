//! How far one file is read ahead: farther the more was read in order, and the more arrives while the server answers a request.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::MIB;

/// The most that is read ahead from a server that answers at once, and from one that is far away. What is read ahead of need takes memory that the
/// processor does not have at hand any more.
const WINDOW: Range<u64> = 24 * MIB..64 * MIB;

/// How long a server takes at least until an answer begins.
#[derive(Debug)]
pub(super) struct Latency(AtomicU64);

impl Default for Latency {
    fn default() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }
}

impl Latency {
    /// Notes what an answer took.
    pub(super) fn note(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.0.fetch_min(micros, Ordering::Relaxed);
    }

    /// The shortest time that was noted, or none.
    fn shortest(&self) -> Duration {
        match self.0.load(Ordering::Relaxed) {
            u64::MAX => Duration::ZERO,
            micros => Duration::from_micros(micros),
        }
    }

    /// The bytes to read ahead after `streak` bytes were read in order within a time.
    pub(super) fn window(&self, streak: u64, within: Duration) -> u64 {
        let rate = streak as f64 / within.as_secs_f64().max(1e-3);
        let under_way = (2.0 * rate * self.shortest().as_secs_f64()) as u64;
        WINDOW.start.saturating_add(under_way).min(WINDOW.end).min(streak.saturating_mul(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_grows_with_what_was_read_and_with_the_latency() {
        let latency = Latency::default();
        let window = |latency: &Latency, mib: u64, millis| {
            latency.window(mib * MIB, Duration::from_millis(millis)) / MIB
        };
        assert_eq!(window(&latency, 1, 1), 2);
        assert_eq!(window(&latency, 1_000, 1_000), 24);
        latency.note(Duration::from_millis(30));
        latency.note(Duration::from_millis(10));
        latency.note(Duration::from_millis(20));
        // A gibibyte a second, 10 ms away; a slow reader; and one of a server that is far away.
        assert_eq!(window(&latency, 1_000, 1_000), 44);
        assert_eq!(window(&latency, 1_000, 100_000), 24);
        assert_eq!(window(&latency, 100_000, 1_000), 64);
        assert_eq!(latency.window(u64::MAX, Duration::ZERO), 64 * MIB);
    }
}
