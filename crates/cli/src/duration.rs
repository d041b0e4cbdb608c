//! Lengths of time on the command line: `90s`, `15m`, `12h`, `30d`, `2w`.

use std::str::FromStr;

use crate::error::{CliError, Kind};

/// A length of time in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Duration(u64);

impl Duration {
    pub(crate) fn seconds(self) -> u64 {
        self.0
    }
}

impl FromStr for Duration {
    type Err = CliError;

    fn from_str(text: &str) -> Result<Self, CliError> {
        let wrong = || {
            CliError::new(
                Kind::Usage,
                format!("not a duration: {text}; examples: 90s, 15m, 12h, 30d, 2w"),
            )
        };
        let unit = text.chars().last().ok_or_else(wrong)?;
        let seconds = match unit {
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            'w' => 604_800,
            _ => return Err(wrong()),
        };
        let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
        number.checked_mul(seconds).map(Self).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_number_and_a_unit() {
        for (text, seconds) in [("90s", 90), ("15m", 900), ("12h", 43_200), ("1w", 604_800)] {
            assert_eq!(text.parse::<Duration>().unwrap().seconds(), seconds);
        }
        for wrong in
            ["", "3", "d", "-1d", "1y", "1é", "99999999999999999999d", "9999999999999999999d"]
        {
            assert!(wrong.parse::<Duration>().is_err(), "{wrong}");
        }
    }
}
