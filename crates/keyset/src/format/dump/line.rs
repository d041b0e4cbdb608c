//! The words and lengths in a command line, as C++ streams parse them.

/// The next word of a line, and the rest.
#[inline]
pub(super) fn split_word(line: &[u8]) -> (&[u8], &[u8]) {
    let line = without_blanks(line);
    line.split_at(line.iter().position(is_blank).unwrap_or(line.len()))
}

/// The two lengths that follow the words of a command. If the second is not a number, it is 0; if it is missing,
/// Elektra's reader uses uninitialised memory, and this one fails.
#[inline]
pub(crate) fn lengths(line: &[u8]) -> Option<(u64, u64)> {
    let (first, rest) = number(line)?;
    let first = first?;
    let (second, _) = number(rest)?;
    Some((first, second.unwrap_or(0)))
}

/// The number at the start of a line, if there is one, and the rest. `None` if the line is empty or the number
/// overflows.
#[inline]
fn number(line: &[u8]) -> Option<(Option<u64>, &[u8])> {
    let line = without_blanks(line);
    let unsigned = line.strip_prefix(b"+").unwrap_or(line);
    let digits = unsigned.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = unsigned.split_at(digits);
    match (digits, line) {
        // A negative number wraps to a huge one.
        (_, [] | [b'-', b'0'..=b'9', ..]) => None,
        ([], _) => Some((None, rest)),
        _ => Some((Some(decimal(digits)?), rest)),
    }
}

#[inline]
fn decimal(digits: &[u8]) -> Option<u64> {
    let digits = digits.iter().map(|byte| u64::from(byte - b'0'));
    digits.into_iter().try_fold(0_u64, |number, digit| number.checked_mul(10)?.checked_add(digit))
}

/// Whether a line ends with these lengths exactly as a writer writes them.
pub(super) fn ends_with_lengths(line: &[u8], first: u64, second: u64) -> bool {
    line.ends_with(format!(" {first} {second}").as_bytes())
}

#[inline]
fn without_blanks(line: &[u8]) -> &[u8] {
    &line[line.iter().position(|byte| !is_blank(byte)).unwrap_or(line.len())..]
}

#[inline]
fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lengths_are_parsed_like_cpp_streams() {
        for (line, expected) in [
            (" 4 2", Some((4, 2))),
            ("\t4\x0b \x0c2 more", Some((4, 2))),
            (" +4 +2", Some((4, 2))),
            (" 04 002", Some((4, 2))),
            (" 4x 2", Some((4, 0))),
            (" 0x10 2", Some((0, 0))),
            (" 4 b", Some((4, 0))),
            (" 4 +", Some((4, 0))),
            (" 4 -", Some((4, 0))),
            (" 4+2", Some((4, 2))),
            (" 4 18446744073709551615", Some((4, u64::MAX))),
            ("", None),
            (" 4", None),
            (" 4 ", None),
            (" x 2", None),
            (" -4 2", None),
            (" 4 -2", None),
            (" 4 18446744073709551616", None),
        ] {
            assert_eq!(lengths(line.as_bytes()), expected, "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn written_lengths_round_trip(first: u64, second: u64) {
            let line = format!("$key string {first} {second}");
            let (_, rest) = split_word(line.as_bytes());
            let (kind, rest) = split_word(rest);
            prop_assert_eq!(kind, b"string");
            prop_assert_eq!(lengths(rest), Some((first, second)));
            prop_assert!(ends_with_lengths(line.as_bytes(), first, second));
        }

        #[test]
        fn any_line_is_parsed_or_rejected(line: Vec<u8>) {
            let _ = lengths(&line);
        }
    }
}
