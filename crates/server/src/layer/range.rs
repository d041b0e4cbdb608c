//! The `Range` header (RFC 9110, section 14): one range of bytes.

use std::ops::Range;

/// The requested part of a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Selection {
    /// All of it: no range, several ranges, or a header that is no range, which section 14.2
    /// lets a server ignore.
    Whole,
    /// These bytes.
    Part(Range<u64>),
    /// None of its bytes.
    Outside,
}

/// Selects from `size` bytes those that `header` requests.
pub(crate) fn select(header: Option<&str>, size: u64) -> Selection {
    let Some((first, last)) = header.and_then(single_range) else { return Selection::Whole };
    let range = match (number(first), number(last)) {
        (Some(first), Some(last)) if first > last => return Selection::Whole,
        (Some(first), Some(last)) => first..last.saturating_add(1).min(size),
        (Some(first), None) if last.is_empty() => first..size,
        (None, Some(suffix)) if first.is_empty() => size.saturating_sub(suffix)..size,
        _ => return Selection::Whole,
    };
    if range.start >= range.end { Selection::Outside } else { Selection::Part(range) }
}

fn single_range(header: &str) -> Option<(&str, &str)> {
    let (unit, ranges) = header.trim().split_once('=')?;
    let (first, last) = ranges.trim().split_once('-')?;
    (unit.eq_ignore_ascii_case("bytes") && !last.contains(',')).then_some((first, last))
}

/// A number of digits only; one too large for 64 bits is beyond any content.
fn number(digits: &str) -> Option<u64> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranges_as_in_the_examples_of_the_rfc() {
        let size = 10_000;
        for (header, expected) in [
            ("bytes=0-499", Selection::Part(0..500)),
            ("bytes=500-999", Selection::Part(500..1_000)),
            ("bytes=-500", Selection::Part(9_500..10_000)),
            ("bytes=9500-", Selection::Part(9_500..10_000)),
            ("bytes=9999-20000", Selection::Part(9_999..10_000)),
            ("bytes=-20000", Selection::Part(0..10_000)),
            ("Bytes=0-0", Selection::Part(0..1)),
            ("bytes=0-99999999999999999999999", Selection::Part(0..10_000)),
            ("bytes=10000-", Selection::Outside),
            ("bytes=99999999999999999999999-", Selection::Outside),
            ("bytes=-0", Selection::Outside),
            ("bytes=0-0,-1", Selection::Whole),
            ("bytes=5-4", Selection::Whole),
            ("bytes=-", Selection::Whole),
            ("bytes=+1-2", Selection::Whole),
            ("items=0-5", Selection::Whole),
            ("", Selection::Whole),
        ] {
            assert_eq!(select(Some(header), size), expected, "{header}");
        }
        assert_eq!(select(None, size), Selection::Whole);
        assert_eq!(select(Some("bytes=0-"), 0), Selection::Outside);
    }

    proptest! {
        #[test]
        fn a_part_is_never_empty_and_lies_in_the_content(header in "(bytes=)?[0-9,-]{0,30}", size: u64) {
            if let Selection::Part(range) = select(Some(&header), size) {
                prop_assert!(range.start < range.end && range.end <= size);
            }
        }

        #[test]
        fn any_header_is_parsed(header: String, size: u64) {
            select(Some(&header), size);
        }
    }
}
