//! The syntaxes, with their media types.

use oxrdfio::{JsonLdProfileSet, RdfFormat};

/// A syntax for one RDF graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// Turtle, which is what an answer is in unless the client prefers another.
    Turtle,
    /// N-Triples.
    NTriples,
    /// JSON-LD 1.1.
    JsonLd,
    /// RDF/XML.
    RdfXml,
    /// Notation 3, as far as it says triples.
    N3,
}

impl Syntax {
    /// All of them, the preferred one first.
    pub const ALL: [Self; 5] = [Self::Turtle, Self::NTriples, Self::JsonLd, Self::RdfXml, Self::N3];

    /// Its media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Turtle => "text/turtle",
            Self::NTriples => "application/n-triples",
            Self::JsonLd => "application/ld+json",
            Self::RdfXml => "application/rdf+xml",
            Self::N3 => "text/n3",
        }
    }

    /// The syntax of a media type, whatever its parameters. Plain JSON and XML are none: their bytes are data.
    pub fn from_media_type(media_type: &str) -> Option<Self> {
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        let is = |known: &str| essence.eq_ignore_ascii_case(known);
        let aliases = [("application/x-turtle", Self::Turtle), ("text/rdf+n3", Self::N3)];
        let known = Self::ALL.map(|syntax| (syntax.media_type(), syntax));
        let mut known = known.into_iter().chain(aliases);
        known.find_map(|(media_type, syntax)| is(media_type).then_some(syntax))
    }

    pub(crate) fn format(self) -> RdfFormat {
        match self {
            Self::Turtle => RdfFormat::Turtle,
            Self::NTriples => RdfFormat::NTriples,
            Self::JsonLd => RdfFormat::JsonLd { profile: JsonLdProfileSet::empty() },
            Self::RdfXml => RdfFormat::RdfXml,
            Self::N3 => RdfFormat::N3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_type_names_its_syntax_whatever_its_case_and_parameters() {
        for syntax in Syntax::ALL {
            assert_eq!(Syntax::from_media_type(syntax.media_type()), Some(syntax));
            let shouted = format!(" {} ; charset=UTF-8", syntax.media_type().to_uppercase());
            assert_eq!(Syntax::from_media_type(&shouted), Some(syntax));
        }
        for other in ["", "text/plain", "application/json", "text/turtles", "turtle"] {
            assert_eq!(Syntax::from_media_type(other), None, "{other}");
        }
    }
}
