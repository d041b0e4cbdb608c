//! Which words are sought.
//!
//! A query is words, all of which must be there, in any order; `word*` is each word that begins so, and `"some words"` are words
//! that follow each other in one text. What is written together, such as `run-7`, follows each other, too.

use std::str::FromStr;

use super::words::{is_alone, is_of_word, words};
use crate::{Error, Result};

/// A query for words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextQuery {
    phrases: Vec<Phrase>,
}

/// Words that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Phrase {
    words: Vec<String>,
    /// Whether the last one may go on.
    is_open: bool,
}

/// A word that must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextWord<'a> {
    /// The word, folded.
    pub word: &'a str,
    /// Whether it is only how the word begins.
    pub is_beginning: bool,
}

/// A part of the text of a query.
struct Piece<'a> {
    text: &'a str,
    rest: &'a str,
}

impl TextQuery {
    /// The most bytes of a query.
    pub const BYTES: usize = 1_024;
    /// The most words of a query.
    pub const WORDS: usize = 32;
    /// The fewest characters before `*`.
    pub const BEGINNING: usize = 2;

    /// All words that must be there.
    pub fn words(&self) -> impl Iterator<Item = TextWord<'_>> {
        self.phrases.iter().flat_map(Phrase::words)
    }

    /// Whether all words are in these texts, and each phrase in one of them.
    pub fn holds<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> bool {
        let mut left: Vec<&Phrase> = self.phrases.iter().collect();
        for text in texts {
            let words = words(text);
            left.retain(|phrase| !phrase.is_in(&words));
            if left.is_empty() {
                return true;
            }
        }
        false
    }

    fn check(&self) -> Result<()> {
        let count = self.words().count();
        if count == 0 {
            return Err(Error::invalid("there is no word to search for")
                .with_hint("a word is letters and digits"));
        }
        if count > Self::WORDS {
            let detail = format!("a search for {count} words: {} are allowed", Self::WORDS);
            return Err(Error::invalid(detail));
        }
        match self.words().find(TextWord::is_short) {
            Some(_) => Err(Error::invalid("the beginning of a word is too short")
                .with_hint("write at least two characters before `*`")),
            None => Ok(()),
        }
    }
}

impl TextWord<'_> {
    fn is_short(&self) -> bool {
        self.is_beginning && self.word.chars().count() < TextQuery::BEGINNING
    }
}

impl FromStr for TextQuery {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.len() > Self::BYTES {
            let detail = format!("a search for words has at most {} bytes", Self::BYTES);
            return Err(Error::invalid(detail));
        }
        let (mut phrases, mut rest) = (Vec::new(), text.trim_start());
        while !rest.is_empty() {
            let piece = Piece::first(rest)?;
            phrases.extend(Phrase::new(piece.text));
            rest = piece.rest.trim_start();
        }
        let query = Self { phrases };
        query.check()?;
        Ok(query)
    }
}

impl<'a> Piece<'a> {
    /// What is in quotation marks, or up to a space.
    fn first(text: &'a str) -> Result<Self> {
        let Some(quoted) = text.strip_prefix('"') else {
            let end = text.find(|c: char| c == '"' || c.is_whitespace()).unwrap_or(text.len());
            let (text, rest) = text.split_at(end);
            return Ok(Self { text, rest });
        };
        let closed = quoted.split_once('"').map(|(text, rest)| Self { text, rest });
        closed.ok_or_else(|| {
            Error::invalid("a quotation mark is not closed")
                .with_hint("write a phrase as \"some words\"")
        })
    }
}

impl Phrase {
    /// None without a word.
    fn new(text: &str) -> Option<Self> {
        let words = words(text);
        let begun = text.trim_end().strip_suffix('*').and_then(|text| text.chars().last());
        let is_open = begun.is_some_and(|c| is_of_word(c) && !is_alone(c));
        (!words.is_empty()).then_some(Self { words, is_open })
    }

    fn words(&self) -> impl Iterator<Item = TextWord<'_>> {
        let last = self.words.len() - 1;
        self.words
            .iter()
            .enumerate()
            .map(move |(at, word)| TextWord { word, is_beginning: self.is_open && at == last })
    }

    fn is_in(&self, words: &[String]) -> bool {
        words.windows(self.words.len()).any(|some| self.is(some))
    }

    fn is(&self, some: &[String]) -> bool {
        self.words().zip(some).all(|(sought, word)| match sought.is_beginning {
            true => word.starts_with(sought.word),
            false => word == sought.word,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ErrorKind;

    fn holds(query: &str, texts: &[&str]) -> bool {
        query.parse::<TextQuery>().unwrap().holds(texts.iter().copied())
    }

    #[test]
    fn all_words_must_be_there_and_phrases_in_one_text() {
        let texts = ["Temperature of the Box", "run-7_final.dat", "Ångström"];
        for query in [
            "box",
            "BOX temperature",
            "box final",
            "run-7",
            "run-7_final.dat",
            "\"the box\"",
            "\"of the\" angstrom",
            "temp*",
            "\"the bo*\"",
            "box\"the\"",
            "- box -",
        ] {
            assert!(holds(query, &texts), "{query}");
        }
        for query in ["bo", "box cold", "\"box the\"", "run-final", "\"box run\"", "emp*", "7-run"]
        {
            assert!(!holds(query, &texts), "{query}");
        }
        assert!(holds("東京", &["私は東京に"]));
        assert!(!holds("京東", &["私は東京に"]));
    }

    #[test]
    fn what_has_no_words_or_too_many_is_refused() {
        let many = "a ".repeat(TextQuery::WORDS + 1);
        let long = "a".repeat(TextQuery::BYTES + 1);
        for query in ["", " ", "-", "*", "\"\"", "\"open", "a\"", "t*", many.as_str(), &long] {
            let refused = query.parse::<TextQuery>().unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Invalid, "{query:.40}");
        }
        assert!("a".repeat(TextQuery::BYTES).parse::<TextQuery>().is_ok(), "a very long word");
    }

    proptest! {
        #[test]
        fn any_text_is_a_query_or_refused(text in "(\\PC|[a-c*\" \\-東é]){0,24}", other in "(\\PC|[a-c 東é]){0,24}") {
            if let Ok(query) = text.parse::<TextQuery>() {
                let _ = query.holds([other.as_str()]);
                let words: Vec<_> = query.words().map(|word| word.word).collect();
                prop_assert!(!words.is_empty() && words.len() <= TextQuery::WORDS);
                prop_assert!(query.holds([text.as_str()]), "it is in its own text");
            }
        }

        #[test]
        fn a_text_has_its_words_and_their_beginnings(text in "[a-dé東 ._]{1,16}") {
            for word in words(&text) {
                prop_assert!(holds(&word, &[&text]));
                let phrase = format!("\"{word}\"");
                prop_assert!(holds(&phrase, &[&text]));
                if word.chars().count() > 2 {
                    let beginning: String = word.chars().take(2).collect();
                    let open = format!("{beginning}*");
                    prop_assert!(holds(&open, &[&text]));
                }
            }
        }
    }
}
