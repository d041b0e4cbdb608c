//! Points in time on the command line: `2026-03-01`, `2026-03-01 14:30`, `2026-03-01T14:30:00Z`, or a length of time ago, `3d`.

use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::duration::Duration;
use crate::error::{CliError, Kind};

/// A point in time. Without an offset it is one where this machine is; of a date, its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    At(Timestamp),
    Ago(Duration),
}

impl Moment {
    /// When that is, if it is `now`.
    pub(crate) fn from(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(time) => time,
            Self::Ago(duration) => {
                let seconds = i64::try_from(duration.seconds()).unwrap_or(i64::MAX);
                now.saturating_sub(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MIN)
            }
        }
    }
}

impl FromStr for Moment {
    type Err = CliError;

    fn from_str(text: &str) -> Result<Self, CliError> {
        let here = |time: DateTime| time.to_zoned(TimeZone::system()).ok().map(|it| it.timestamp());
        let time = text.parse().ok().or_else(|| text.parse().ok().and_then(here));
        match (time, text.parse()) {
            (Some(time), _) => Ok(Self::At(time)),
            (None, Ok(duration)) => Ok(Self::Ago(duration)),
            (None, Err(_)) => Err(CliError::new(
                Kind::Usage,
                format!(
                    "not a point in time: {text}; examples: 2026-03-01, \"2026-03-01 14:30\", 2026-03-01T14:30:00Z, 3d (ago)"
                ),
            )),
        }
    }
}

/// A moment in the past of the store: a point in time, or a position of the change feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AsOf {
    Time(Moment),
    Position(String),
}

impl AsOf {
    /// As the server takes it.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Time(time) => time.from(Timestamp::now()).to_string(),
            Self::Position(position) => position.clone(),
        }
    }
}

impl FromStr for AsOf {
    type Err = CliError;

    fn from_str(text: &str) -> Result<Self, CliError> {
        match text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            true => Ok(Self::Position(text.to_owned())),
            false => text.parse().map(Self::Time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_parsed() {
        let now: Timestamp = "2026-03-03T00:00:00Z".parse().unwrap();
        let read = |text: &str| text.parse::<Moment>().map(|moment| moment.from(now).to_string());
        for (text, expected) in [
            ("2026-03-01T14:30:00Z", "2026-03-01T14:30:00Z"),
            ("2026-03-01T14:30:00.5+01:00", "2026-03-01T13:30:00.5Z"),
            ("2d", "2026-03-01T00:00:00Z"),
            ("90s", "2026-03-02T23:58:30Z"),
        ] {
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
        let here = |time: DateTime| time.to_zoned(TimeZone::system()).unwrap().timestamp();
        let midnight = DateTime::constant(2026, 3, 1, 0, 0, 0, 0);
        assert_eq!(read("2026-03-01").unwrap(), here(midnight).to_string());
        let later = DateTime::constant(2026, 3, 1, 14, 30, 0, 0);
        assert_eq!(read("2026-03-01 14:30").unwrap(), here(later).to_string());
        let position = "00000000000000ff00000001";
        assert_eq!(position.parse::<AsOf>().unwrap().text(), position);
        for wrong in ["", "tomorrow", "2026-13-01", "3x", "-3d"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
