//! How long the server waits for the bytes of a body: it tolerates a pause and a slow line, but not a client
//! that sends a byte now and then to keep its slot.
//!
//! Waiting uses up patience, bytes restore it, and it never exceeds its initial value: so a body may be late
//! by that much at any time, however fast it was before.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

use super::Fault;

/// The remaining limit for one body.
#[derive(Debug)]
pub(crate) struct Patience {
    left: Left,
    /// When waiting for a byte began.
    waiting: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

#[derive(Debug, Clone, Copy)]
struct Left {
    most: Duration,
    left: Duration,
    /// Bytes that restore one second.
    rate: u64,
}

impl Patience {
    /// Waits at most `most` for a byte, and indefinitely for bytes that arrive at `rate` per second.
    pub(crate) fn new(most: Duration, rate: u64) -> Self {
        let left = Left { most, left: most, rate: rate.max(1) };
        Self { left, waiting: None, timer: None }
    }

    /// This many bytes have arrived.
    pub(super) fn restore(&mut self, bytes: u64) {
        let waited = self.waiting.take().map(|since| since.elapsed());
        self.left.received(waited.unwrap_or_default(), bytes);
    }

    /// No byte is available: resolves if none arrives in time.
    pub(super) fn poll_ended(&mut self, cx: &mut Context<'_>) -> Poll<Fault> {
        let Left { most, left, rate } = self.left;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(left)));
        if self.waiting.is_none() {
            let now = Instant::now();
            self.waiting = Some(now);
            timer.as_mut().reset(now + left);
        }
        timer.as_mut().poll(cx).map(|()| match left < most {
            true => Fault::Slow(rate),
            false => Fault::Stalled(most),
        })
    }
}

impl Left {
    /// Accounts for bytes that arrived after some wait.
    fn received(&mut self, waited: Duration, bytes: u64) {
        let restored = Duration::from_secs_f64(bytes as f64 / self.rate as f64);
        let left = self.left.saturating_sub(waited);
        self.left = self.most.min(left.saturating_add(restored));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Duration = Duration::from_secs(60);
    const FULL: Left = Left { most: MOST, left: MOST, rate: 256 };

    /// Whether the server keeps waiting for a thousand pieces of `bytes` that arrive `pause` apart.
    fn is_waited_for(mut left: Left, bytes: u64, pause: Duration) -> bool {
        (0..1_000).all(|_| {
            let in_time = pause < left.left;
            left.received(pause, bytes);
            in_time
        })
    }

    #[test]
    fn a_slow_connection_is_tolerated_and_a_trickle_is_not() {
        let second = Duration::from_secs(1);
        for (bytes, pause, expected) in [
            (1_024, second, true),
            (256, second, true),
            (200, second, false),
            (1, Duration::from_secs(59), false),
            (15_360, Duration::from_secs(59), true),
            (u32::MAX.into(), Duration::from_secs(61), false),
        ] {
            assert_eq!(is_waited_for(FULL, bytes, pause), expected, "{bytes} bytes each {pause:?}");
        }
    }

    #[test]
    fn fast_bytes_give_no_credit_for_slow_ones() {
        let mut left = FULL;
        left.received(Duration::ZERO, 1 << 40);
        assert_eq!(left.left, MOST);
        assert!(!is_waited_for(left, 1, Duration::from_secs(1)));
    }
}
