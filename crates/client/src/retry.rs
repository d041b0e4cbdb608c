//! When a call is sent again, and after how long.

use std::time::Duration;

use http::HeaderMap;
use http::header::RETRY_AFTER;

use crate::{Error, Kind};

/// How often calls are retried, and how long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Maximum number of attempts; at least one.
    pub attempts: u32,
    /// The pause before the second attempt; it doubles from then on.
    pub first_pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 6,
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(5),
        }
    }
}

impl Retry {
    /// How long to wait after the `attempt`-th failure (from 1), or `None` to give up.
    pub(crate) fn pause(
        &self,
        attempt: u32,
        error: &Error,
        retry_after: Option<Duration>,
    ) -> Option<Duration> {
        if attempt >= self.attempts || !is_passing(error.kind()) || error.is_lasting() {
            return None;
        }
        let doubled = self.first_pause.saturating_mul(1 << (attempt - 1).min(16));
        Some(retry_after.unwrap_or(doubled).min(self.longest_pause))
    }
}

/// Whether the same call may succeed later.
fn is_passing(kind: Kind) -> bool {
    matches!(kind, Kind::Unavailable | Kind::Unreachable | Kind::Conflict)
}

/// The seconds that the server asks the client to wait.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit_and_retries_end() {
        let retry = Retry { attempts: 9, ..Retry::default() };
        let busy = Error::new(Kind::Unavailable, "busy");
        let pauses: Vec<_> = (1..=9)
            .map(|attempt| retry.pause(attempt, &busy, None).map(|pause| pause.as_millis()))
            .collect();
        let millis = [100, 200, 400, 800, 1600, 3200, 5000, 5000].map(Some);
        assert_eq!(pauses, [millis.as_slice(), &[None]].concat());
    }

    #[test]
    fn permanent_errors_are_not_retried() {
        for kind in
            [Kind::ReadOnly, Kind::NotFound, Kind::Unknown, Kind::NoSpace, Kind::Quota, Kind::Local]
        {
            assert_eq!(Retry::default().pause(1, &Error::new(kind, ""), None), None);
        }
    }

    #[test]
    fn a_pause_requested_by_the_server_is_limited() {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, "86400".parse().unwrap());
        let busy = Error::new(Kind::Unavailable, "busy");
        let pause = Retry::default().pause(1, &busy, retry_after(&headers));
        assert_eq!(pause, Some(Duration::from_secs(5)));
    }
}
