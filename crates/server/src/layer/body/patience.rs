//! How long a server waits for the bytes of a body: for a pause, and for a slow line, but not for one who sends a byte
//! now and then to keep a place.
//!
//! Waiting uses patience up, bytes restore it, and there is never more than at the beginning: so a body may be late by
//! that at any time, however much came fast before.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

use super::Fault;

/// What is left of it for one body.
#[derive(Debug)]
pub(crate) struct Patience {
    left: Left,
    /// Since when a byte is waited for.
    waiting: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

#[derive(Debug, Clone, Copy)]
struct Left {
    most: Duration,
    left: Duration,
    /// Bytes that restore a second.
    rate: u64,
}

impl Patience {
    /// Waits for `most` without a byte, and for bytes that come at `rate` a second for ever.
    pub(crate) fn new(most: Duration, rate: u64) -> Self {
        let left = Left { most, left: most, rate: rate.max(1) };
        Self { left, waiting: None, timer: None }
    }

    /// So many bytes have come.
    pub(super) fn restore(&mut self, bytes: u64) {
        let waited = self.waiting.take().map(|since| since.elapsed());
        self.left.came(waited.unwrap_or_default(), bytes);
    }

    /// No byte is there: resolves if none comes in time.
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
    /// Bytes came, which were waited for.
    fn came(&mut self, waited: Duration, bytes: u64) {
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

    /// Whether a thousand pieces of `bytes` would be waited for that come `pause` apart.
    fn is_waited_for(mut left: Left, bytes: u64, pause: Duration) -> bool {
        (0..1_000).all(|_| {
            let in_time = pause < left.left;
            left.came(pause, bytes);
            in_time
        })
    }

    #[test]
    fn a_slow_line_is_waited_for_and_a_dripping_one_is_not() {
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
    fn what_came_fast_is_no_credit() {
        let mut left = FULL;
        left.came(Duration::ZERO, 1 << 40);
        assert_eq!(left.left, MOST);
        assert!(!is_waited_for(left, 1, Duration::from_secs(1)));
    }
}
