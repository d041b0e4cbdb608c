//! Points in time.

use minicbor::{Decode, Encode};

/// Nanoseconds since 1970-01-01T00:00:00Z, without leap seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(transparent)]
pub struct Time(#[n(0)] i64);

impl Time {
    /// This many nanoseconds since the epoch.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// This many seconds since the epoch; saturates some 292 years from it.
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// Nanoseconds since the epoch.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// Whole seconds since the epoch, rounded down.
    pub const fn secs(self) -> i64 {
        self.0.div_euclid(1_000_000_000)
    }

    /// This much later; saturates.
    #[must_use]
    pub fn plus(self, duration: std::time::Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)))
    }

    /// This much earlier; saturates.
    #[must_use]
    pub fn minus(self, duration: std::time::Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)))
    }
}

impl From<Time> for std::time::SystemTime {
    fn from(time: Time) -> Self {
        let nanos = std::time::Duration::from_nanos(time.0.unsigned_abs());
        match time.0 < 0 {
            true => Self::UNIX_EPOCH - nanos,
            false => Self::UNIX_EPOCH + nanos,
        }
    }
}
