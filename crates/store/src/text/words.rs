//! What a word is.
//!
//! Letters, digits and their marks are words; anything between is not. Words are compared without regard to case (full case folding),
//! to accents, and to forms that Unicode calls compatible (NFKC): `Straße` is `STRASSE`, `Ångström` is `angstrom`, `ﬁ` is `fi`.
//! Chinese and Japanese are written without spaces, so each ideograph and each letter of hiragana is a word by itself.
//!
//! Source: Unicode Standard Annex #15 (normalization), and the Unicode Standard, section 3.13 (case folding).

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The words of a text, in their order.
pub(super) fn words(text: &str) -> Vec<String> {
    let folded = fold(text);
    let mut words = Vec::new();
    let mut begun = String::new();
    for c in folded.chars() {
        let ends = is_alone(c) || !is_of_word(c);
        if ends && !begun.is_empty() {
            words.push(std::mem::take(&mut begun));
        }
        match is_alone(c) {
            true => words.push(c.to_string()),
            false if is_of_word(c) => begun.push(c),
            false => {}
        }
    }
    words.extend((!begun.is_empty()).then_some(begun));
    words
}

/// The same text for all that are compared as equal.
fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let plain = text.nfkd().filter(|c| !is_accent(*c)).nfc();
    plain.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

pub(super) fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Marks that words are written with or without: accents, and the points of Hebrew and Arabic. Others, such as the vowels of
/// Devanagari, tell words apart.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5bd}' | '\u{64b}'..='\u{65f}' | '\u{670}')
}

/// Ideographs and hiragana.
pub(super) fn is_alone(c: char) -> bool {
    matches!(
        c,
        '\u{3041}'..='\u{3096}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn case_accents_and_compatible_forms_do_not_distinguish_words() {
        for (text, expected) in [
            ("Run_7-final.DAT", vec!["run", "7", "final", "dat"]),
            ("Straße STRASSE", vec!["strasse", "strasse"]),
            ("Ångström e\u{301}te\u{301}", vec!["angstrom", "ete"]),
            ("ΌΔΟΣ οδος", vec!["οδοσ", "οδοσ"]),
            ("İstanbul", vec!["istanbul"]),
            ("ﬁne ２０℃", vec!["fine", "20", "c"]),
            ("東京の water", vec!["東", "京", "の", "water"]),
            ("한국어", vec!["한국어"]),
            ("हिन्दी", vec!["हिन्दी"]),
            ("don't", vec!["don", "t"]),
            (" -- \u{0} ", vec![]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn words_of_words_are_the_same(text in "(\\PC|[a-zßÅ é東の\u{301}]){0,20}") {
            let once = words(&text);
            prop_assert_eq!(words(&once.join(" ")), once);
        }

        #[test]
        fn what_is_between_words_does_not_matter(words_ in proptest::collection::vec("[a-z0-9é]{1,6}", 0..6), by in "[ ,.;:_\\-/\n]{1,3}") {
            let joined = words(&words_.join(&by));
            prop_assert_eq!(joined, words(&words_.join(" ")));
        }
    }
}
