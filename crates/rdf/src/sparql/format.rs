//! The formats of results: media types, and the choice among them.

use sparesults::QueryResultsFormat;

use crate::Syntax;
use crate::accept::best;

/// A format for a table of solutions, or a truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answers {
    /// SPARQL 1.1 Query Results JSON Format: what an answer is in unless the client prefers another.
    Json,
    /// SPARQL Query Results XML Format.
    Xml,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
}

/// A format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Of a table, or a truth.
    Answers(Answers),
    /// Of a graph.
    Graph(Syntax),
}

impl Answers {
    /// All of them, the preferred one first.
    pub const ALL: [Self; 4] = [Self::Json, Self::Xml, Self::Csv, Self::Tsv];

    /// Its media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/sparql-results+json",
            Self::Xml => "application/sparql-results+xml",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Tsv => "text/tab-separated-values; charset=utf-8",
        }
    }

    /// Other media types for it.
    fn others(self) -> &'static [&'static str] {
        match self {
            Self::Json => &["application/json"],
            Self::Xml => &["application/xml", "text/xml"],
            Self::Csv | Self::Tsv => &[],
        }
    }

    pub(super) fn format(self) -> QueryResultsFormat {
        match self {
            Self::Json => QueryResultsFormat::Json,
            Self::Xml => QueryResultsFormat::Xml,
            Self::Csv => QueryResultsFormat::Csv,
            Self::Tsv => QueryResultsFormat::Tsv,
        }
    }
}

impl Format {
    /// The one that `Accept` requests, of those available for a graph, or for anything else; none if it names
    /// none of them. An empty header requests the preferred one.
    pub fn negotiate(accept: &str, graph: bool) -> Option<Self> {
        let graphs = Syntax::ALL.map(|syntax| (syntax.media_type(), Self::Graph(syntax)));
        let standard = Answers::ALL.map(|answers| (answers.media_type(), Self::Answers(answers)));
        let others = Answers::ALL.into_iter().flat_map(|answers| {
            answers.others().iter().map(move |media_type| (*media_type, Self::Answers(answers)))
        });
        let accept = if accept.trim().is_empty() { "*/*" } else { accept };
        match graph {
            true => best(accept, graphs.into_iter()),
            false => best(accept, standard.into_iter().chain(others)),
        }
    }

    /// Whether `Accept` prefers a page of HTML to all of them.
    pub fn prefers_page(accept: &str) -> bool {
        let graphs = Syntax::ALL.map(Syntax::media_type);
        let standard = Answers::ALL.map(Answers::media_type);
        let others = Answers::ALL.into_iter().flat_map(Answers::others).copied();
        let all = graphs.into_iter().chain(standard).chain(others).map(|format| (format, false));
        best(accept, all.chain([("text/html", true)])) == Some(true)
    }

    /// Its media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Answers(answers) => answers.media_type(),
            Self::Graph(syntax) => syntax.media_type(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_format_is_chosen() {
        let answers = |answers| Some(Format::Answers(answers));
        for (accept, chosen) in [
            ("", answers(Answers::Json)),
            ("*/*", answers(Answers::Json)),
            ("application/json", answers(Answers::Json)),
            ("application/sparql-results+xml", answers(Answers::Xml)),
            ("text/csv", answers(Answers::Csv)),
            ("text/tab-separated-values;q=0.9, text/csv;q=0.3", answers(Answers::Tsv)),
            ("text/html,application/xml;q=0.9,*/*;q=0.8", answers(Answers::Xml)),
            ("text/turtle", None),
            ("image/png", None),
        ] {
            assert_eq!(Format::negotiate(accept, false), chosen, "{accept}");
        }
        assert_eq!(Format::negotiate("", true), Some(Format::Graph(Syntax::Turtle)));
        let json = Format::negotiate("application/ld+json", true);
        assert_eq!(json, Some(Format::Graph(Syntax::JsonLd)));
        assert_eq!(Format::negotiate("text/csv", true), None);
    }

    #[test]
    fn browsers_prefer_pages() {
        for (accept, is_page) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true),
            ("text/html", true),
            ("application/json, text/html;q=0.9", false),
            ("application/sparql-results+xml,application/xml,text/html;q=0.5", false),
            ("*/*", false),
            ("text/*", false),
            ("", false),
        ] {
            assert_eq!(Format::prefers_page(accept), is_page, "{accept}");
        }
    }
}
