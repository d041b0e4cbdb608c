//! Times in settings.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A time in seconds, with a fraction where one is wanted: `30`, `0.5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Seconds(Duration);

impl Seconds {
    /// Whole seconds.
    pub const fn new(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// Thousandths of a second.
    pub const fn from_millis(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }

    pub(crate) fn get(self) -> Duration {
        self.0
    }
}

/// The longest time in a setting: later ends are beyond what clocks can add.
const LONGEST: f64 = 1e9;

impl TryFrom<f64> for Seconds {
    type Error = String;

    fn try_from(seconds: f64) -> Result<Self, String> {
        match (0.0..=LONGEST).contains(&seconds) {
            true => Ok(Self(Duration::from_secs_f64(seconds))),
            false => Err(format!("invalid number of seconds: {seconds}")),
        }
    }
}

impl From<Seconds> for f64 {
    fn from(seconds: Seconds) -> Self {
        seconds.0.as_secs_f64()
    }
}
