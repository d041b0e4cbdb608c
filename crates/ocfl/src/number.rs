//! Version numbers: `v1`, or with zeros in front `v0001`.

use std::fmt;

/// The number of a version. All numbers of an object have the same width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VersionNumber {
    number: u32,
    /// The number of digits, 0 without zeros in front.
    width: usize,
}

impl VersionNumber {
    /// The first version, without zeros in front.
    pub const FIRST: Self = Self { number: 1, width: 0 };

    /// Reads `v1` or `v0001`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('v')?;
        let is_number =
            (1..=9).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        let number = digits.parse().ok().filter(|number| is_number && *number > 0)?;
        Some(Self { number, width: if digits.starts_with('0') { digits.len() } else { 0 } })
    }

    /// The number itself.
    pub fn number(self) -> u32 {
        self.number
    }

    /// The following version; none if its number would not have the width of the others.
    pub fn next(self) -> Option<Self> {
        self.at(self.number.checked_add(1)?)
    }

    /// The version with a number, written as this one is.
    pub(crate) fn at(self, number: u32) -> Option<Self> {
        let next = Self { number, ..self };
        // A padded number has at least one leading zero.
        let is_wide = self.width > 0 && number.to_string().len() >= self.width;
        (!is_wide && number < 1_000_000_000).then_some(next)
    }

    pub(crate) fn is_like(self, other: Self) -> bool {
        self.width == other.width
    }
}

impl fmt::Display for VersionNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{:0width$}", self.number, width = self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for text in ["v1", "v12", "v01", "v0012", "v999999999"] {
            assert_eq!(VersionNumber::parse(text).unwrap().to_string(), text);
        }
        for text in ["v0", "v", "1", "V1", "v-1", "v1a", "v000", "v1000000000", "v\u{661}"] {
            assert_eq!(VersionNumber::parse(text), None, "{text}");
        }
        let padded = VersionNumber::parse("v08").unwrap();
        assert_eq!(padded.next().map(|next| next.to_string()).as_deref(), Some("v09"));
        assert_eq!(VersionNumber::parse("v09").unwrap().next(), None);
    }
}
