//! Which representation an answer has: `Accept` of RFC 9110, section 12.5.1.
//!
//! A header that is malformed in part counts as far as it can be read: it is a wish, and no reason to refuse an answer.

use std::cmp::Reverse;

use crate::Syntax;

/// What a client prefers among the syntaxes and one other representation of the same resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// A graph in this syntax.
    Graph(Syntax),
    /// The other representation (a page of HTML, or the bytes of a binary), whose media type was offered.
    Other,
}

/// A media range with its weight in thousandths.
#[derive(Debug, Clone, Copy)]
struct Range<'a> {
    main: &'a str,
    sub: &'a str,
    weight: u16,
}

/// The representation that the client likes best, of the syntaxes and `other`, if a media type is offered there. Of those that it
/// likes equally the first named wins, then the first of [`Syntax::ALL`]. None if it names nothing that is offered, or `accept` is empty.
pub fn negotiate(accept: &str, other: Option<&str>) -> Option<Choice> {
    let graphs = Syntax::ALL.map(|syntax| (syntax.media_type(), Choice::Graph(syntax)));
    best(accept, graphs.into_iter().chain(other.map(|media_type| (media_type, Choice::Other))))
}

/// The preferred one of some offers with their media types; among equally preferred ones, the first named, then the first offered.
pub(crate) fn best<'a, T>(accept: &str, offers: impl Iterator<Item = (&'a str, T)>) -> Option<T> {
    let ranges: Vec<Range<'_>> = accept.split(',').filter_map(range).collect();
    let rated = offers.enumerate().filter_map(|(nth, (media_type, choice))| {
        let (weight, named) = rate(&ranges, media_type)?;
        (weight > 0).then_some(((Reverse(weight), named, nth), choice))
    });
    rated.min_by_key(|(rating, _)| *rating).map(|(_, choice)| choice)
}

/// The weight of the most specific range that a media type is in, and where in the list it is named.
fn rate(ranges: &[Range<'_>], media_type: &str) -> Option<(u16, usize)> {
    let (main, sub) = media_type.split(';').next()?.trim().split_once('/')?;
    let specificity = |range: &Range<'_>| match (range.main, range.sub) {
        ("*", "*") => Some(0),
        (other, _) if !other.eq_ignore_ascii_case(main) => None,
        (_, "*") => Some(1),
        (_, other) => other.eq_ignore_ascii_case(sub).then_some(2),
    };
    let matching = ranges.iter().enumerate();
    let matching = matching.filter_map(|(nth, range)| Some((specificity(range)?, nth, range)));
    let best = matching.max_by_key(|(specificity, nth, _)| (*specificity, Reverse(*nth)));
    best.map(|(_, nth, range)| (range.weight, nth))
}

fn range(text: &str) -> Option<Range<'_>> {
    let mut parts = text.split(';').map(str::trim);
    let (main, sub) = parts.next()?.split_once('/')?;
    let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
    let weight = weight.map_or(Some(1.0), |weight| weight.trim().parse::<f32>().ok())?;
    let weight = (weight.clamp(0.0, 1.0) * 1_000.0).round();
    // Between 0 and 1,000, or not a number, which is cast to 0.
    Some(Range { main: main.trim(), sub: sub.trim(), weight: weight as u16 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GRAPH: fn(Syntax) -> Option<Choice> = |syntax| Some(Choice::Graph(syntax));

    #[test]
    fn the_best_offer_is_chosen() {
        for (accept, chosen) in [
            ("text/turtle", GRAPH(Syntax::Turtle)),
            ("application/ld+json, application/json;q=0.5", GRAPH(Syntax::JsonLd)),
            ("text/turtle;q=0.3, application/rdf+xml;q=0.8", GRAPH(Syntax::RdfXml)),
            ("application/n-triples, text/turtle", GRAPH(Syntax::NTriples)),
            ("*/*", GRAPH(Syntax::Turtle)),
            ("text/*", GRAPH(Syntax::Turtle)),
            ("*/*;q=0.1, image/png", Some(Choice::Other)),
            ("image/*", Some(Choice::Other)),
            ("text/turtle;q=0, */*", GRAPH(Syntax::NTriples)),
            ("text/html", None),
            ("text/turtle;q=0", None),
            ("", None),
            ("turtle, ;q=1, application/ld+json", GRAPH(Syntax::JsonLd)),
        ] {
            assert_eq!(negotiate(accept, Some("image/png")), chosen, "{accept}");
        }
        assert_eq!(negotiate("image/png", None), None);
    }

    proptest! {
        #[test]
        fn any_header_is_read(accept in "([a-z*]{0,4}/?[a-z*+]{0,4}(;q=.{0,4})?,?){0,5}") {
            let _ = negotiate(&accept, Some("a/b"));
        }
    }
}
