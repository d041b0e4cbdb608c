//! What a syntax of XML cannot say, though RDF can.

use crate::xml::foreign;

/// A term that the syntax of an answer cannot express; the other syntaxes can.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Inexpressible {
    /// RDF/XML writes a predicate as the name of an element.
    #[error("RDF/XML cannot express the predicate {0}: its end is not the name of an XML element")]
    Predicate(String),
    /// XML 1.0 does not have a character.
    #[error("XML cannot express {term}: it does not have the character U+{:04X}", u32::from(*.character))]
    Character {
        /// The IRI or the text, or its beginning, with escapes.
        term: String,
        /// The first such character.
        character: char,
    },
}

/// Characters of a term in a message.
const SHOWN: usize = 100;

impl Inexpressible {
    pub(super) fn predicate(iri: &str) -> Self {
        Self::Predicate(format!("<{}>", shown(iri)))
    }

    /// Refuses text with a character that XML does not have.
    pub(crate) fn check(text: &str) -> Result<(), Self> {
        match foreign(text) {
            None => Ok(()),
            Some(character) => {
                Err(Self::Character { term: format!("\"{}\"", shown(text)), character })
            }
        }
    }
}

fn shown(term: &str) -> String {
    let beginning: String = term.chars().take(SHOWN).collect();
    let rest = if beginning.len() < term.len() { "…" } else { "" };
    format!("{}{rest}", beginning.escape_debug())
}
