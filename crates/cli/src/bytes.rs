//! Numbers of bytes on the command line: `1000`, `500MB`, `2GiB`, `1.5T`.

use std::str::FromStr;

use crate::error::{CliError, Kind};

/// A number of bytes. `KB` is 1,000 and `KiB`, as `K`, is 1,024.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bytes(u64);

impl Bytes {
    pub(crate) fn get(self) -> u64 {
        self.0
    }
}

impl FromStr for Bytes {
    type Err = CliError;

    fn from_str(text: &str) -> Result<Self, CliError> {
        let wrong = || {
            let message = format!("not a size: {text}; examples: 1000, 500MB, 2GiB, 1.5T");
            CliError::new(Kind::Usage, message)
        };
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let unit = unit_of(unit.trim_start()).ok_or_else(wrong)?;
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let whole: u64 = whole.parse().map_err(|_| wrong())?;
        let bytes = whole.checked_mul(unit).ok_or_else(wrong)?;
        let more = match part {
            "" if number.ends_with('.') => return Err(wrong()),
            "" => 0,
            part if part.len() > 9 => return Err(wrong()),
            part => {
                let digits: u64 = part.parse().map_err(|_| wrong())?;
                let scale = 10u128.pow(part.len() as u32);
                (u128::from(digits) * u128::from(unit) / scale) as u64
            }
        };
        bytes.checked_add(more).map(Self).ok_or_else(wrong)
    }
}

fn unit_of(unit: &str) -> Option<u64> {
    let unit = unit.to_ascii_lowercase();
    let Some(letter) = unit.chars().next() else { return Some(1) };
    let power = "bkmgtp".find(letter)? as u32;
    match &unit[1..] {
        "" if power == 0 => Some(1),
        "b" if power > 0 => Some(1_000u64.pow(power)),
        "" | "ib" if power > 0 => Some(1_024u64.pow(power)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, expected) in [
            ("0", 0),
            ("1000", 1_000),
            ("12B", 12),
            ("500MB", 500_000_000),
            ("2GiB", 2 << 30),
            ("2g", 2 << 30),
            ("1.5 T", 3 << 39),
            ("0.5kb", 500),
            ("1PiB", 1 << 50),
        ] {
            assert_eq!(text.parse::<Bytes>().unwrap().get(), expected, "{text}");
        }
        for text in
            ["", "-1", "1.", ".5", "1x", "1e3", "1iB", "1BB", "99999999999P", "1.0000000001G"]
        {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }
}
